"""The admin of sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evidence.ingest.refresh import refresh
from evidence.models import Collection, Document, Job, Source, SourcePage
from tests.handbook import GATE, KITCHEN, take_in
from tests.web.conftest import seen, select, text_of

ADD = "admin:evidence_source_add"
VALUES = {"depth": 5, "most_pages": 100, "pause": 1, "every_hours": 24, "grace_days": 7, "prefix": ""}


def add(client: Client, collection: Collection, kind: str, where: str, **values: Any) -> Any:
    form = {**VALUES, "collection": collection.pk, "kind": kind, "where": where, **values}
    return client.post(reverse(ADD), form)


def errors(response: Any) -> list[str]:
    return [text_of(error) for error in select(seen(response), ".errorlist li")]


@pytest.fixture
def folder(tmp_path: Path, settings: Any, handbook: Collection) -> Source:
    """A source of two pages and a file that is refused."""
    settings.SPIRE_FOLDERS = [tmp_path]
    (tmp_path / "gate.html").write_bytes(GATE)
    (tmp_path / "kitchen.html").write_bytes(KITCHEN)
    (tmp_path / "slides.pdf").write_bytes(b"%PDF")
    return Source.objects.create(collection=handbook, kind="folder", where=str(tmp_path))


def test_a_source_is_added_in_its_one_spelling_and_is_due(administrator: Client, handbook: Collection) -> None:
    lines = "HTTPS://Wiki.Example:443/a#x\r\n\r\n# old ones\r\nhttps://wiki.example/a\r\n https://wiki.example/b c"
    assert errors(add(administrator, handbook, "list", lines)) == [
        "Line 5, 'https://wiki.example/b c': a URL holds no space; write each on a line of its own"
    ]
    assert add(administrator, handbook, "list", lines.replace("b c", "b")).status_code == 302
    source = Source.objects.get()
    assert source.where == "https://wiki.example/a\nhttps://wiki.example/b"
    assert source in Source.objects.due(timezone.now())


@pytest.mark.parametrize(
    ("kind", "where", "values", "said"),
    [
        ("list", "ftp://x.example/", {}, "only http:// and https://"),
        ("list", "# nothing", {}, "Enter at least one URL"),
        ("list", "http://127.0.0.1/", {}, "SPIRE_FETCH_ALLOW"),
        ("list", "http://[::ffff:10.0.0.1]/", {}, "SPIRE_FETCH_ALLOW"),
        ("crawl", "http://a.example/ http://b.example/", {}, "Enter one URL"),
        ("crawl", "http://me:secret@a.example/", {}, "a user name or a password"),
        ("crawl", "http://a.example/", {"prefix": "/docs"}, "not below /docs"),
        ("crawl", "http://a.example/docs", {"prefix": "docs"}, "Enter the beginning of a path"),
        ("sitemap", "sitemap.xml", {}, "only http:// and https://"),
        ("folder", "/etc", {}, "SPIRE_FOLDERS"),
        ("folder", "/etc", {"every_hours": 0}, "greater than or equal to 1"),
        ("crawl", "http://a.example/", {"most_pages": 10**9}, "less than or equal to 100000"),
    ],
)
def test_what_is_wrong_with_a_source_is_said(
    administrator: Client, handbook: Collection, kind: str, where: str, values: dict[str, Any], said: str
) -> None:
    assert said in " ".join(errors(add(administrator, handbook, kind, where, **values)))
    assert not Source.objects.exists()


def test_many_bad_lines_are_told_up_to_a_limit(administrator: Client, handbook: Collection) -> None:
    told = errors(add(administrator, handbook, "list", "\n".join(["nonsense"] * 30)))
    assert len(told) == 11
    assert told[-1] == "… and 20 more lines"


def test_the_last_run_is_shown(administrator: Client, folder: Source) -> None:
    """Pages that never came in, of which nobody hears."""
    url = reverse("admin:evidence_source_change", args=[folder.pk])
    assert "none yet" in text_of(seen(administrator.get(url)))
    refresh(folder)
    page = text_of(seen(administrator.get(url)))
    assert "2 new, 1 refused: not read" in page
    assert "slides.pdf refused: not read: is a PDF" in page
    listed = text_of(seen(administrator.get(reverse("admin:evidence_source_changelist"))))
    assert "2 new, 1 refused: not read" in listed
    pages = administrator.get(reverse("admin:evidence_sourcepage_changelist"), {"outcome__exact": "refused"})
    assert "slides.pdf" in text_of(seen(pages))


def test_refresh_now_asks_a_worker_for_it(administrator: Client, folder: Source) -> None:
    form = {"action": "refresh_now", "_selected_action": [folder.pk]}
    administrator.post(reverse("admin:evidence_source_changelist"), form)
    assert Job.objects.get(kind="refresh").arguments == {"source": folder.pk}


def test_the_confirmation_counts_the_documents_that_leave_with_a_source(administrator: Client, folder: Source) -> None:
    refresh(folder)
    take_in({"other.html": GATE})
    url = reverse("admin:evidence_source_delete", args=[folder.pk])
    assert "Documents that come from nowhere else: 2" in text_of(seen(administrator.get(url)))
    assert administrator.post(url, {"post": "yes"}).status_code == 302
    assert [document.address for document in Document.objects.all()] == ["other.html"]
    assert not SourcePage.objects.exists()


def test_a_page_of_a_source_is_only_looked_at(administrator: Client, folder: Source) -> None:
    refresh(folder)
    page = SourcePage.objects.first()
    assert page is not None
    assert administrator.get(reverse("admin:evidence_sourcepage_add")).status_code == 403
    assert administrator.post(reverse("admin:evidence_sourcepage_change", args=[page.pk]), {}).status_code == 403


@pytest.mark.parametrize("place", ["source", "sourcepage"])
def test_sources_are_for_those_who_have_the_right(client: Client, reader: User, folder: Source, place: str) -> None:
    """What lies where on the intranet is not for everybody."""
    client.force_login(reader)
    url = reverse(f"admin:evidence_{place}_changelist")
    assert client.get(url).status_code == 302
    reader.is_staff = True
    reader.save()
    assert client.get(url).status_code == 403
    assert client.get(reverse("admin:evidence_source_change", args=[folder.pk])).status_code == 404
