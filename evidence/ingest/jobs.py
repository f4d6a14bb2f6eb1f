"""Jobs: asked for here, done by a worker, in the order in which they were asked for.

A kind of job is a function with a name. It is told the run that it reports to and what it was asked with, gives a sentence
about what came of it, and must be safe to run twice: a worker may die at any moment, and the next one begins it again. ::

    @job_kind("refresh", lock="source {source}", once=True)
    def refresh(run: Run, *, source: int) -> str:
        pages = addresses_of(source)
        run.expect(len(pages))
        for page in pages:
            fetch(page)
            run.advance()
        return f"{len(pages)} pages"

    job_defer("refresh", title="Refresh the intranet", collection=intranet, source=3)

What is done by the clock is a periodic task of procrastinate's, which had better only ask for jobs: ::

    @app.periodic(cron="*/5 * * * *")
    @app.task(queueing_lock="refresh_due")
    def refresh_due(timestamp: int) -> None:
        for source in sources_due():
            job_defer("refresh", title=f"Refresh {source}", collection=source.collection, source=source.pk)

Modules with either are named in PROCRASTINATE_IMPORT_PATHS. Where a function raises TryLater, or the database goes away, it
is begun again after a while; JobFailure, or anything else, ends the job, which waits for a person to retry it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils.timezone import now
from procrastinate import BaseRetryStrategy, JobContext, RetryDecision
from procrastinate.contrib.django import app
from procrastinate.exceptions import JobAborted
from procrastinate.job_context import AbortReason
from procrastinate.jobs import Job as Queued

from evidence.configured import OtherModel
from evidence.language.embedder import ModelError
from evidence.models import Collection, Job, JobState
from evidence.models.jobs import UNFINISHED
from evidence.outages import CAN_PASS, told

SECONDS_BETWEEN_REPORTS = 1.0
FIRST_WAIT, LONGEST_WAIT = 5, 600
"""Seconds until a job is tried again: twice as many each time that it does not get any further."""

MOST_LOSSES = 8
"""How often a job is begun again without getting any further."""


class JobFailure(Exception):
    """A job cannot be done, and not later either unless a person does something: the message says what."""


class TryLater(Exception):
    """A job cannot be done now, for a reason that passes by itself. In ``seconds``, or else after a growing wait."""

    def __init__(self, reason: str, seconds: int | None = None) -> None:
        super().__init__(reason)
        self.seconds = seconds


class Run:
    """A job that is being done, for the function that does it: it says how far it is."""

    def __init__(self, job: Job, stopping: Callable[[], AbortReason | None]) -> None:
        self.job = job
        self._stopping = stopping
        self._reported = 0.0

    @property
    def collection(self) -> Collection:
        """The collection that the job is about. JobFailure when it has gone meanwhile."""
        if self.job.collection is None or self.job.collection.leaving:
            raise JobFailure("its collection has been removed")
        return self.job.collection

    def expect(self, total: int, *, done: int = 0) -> None:
        """There are so many things to do, of which so many were done by an earlier run."""
        self.job.total, self.job.done = total, done
        self._report()

    def advance(self, count: int = 1) -> None:
        """So many more are done. JobAborted when the job was cancelled or the worker is to stop: let it pass."""
        self.job.done += count
        self.job.losses = 0
        if time.monotonic() - self._reported > SECONDS_BETWEEN_REPORTS:
            self._report()
        if self._stopping():
            raise JobAborted

    def _report(self) -> None:
        self._reported = time.monotonic()
        self.job.save(update_fields=["total", "done", "losses"])


@dataclass(frozen=True)
class Kind:
    """How jobs of a kind are done. Two with the same lock never run at once. Of those to be done ``once``, none is added
    while the same one waits."""

    do: Callable[..., str]
    lock: str
    once: bool


KINDS: dict[str, Kind] = {}


def job_kind(name: str, *, lock: str = "", once: bool = False) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Make a function the one that does the jobs of this kind. ``lock`` may name the job's arguments and its collection:
    ``"collection {collection}"``."""

    def register(do: Callable[..., str]) -> Callable[..., str]:
        KINDS[name] = Kind(do, lock, once)
        return do

    return register


def job_defer(
    kind: str, *, title: str, collection: Collection | None = None, asked_by: User | None = None, **arguments: Any
) -> Job:
    """Ask for a job, as part of the transaction that this is in. The one that waits already, where it is to be done once."""
    app.perform_import_paths()
    if KINDS[kind].once:
        waiting = Job.objects.filter(state=JobState.WAITING)
        same = waiting.filter(kind=kind, collection=collection, arguments=arguments).first()
        if same is not None:
            return same
    with transaction.atomic():
        job = Job.objects.create(
            kind=kind, title=title[:300], collection=collection, asked_by=asked_by, arguments=arguments
        )
        job_queue(job)
    return job


def job_retry(job: Job) -> bool:
    """Have a failed job tried again; False when it has not failed."""
    with transaction.atomic():
        found = Job.objects.select_for_update().get(pk=job.pk)
        if found.state != JobState.FAILED:
            return False
        found.state, found.error, found.losses, found.finished = JobState.WAITING, "", 0, None
        found.save()
        job_queue(found)
    return True


def job_cancel(job: Job) -> bool:
    """Take back a job that waits, or have one that runs stop where it is; False when it has ended."""
    with transaction.atomic():
        found = Job.objects.select_for_update().get(pk=job.pk)
        if found.state not in UNFINISHED:
            return False
        if found.queued:
            app.job_manager.cancel_job_by_id(found.queued, abort=found.state == JobState.RUNNING)
        if found.state == JobState.WAITING:
            _cancelled(found)
    return True


def perform(pk: int, stopping: Callable[[], AbortReason | None] = lambda: None) -> None:
    """Do a job, and write down what came of it. One that has ended already, or was cancelled, is left as it is.

    What it raises is for the queue: TryLater or CAN_PASS when it is to be begun again, JobAborted when it was stopped.
    """
    job = _begin(pk)
    if job is None:
        return
    run = Run(job, stopping)
    try:
        if job.kind not in KINDS:
            raise JobFailure(f"no module of PROCRASTINATE_IMPORT_PATHS knows jobs of the kind {job.kind!r}")
        summary = KINDS[job.kind].do(run, **job.arguments)
    except JobAborted:
        if stopping() == AbortReason.SHUTDOWN:
            _save(job, JobState.WAITING)
        else:
            _cancelled(job)
        raise
    except (TryLater, *CAN_PASS) as error:
        if not connection.is_usable():
            connection.close()
        if not _put_off(job, str(error) if isinstance(error, TryLater) else told(error)):
            return
        raise TryLater(str(error), getattr(error, "seconds", None) or wait_after(job.losses)) from error
    except (JobFailure, ModelError, OtherModel) as error:
        _save(job, JobState.FAILED, error=str(error))
    except Exception as error:
        # A fault of this program: the queue writes the traceback into the log, and the page says where to look.
        _save(job, JobState.FAILED, error=f"{type(error).__name__}: {error} (the worker's log says more)")
        raise
    else:
        _save(job, JobState.DONE, summary=summary)


def wait_after(losses: int) -> int:
    """Seconds until a job that was begun so often without getting any further is tried again."""
    return int(min(FIRST_WAIT * 2 ** max(losses - 1, 0), LONGEST_WAIT))


class Again(BaseRetryStrategy):
    """What stopped with its worker goes on at once, what could not be done now waits; everything else has ended."""

    def get_retry_decision(self, *, exception: BaseException, job: Queued) -> RetryDecision | None:
        if isinstance(exception, JobAborted):
            return RetryDecision()
        if isinstance(exception, TryLater) and exception.seconds is not None:
            return RetryDecision(retry_in={"seconds": exception.seconds})
        # Not even that could be written down.
        return RetryDecision(retry_in={"seconds": FIRST_WAIT}) if isinstance(exception, CAN_PASS) else None


@app.task(name="evidence.job", pass_context=True, retry=Again())
def run_job(context: JobContext, job: int) -> None:
    """The one task that all kinds of jobs are in the queue as."""
    perform(job, context.abort_reason)


def job_queue(job: Job) -> None:
    """Give a job a place in the queue: its last one, if there was one, counts no more."""
    app.perform_import_paths()
    lock = KINDS[job.kind].lock if job.kind in KINDS else ""
    lock = lock.format(**{"collection": job.collection_id, **job.arguments})
    job.queued = run_job.configure(lock=lock or None).defer(job=job.pk)
    job.save(update_fields=["queued"])


def job_lost(job: Job, *, cancelled: bool) -> None:
    """Put down that a worker died over a job, and whether it is begun again."""
    if cancelled:
        _cancelled(job)
    else:
        _put_off(job, "the worker that did it died")


def _begin(pk: int) -> Job | None:
    with transaction.atomic():
        jobs = Job.objects.select_for_update(of=("self",)).select_related("collection")
        job = jobs.filter(pk=pk, state__in=UNFINISHED).first()
        if job is not None:
            job.state, job.error, job.started = JobState.RUNNING, "", job.started or now()
            job.save()
    return job


def _put_off(job: Job, reason: str) -> bool:
    """Whether a job that did not get through is to be begun again. It is not for ever."""
    job.losses += 1
    if job.losses >= MOST_LOSSES:
        _save(job, JobState.FAILED, error=f"{reason}; tried {job.losses} times without getting any further")
    else:
        _save(job, JobState.WAITING, error=reason)
    return job.losses < MOST_LOSSES


def _cancelled(job: Job) -> None:
    job.received.filter(status="").update(status="cancelled", content=None)
    _save(job, JobState.CANCELLED)


def _save(job: Job, state: JobState, *, summary: str = "", error: str = "") -> None:
    job.state, job.summary, job.error = state, summary, error
    job.finished = None if state in UNFINISHED else now()
    job.save(update_fields=["state", "summary", "error", "finished", "total", "done", "losses"])
