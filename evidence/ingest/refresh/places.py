"""Where a source lies, checked: by the form that a person fills in, and again by each run."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator
from pathlib import Path

from django.conf import settings

from evidence.ingest.fetch.addresses import Allowed, is_public
from evidence.ingest.fetch.urls import BadUrl, host_of, is_below, normal
from evidence.models import Source

MOST_TOLD = 10


class PlaceError(Exception):
    """What is wrong with a place, for who looks after the source."""


def allowed() -> Allowed:
    """What the operator lets us fetch besides the public internet (SPIRE_FETCH_ALLOW)."""
    return Allowed.read(settings.SPIRE_FETCH_ALLOW)


def place_of(kind: str, where: str, prefix: str = "") -> str:
    """The place in its one spelling, for a source that is made or changed. PlaceError says what is wrong; of a list, which
    lines."""
    if kind == Source.Kind.FOLDER:
        return str(folder_of(where))
    return "\n".join(urls_of(kind, where, prefix, url_of=_allowed_url))


def urls_of(kind: str, where: str, prefix: str, *, url_of: Callable[[str], str] | None = None) -> list[str]:
    """The URLs of a list, or the one of a sitemap or a crawl. PlaceError says what is wrong."""
    url_of = url_of or _url
    if kind == Source.Kind.LIST:
        return list(_lines(where, url_of))
    if len(where.split()) != 1:
        raise PlaceError("Enter one URL here. Several are a list of URLs.")
    url = url_of(where.strip())
    if kind == Source.Kind.CRAWL and not is_below(url, prefix_of(prefix)):
        raise PlaceError(f"The page to begin at is not below {prefix}; so the crawl would end there.")
    return [url]


def prefix_of(prefix: str) -> str:
    """The path that pages are below, as it stands in URLs; "/" for the whole site."""
    if not prefix:
        return "/"
    if not prefix.startswith("/") or "?" in prefix or "#" in prefix:
        raise PlaceError("Enter the beginning of a path, such as /docs.")
    try:
        made = normal(f"http://any.example{prefix}")
    except BadUrl as error:
        raise PlaceError("This path is too long.") from error
    return made.removeprefix("http://any.example")


def folder_of(where: str) -> Path:
    """The folder, which lies in one of SPIRE_FOLDERS, links followed. PlaceError otherwise."""
    roots = [root.resolve() for root in settings.SPIRE_FOLDERS]
    if not roots:
        raise PlaceError(
            "No folder of this server is open to sources. Its operator names those that are by SPIRE_FOLDERS."
        )
    path = Path(where.strip())
    named = ", ".join(map(str, settings.SPIRE_FOLDERS))
    if not path.is_absolute() or "\0" in where:
        raise PlaceError(f"Enter the whole path of a folder that lies in {named}.")
    folder = path.resolve()
    if not any(folder.is_relative_to(root) for root in roots):
        raise PlaceError(f"This is not in {named}, where sources may lie (SPIRE_FOLDERS).")
    if not folder.is_dir():
        raise PlaceError(f"There is no folder {folder}, or it cannot be read.")
    return folder


def _lines(where: str, url_of: Callable[[str], str]) -> Iterator[str]:
    """The URLs of a list, each once; empty lines and those that begin with # are passed by."""
    wrong: list[str] = []
    seen: dict[str, None] = {}
    for number, line in enumerate(where.splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            seen[url_of(text)] = None
        except PlaceError as error:
            wrong.append(f"Line {number}, {text[:80]!r}: {error}")
    if wrong:
        more = len(wrong) - MOST_TOLD
        raise PlaceError("\n".join([*wrong[:MOST_TOLD], *([f"… and {more} more lines"] if more > 0 else [])]))
    if not seen:
        raise PlaceError("Enter at least one URL.")
    yield from seen


def _url(text: str) -> str:
    if any(character.isspace() for character in text):
        raise PlaceError("a URL holds no space; write each on a line of its own")
    try:
        return normal(text)
    except BadUrl as error:
        raise PlaceError(str(error)) from error


def _allowed_url(text: str) -> str:
    """A URL; one by an address that is never asked is told at once. What a name leads to is known when it is asked for."""
    url = _url(text)
    try:
        address = ipaddress.ip_address(host_of(url))
    except ValueError:
        return url
    if not is_public(address) and not allowed().address(address) and not allowed().host(host_of(url)):
        raise PlaceError(
            f"{address} is no public address; the operator of this server may allow it by SPIRE_FETCH_ALLOW"
        )
    return url
