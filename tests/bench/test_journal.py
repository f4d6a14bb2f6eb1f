from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evidence.bench.journal import faults_of, read_journal

LOG = """SPIRE is at http://127.0.0.1:1/
{{"time": "{now}", "level": "info", "message": "answered", "path": "/", "milliseconds": 48.1, "stages": {{"search": 21.7}}}}
{{"time": "{now}", "level": "info", "message": "answered", "path": "/suggest/", "milliseconds": 4.5}}
{{"time": "{now}", "level": "warning", "message": "the database cannot be reached"}}
The worker ended (-9): another one begins.
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    log = tmp_path / "serve.log"
    log.write_text(LOG.format(now=datetime.now(UTC).isoformat()))
    return log


def test_requests_are_read_with_their_stages(log: Path) -> None:
    """Figures of the site's own that are those of other times."""
    question, other = read_journal(log)
    assert (question.path, question.milliseconds, question.stages) == ("/", 48.1, {"search": 21.7})
    assert (other.path, other.stages) == ("/suggest/", {})
    assert abs(question.ended - time.monotonic()) < 60


def test_that_a_worker_died_is_no_fault_and_tracebacks_are(log: Path) -> None:
    """A run that fails over what it did itself, or that passes over what went wrong."""
    assert faults_of(log) == []
    with log.open("a") as file:
        file.write(
            '{"level": "warning", "message": "odd", "traceback": "Traceback …"}\nTraceback (most recent call last):\n'
        )
    assert faults_of(log) == ["odd\nTraceback …", "Traceback (most recent call last):"]
