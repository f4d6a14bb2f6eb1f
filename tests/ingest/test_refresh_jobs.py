"""Sources that a worker keeps current."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils.timezone import now

from evidence.ingest import work
from evidence.models import Document, Job, JobState, Source
from tests.handbook import GATE, collection_of, work_off


@pytest.fixture
def source(tmp_path: Path, settings: Any, embedder: object, db: None) -> Source:
    settings.SPIRE_FOLDERS = [tmp_path]
    (tmp_path / "gate.html").write_bytes(GATE)
    return Source.objects.create(
        collection=collection_of(), kind="folder", where=str(tmp_path), every_hours=24, next_run=now()
    )


def test_a_source_that_is_due_is_refreshed_by_the_worker_once(source: Source) -> None:
    """A clock that asks for the same crawl each minute until it has come to its end."""
    work.refresh_due(0)
    work.refresh_due(60)
    assert Job.objects.count() == 1
    work_off()
    job = Job.objects.get()
    assert (job.state, job.summary) == (JobState.DONE, "1 new; 0 documents left")
    assert Document.objects.get().address == "gate.html"
    work.refresh_due(120)
    assert Job.objects.count() == 1


def test_a_source_that_is_being_refreshed_is_not_asked_for_again(source: Source) -> None:
    job = work.refresh_ask(source)
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING)
    work.refresh_due(0)
    assert Job.objects.count() == 1


def test_a_source_that_cannot_be_reached_says_why_and_is_due_at_its_next_time(source: Source) -> None:
    Source.objects.update(where=source.where + "/elsewhere")
    work.refresh_ask(source)
    work_off()
    job = Job.objects.get()
    assert job.state == JobState.FAILED
    assert "elsewhere" in job.error
    source.refresh_from_db()
    assert source.next_run is not None
    assert source.next_run > now() + timedelta(hours=23)


def test_a_job_whose_source_was_removed_has_nothing_to_do(source: Source) -> None:
    work.refresh_ask(source)
    source.delete()
    work_off()
    assert Job.objects.get().summary == "the source is no more"
