"""Sitemaps (https://www.sitemaps.org/protocol.html): the URLs of a site, in XML or one a line, also packed by gzip, and the
sitemaps that an index names."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from evidence.ingest.fetch.client import NotFetched, TooLarge
from evidence.ingest.fetch.gunzip import Damaged, TooLong, gunzip
from evidence.ingest.fetch.polite import Fetcher
from evidence.ingest.fetch.urls import BadUrl, normal, site_of

MOST_BYTES = 50 * 1024 * 1024
"""Of one sitemap, unpacked: the protocol's own limit."""

MOST_SITEMAPS = 1000
GZIP = b"\x1f\x8b"


class BadSitemap(NotFetched):
    """A sitemap that cannot be read, so that nothing is known about which pages are in it."""


@dataclass(frozen=True)
class Entry:
    """What a sitemap names: a page, or another sitemap."""

    url: str
    is_sitemap: bool = False


def pages_of(fetcher: Fetcher, url: str) -> Iterator[str]:
    """The pages that a sitemap names, or those of an index, as normal URLs on the sitemap's own site.

    What else it names is passed by: a sitemap speaks for its site only. NotFetched and BadSitemap when any of it cannot be
    had: then nobody knows what is missing from the rest.
    """
    site = site_of(url)
    sitemaps = [url]
    for number, place in enumerate(sitemaps):
        for entry in entries(_read(fetcher, place), place):
            if site_of(entry.url) != site:
                continue
            if not entry.is_sitemap:
                yield entry.url
            elif number == 0 and entry.url not in sitemaps:
                sitemaps.append(entry.url)
            if len(sitemaps) > MOST_SITEMAPS:
                raise BadSitemap(f"{url} names more than {MOST_SITEMAPS} sitemaps")


def entries(data: bytes, url: str) -> Iterator[Entry]:
    """The entries of one sitemap; those that are no URLs are passed by. BadSitemap when it is none."""
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        yield from (Entry(found) for line in data.decode("utf-8", "replace").splitlines() if (found := _url(line, url)))
        return
    # Entities are never resolved, and nothing is loaded. What was read is let go of.
    parsing = etree.iterparse(
        io.BytesIO(data), events=("end",), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        for _, element in parsing:
            name = etree.QName(element).localname
            if name == "loc" and (parent := element.getparent()) is not None:
                kind = etree.QName(parent).localname
                if kind in ("url", "sitemap") and (found := _url("".join(element.itertext()), url)):
                    yield Entry(found, is_sitemap=kind == "sitemap")
            elif name in ("url", "sitemap"):
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
        root = parsing.root
    except etree.XMLSyntaxError as error:
        raise BadSitemap(f"{url} is not well-formed XML: {error}") from error
    if root is None or etree.QName(root).localname not in ("urlset", "sitemapindex"):
        raise BadSitemap(f"{url} is no sitemap: it has no <urlset> and no <sitemapindex>")


def _read(fetcher: Fetcher, url: str) -> bytes:
    with fetcher.follow(url) as answer:
        if answer.status != 200:
            raise BadSitemap(f"{url} was answered by {answer.status}")
        data = answer.body(MOST_BYTES)
    if not data.startswith(GZIP):
        return data
    made = bytearray()
    try:
        for piece in gunzip([data]):
            made += piece
            if len(made) > MOST_BYTES:
                raise TooLarge(f"{url} is longer than {MOST_BYTES} bytes")
    except (Damaged, TooLong) as error:
        raise BadSitemap(f"{url} cannot be unpacked: {error}") from error
    return bytes(made)


def _url(text: str, base: str) -> str:
    text = text.strip()
    if not text:
        return ""
    try:
        return normal(text, base)
    except BadUrl:
        return ""
