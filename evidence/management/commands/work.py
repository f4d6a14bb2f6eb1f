"""``work``: a worker, which does what the pages ask for."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import ProgrammingError, connection
from django.utils.timezone import now

from evidence.ingest.worker import work
from evidence.models import Job, JobState

CONCURRENCY = 3
"""A crawl takes hours and hardly any time of the processor: an upload should not wait for two of them."""


class Command(BaseCommand):
    help = "Does the jobs that wait (uploads, removals, indexes …) until it is stopped. `serve` starts one by itself."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--once", action="store_true", help="end when no job waits; for cron, and for scripts")
        parser.add_argument("--concurrency", type=int, default=CONCURRENCY, metavar="N", help="jobs at a time")

    def handle(self, *, once: bool, concurrency: int, **options: Any) -> None:
        if concurrency < 1:
            raise CommandError("--concurrency must be 1 or more")
        try:
            Job.objects.exists()
        except ProgrammingError as error:
            raise CommandError("the database is not up to date: run manage.py migrate") from error
        began = now()
        # It would lie idle while the worker works, and may be dead afterwards.
        connection.close()
        asyncio.run(work(concurrency=concurrency, once=once))
        failed = Job.objects.filter(state=JobState.FAILED, finished__gte=began) if once else Job.objects.none()
        for job in failed:
            self.stderr.write(f"{job.title}: {job.error}")
        if failed:
            raise CommandError("some jobs failed, as said above; the status page has them with “retry”", returncode=1)
