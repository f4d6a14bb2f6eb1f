from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evidence.models import Collection, Document, Job, Revision
from tests.handbook import GATE, NEW_GATE, collection_of, rows_of, take_in, work_off
from tests.web.conftest import document_at, seen, select, text_of

CASES = Path(__file__).parent.parent / "cases"
ONE_OF_MANY = next(CASES.glob("62-*")).joinpath("input.html").read_bytes()
DELETED = next(CASES.glob("54-*")).joinpath("input.html").read_bytes()


def file(name: str, content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, "text/html")


def upload(client: Client, *files: SimpleUploadedFile, collection: Collection | None = None) -> Any:
    """Send files, have a worker take them in, and look at the page that the upload led to."""
    url = reverse("admin:evidence_collection_upload", args=[(collection or collection_of()).pk])
    response = client.post(url, {"documents": list(files)})
    if response.status_code != 302:
        return response
    work_off()
    return client.get(response["Location"])


def outcomes(response: Any) -> dict[str, str]:
    """The outcome of each page, as the job's page lists it."""
    return {text_of(row[0]): text_of(row[1]) for row in select(seen(response), ".files tbody tr")}


def test_uploaded_pages_are_taken_in_and_listed(administrator: Client, handbook: Collection) -> None:
    """One file that cannot be read must be named, and not keep the others out."""
    response = upload(
        administrator, file("gate.html", GATE), file("empty.html", b""), file("a.pdf", b"%PDF-1.7"), file("b.xyz", b"x")
    )
    listed = outcomes(response)
    assert listed.pop("gate.html") == "new"
    assert list(listed) == ["empty.html", "a.pdf", "b.xyz"]
    assert all(outcome.startswith("refused: ") for outcome in listed.values())
    assert "done 4 of 4 1 new; 3 refused" in text_of(seen(response))
    assert outcomes(upload(administrator, file("gate.html", GATE))) == {"gate.html": "unchanged"}
    assert outcomes(upload(administrator, file("gate.html", NEW_GATE))) == {"gate.html": "changed"}


def test_an_archive_is_taken_in_by_its_members(administrator: Client, handbook: Collection) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("hr/gate.html", GATE)
        packed.writestr("../up.html", GATE)
    listed = outcomes(upload(administrator, SimpleUploadedFile("pages.zip", archive.getvalue())))
    assert listed["hr/gate.html"] == "new"
    assert listed["../up.html"].startswith("refused: ")


def test_150_files_in_one_form_are_taken_in(administrator: Client, handbook: Collection) -> None:
    """Case 62: a limit of 100 parts would answer with a bare 400."""
    files = [file(f"{number}.html", ONE_OF_MANY.replace(b"one", b"%d" % number)) for number in range(150)]
    assert list(outcomes(upload(administrator, *files)).values()) == ["new"] * 150


def test_too_many_files_are_refused_with_the_limit(administrator: Client, handbook: Collection, settings: Any) -> None:
    """Case 62: whoever chose too many must read how many are allowed, whichever check they meet first."""
    settings.SPIRE_MOST_FILES = 3
    response = upload(administrator, *(file(f"{number}.html", GATE) for number in range(4)))
    assert "3 are taken at once" in response.content.decode()
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 4
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.get(username="administrator"))
    response = upload(strict, *(file(f"{number}.html", GATE) for number in range(6)))
    assert "more than 3 files" in text_of(seen(response))
    assert not Document.objects.exists()


def test_the_form_says_what_it_takes(administrator: Client, handbook: Collection, settings: Any) -> None:
    settings.SPIRE_MOST_FILES, settings.SPIRE_LARGEST_FILE = 123, 45
    content = text_of(seen(administrator.get(reverse("admin:evidence_collection_upload", args=[handbook.pk]))))
    assert "at most 123 files at once, each up to 45 MB" in content


def test_an_upload_without_files_is_told(administrator: Client, handbook: Collection) -> None:
    assert "This field is required" in upload(administrator).content.decode()


def test_an_upload_needs_the_right_and_the_token(client: Client, handbook: Collection, reader: User) -> None:
    """The check for forged requests is the view's own there; leaving it out would let any site upload."""
    client.force_login(reader)
    assert "/login/" in upload(client, file("gate.html", GATE)).request["PATH_INFO"]
    reader.is_staff = True
    reader.save()
    assert upload(client, file("gate.html", GATE)).status_code == 404
    handbook.managers.add(reader)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(reader)
    assert upload(strict, file("gate.html", GATE)).status_code == 403
    assert not Job.objects.exists()
    assert not Document.objects.exists()
    assert upload(client, file("gate.html", GATE)).status_code == 200
    assert Document.objects.count() == 1


@pytest.mark.parametrize("model", ["collection", "document"])
def test_a_list_costs_the_same_for_one_and_for_many(administrator: Client, handbook: Collection, model: str) -> None:
    """A query a row would make the list of a large collection unusable, and the bytes of the pages fill the memory."""
    url = reverse(f"admin:evidence_{model}_changelist")

    def queries() -> list[str]:
        with CaptureQueriesContext(connection) as captured:
            assert administrator.get(url).status_code == 200
        return [query["sql"] for query in captured.captured_queries]

    take_in({"gate.html": GATE})
    few = queries()
    take_in({f"{number}.html": ONE_OF_MANY.replace(b"one", b"%d" % number) for number in range(8)})
    collection_of("Second"), collection_of("Third")
    assert len(queries()) == len(few)
    assert not [sql for sql in few if '"content"' in sql]


def test_a_document_is_read_there_and_not_changed(administrator: Client, handbook: Collection) -> None:
    take_in({"gate.html": GATE})
    document = document_at("gate.html")
    url = reverse("admin:evidence_document_change", args=[document.pk])
    page = seen(administrator.get(url))
    assert not [select(page, f"#content {field}") for field in ("input[type=text]", "textarea") if select(page, field)]
    assert "gate.html" in text_of(page)
    assert administrator.post(url, {"title": "Other"}).status_code == 403
    assert administrator.get(reverse("admin:evidence_document_add")).status_code == 403


def test_the_last_refusal_is_shown_beside_the_document(administrator: Client, handbook: Collection) -> None:
    """The old revision goes on serving; without a word nobody would know that the new page never came in."""
    take_in({"gate.html": GATE})
    upload(administrator, file("gate.html", b""))
    url = reverse("admin:evidence_document_changelist")
    assert "last ingest failed: is empty" in text_of(seen(administrator.get(url)))
    assert "gate.html" in text_of(select(seen(administrator.get(url, {"ingest": "failed"})), "#result_list")[0])
    assert not select(seen(administrator.get(url, {"ingest": "done"})), "#result_list tbody tr")


def test_a_deleted_document_is_gone_at_once(administrator: Client, handbook: Collection) -> None:
    """Case 54: neither the next question nor the old addresses find anything of it, and nothing derived is left."""
    take_in({"rota.html": DELETED, "gate.html": GATE})
    question = {"q": "When does the Quetzal shift start?"}
    assert "shift starts at four" in text_of(seen(administrator.get("/", question)))
    document = document_at("rota.html")
    revision = document.current
    assert revision is not None
    delete = reverse("admin:evidence_document_delete", args=[document.pk])
    assert administrator.post(delete, {"post": "yes"}).status_code == 302
    assert "shift starts" not in text_of(select(seen(administrator.get("/", question)), "main")[0])
    for view in ("document", "original"):
        assert administrator.get(reverse(view, args=[document.pk])).status_code == 404
    assert not Revision.objects.filter(pk=revision.pk).exists()
    assert set(rows_of(revision.pk).values()) == {0}


def test_a_deleted_collection_takes_all_with_it(administrator: Client, handbook: Collection) -> None:
    """Its documents are counted before, not listed: their bytes together may not fit into the memory."""
    take_in({"rota.html": DELETED, "gate.html": GATE})
    take_in({"gate.html": NEW_GATE})
    delete = reverse("admin:evidence_collection_delete", args=[handbook.pk])
    with CaptureQueriesContext(connection) as captured:
        page = text_of(seen(administrator.get(delete)))
        assert administrator.post(delete, {"post": "yes"}).status_code == 302
    assert "Documents: 2" in page
    assert "vectors: 3" in page
    assert not [query for query in captured.captured_queries if '"content"' in query["sql"]]
    assert not Document.objects.exists()
    assert not Revision.objects.exists()


def test_chosen_documents_are_deleted_together(administrator: Client, handbook: Collection) -> None:
    take_in({"rota.html": DELETED, "gate.html": GATE, "other.html": NEW_GATE})
    chosen = [document_at(address).pk for address in ("rota.html", "gate.html")]
    form = {"action": "delete_selected", "_selected_action": chosen}
    url = reverse("admin:evidence_document_changelist")
    assert "Documents: 2" in text_of(seen(administrator.post(url, form)))
    administrator.post(url, form | {"post": "yes"})
    assert [document.address for document in Document.objects.all()] == ["other.html"]
