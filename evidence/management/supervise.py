"""A server, and a worker beside it: begun together, and ended together."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from types import FrameType

SECONDS_BETWEEN_LOOKS = 0.25
LONGEST_WAIT = 60.0
"""Seconds until a worker is begun again that keeps dying."""

SECONDS_TO_END = 30
"""A worker that is told to end hands its job back. One that cannot is killed, and the next one takes the job up."""

LESS_IMPORTANT = 10
"""Niceness of the worker: questions come first."""

PR_SET_PDEATHSIG = 1


def supervise(server: Sequence[str], worker: Sequence[str]) -> int:
    """Run a server, with a worker that is begun again when it dies, until the server ends or both are told to: its status.

    SIGTERM and SIGINT are passed on to both. Where this process is killed itself, both are told to end (on Linux).
    """
    serving = _begin(server)
    beside = _begin(worker, LESS_IMPORTANT)
    began, wait = time.monotonic(), 1.0
    ending = False

    def pass_on(number: int, frame: FrameType | None) -> None:
        nonlocal ending
        ending = True
        serving.send_signal(number)
        beside.send_signal(number)

    signal.signal(signal.SIGTERM, pass_on)
    signal.signal(signal.SIGINT, pass_on)
    while serving.poll() is None:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        if beside.poll() is None or ending:
            continue
        if time.monotonic() - began > wait:
            print(f"The worker ended ({beside.returncode}): another one begins.", file=sys.stderr)  # noqa: T201
            # One that dies at once would otherwise take the time of the processors.
            wait = min(wait * 2, LONGEST_WAIT) if time.monotonic() - began < wait * 2 else 1.0
            began = time.monotonic()
            beside = _begin(worker, LESS_IMPORTANT)
    if not ending:
        beside.terminate()
    try:
        beside.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        beside.kill()
    return max(serving.returncode, 0)


def _begin(command: Sequence[str], niceness: int = 0) -> subprocess.Popen[bytes]:
    # In a group of its own: a Ctrl-C in the terminal would reach it twice, and the second one means "at once".
    begun = subprocess.Popen(command, process_group=0, preexec_fn=_end_with_parent)  # noqa: S603 (no threads here)
    os.setpriority(os.PRIO_PROCESS, begun.pid, os.getpriority(os.PRIO_PROCESS, 0) + niceness)
    return begun


def _end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
