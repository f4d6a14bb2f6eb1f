"""Real worker processes on the tests' database, with an embedder that needs no model; and nothing left of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from django.db import connection

from tests.handbook import indexes_dropped_afterwards

PROGRAM = """
import os, pathlib, signal, sys, time
import django
django.setup()
import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from evidence import configured
from evidence.ingest import jobs, rebuild, worker
from tests.conftest import WordEmbedder

words = WordEmbedder()
settings.SPIRE_FOLDERS = [pathlib.Path("/")]
configured.embedder_named = rebuild.embedder_named = lambda name: words
worker.SECONDS_BETWEEN_HEARTBEATS = worker.SECONDS_BETWEEN_ROUNDS = 0.5
worker.SECONDS_OF_SILENCE = 3
worker.SECONDS_TO_FINISH = jobs.FIRST_WAIT = 0
at, accident = int(sys.argv[1]), sys.argv[2]
advance = jobs.Run.advance

def advance_or_not(run, count=1):
    global at
    at -= count
    if at < 0 and not at + count < 0:
        if accident == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif accident == "told to end":
            os.kill(os.getpid(), signal.SIGTERM)
            while not run._stopping():
                time.sleep(0.01)
        elif accident == "cut off":
            with psycopg.connect(os.environ["DATABASE_URL"]) as other:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = 'cut off' AND pid <> pg_backend_pid()"
                )
    advance(run, count)

jobs.Run.advance = advance_or_not
call_command("work", once=True, concurrency=2)
"""
"""``work --once`` to which something happens at the Nth document."""


def worker(at: int = -1, accident: str = "") -> subprocess.Popen[str]:
    """A worker that ends when no job waits, or earlier, when something happens to it at that document."""
    parameters = connection.get_connection_params()
    host, port = quote(str(parameters.get("host", "")), safe=""), parameters.get("port", "")
    user = quote(parameters["user"], safe="")
    if parameters.get("password"):
        user += f":{quote(parameters['password'], safe='')}"
    url = f"postgresql://{user}@/{parameters['dbname']}?host={host}&port={port}"
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(at), accident],
        cwd=Path(__file__).parents[2],
        env={
            **{name: value for name, value in os.environ.items() if name.startswith("SPIRE")},
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "DATABASE_URL": f"{url}&application_name={quote(accident)}",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> int:
    """Its exit status; what it has written is part of a failing test's output."""
    said, _ = process.communicate(timeout=120)
    print(said)  # noqa: T201
    return process.returncode


@contextmanager
def empty_queue() -> Iterator[None]:
    """For tests that commit: the queue's tables are no models of ours, and are not flushed with them."""
    try:
        with indexes_dropped_afterwards():
            yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE procrastinate_jobs, procrastinate_workers, procrastinate_periodic_defers CASCADE")
