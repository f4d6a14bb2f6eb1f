"""Whether anybody does the jobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.timezone import now

from evidence.models import Worker

ALIVE = timedelta(seconds=30)
"""A worker says every few seconds that it lives."""


@dataclass(frozen=True)
class Workers:
    """Whether anybody does the jobs: how many workers there are now, and when the last one was seen (None: never)."""

    alive: int
    seen: datetime | None


def workers() -> Workers:
    """The workers of the site."""
    last = Worker.objects.order_by("-seen").first()
    return Workers(Worker.objects.filter(seen__gt=now() - ALIVE).count(), last.seen if last else None)
