"""A whole crawl, as case 51 and the kinds near it have it: a site with everything that sites do to those who crawl them."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evidence.ingest import documents
from evidence.ingest.fetch.client import Client
from evidence.ingest.refresh import Refreshed, refresh
from evidence.models import Document, Source, SourcePage
from tests.conftest import WordEmbedder
from tests.handbook import collection_of
from tests.ingest.site import HTML, LOOPBACK, Reply, Site, client

pytestmark = pytest.mark.django_db

START = datetime(2030, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
BOMB = zlib.compress(b"<p>" + bytes(30_000_000), wbits=31)


@pytest.fixture
def source(site: Site, embedder: WordEmbedder) -> Source:
    """A crawl of the site, from its first page on, without pauses."""
    return Source.objects.create(collection=collection_of(), kind="crawl", where=site.url("/"), pause=0)


@pytest.fixture
def run(source: Source, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that refreshes the source so many days after the first time. Nobody waits."""
    monkeypatch.setattr("evidence.ingest.fetch.polite.time.sleep", lambda seconds: None)

    def go(day: float = 0, **patience: float) -> Refreshed:
        return refresh(source, now=START + day * DAY, client=lambda: client(**patience))

    return go


def taken(site: Site) -> set[str]:
    """The pages that the collection holds, by their path."""
    return {address.removeprefix(site.url("")) for address in Document.objects.values_list("address", flat=True)}


def fate(site: Site, target: str) -> tuple[str, str]:
    """What became of a page, and why."""
    return SourcePage.objects.values_list("outcome", "reason").get(url=site.url(target))


@pytest.fixture
def zoo(site: Site, settings: Any) -> Site:
    """The site that has it all."""
    settings.SPIRE_LARGEST_FILE = 2
    site.put("/robots.txt", b"User-agent: *\nDisallow: /private\n", "text/plain")
    site.page(
        "/",
        *(
            "/a",
            "/b#part",
            "b",
            "./b?",
            f"HTTP://Site.Example.:{site.port}/b",
            "/old",
            "/loop1",
            "/chain0",
            "/private/x",
        ),
        *("/missing", "/broken", "/huge", "/bomb", "/pic.png", "/data.unknown", "/brochure.pdf", "/latin", "/noindex"),
        *(
            "/metadata",
            "/elsewhere",
            "/twin",
            "/variant",
            "/calendar?day=1",
            "mailto:x@y.example",
            "javascript:x()",
            "/cut",
        ),
        *("/notype", "http://other.example/", "http://user:pw@site.example/x", "/empty", "/quiet", "/notes.md"),
    )
    site.page("/a", "/b", "/")
    site.page("/b", "/deep/c")
    site.page("/deep/c", "../a", "d")
    site.page("/deep/d")
    site.redirect("/old", "/a", 301)
    site.redirect("/loop1", "/loop2")
    site.redirect("/loop2", "/loop1")
    for number in range(9):
        site.redirect(f"/chain{number}", f"/chain{number + 1}")
    site.page("/private/x")
    site.answer("/broken", 500)
    site.put("/huge", b"<p>" + bytes(3_000_000))
    site.replies["/bomb"] = Reply(BOMB, headers={"Content-Type": HTML, "Content-Encoding": "gzip"})
    site.put("/data.unknown", b"\0\1", "application/octet-stream")
    site.put("/latin", "<title>Café</title><p>Un café crème.</p>".encode("latin-1"), "text/html; charset=iso-8859-1")
    site.page("/noindex", "/behind", head='<meta name="robots" content="noindex">')
    site.page("/behind")
    site.page("/quiet", "/unheard", head='<meta name="robots" content="nofollow">')
    site.redirect("/metadata", "http://169.254.169.254/latest/meta-data/")
    site.redirect("/elsewhere", "http://other.example/")
    site.put("/twin", site.replies["/a"].body)
    site.page("/variant", head='<link rel="canonical" href="/a">')
    for day in range(1, 40):
        site.page(f"/calendar?day={day}", f"/calendar?day={day + 1}")
    site.replies["/cut"] = Reply(
        b"<p>half", headers={"Content-Type": HTML, "Content-Length": "5000", "Connection": "close"}
    )
    site.put("/notype", b"<p>Of no type.</p>", "")
    site.put("/empty", b"")
    site.put("/notes.md", b"# Notes\n\nTea is in the blue tin.\n", "text/plain")
    return site


def test_a_site_with_everything_is_crawled_to_its_end(zoo: Site, run: Any) -> None:
    """One page that loops, breaks, never ends or leads to the cloud's metadata, and keeps the others out."""
    found = run()
    calendar = {f"/calendar?day={day}" for day in range(1, 21)}
    assert taken(zoo) == {"/", "/a", "/b", "/deep/c", "/deep/d", "/latin", "/quiet", "/behind", "/notes.md"} | calendar
    assert found.error == ""
    assert fate(zoo, "/old") == ("alias", f"leads to {zoo.url('/a')}")
    assert fate(zoo, "/loop2") == ("failed", f"leads in a circle, by {zoo.url('/loop1')}")
    assert fate(zoo, "/chain5") == ("failed", "leads on more than 5 times")
    assert fate(zoo, "/private/x")[0] == "passed"
    assert fate(zoo, "/missing") == ("gone", "answered by 404")
    assert fate(zoo, "/broken") == ("failed", "answered by 500")
    for target in ("/huge", "/bomb"):
        assert fate(zoo, target) == ("refused", "is larger than 2 MB, the limit for one file (SPIRE_LARGEST_FILE)")
    assert fate(zoo, "/data.unknown")[0] == fate(zoo, "/notype")[0] == fate(zoo, "/empty")[0] == "refused"
    assert "PDF" in fate(zoo, "/brochure.pdf")[1]
    assert fate(zoo, "/noindex") == ("passed", "asks not to be found (noindex)")
    for target in ("/metadata", "/elsewhere"):
        assert "leads out of the source" in fate(zoo, target)[1]
    assert fate(zoo, "/twin") == ("alias", f"says the same as {zoo.url('/a')}")
    assert fate(zoo, "/variant") == ("alias", f"calls itself {zoo.url('/a')}")
    assert fate(zoo, "/cut")[0] == "failed"
    asked = zoo.targets()
    assert len(asked) == len(set(asked)), "no page is asked for twice"
    assert not {"/private/x", "/pic.png", "/brochure.pdf", "/unheard"} & set(asked)
    assert Document.objects.get(address=zoo.url("/latin")).title == "Café"


def test_what_did_not_change_costs_one_request_and_no_embedding(zoo: Site, run: Any, embedder: WordEmbedder) -> None:
    """A nightly crawl that pays for a whole site every night."""
    first = run()
    zoo.asked.clear()
    embedder.embedded.clear()
    second = run(1)
    documents = Document.objects.count()
    assert sum(asked.status == 304 for asked in zoo.asked) == documents == second.counts["unchanged"]
    assert second.counts["new"] == second.counts["changed"] == 0
    assert embedder.embedded == []
    assert second.requests == len(zoo.asked) == first.requests


def test_a_changed_page_is_taken_in_and_its_new_links_are_followed(zoo: Site, run: Any) -> None:
    run()
    zoo.page("/deep/d", "/fresh", says="Something else now.")
    zoo.page("/fresh")
    found = run(1)
    assert (found.counts["changed"], found.counts["new"]) == (1, 1)
    assert "/fresh" in taken(zoo)


def test_a_page_that_vanished_leaves_after_its_days_of_grace(site: Site, run: Any) -> None:
    """A page taken off by mistake for an hour, and gone from the answers; or one that stays in them for ever."""
    site.page("/", "/a", "/b")
    site.page("/a")
    site.page("/b")
    run()
    del site.replies["/a"]
    for day in (1, 7.9):
        assert run(day).left == 0
        assert taken(site) == {"/", "/a", "/b"}
    assert run(8).left == 1
    assert taken(site) == {"/", "/b"}


def test_a_page_that_comes_back_within_its_grace_costs_nothing(site: Site, run: Any, embedder: WordEmbedder) -> None:
    site.page("/", "/a")
    site.page("/a")
    run()
    page = site.replies.pop("/a")
    run(1)
    embedder.embedded.clear()
    site.replies["/a"] = page
    run(6)
    assert embedder.embedded == []
    del site.replies["/a"]
    assert run(9).left == 0, "its days begin anew"
    assert taken(site) == {"/", "/a"}


@pytest.mark.parametrize("failure", ["down", "500", "robots", "sign-in", "login page"])
def test_a_site_that_fails_loses_nothing(site: Site, run: Any, failure: str) -> None:
    """A night of maintenance, after which a collection is empty."""
    site.page("/", "/a", "/b")
    site.page("/a")
    site.page("/b")
    run()
    assert taken(site) == {"/", "/a", "/b"}
    kept = dict(site.replies)
    for target in ("/", "/a", "/b"):
        if failure in ("500", "down"):
            site.answer(target, 503 if failure == "down" else 500)
        elif failure == "sign-in":
            site.answer(target, 403)
        elif failure == "login page":
            site.redirect(target, "/login")
    if failure == "login page":
        site.page("/login")
    if failure == "robots":
        site.answer("/robots.txt", 500)
    found = run(30)
    assert found.left == 0
    assert failure == "login page" or found.error
    assert taken(site) >= {"/", "/a", "/b"}
    site.replies = kept
    assert run(31).left == 0
    assert run(60).left == 0 if failure != "login page" else 1
    assert taken(site) >= {"/", "/a", "/b"}


def test_a_page_no_link_leads_to_any_more_stays_while_it_is_there(site: Site, run: Any) -> None:
    site.page("/", "/a")
    site.page("/a")
    run()
    site.page("/")
    run(1)
    run(20)
    assert taken(site) == {"/", "/a"}
    del site.replies["/a"]
    run(21)
    assert run(30).left == 1


def test_the_limits_of_pages_and_depth_hold(site: Site, source: Source, run: Any) -> None:
    """A calendar without an end, that fills the database."""
    for number in range(50):
        site.page(f"/{number or ''}", f"/{number + 1}", f"/{number + 1}?x")
    Source.objects.update(depth=3)
    run()
    assert taken(site) == {"/", "/1", "/1?x", "/2", "/2?x", "/3", "/3?x"} - {"/1?x", "/2?x", "/3?x"}
    Source.objects.update(depth=40, most_pages=10)
    run(1)
    assert len(site.targets()) <= 7 + 10
    source.refresh_from_db()
    assert "more than may be asked for" in source.note


def test_a_killed_crawl_is_gone_on_with(site: Site, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed midway: what was done is not asked for again, and the rest is not forgotten."""
    site.page("/", *(f"/{number}" for number in range(20)))
    for number in range(20):
        site.page(f"/{number}")
    monkeypatch.setattr(documents, "BYTES_OF_A_BATCH", 1000)
    asked = 0
    whole = Client.get

    def get(self: Client, url: str, headers: Any = None) -> Any:
        nonlocal asked
        asked += 1
        if asked == 17:
            raise KeyboardInterrupt
        return whole(self, url, headers)

    monkeypatch.setattr(Client, "get", get)
    with pytest.raises(KeyboardInterrupt):
        run()
    done = SourcePage.objects.filter(asked__isnull=False).count()
    assert 0 < done < 21
    site.targets()
    found = run(0.1)
    assert len(site.targets()) == 21 - done
    assert sum(found.counts.values()) == 21
    assert len(taken(site)) == 21


def test_the_first_page_that_leads_to_another_site_says_so(site: Site, run: Any) -> None:
    site.redirect("/", "http://www.example.com/")
    assert "leads out of the source, to http://www.example.com/" in run().error


def test_a_retry_after_is_waited_for_or_kept_to(site: Site, source: Source, run: Any) -> None:
    """A site that says that it is asked too much, and is asked all the more."""
    answers = iter([Reply(b"", 429, {"Retry-After": "5"})])
    site.page("/", "/a", "/b")
    page = site.replies["/"]
    site.replies["/"] = lambda: next(answers, page)  # type: ignore[assignment,return-value]
    site.page("/b")
    site.answer("/a", 503, Retry_After=str(3 * 86_400))
    found = run()
    assert taken(site) == {"/"}
    assert "asks us to come back later" in found.error
    assert site.targets() == ["/", "/", "/a"]
    source.refresh_from_db()
    assert source.next_run == START + DAY


def test_a_page_below_the_prefix_only(site: Site, source: Source, run: Any) -> None:
    Source.objects.update(where=site.url("/docs/"), prefix="/docs")
    site.page("/docs/", "/docs/a", "/docs-old", "/", "/docs/../x")
    site.page("/docs/a")
    run()
    assert taken(site) == {"/docs/", "/docs/a"}


def test_the_address_that_was_asked_from_is_loopback_only_where_allowed(site: Site, source: Source) -> None:
    """A source that reads what only this machine may."""
    found = refresh(source, now=START, client=lambda: client(allowed=(), resolve=lambda host, port: [LOOPBACK]))
    assert "which is no public address" in found.error
    assert site.targets() == []
