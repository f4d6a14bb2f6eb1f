"""What a page says to those who crawl: where it leads, which address it goes by, and whether it wants to be found."""

from __future__ import annotations

from dataclasses import dataclass

from lxml.etree import _Element as Element

from evidence.ingest.fetch.urls import BadUrl, normal
from evidence.tree.decode import decode
from evidence.tree.elements import elements
from evidence.tree.html import base_of

NAMES = frozenset(("robots", "spire"))
"""Whom a ``<meta name=…>`` or an ``X-Robots-Tag`` speaks to, when to us."""


@dataclass(frozen=True)
class Said:
    """The links of a page in its order, each once; and what it asks of robots."""

    links: tuple[str, ...] = ()
    canonical: str = ""
    noindex: bool = False
    nofollow: bool = False


def said_by(data: bytes, url: str, *, charset: str = "", header: str = "") -> Said:
    """What a page of HTML at this URL says; ``header`` is its ``X-Robots-Tag``. Links with rel=nofollow are left out."""
    roots = elements(decode(data, charset))
    base = base_of(roots, url)
    asked = _asked_by(header)
    links: dict[str, None] = {}
    canonical = ""
    for element in (element for root in roots for element in root.iter("a", "area", "link", "meta", "frame", "iframe")):
        if element.tag == "meta":
            if (element.get("name") or "").strip().lower() in NAMES:
                asked |= _words(element.get("content") or "")
            continue
        rel = (element.get("rel") or "").lower().split()
        target = _target(element, base)
        if not target or "nofollow" in rel:
            continue
        if element.tag == "link":
            canonical = canonical or (target if "canonical" in rel else "")
        else:
            links[target] = None
    nothing = "none" in asked
    return Said(tuple(links), canonical, nothing or "noindex" in asked, nothing or "nofollow" in asked)


def _target(element: Element, base: str) -> str:
    target = element.get("src" if element.tag in ("frame", "iframe") else "href")
    if target is None:
        return ""
    try:
        return normal(target, base)
    except BadUrl:
        return ""


def _words(content: str) -> set[str]:
    return {word.strip().lower() for word in content.split(",")}


def _asked_by(header: str) -> set[str]:
    """Of "noindex, otherbot: nofollow" what is said to all, and to us."""
    found: set[str] = set()
    is_ours = True
    for part in header.split(","):
        name, colon, rest = part.strip().lower().partition(":")
        if colon and name in ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"):
            continue
        is_ours = name.strip() in NAMES if colon else is_ours
        if is_ours:
            found.add((rest if colon else name).strip())
    return found
