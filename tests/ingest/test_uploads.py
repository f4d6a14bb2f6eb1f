from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from procrastinate.exceptions import JobAborted
from procrastinate.job_context import AbortReason

from evidence.ingest import uploads
from evidence.ingest.jobs import job_cancel, job_retry, perform
from evidence.ingest.readers import parser_of
from evidence.ingest.uploads import TOGETHER, upload_receive
from evidence.language.embedder import ModelError
from evidence.models import Document, Job, JobState, Received, Revision
from evidence.store.repeats import FEWEST
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, NEW_GATE, collection_of, page, take_in, work_off

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("embedder")]


def received(**pages: bytes) -> Job:
    """An upload of files by their names."""
    files = [SimpleUploadedFile(f"{name}.html", content) for name, content in pages.items()]
    return upload_receive(collection=collection_of(), files=files)


def statuses(job: Job) -> list[str]:
    return list(job.received.values_list("status", flat=True))


def test_of_twenty_files_three_bad_ones_are_refused_alone() -> None:
    """One file that cannot be read keeps the others out, or nobody learns which it was."""
    pages = {f"p{number}": page(f"Page {number}", Part=f"This is page {number}.") for number in range(17)}
    job = received(**pages, empty=b" ", pdf=b"%PDF-1.7", zip=b"PK\x03\x04")
    assert (job.total, Document.objects.count()) == (20, 0)
    work_off()
    job.refresh_from_db()
    assert (job.state, job.done, job.summary) == (JobState.DONE, 20, "17 new; 3 refused")
    refused = dict(job.received.filter(status="refused").values_list("name", "reason"))
    assert refused["empty.html"] == "is empty"
    assert "PDF" in refused["pdf.html"]
    assert not Received.objects.exclude(content=None).exists()


def test_an_archive_is_a_row_for_each_document() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("a/gate.html", GATE)
        packed.writestr("kitchen.html", KITCHEN)
        packed.writestr("../up.html", GATE)
    files = [SimpleUploadedFile("pages.zip", archive.getvalue())]
    job = upload_receive(collection=collection_of(), files=files)
    assert job.title == "Upload to Handbook: pages.zip"
    work_off()
    assert dict(job.received.values_list("name", "status")) == {
        "a/gate.html": "new",
        "kitchen.html": "new",
        "../up.html": "refused",
    }


def test_an_archive_that_unpacks_to_too_much_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few kilobytes that fill the database's disk."""
    monkeypatch.setattr(uploads, "largest_file", lambda: len(GATE))
    monkeypatch.setattr(uploads, "MOST_TOGETHER", 1)
    job = received(gate=GATE, kitchen=KITCHEN, other=NEW_GATE)
    work_off()
    assert statuses(job) == ["new", "refused"]
    assert "too much for one upload" in job.received.get(status="refused").reason


def test_two_files_of_one_name_have_an_outcome_each() -> None:
    job = upload_receive(
        collection=collection_of(),
        files=[SimpleUploadedFile("gate.html", content) for content in (GATE, NEW_GATE)],
    )
    work_off()
    assert statuses(job) == ["new", "changed"]


def test_a_file_over_which_workers_die_is_found_and_refused_alone() -> None:
    """A page for which the memory is too small, and all that was uploaded with it waits behind it for ever."""
    job = received(gate=GATE, kitchen=KITCHEN)
    job.received.filter(name="gate.html").update(starts=len(TOGETHER))
    job.received.filter(name="kitchen.html").update(starts=1)
    work_off()
    assert statuses(job) == ["refused", "new"]
    assert "too large for the memory" in job.received.get(status="refused").reason


def test_what_a_worker_hands_back_counts_as_never_begun() -> None:
    """Deployments that make files look as if workers had died over them."""
    job = received(gate=GATE, kitchen=KITCHEN)
    with pytest.raises(JobAborted):
        perform(job.pk, lambda: AbortReason.SHUTDOWN)
    assert sorted(job.received.values_list("status", "starts")) == [("", 0), ("new", 1)]
    work_off()
    job.refresh_from_db()
    assert (job.state, job.done, Revision.objects.count()) == (JobState.DONE, 2, 2)


def test_files_stay_until_a_failed_job_is_retried(embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upload that must be sent again because of what an administrator has mended meanwhile."""

    def no_model(windows: Any) -> Any:
        raise ModelError("install it")

    monkeypatch.setattr(embedder, "embed_windows", no_model)
    job = received(gate=GATE)
    work_off()
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.FAILED, "install it")
    monkeypatch.undo()
    monkeypatch.setattr("evidence.configured.embedder_named", lambda name: embedder)
    monkeypatch.setattr("evidence.ingest.rebuild.embedder_named", lambda name: embedder)
    assert job_retry(job)
    work_off()
    assert statuses(job) == ["new"]


def test_a_cancelled_upload_keeps_no_bytes() -> None:
    job = received(gate=GATE)
    job_cancel(job)
    row = job.received.get()
    assert (row.status, row.content) == ("cancelled", None)
    work_off()
    assert not Document.objects.exists()


def test_nothing_goes_into_a_collection_that_is_leaving() -> None:
    job = received(gate=GATE)
    collection = collection_of()
    collection.leaving = True
    collection.save()
    work_off()
    job.refresh_from_db()
    assert (job.state, job.error) == (JobState.FAILED, "its collection has been removed")


def test_documents_of_an_older_parser_are_read_anew() -> None:
    """An upgrade that reads tables better, and pages that never learn of it because they did not change."""
    from evidence.ingest.jobs import job_defer

    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    Revision.objects.filter(document__address="gate.html").update(parser="older")
    job = job_defer("reread", title="Read anew", collection=collection_of())
    work_off()
    job.refresh_from_db()
    assert (job.state, job.summary, job.total) == (JobState.DONE, "1 documents are read anew", 1)
    gate = Document.objects.get(address="gate.html").current
    assert gate is not None
    assert (gate.number, gate.parser) == (2, parser_of("html"))


def test_the_text_of_removed_documents_is_found_in_those_that_stay() -> None:
    """What stands on every page is searched in the first one only; removing that one would lose it."""
    from evidence.ingest.jobs import job_defer

    foot = "Ask the porter for the bronze key."
    pages = {
        f"p{number}.html": page(f"Page {number}", Own=f"Only page {number}.", Foot=foot) for number in range(FEWEST + 2)
    }
    take_in(pages)
    gone = list(Document.objects.order_by("pk").values_list("pk", flat=True)[:1])
    job_defer("documents", title="Remove", collection=collection_of(), documents=gone)
    work_off()
    assert Document.objects.count() == FEWEST + 1
    assert Job.objects.get().state == JobState.DONE
