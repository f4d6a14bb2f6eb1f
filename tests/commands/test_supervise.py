"""The server and its worker, played by programs of one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVER = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(0)); time.sleep(60)"
WORKER = """
import os, signal, sys, time
def end(*_):
    print("ended", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("begun", os.getpid(), flush=True)
time.sleep(60)
"""


def supervised(server: str, worker: str = WORKER) -> subprocess.Popen[str]:
    """A process that supervises the two; what the worker says is read from it."""
    program = (
        "import sys; from evidence.management.supervise import supervise;"
        "sys.exit(supervise([sys.executable, '-c', sys.argv[1]], [sys.executable, '-c', sys.argv[2]]))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program, server, worker],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def line(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    return process.stdout.readline().split()


def test_a_worker_that_dies_is_begun_again_and_ends_with_the_server() -> None:
    """Uploads that wait for days, because a worker died in the night; or workers that nobody knows of any more."""
    with supervised(SERVER) as process:
        _, first = line(process)
        os.kill(int(first), signal.SIGKILL)
        word, second = line(process)
        assert word == "begun"
        assert second != first
        process.send_signal(signal.SIGTERM)
        assert line(process) == ["ended"]
        assert process.wait(30) == 0


def test_the_status_of_the_server_is_that_of_both() -> None:
    """A service manager that takes a port in use for a clean end."""
    with supervised("import time, sys; time.sleep(2); sys.exit(3)") as process:
        assert line(process)[0] == "begun"
        assert line(process) == ["ended"]
        assert process.wait(30) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of their parent's end")
def test_nothing_is_left_when_it_is_killed_itself() -> None:
    with supervised(SERVER) as process:
        assert line(process)[0] == "begun"
        process.kill()
        assert line(process) == ["ended"]
