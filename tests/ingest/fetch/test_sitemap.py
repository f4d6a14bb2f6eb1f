from __future__ import annotations

import gzip

import pytest

from evidence.ingest.fetch.client import NotFetched, TooLarge
from evidence.ingest.fetch.polite import Fetcher
from evidence.ingest.fetch.sitemap import BadSitemap, pages_of
from tests.ingest.site import Reply, Site, client

pytestmark = pytest.mark.django_db
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
BILLION = """<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d SYSTEM "file:///etc/passwd">]>"""


def urlset(*urls: str, root: str = "urlset", entry: str = "url", before: str = "") -> bytes:
    listed = "".join(f"<{entry}><loc> {url} </loc><lastmod>2030-01-01</lastmod></{entry}>" for url in urls)
    return f'<?xml version="1.0"?>{before}<{root} xmlns="{NAMESPACE}">{listed}</{root}>'.encode()


def index(*urls: str) -> bytes:
    return urlset(*urls, root="sitemapindex", entry="sitemap")


def pages(site: Site, target: str = "/sitemap.xml") -> list[str]:
    """The pages that a sitemap names, by their path."""
    found = pages_of(Fetcher(client(), pause=0), site.url(target))
    return [url.removeprefix(site.url("")) for url in found]


def test_the_pages_of_a_sitemap_are_those_of_its_own_site(site: Site) -> None:
    """A sitemap that has a server fetch whatever a stranger writes there."""
    others = ("http://other.example/", "http://169.254.169.254/", "file:///etc/passwd", "http://u:p@site.example/", "")
    site.put("/sitemap.xml", urlset(site.url("/a"), site.url("/b?x=1&amp;y=2#z"), *others), "application/xml")
    assert pages(site) == ["/a", "/b?x=1&y=2"]


def test_an_index_and_packed_sitemaps_are_read(site: Site) -> None:
    site.put("/sitemap.xml", index(site.url("/one.xml.gz"), site.url("/two.txt"), site.url("/two.txt")))
    site.put("/one.xml.gz", gzip.compress(urlset(site.url("/a"))), "application/gzip")
    site.put("/two.txt", f"{site.url('/b')}\n\n  {site.url('/c')}\nnonsense:x\n".encode(), "text/plain")
    assert pages(site) == ["/a", "/b", "/c"]


def test_an_index_that_names_itself_or_an_index_comes_to_an_end(site: Site) -> None:
    site.put("/sitemap.xml", index(site.url("/sitemap.xml"), site.url("/two.xml")))
    site.put("/two.xml", index(site.url("/three.xml")))
    site.put("/three.xml", urlset(site.url("/a")))
    assert pages(site) == []


def test_entities_are_never_resolved(site: Site) -> None:
    """A sitemap of a few lines that fills the memory, or reads a file of the server."""
    site.put("/sitemap.xml", urlset(f"{site.url()}&c;&d;", site.url("/a"), before=BILLION))
    assert pages(site) == ["/&c;&d;", "/a"]


def test_pictures_of_a_page_are_no_pages(site: Site) -> None:
    images = b'<image:image xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><image:loc>%s</image:loc></image:image>'
    body = urlset(site.url("/a")).replace(b"</url>", images % site.url("/a.png").encode() + b"</url>")
    site.put("/sitemap.xml", body)
    assert pages(site) == ["/a"]


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset><url><loc>http://site.example/a",
        b"<html><p>Not found</html>",
        b"<!doctype html><p>x",
        gzip.compress(b"x")[:-3],
    ],
)
def test_half_a_sitemap_is_none(site: Site, body: bytes) -> None:
    """What it does not name would be taken for gone."""
    site.put("/sitemap.xml", body)
    with pytest.raises(BadSitemap):
        pages(site)


@pytest.mark.parametrize("status", [404, 500])
def test_a_part_of_an_index_that_is_missing_is_told(site: Site, status: int) -> None:
    site.put("/sitemap.xml", index(site.url("/one.xml"), site.url("/two.xml")))
    site.put("/one.xml", urlset(site.url("/a")))
    site.answer("/two.xml", status)
    with pytest.raises(NotFetched, match=f"answered by {status}"):
        pages(site)


def test_a_packed_bomb_is_unpacked_no_further_than_the_limit(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evidence.ingest.fetch.sitemap.MOST_BYTES", 1_000_000)
    site.replies["/sitemap.xml"] = Reply(gzip.compress(bytes(30_000_000)))
    with pytest.raises(TooLarge):
        pages(site)
