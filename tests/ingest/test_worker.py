"""Real workers, and what happens to them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils.timezone import now
from procrastinate.contrib.django.models import ProcrastinateJob

from evidence.ingest.jobs import MOST_LOSSES, job_cancel, job_defer
from evidence.ingest.uploads import upload_receive
from evidence.ingest.work import forget, refresh_ask
from evidence.ingest.worker import take_up_lost
from evidence.models import Document, Job, JobState, Received, Revision, Source, Worker
from tests.handbook import collection_of, page
from tests.ingest.workers import empty_queue, ended, worker


@pytest.fixture
def queue(transactional_db: None) -> Iterator[None]:
    """What a worker can see, because it is committed; and nothing of it afterwards."""
    with empty_queue():
        yield


def upload(names: range, collection: str = "Handbook") -> Job:
    files = [
        SimpleUploadedFile(f"{name}.html", page(f"Page {name}", Part=f"Page {name} is number {name}."))
        for name in names
    ]
    return upload_receive(collection=collection_of(collection), files=files)


def all_is_in(job: Job, count: int) -> bool:
    """Nothing lost, nothing doubled, and nothing put aside any longer."""
    job.refresh_from_db()
    assert (job.state, job.done, job.total, job.error) == (JobState.DONE, count, count, "")
    assert not Received.objects.exclude(content=None).exists()
    assert not Received.objects.exclude(status__in=["new", "unchanged"]).exists()
    return Document.objects.filter(current__isnull=False).count() == Revision.objects.count() == count


@pytest.mark.usefixtures("queue")
def test_what_a_killed_worker_had_begun_is_done_by_the_next_one() -> None:
    """Memory runs out in the middle of an upload, and 17 of its pages are all that anybody ever finds."""
    job = upload(range(30))
    assert ended(worker(at=17, accident="killed")) == -9
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
    assert 17 <= Document.objects.count() < 30
    assert ended(worker()) == 0
    assert all_is_in(job, 30)


@pytest.mark.usefixtures("queue")
@pytest.mark.parametrize("accident", ["told to end", "cut off"])
def test_a_job_goes_on_after_its_worker_was(accident: str) -> None:
    """A deployment, or a database that restarts, and an upload that has failed or is said to be running for ever."""
    job = upload(range(12))
    assert ended(worker(at=5, accident=accident)) == 0
    job.refresh_from_db()
    if accident == "told to end":
        assert (job.state, job.error) == (JobState.WAITING, "")
        assert 5 <= Document.objects.count() < 12
        assert ended(worker()) == 0
    assert all_is_in(job, 12)


@pytest.mark.usefixtures("queue")
def test_two_workers_share_the_jobs() -> None:
    """Each page twice, or two that wait for each other for ever."""
    jobs = [upload(range(8)), upload(range(4, 12)), upload(range(20, 28), "Other"), upload(range(28, 32), "Other")]
    both = [worker(), worker()]
    assert [ended(process) for process in both] == [0, 0]
    for job in jobs:
        job.refresh_from_db()
    assert {job.state for job in jobs} == {JobState.DONE}
    assert jobs[1].summary == "4 new; 4 unchanged"
    assert Revision.objects.count() == Document.objects.count() == 12 + 12
    assert Worker.objects.filter(seen__gt=now() - timedelta(minutes=2)).count() == 2


@pytest.mark.usefixtures("queue")
def test_a_refresh_whose_worker_was_killed_is_gone_on_with(tmp_path: Path) -> None:
    """A source that counts as being refreshed for ever, or whose pages are there twice."""
    for name in range(12):
        (tmp_path / f"{name}.html").write_bytes(page(f"Page {name}", Part=f"Page {name} is number {name}."))
    source = Source.objects.create(collection=collection_of(), kind="folder", where=str(tmp_path))
    job = refresh_ask(source)
    assert ended(worker(at=5, accident="killed")) == -9
    assert 5 <= Document.objects.count() < 12
    source.refresh_from_db()
    assert source.is_running
    assert ended(worker()) == 0
    job.refresh_from_db()
    source.refresh_from_db()
    assert (job.state, job.summary, source.is_running) == (JobState.DONE, "12 new; 0 documents left", False)
    assert Document.objects.filter(current__isnull=False).count() == Revision.objects.count() == 12


@pytest.mark.usefixtures("queue")
def test_of_two_workers_the_other_one_does_what_one_was_killed_over() -> None:
    """A second machine that looks on while a job waits for the first one, which is gone."""
    jobs = [upload(range(8)), upload(range(8, 16), "Other")]
    one = worker(at=3, accident="killed")
    other = worker()
    assert ended(one) in (-9, 0)  # the other one may have been so fast that there was nothing left
    assert ended(other) == 0
    for job in jobs:
        job.refresh_from_db()
    assert {(job.state, job.done) for job in jobs} == {(JobState.DONE, 8)}
    assert Revision.objects.count() == Document.objects.count() == 16


@pytest.fixture
def taken(db: None) -> Job:
    """A job that a worker took from the queue and was killed over, so that the queue knows no worker for it."""
    job = job_defer("contexts", title="Contexts", collection=collection_of())
    ProcrastinateJob._base_manager.filter(pk=job.queued).update(status="doing")
    job.state = JobState.RUNNING
    job.save()
    return job


def place_of(job: Job) -> str:
    """Where a job is in the queue."""
    return ProcrastinateJob.objects.get(pk=Job.objects.get(pk=job.pk).queued).status


def test_a_lost_job_waits_again_and_says_why(taken: Job) -> None:
    take_up_lost()
    taken.refresh_from_db()
    assert (taken.state, taken.error, place_of(taken)) == (JobState.WAITING, "the worker that did it died", "todo")


def test_a_job_over_which_every_worker_dies_is_given_up(taken: Job) -> None:
    """A machine that does nothing else any more than to begin the one job that is too large for it."""
    taken.losses = MOST_LOSSES - 1
    taken.save()
    take_up_lost()
    taken.refresh_from_db()
    assert taken.state == JobState.FAILED
    assert taken.error == "the worker that did it died; tried 8 times without getting any further"


def test_a_lost_job_that_was_to_stop_is_cancelled(taken: Job) -> None:
    """Whoever cancelled it sees it run again, or for ever."""
    assert job_cancel(taken)
    take_up_lost()
    taken.refresh_from_db()
    assert taken.state == JobState.CANCELLED


@pytest.mark.django_db
def test_a_job_without_a_place_in_the_queue_gets_one() -> None:
    """A queue that was emptied by hand, or restored from elsewhere, and jobs that wait for ever."""
    job = job_defer("contexts", title="Contexts", collection=collection_of())
    Job.objects.update(queued=None)
    take_up_lost()
    assert place_of(job) == "todo"
    assert ProcrastinateJob.objects.count() == 2


@pytest.mark.django_db
def test_old_jobs_are_forgotten_once_they_have_ended() -> None:
    """A table of everything that was ever done, in which nobody finds what matters."""
    long_ago = now() - timedelta(days=31)
    for state, finished in (("done", long_ago), ("failed", now()), ("waiting", None), ("cancelled", long_ago)):
        Job.objects.create(kind="contexts", title=state, state=state, finished=finished)
    Worker.objects.create(name="gone", started=long_ago, seen=long_ago)
    forget(0)
    assert set(Job.objects.values_list("title", flat=True)) == {"failed", "waiting"}
    assert not Worker.objects.exists()


@pytest.mark.usefixtures("queue")
def test_what_has_ended_long_ago_is_forgotten_by_the_queue() -> None:
    """A queue that grows for ever, and an error in the log each hour."""
    upload(range(1))
    run_at = forget.defer(timestamp=0)
    assert ended(worker()) == 0
    assert set(ProcrastinateJob.objects.values_list("status", flat=True)) == {"succeeded"}
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_events SET at = at - interval '2 days' WHERE job_id <> %s", [run_at])
    forget.defer(timestamp=1)
    assert ended(worker()) == 0
    assert not ProcrastinateJob.objects.filter(task_name="evidence.job").exists()
    assert ProcrastinateJob.objects.filter(pk=run_at, status="succeeded").exists()


@pytest.mark.usefixtures("queue")
def test_once_tells_of_what_failed(capsys: pytest.CaptureFixture[str]) -> None:
    """A nightly run that ends well, whatever happens in it."""
    job_defer("contexts", title="Contexts of nothing")
    assert ended(worker()) == 1
    said = capsys.readouterr().out
    assert "Contexts of nothing: its collection has been removed\n" in said
    assert "some jobs failed" in said


def test_a_worker_does_something_at_a_time() -> None:
    with pytest.raises(CommandError, match="1 or more"):
        call_command("work", concurrency=0)
