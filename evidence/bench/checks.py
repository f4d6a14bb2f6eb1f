"""What can be asked of a parser's pieces, whatever parser gave them.

A check asks what a reader of the pieces could know, and no more: all that a piece says counts, its own text as well as what
it brings along, and of several pieces that hold a text the best one. White space, kinds of dashes and quotes, and the marks
of Markdown make no difference, except in code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import lxml.html

from evidence.bench.parsers import Page, Piece, plain
from evidence.bench.table_grid import tells_apart

# The kinds of checks, as the rows of the table.
READ = "page read without an error"
SENTENCE = "sentence whole in one piece"
ALONE = "sentence a piece of its own"
CHARSET = "charset right"
TITLE = "title of the page"
HEADING = "text with its headings, no others"
LABEL = "item or table with the words that introduce it"
TERM = "definition with its term"
NUMBER = "item with its number"
HEADERS = "cell with its headers"
APART = "cell's own headers told from the others"
ROW = "row alone, with all that it needs"
CODE = "white space of code"
LINK = "link with its target"
RESOLVED = "link resolved as a browser does"
PLACE = "a place of its own to cite"
HIDDEN = "hidden text left out"
INVENTED = "nothing run together, made up or unprintable"
LARGE = "text after a huge or very deep part"
KINDS = (
    READ, SENTENCE, ALONE, CHARSET, TITLE, HEADING, LABEL, TERM, NUMBER, HEADERS, APART, ROW, CODE, LINK, RESOLVED, PLACE,
    HIDDEN, INVENTED, LARGE,
)  # fmt: skip

BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
SAME_TO_A_READER = str.maketrans({"–": "-", "—": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "…": "..."})

Check = tuple[str, str, Callable[[list[Piece]], bool]]
"""A kind, what is looked for, and whether pieces have it."""


def checks_of(page: Page, known: dict[str, Any]) -> Iterator[Check]:
    """The checks of a page of which this is known, in the words of a case's ``checks``."""
    is_about_charset = "encoding" in known or page.data.startswith(BOMS)
    for text in chain(known.get("sentences", []), known.get("contains", [])):
        yield CHARSET if is_about_charset else SENTENCE, text, partial(_hold, text)
    if not is_about_charset:
        for text in known.get("sentences", []):
            yield ALONE, text, partial(_stands_alone, text)
    for text in known.get("large", []):
        yield LARGE, text, partial(_hold, text)
    # A title that the page does not have itself comes from its address, which not all are told.
    if "title" in known and b"<title" in page.data.lower():
        yield CHARSET if is_about_charset else TITLE, known["title"], partial(_say, known["title"])
    for text in known.get("absent", []):
        is_hidden = text.isprintable() and text in page.text
        yield HIDDEN if is_hidden else INVENTED, text, partial(_lack, text)
    for text in known.get("pre", []):
        yield CODE, text, partial(_hold_exactly, text)
    for words, target in known.get("links", {}).items():
        yield LINK, words, partial(_link, words)
        yield RESOLVED, target, partial(_link_to, words, target)
    if texts := known.get("distinct_addresses"):
        yield PLACE, ", ".join(texts), partial(_have_places, texts)
    if excerpt := known.get("excerpt"):
        yield ROW, ", ".join(excerpt["selected"]), partial(_have_alone, excerpt)
    own_title = normal(known.get("title") or _title(page))
    for wanted in known.get("context", []):
        if "headings" in wanted:
            others = _headings(page) - {own_title, *map(normal, wanted["headings"])}
            kind = CHARSET if is_about_charset else HEADING
            yield kind, wanted["text"], partial(_have_headed, wanted["text"], wanted["headings"], others)
        yield from _context_checks(wanted)


def _context_checks(wanted: dict[str, Any]) -> Iterator[Check]:
    text = wanted["text"]
    columns, rows = wanted.get("col_headers", []), wanted.get("row_headers", [])
    number = wanted.get("list_number")
    for kind, words in (
        (LABEL, [wanted["label"]] if wanted.get("label") else []),
        (TERM, wanted.get("terms", [])),
        (NUMBER, [] if number is None else [str(number)]),
        (HEADERS, rows + columns),
    ):
        if words:
            yield kind, text, partial(_have_with, text, words)
    if columns or rows:
        yield APART, text, partial(_tell_apart, text, columns, rows)


def normal(text: str) -> str:
    """A text as it is compared."""
    return " ".join(plain(text)[0].translate(SAME_TO_A_READER).split())


def _places(said: str, words: str) -> list[int]:
    """Where these words stand as words, and not as part of others."""
    words = normal(words)
    before = r"(?<!\w)" if words[:1].isalnum() else ""
    after = r"(?!\w)" if words[-1:].isalnum() else ""
    return [found.start() for found in re.finditer(before + re.escape(words) + after, said)]


def _says(piece: Piece, words: str) -> bool:
    return any(_places(normal(part), words) for part in (*piece.context, piece.text))


def _says_all(piece: Piece, words: list[str]) -> bool:
    return all(_says(piece, each) for each in words)


def _holding(text: str, pieces: list[Piece]) -> list[Piece]:
    """The pieces that hold this text in their own words."""
    return [piece for piece in pieces if _places(normal(piece.text), text)]


def _hold(text: str, pieces: list[Piece]) -> bool:
    return bool(_holding(text, pieces))


def _hold_exactly(text: str, pieces: list[Piece]) -> bool:
    return any(text in piece.text for piece in pieces)


def _stands_alone(text: str, pieces: list[Piece]) -> bool:
    return any(normal(piece.text) == normal(text) for piece in pieces)


def _say(words: str, pieces: list[Piece]) -> bool:
    return any(_says(piece, words) for piece in pieces)


def _lack(text: str, pieces: list[Piece]) -> bool:
    return not any(text in part for piece in pieces for part in (*piece.context, piece.text))


def _link(words: str, pieces: list[Piece]) -> bool:
    return any(piece.links.get(words) for piece in pieces)


def _link_to(words: str, target: str, pieces: list[Piece]) -> bool:
    return any(piece.links.get(words) == target for piece in pieces)


def _have_places(texts: list[str], pieces: list[Piece]) -> bool:
    places = [{piece.place for piece in _holding(text, pieces) if piece.place} for text in texts]
    return all(places) and len(set.union(*places)) == sum(map(len, places))


def _have_alone(excerpt: dict[str, list[str]], pieces: list[Piece]) -> bool:
    return any(
        _says_all(piece, excerpt["must_contain"])
        and not any(_says(piece, words) for words in excerpt["must_not_contain"])
        for text in excerpt["selected"]
        for piece in _holding(text, pieces)
    )


def _have_with(text: str, words: list[str], pieces: list[Piece]) -> bool:
    return any(_says_all(piece, words) for piece in _holding(text, pieces))


def _tell_apart(text: str, columns: list[str], rows: list[str], pieces: list[Piece]) -> bool:
    return any(
        tells_apart(piece.grid, text, column_headers=columns, row_headers=rows) for piece in _holding(text, pieces)
    )


def _have_headed(text: str, headings: list[str], others: set[str], pieces: list[Piece]) -> bool:
    return any(_is_headed(piece, text, headings, others) for piece in _holding(text, pieces))


def _is_headed(piece: Piece, text: str, headings: list[str], others: set[str]) -> bool:
    """Whether all headings come before the text in their order, and no other one after the last of them."""
    brought = [normal(part) for part in piece.context]
    if others & set(brought):
        return False
    own = normal(piece.text)
    return any(
        _follow(" \n ".join([*brought, own[:place]]), headings, others, own[:place]) for place in _places(own, text)
    )


def _follow(before: str, headings: list[str], others: set[str], own: str) -> bool:
    # With no heading wanted, the piece's own words alone can hold one that does not belong there.
    since, rest = own if not headings else "", before
    for depth, heading in enumerate(reversed(headings)):
        found = _places(rest, heading)
        if not found:
            return False
        if depth == 0:
            since = rest[found[-1] + len(normal(heading)) :]
        rest = rest[: found[-1]]
    return not any(_places(since, other) for other in others)


def _headings(page: Page) -> set[str]:
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    tree = lxml.html.document_fromstring(page.text.encode("utf-8", "replace"), parser=parser)
    headings = tree.iter("h1", "h2", "h3", "h4", "h5", "h6")
    return {normal("".join(map(str, heading.itertext()))) for heading in headings} - {""}


def _title(page: Page) -> str:
    found = re.search(r"(?is)<title[^>]*>(.*?)</title>", page.text)
    return found[1] if found else ""
