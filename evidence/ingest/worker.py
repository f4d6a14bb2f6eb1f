"""The worker: does the jobs of the queue until it is told to stop, whatever becomes of the database meanwhile."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.core.exceptions import ImproperlyConfigured
from django.db import InterfaceError, OperationalError, close_old_connections, connection, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.timezone import now
from procrastinate import JobContext, PsycopgConnector
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.contrib.django.utils import connector_params
from procrastinate.exceptions import ConnectorException, UniqueViolation
from procrastinate.jobs import Status
from procrastinate.worker import Worker as Process

from evidence.ingest.jobs import job_lost, job_queue
from evidence.models import Job, Worker
from evidence.models.jobs import UNFINISHED

SECONDS_BETWEEN_HEARTBEATS = 3.0
SECONDS_OF_SILENCE = 15
"""A worker that was not heard of for so long has died. Where it lives all the same, its job is done twice, which is safe."""

SECONDS_BETWEEN_ROUNDS = 3.0
SECONDS_TO_FINISH = 5.0
"""When it is to stop, a job may go on for so long; then it goes back into the queue at its next report."""

LONGEST_WAIT = 30.0
"""Seconds between two attempts at a database that has gone."""

GONE = (ConnectorException, OperationalError, InterfaceError, ImproperlyConfigured)

logger = logging.getLogger(__name__)


async def work(*, concurrency: int, once: bool = False) -> None:
    """Do jobs, so many at a time, until SIGTERM or SIGINT; with ``once``, until none waits that could be done now.

    When the database goes away it is waited for, the embedded one is started again. Only what is wrong at the very
    beginning is raised.
    """
    stop = asyncio.Event()
    _stop_by_signal(stop)
    await _in_thread(connection.ensure_connection)
    wait = 1.0
    while not stop.is_set():
        began = time.monotonic()
        try:
            await _in_thread(connection.ensure_connection)
            await _work_connected(concurrency, stop, once)
        except GONE as error:
            logger.warning("the database cannot be reached: %s", error)
        if not stop.is_set():
            wait = 1.0 if time.monotonic() - began > LONGEST_WAIT else min(wait * 2, LONGEST_WAIT)
            await asyncio.wait([asyncio.ensure_future(stop.wait())], timeout=wait)


async def _work_connected(concurrency: int, stop: asyncio.Event, once: bool) -> None:
    """A worker of procrastinate's, as long as the database stays."""
    ended = Ended()
    connector = PsycopgConnector(kwargs=await _in_thread(connector_params), timeout=10, min_size=1, max_size=4)
    # Not replace_connector: a job that asks for another does so on Django's connection, in its transaction.
    worker = app.with_connector(connector)
    async with worker.open_async():
        tasks = [
            asyncio.create_task(done)
            for done in (
                stop.wait(),
                _rounds(ended, stop, once),
                worker.run_worker_async(
                    concurrency=concurrency,
                    install_signal_handlers=False,
                    shutdown_graceful_timeout=SECONDS_TO_FINISH,
                    update_heartbeat_interval=SECONDS_BETWEEN_HEARTBEATS,
                    stalled_worker_timeout=SECONDS_OF_SILENCE,
                    worker_middleware=[ended.note],
                ),
            )
        ]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, Exception):
                raise outcome


async def _rounds(ended: Ended, stop: asyncio.Event, once: bool) -> None:
    """Say that this worker lives, and see to those that do not."""
    started = now()
    while True:
        await _in_thread(lambda: be_seen(started))
        await _in_thread(lambda: take_up_lost(ended.unwritten()))
        await asyncio.sleep(1.0 if once else SECONDS_BETWEEN_ROUNDS)
        if once and await _in_thread(is_empty):
            stop.set()


def be_seen(started: Any) -> None:
    """Put down that this process is a worker, and lives."""
    name = f"{socket.gethostname()} {os.getpid()}"
    Worker.objects.update_or_create(
        name=name, defaults={"seen": now()}, create_defaults={"started": started, "seen": now()}
    )


def is_empty() -> bool:
    """Whether nothing runs, and nothing waits but for its time to be tried again."""
    due = Q(status="todo") & (Q(scheduled_at=None) | Q(scheduled_at__lte=Now()))
    return not ProcrastinateJob.objects.filter(due | Q(status="doing")).exists()


def take_up_lost(unwritten: Q | None = None) -> None:
    """Put back into the queue what a worker took and will not finish; ``unwritten`` are such places of this one."""
    silent = Q(worker=None) | Q(worker__last_heartbeat__lt=Now() - timedelta(seconds=SECONDS_OF_SILENCE))
    with transaction.atomic():
        # Of two workers that see the same, one takes it up.
        doing = ProcrastinateJob.objects.select_for_update(skip_locked=True, of=("self",)).filter(status="doing")
        for queued in doing.filter(silent | (unwritten or Q(pk=None))):
            job = Job.objects.select_for_update(of=("self",)).filter(queued=queued.pk, state__in=UNFINISHED).first()
            if job is not None:
                job_lost(job, cancelled=queued.abort_requested)
            _back_into_the_queue(queued.pk)
        places = ProcrastinateJob.objects.filter(status__in=["todo", "doing"]).values("pk")
        for job in (
            Job.objects.select_for_update(skip_locked=True, of=("self",)).unfinished().exclude(queued__in=places)
        ):
            job_queue(job)


def _back_into_the_queue(pk: int) -> None:
    try:
        with transaction.atomic():
            app.job_manager.retry_job_by_id(pk, retry_at=now())
    except UniqueViolation:
        # Something done by the clock, which waits there for the next time already.
        finish = async_to_sync(app.job_manager.finish_job_by_id_async)
        finish(job_id=pk, status=Status.FAILED, delete_job=False)


class Ended:
    """The jobs that have ended in this process. That should be in the queue soon; with the database it may be lost, and the
    job would count as running for ever."""

    def __init__(self) -> None:
        self._ended: dict[int, tuple[int | None, float]] = {}

    async def note(self, do: Callable[[], Awaitable[Any]], context: JobContext, worker: Process) -> Any:
        """procrastinate's middleware: around each job."""
        assert context.job.id is not None  # noqa: S101 (it came from the queue)
        number = worker.worker_id
        self._ended.pop(context.job.id, None)
        try:
            return await do()
        finally:
            self._ended[context.job.id] = (number, time.monotonic())

    def unwritten(self) -> Q:
        """Those that ended so long ago that the queue must know by now, where it still has them with this worker."""
        long_ago = time.monotonic() - SECONDS_OF_SILENCE
        found = Q(pk=None)
        for pk, (number, at) in list(self._ended.items()):
            if at < long_ago:
                found |= Q(pk=pk, worker=number)
                del self._ended[pk]
        return found


async def _in_thread(do: Callable[[], Any]) -> Any:
    """Django's connection of the one thread that this uses is looked at before: it may have died."""

    def fresh() -> Any:
        close_old_connections()
        return do()

    return await sync_to_async(fresh)()


def _stop_by_signal(stop: asyncio.Event) -> None:
    """The first signal lets it end in order, the second one at once."""
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
