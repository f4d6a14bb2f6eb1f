from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
import sqlalchemy.exc
from django.contrib.auth.models import User
from django.db import OperationalError, transaction
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.exceptions import JobAborted
from procrastinate.job_context import AbortReason
from procrastinate.testing import InMemoryConnector

from evidence.ingest import jobs
from evidence.ingest.jobs import (
    MOST_LOSSES,
    Again,
    JobFailure,
    Run,
    TryLater,
    job_cancel,
    job_defer,
    job_kind,
    job_retry,
    perform,
    wait_after,
)
from evidence.language.embedder import ModelError
from evidence.models import Job, JobState
from tests.handbook import collection_of, work_off

pytestmark = pytest.mark.django_db


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A function that makes another one do the jobs of the kind "try", for this test."""
    monkeypatch.setattr(jobs, "KINDS", dict(jobs.KINDS))

    def register(do: Callable[[Run], str], **options: Any) -> None:
        job_kind("try", **options)(do)

    return register


@pytest.fixture
def memory() -> Iterator[InMemoryConnector]:
    """A queue that is no database."""
    with app.replace_connector(InMemoryConnector()) as replaced:
        assert isinstance(replaced.connector, InMemoryConnector)
        yield replaced.connector


def raising(error: Exception) -> Callable[[Run], str]:
    def do(run: Run) -> str:
        raise error

    return do


def deferred(**rest: Any) -> Job:
    return job_defer("try", title="Try", **rest)


def test_a_job_is_done_and_says_what_came_of_it(kind: Callable[..., None]) -> None:
    def do(run: Run, *, pages: int) -> str:
        run.expect(pages)
        for _ in range(pages):
            run.advance()
        return f"{pages} pages"

    kind(do)
    job = deferred(collection=collection_of(), pages=3)
    assert (job.state, job.started) == (JobState.WAITING, None)
    work_off()
    job.refresh_from_db()
    assert (job.state, job.summary, job.done, job.total) == (JobState.DONE, "3 pages", 3, 3)
    assert job.started
    assert job.finished


def test_a_job_that_has_ended_is_not_done_again(kind: Callable[..., None]) -> None:
    """A worker that dies between the end of a job and its leaving the queue."""
    done: list[int] = []
    kind(lambda run: str(done.append(run.job.pk)))
    job = deferred()
    perform(job.pk)
    perform(job.pk)
    assert done == [job.pk]


def test_an_asked_job_is_gone_with_its_transaction(kind: Callable[..., None]) -> None:
    """Files that are no longer there, and a job that looks for them."""
    kind(lambda run: "")
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        deferred()
        raise ZeroDivisionError
    assert not Job.objects.exists()
    assert not ProcrastinateJob.objects.exists()


def test_jobs_with_one_lock_follow_each_other(kind: Callable[..., None], memory: InMemoryConnector) -> None:
    """Two workers that write one document."""
    kind(lambda run, **rest: "", lock="collection {collection} {part}")
    here, there = collection_of(), collection_of("Other")
    for collection in (here, here, there):
        deferred(collection=collection, part=1)
    assert [queued["lock"] for queued in memory.jobs.values()] == [
        f"collection {here.pk} 1",
        f"collection {here.pk} 1",
        f"collection {there.pk} 1",
    ]


def test_the_same_job_waits_once(kind: Callable[..., None]) -> None:
    """Somebody who presses a button until something happens."""
    kind(lambda run, **rest: "", once=True)
    first = deferred(part=1)
    assert deferred(part=1) == first
    assert deferred(part=2) != first
    work_off()
    assert deferred(part=1) != first


@pytest.mark.parametrize("error", [JobFailure("do this"), ModelError("do this")])
def test_what_a_person_can_mend_is_told_and_not_tried_again(kind: Callable[..., None], error: Exception) -> None:
    kind(raising(error))
    job = deferred()
    perform(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.FAILED, "do this")


def test_a_fault_of_the_program_is_told_and_left_to_the_log(kind: Callable[..., None]) -> None:
    """A job of which nobody knows what became; or an error that no log has."""
    kind(raising(KeyError("missing")))
    job = deferred()
    with pytest.raises(KeyError):
        perform(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.FAILED, "KeyError: 'missing' (the worker's log says more)")


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("gone\nDETAIL: more"),
        psycopg.OperationalError("gone"),
        sqlalchemy.exc.OperationalError("SELECT 1", {}, psycopg.OperationalError("gone")),
    ],
)
def test_what_passes_by_itself_is_tried_again_later(kind: Callable[..., None], error: Exception) -> None:
    kind(raising(error))
    job = deferred()
    with pytest.raises(TryLater) as caught:
        perform(job.pk)
    assert caught.value.seconds == 5
    job.refresh_from_db()
    assert job.state == JobState.WAITING
    assert job.error.startswith("the database: ")
    assert job.error.endswith("gone")


def test_a_job_that_never_gets_further_is_given_up(kind: Callable[..., None]) -> None:
    kind(raising(TryLater("the site is away")))
    job = deferred()
    waits = []
    for _ in range(MOST_LOSSES - 1):
        with pytest.raises(TryLater) as caught:
            perform(job.pk)
        waits.append(caught.value.seconds)
    perform(job.pk)
    job.refresh_from_db()
    assert waits == [5, 10, 20, 40, 80, 160, 320]
    assert wait_after(99) == 600
    assert job.state == JobState.FAILED
    assert job.error == "the site is away; tried 8 times without getting any further"


def test_a_job_that_gets_further_each_time_is_not_given_up(kind: Callable[..., None]) -> None:
    def do(run: Run) -> str:
        run.advance()
        raise TryLater("once more")

    kind(do)
    job = deferred()
    for _ in range(MOST_LOSSES + 1):
        with pytest.raises(TryLater):
            perform(job.pk)


def test_only_what_can_pass_is_tried_again_by_the_queue() -> None:
    """A broken page, and a queue that tries it for ever."""
    again = Again()
    assert again.get_retry_decision(exception=KeyError(), job=None) is None  # type: ignore[arg-type]
    for error in (OperationalError(), TryLater("", 7), JobAborted()):
        assert again.get_retry_decision(exception=error, job=None) is not None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reason", "state"), [(AbortReason.SHUTDOWN, JobState.WAITING), (AbortReason.USER_REQUEST, JobState.CANCELLED)]
)
def test_a_job_stops_at_its_next_report(kind: Callable[..., None], reason: AbortReason, state: JobState) -> None:
    def do(run: Run) -> str:
        run.advance()
        return "not reached"

    kind(do)
    job = deferred()
    with pytest.raises(JobAborted):
        perform(job.pk, lambda: reason)
    job.refresh_from_db()
    assert (job.state, job.done, job.summary) == (state, 1, "")


def test_a_failed_job_is_retried_and_only_that(kind: Callable[..., None]) -> None:
    kind(raising(JobFailure("do this")))
    job = deferred()
    assert not job_retry(job)
    work_off()
    kind(lambda run: "done")
    assert job_retry(job)
    assert ProcrastinateJob.objects.count() == 2
    work_off()
    job.refresh_from_db()
    assert (job.state, job.error, job.summary) == (JobState.DONE, "", "done")


def test_a_waiting_job_is_cancelled_at_once(kind: Callable[..., None]) -> None:
    kind(lambda run: "done")
    job = deferred()
    assert job_cancel(job)
    assert not job_cancel(job)
    assert ProcrastinateJob.objects.get().status == "cancelled"
    perform(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED


def test_a_running_job_is_told_to_stop(kind: Callable[..., None]) -> None:
    def do(run: Run) -> str:
        ProcrastinateJob._base_manager.filter(pk=run.job.queued).update(status="doing")
        assert job_cancel(run.job)
        return ""

    kind(do)
    deferred()
    work_off()
    assert ProcrastinateJob.objects.get().abort_requested


def test_a_kind_that_nobody_knows_fails_with_the_setting(kind: Callable[..., None]) -> None:
    """A module that was taken off the settings, and its jobs that wait for ever."""
    job = Job.objects.create(kind="other", title="Other")
    perform(job.pk)
    job.refresh_from_db()
    assert "PROCRASTINATE_IMPORT_PATHS" in job.error


def test_the_person_and_the_title_are_kept(kind: Callable[..., None]) -> None:
    kind(lambda run: "")
    person = User.objects.create_user("anna")
    job = job_defer("try", title="T" * 400, asked_by=person)
    assert (job.asked_by, len(job.title)) == (person, 300)
