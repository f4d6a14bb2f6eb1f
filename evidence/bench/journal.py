"""What a site with SPIRE_LOG=json has said of itself: the questions that it answered, and its faults."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

FAULTS = ("error", "critical")


@dataclass(frozen=True)
class Answered:
    """A request: when it was answered (``time.monotonic()``), its milliseconds, and those of the stages of a question."""

    path: str
    ended: float
    milliseconds: float
    stages: dict[str, float]


def read_journal(log: Path) -> Iterator[Answered]:
    """The requests that were answered, in their order."""
    since = time.time() - time.monotonic()
    for entry in _entries(log):
        if isinstance(entry, dict) and entry.get("message") == "answered":
            ended = datetime.fromisoformat(entry["time"]).timestamp() - since
            yield Answered(entry["path"], ended, entry["milliseconds"], entry.get("stages", {}))


def faults_of(log: Path) -> list[str]:
    """What was an error, or raised what nobody caught. That a worker died is told, and is none."""
    faults = []
    for entry in _entries(log):
        if isinstance(entry, str):
            if entry.startswith("Traceback "):
                faults.append(entry)
        elif entry["level"] in FAULTS or "traceback" in entry:
            faults.append(f"{entry['message']}\n{entry.get('traceback', '')}")
    return faults


def _entries(log: Path) -> Iterator[dict[str, Any] | str]:
    """The objects of the lines that are some, and the other lines."""
    for line in log.read_text(errors="replace").splitlines():
        yield json.loads(line) if line.startswith("{") else line
