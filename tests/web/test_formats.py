"""Documents that are no HTML: taken in, shown from their tree, and their originals handed out as what they are."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from evidence.ingest.documents import ingest_sources
from evidence.ingest.readers import FORMATS, parser_of
from evidence.ingest.sources import read_upload
from evidence.models import Collection, Document
from evidence.web.links import at_source
from tests.handbook import collection_of, work_off
from tests.ingest.test_readers import FILES
from tests.web.conftest import document_at, marked, seen, select, text_of

NAMES = {name: f"page{known.endings[0]}" for name, known in FORMATS.items()}


def upload(client: Client, name: str, data: bytes) -> str:
    """The outcome of an upload, as it is told when a worker has taken it in."""
    url = reverse("admin:evidence_collection_upload", args=[collection_of().pk])
    response = client.post(url, {"documents": [SimpleUploadedFile(name, data)]})
    work_off()
    return text_of(select(seen(client.get(response["Location"])), ".files tbody td")[1])


def original(client: Client, address: str) -> Any:
    return client.get(reverse("original", args=[document_at(address).pk]))


@pytest.mark.parametrize("kind", FILES)
def test_every_format_is_uploaded_found_and_opened_at_the_cited_place(
    administrator: Client, handbook: Collection, kind: str
) -> None:
    name = NAMES[kind]
    assert upload(administrator, name, FILES[kind]) == "new"
    assert upload(administrator, name, FILES[kind]) == "unchanged"
    revision = document_at(name).current
    assert revision is not None
    assert (revision.format, revision.parser) == (kind, parser_of(kind))
    assert bytes(revision.content) == FILES[kind]
    answer = seen(administrator.get("/", {"q": "When does Team North close the gate?", "all": 1}))
    link = next(one for one in select(answer, ".result a") if "cite=" in one.get("href", ""))
    assert "Team North closes the gate at six." in marked(seen(administrator.get(link.get("href"))))


@pytest.mark.parametrize(
    ("kind", "media_type", "disposition"),
    [
        ("html", "text/html", 'inline; filename="page.html"'),
        ("xhtml", "application/xhtml+xml", 'inline; filename="page.xhtml"'),
        ("markdown", "text/plain; charset=utf-8", 'inline; filename="page.md"'),
        ("rst", "text/plain; charset=utf-8", 'inline; filename="page.rst"'),
        ("text", "text/plain; charset=utf-8", 'inline; filename="page.txt"'),
        ("mhtml", "multipart/related", 'attachment; filename="page.mhtml"'),
        ("docx", FORMATS["docx"].media_type, 'attachment; filename="page.docx"'),
        ("epub", "application/epub+zip", 'attachment; filename="page.epub"'),
    ],
)
def test_an_original_is_served_as_what_it_is_and_stays_inert(
    administrator: Client, handbook: Collection, kind: str, media_type: str, disposition: str
) -> None:
    """A Word file served as HTML is garbage; Markdown served as HTML runs what is in it."""
    upload(administrator, NAMES[kind], FILES[kind])
    response = original(administrator, NAMES[kind])
    assert response.content == FILES[kind]
    assert response["Content-Type"] == media_type
    assert response["Content-Disposition"] == disposition
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"].startswith("sandbox; default-src 'none'")


def test_the_page_of_a_document_says_what_its_original_is(administrator: Client, handbook: Collection) -> None:
    upload(administrator, "plan.docx", FILES["docx"])
    page = seen(administrator.get(reverse("document", args=[document_at("plan.docx").pk])))
    assert "Original (Word document)" in [text_of(link) for link in select(page, ".facts a")]


def test_a_file_that_its_reader_refuses_leaves_the_document_that_is_there(
    administrator: Client, handbook: Collection
) -> None:
    """One broken file must not end an upload, nor take away what was readable before."""
    upload(administrator, "plan.docx", FILES["docx"])
    assert upload(administrator, "plan.docx", b"PK\x03\x04 broken").startswith("refused: is damaged")
    document = document_at("plan.docx")
    assert document.error.startswith("is damaged")
    assert document.revisions.count() == 1
    assert upload(administrator, "plan.docx", FILES["docx"]) == "unchanged"
    assert document_at("plan.docx").error == ""


def test_a_broken_file_does_not_keep_the_others_out(handbook: Collection) -> None:
    sources = [
        source
        for name, data in {"a.docx": b"PK", "b.md": b"# B\n\nText.", "c.epub": b"x", "d.rst": b"Text."}.items()
        for source in read_upload(name, io.BytesIO(data))
    ]
    told = ingest_sources(collection=handbook, sources=sources)
    assert {outcome.name: outcome.status for outcome in told} == {
        "a.docx": "refused",
        "b.md": "new",
        "c.epub": "refused",
        "d.rst": "new",
    }
    assert set(Document.objects.values_list("address", flat=True)) == {"b.md", "d.rst"}


def test_the_form_names_the_formats_that_are_read(administrator: Client, handbook: Collection) -> None:
    page = seen(administrator.get(reverse("admin:evidence_collection_upload", args=[handbook.pk])))
    accepted = select(page, "input[type=file]")[0].get("accept").split(",")
    told = text_of(page.get_element_by_id("id_documents_helptext"))
    for known in FORMATS.values():
        assert f"{known.title} ({', '.join(known.endings)})" in told
        assert set(known.endings) <= set(accepted)


def test_a_source_that_browsers_do_not_show_is_linked_as_a_whole() -> None:
    """A text fragment does nothing for a download."""
    assert at_source("https://intra.example/plan.docx?v=2", "Closed at six.") == "https://intra.example/plan.docx?v=2"
    assert at_source("https://intra.example/plan.md", "Six.") == "https://intra.example/plan.md#:~:text=Six."
