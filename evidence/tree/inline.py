"""Inline markup: what parts the text around it, where a link leads, and what a raised number means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urljoin, urlsplit

from lxml.etree import _Element as Element

from evidence.tree.attributes import by_role
from evidence.tree.tags import BLOCK, KINDS, SAFE_SCHEMES, SAME_AS, SELF_LINK_TEXTS, WRAPPER

PARTING = (
    *(tag for tag, kind in KINDS.items() if kind in (BLOCK, WRAPPER)),
    *(tag for tag, same in SAME_AS.items() if KINDS[same] == BLOCK),
)
RAISED_NUMBER = re.compile(r"\s*[+\-−]?\d{1,3}\s*", re.ASCII)
SUPERSCRIPTS = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")

NAME_OF_A_PAGE = re.compile(r"[A-Za-z0-9_][\w-]*\.[a-z]{1,5}(?:#[\w.-]*\w)?", re.ASCII)
WORDS_FOR_AN_IMAGE = ("alt", "aria-label", "title")
FILE_NAME = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|ico)\s*$", re.IGNORECASE)


def inline_with_blocks(roots: Sequence[Element], *, has_roles: bool) -> set[Element]:
    """The inline elements that hold a block (a link around a card, a custom element): they part the text as a ``div``.

    Without ``has_roles`` no element is a block by its role, and none is looked for.
    """
    found: set[Element] = set()
    for root in roots:
        with_role: list[Any] = list(root.iterfind(".//*[@role]")) if has_roles else []
        by_their_role = [element for element in with_role if by_role(element.tag, dict(element.items()))]
        for element in (*root.iter(*PARTING), *by_their_role):
            parent = element.getparent()
            while parent is not None and parent not in found and KINDS.get(parent.tag) not in (BLOCK, WRAPPER):
                found.add(parent)
                parent = parent.getparent()
    return found


class Links:
    """Where the links of a page lead, which is at ``base``."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._known: dict[str, str | None] = {}
        end = base.rfind("/") + 1
        is_plain = not ("?" in base or "#" in base or base[:end].endswith("//"))
        self._folder = base[:end] if is_plain else None

    def resolved(self, target: str) -> str | None:
        """The address of a link; None where that is no address, or one that would run something."""
        if target.startswith("#"):
            return target
        if target not in self._known:
            # urljoin takes ten times as long for the same answer.
            is_beside = self._folder is not None and NAME_OF_A_PAGE.fullmatch(target) is not None
            self._known[target] = f"{self._folder}{target}" if is_beside else self._resolved(target)
        return self._known[target]

    def _resolved(self, target: str) -> str | None:
        try:
            address = urljoin(self._base, target)
            scheme = urlsplit(address).scheme
        except ValueError:
            return None
        return address if not scheme or scheme.lower() in SAFE_SCHEMES else None


def is_self_link(element: Element) -> bool:
    """Whether a link is the mark beside a heading that leads to the heading itself."""
    return "".join(map(str, element.itertext())).strip() in SELF_LINK_TEXTS


def would_join(before: str, sup: Element) -> bool:
    """Whether a ``sup`` would make another number of the one before it: "10<sup>6</sup>", a note's mark after a year."""
    return before[-1:].isdecimal() and RAISED_NUMBER.fullmatch("".join(map(str, sup.itertext()))) is not None


def words_for_an_image(attributes: Mapping[str, str]) -> str:
    """What attributes say in place of an image, "" where that is nothing but the name of a file."""
    for name in WORDS_FOR_AN_IMAGE:
        if (words := attributes.get(name)) and not FILE_NAME.search(words):
            return words
    return ""
