"""Lists, sitemaps and folders; schedules, turns, and what leaves with a source. A crawl is in ``test_crawl``."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from evidence.ingest import documents
from evidence.ingest.documents import Outcome
from evidence.ingest.refresh import NotNow, Refreshed, refresh
from evidence.ingest.removal import source_remove
from evidence.ingest.turns import turn
from evidence.models import Document, Source, SourcePage
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, NEW_GATE, collection_of, take_in
from tests.ingest.site import LOOPBACK, Site, client

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("embedder")]
START = datetime(2030, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def source_of(kind: str, where: str, **rest: Any) -> Source:
    return Source.objects.create(collection=collection_of(), kind=kind, where=where, pause=0, **rest)


def run(source: Source, day: float = 0) -> Refreshed:
    """Refresh so many days after the first time."""
    return refresh(source, now=START + day * DAY, client=client)


def taken() -> list[str]:
    return sorted(Document.objects.values_list("address", flat=True))


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    """A folder that sources may lie in, with two pages."""
    root = tmp_path / "open"
    (root / "hr").mkdir(parents=True)
    (root / "hr" / "gate.html").write_bytes(GATE)
    (root / "kitchen.html").write_bytes(KITCHEN)
    settings.SPIRE_FOLDERS = [root]
    return root


def test_a_list_takes_what_it_names_wherever_it_is(site: Site) -> None:
    """Who lists a page means it: noindex and canonical are for those who find pages by themselves."""
    site.page("/a", "/c", head='<meta name=robots content=noindex><link rel=canonical href="/b">')
    site.page("/b")
    site.redirect("/old", site.url("/moved", "other.example"))
    site.page("/moved")
    source = source_of("list", "\n".join((site.url("/a"), "# a comment", site.url("/old"), site.url("/missing"))))
    found = run(source)
    assert taken() == sorted((site.url("/a"), site.url("/moved", "other.example")))
    assert found.counts == {"new": 2, "alias": 1, "gone": 1}


def test_one_page_of_a_list_that_is_never_asked_does_not_stop_the_rest(site: Site) -> None:
    """An address that the operator no longer allows, and a name that never was."""
    site.page("/a")
    source = source_of("list", f"http://169.254.169.254/x\nhttp://mail.example:25/\n{site.url('/a')}")

    def resolve(host: str, port: int) -> list[str]:
        return [host if host[0].isdigit() else "8.8.8.8" if host == "mail.example" else LOOPBACK]

    found = refresh(source, now=START, client=lambda: client(resolve=resolve))
    assert found.counts == {"new": 1, "failed": 2}
    assert "no public address" in SourcePage.objects.get(url="http://169.254.169.254/x").reason


def test_two_urls_that_lead_to_one_page_are_one_document_asked_for_once(site: Site) -> None:
    site.redirect("/x", "/page")
    site.redirect("/y", "/page")
    site.page("/page")
    source = source_of("list", "\n".join(map(site.url, ("/x", "/y", "/page"))))
    run(source)
    assert taken() == [site.url("/page")]
    assert site.targets() == ["/x", "/page", "/y"]
    run(source, 1)
    assert site.targets() == ["/x", "/page", "/y"]


def test_a_page_taken_off_the_list_leaves_after_its_grace(site: Site) -> None:
    for target in ("/a", "/b"):
        site.page(target)
    source = source_of("list", f"{site.url('/a')}\n{site.url('/b')}", grace_days=2)
    run(source)
    Source.objects.update(where=site.url("/a"))
    assert run(source, 1).left == 0
    assert run(source, 2.9).left == 0
    assert run(source, 3).left == 1
    assert taken() == [site.url("/a")]
    assert SourcePage.objects.count() == 1


def test_a_page_that_moved_stays_under_its_old_address_for_its_grace(site: Site) -> None:
    site.page("/a")
    source = source_of("list", site.url("/a"))
    run(source)
    site.redirect("/a", "/b")
    site.page("/b")
    run(source, 1)
    assert taken() == [site.url("/a"), site.url("/b")]
    assert run(source, 8).left == 1
    assert run(source, 30).left == 0
    assert taken() == [site.url("/b")]


def sitemap(site: Site, *targets: str) -> None:
    listed = "".join(f"<url><loc>{site.url(target)}</loc></url>" for target in targets)
    site.put("/sitemap.xml", f'<urlset xmlns="x">{listed}</urlset>'.encode(), "application/xml")


def test_a_sitemap_is_followed(site: Site) -> None:
    for target in ("/docs/a", "/docs/b", "/blog"):
        site.page(target, "/unlisted")
    sitemap(site, "/docs/a", "/docs/b", "/blog")
    source = source_of("sitemap", site.url("/sitemap.xml"), prefix="/docs")
    run(source)
    assert taken() == [site.url("/docs/a"), site.url("/docs/b")]
    sitemap(site, "/docs/a")
    run(source, 1)
    assert run(source, 8).left == 1
    assert taken() == [site.url("/docs/a")]


@pytest.mark.parametrize("status", [404, 503])
def test_a_sitemap_that_cannot_be_read_loses_nothing(site: Site, status: int) -> None:
    """Nothing is named in a sitemap that is not there."""
    site.page("/a")
    sitemap(site, "/a")
    source = source_of("sitemap", site.url("/sitemap.xml"))
    run(source)
    site.answer("/sitemap.xml", status)
    for day in (1, 20):
        assert f"answered by {status}" in run(source, day).error
    assert taken() == [site.url("/a")]
    source.refresh_from_db()
    assert "answered by" in source.error
    sitemap(site, "/a")
    assert run(source, 21).error == ""


def test_a_sitemap_that_names_too_much_loses_nothing(site: Site) -> None:
    for target in ("/a", "/b", "/c"):
        site.page(target)
    sitemap(site, "/a", "/b", "/c")
    source = source_of("sitemap", site.url("/sitemap.xml"))
    run(source)
    Source.objects.update(most_pages=2)
    run(source, 1)
    assert run(source, 30).left == 0
    assert len(taken()) == 3


def test_a_folder_is_kept_current(folder: Path, embedder: WordEmbedder) -> None:
    source = source_of("folder", str(folder))
    assert run(source).counts == {"new": 2}
    assert taken() == ["hr/gate.html", "kitchen.html"]
    (folder / "hr" / "gate.html").write_bytes(NEW_GATE)
    (folder / "kitchen.html").unlink()
    (folder / "slides.pdf").write_bytes(b"%PDF")
    embedder.embedded.clear()
    found = run(source, 1)
    assert found.counts == {"changed": 1, "gone": 1, "refused": 1}
    assert len(embedder.embedded) == 2
    assert run(source, 8).left == 1
    assert taken() == ["hr/gate.html"]


def test_a_folder_that_is_gone_or_no_longer_open_loses_nothing(folder: Path, settings: Any, tmp_path: Path) -> None:
    """A share that is not mounted for a night."""
    source = source_of("folder", str(folder))
    run(source)
    folder.rename(tmp_path / "away")
    assert "There is no folder" in run(source, 1).error
    (tmp_path / "away").rename(folder)
    settings.SPIRE_FOLDERS = [tmp_path / "other"]
    assert "SPIRE_FOLDERS" in run(source, 20).error
    assert len(taken()) == 2


def test_a_link_does_not_lead_out_of_an_open_folder(folder: Path, tmp_path: Path) -> None:
    """The files of the server, read by whoever may write into a share."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "page.html").write_bytes(GATE)
    (folder / "out.html").symlink_to(tmp_path / "secret" / "page.html")
    (folder / "outer").symlink_to(tmp_path / "secret")
    run(source_of("folder", str(folder)))
    assert taken() == ["hr/gate.html", "kitchen.html"]
    assert "SPIRE_FOLDERS" in run(source_of("folder", str(folder / "outer"))).error


def test_two_folders_of_a_collection_do_not_take_each_others_files(folder: Path) -> None:
    """The same path twice, and a document that is another one after each run."""
    (folder / "hr" / "kitchen.html").write_bytes(GATE)
    run(source_of("folder", str(folder)))
    found = run(source_of("folder", str(folder / "hr")))
    assert found.counts == {"new": 1, "refused": 1}
    assert "of this path already" in SourcePage.objects.get(outcome="refused").reason


def test_a_source_is_due_at_its_time(site: Site, folder: Path) -> None:
    daily = source_of("folder", str(folder), every_hours=24, next_run=START)
    asked_for = source_of("folder", str(folder / "hr"), every_hours=None)
    assert list(Source.objects.due(START)) == [daily]
    refresh(daily, now=START)
    assert not Source.objects.due(START + DAY - timedelta(minutes=1)).exists()
    assert list(Source.objects.due(START + DAY)) == [daily]
    run(asked_for)
    asked_for.refresh_from_db()
    assert asked_for.next_run is None


def test_a_run_that_was_killed_long_ago_is_begun_anew(folder: Path) -> None:
    source = source_of("folder", str(folder), started=START)
    run(source, 0.5)
    source.refresh_from_db()
    assert source.started == START
    Source.objects.update(started=START, finished=None)
    run(source, 1.5)
    source.refresh_from_db()
    assert source.started == START + 1.5 * DAY


def test_a_file_that_changes_after_its_run_was_killed_is_not_taken_for_done(folder: Path) -> None:
    """Refreshed on request, and until tomorrow the page says what it said before."""
    source = source_of("folder", str(folder))

    def killed(outcome: Outcome) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refresh(source, now=START, client=client, report=killed)
    assert taken() == ["kitchen.html"]
    (folder / "kitchen.html").write_bytes(NEW_GATE)
    assert run(source, 0.1).counts == {"changed": 1, "new": 1}
    assert run(source, 0.2).counts == {"unchanged": 2}


def test_a_document_deleted_as_soon_as_it_is_there_does_not_stop_the_rest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody tidies up while a source is refreshed, and the refresh ends with an error of this program."""
    write = documents.write

    def tidied(**given: Any) -> Outcome:
        outcome = write(**given)
        Document.objects.filter(address="kitchen.html").delete()
        return outcome

    source = source_of("folder", str(folder))
    with monkeypatch.context() as patch:
        patch.setattr(documents, "write", tidied)
        assert run(source).error == ""
    assert taken() == ["hr/gate.html"]
    assert run(source, 1).counts == {"new": 1, "unchanged": 1}


def test_with_a_source_leaves_what_comes_from_it_alone(site: Site) -> None:
    """Documents that nobody keeps current any more; or those of another source, or of an upload, gone with it."""
    for target in ("/a", "/b"):
        site.page(target)
    take_in({"gate.html": GATE})
    first = source_of("list", f"{site.url('/a')}\n{site.url('/b')}")
    second = source_of("list", site.url("/b"))
    run(first)
    run(second)
    assert source_remove(first) == 1
    assert taken() == ["gate.html", site.url("/b")]
    assert list(Source.objects.all()) == [second]


def test_a_document_that_another_source_still_has_stays(site: Site) -> None:
    site.page("/a")
    first, second = source_of("list", site.url("/a")), source_of("list", site.url("/a"))
    run(first)
    run(second)
    site.page("/b")
    Source.objects.filter(pk=first.pk).update(where=site.url("/b"))
    run(first, 1)
    assert run(first, 10).left == 0
    assert site.url("/a") in taken()


@pytest.mark.django_db(transaction=True)
def test_a_source_is_refreshed_by_one_at_a_time(folder: Path) -> None:
    """Two workers that take the same source up at once, and each page twice."""
    source = source_of("folder", str(folder))
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with turn(f"source.{source.pk}"):
            held.set()
            done.wait(20)
        connections.close_all()

    other = threading.Thread(target=hold)
    other.start()
    try:
        assert held.wait(20)
        with pytest.raises(NotNow):
            refresh(source, now=START)
    finally:
        done.set()
        other.join()
    assert not SourcePage.objects.exists()
