"""Sentence boundaries, found on a block's whole text, across its inline markup."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from html import escape
from itertools import pairwise
from typing import NamedTuple

import sentencex

LONGEST_SENTENCE = 2000
"""Characters. What is longer is no prose (a dump, a list without stops) and could never be shown within a budget."""

INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
# Everything that is neither printable nor white space: C0, C1, and what the Unicode standard calls noncharacters.
CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff]")
MAY_END = re.compile(r"[.!?…。！？．｡؟۔।॥:;][^\w]*\S|[。！？｡]")

# Abbreviations that the splitter takes for the end of a sentence. The first are words of their own as well ("no", "art"),
# and are believed only before a number; the others before whatever could begin a name.
BEFORE_A_NUMBER = frozenset(
    """
    abb abs app art bd ca ch chap col eq eqs esp ex ext fig figs max min no nos nr op p par para pos pp pt ref
    refs sec sect st str tab tel vol vols pág ud godz ul
    """.split()
)
BEFORE_A_NAME = frozenset(
    """
    approx cf def dept ed eds esq est gen hon incl jr lt mt rev sr vs bzw evtl ggf inkl sog usw vgl zzgl mme
    mlle env sra srta uds inż prof tzn
    """.split()
)
LAST_WORD = re.compile(r"(?:^|[\s(\[\"'“„«])([^\s(\[\"'“„«]+)\.[\"'”’)\]]*\s*$")
# Ends that the splitter takes for an initial or an abbreviation: "at desk A. Lamps are …", "I say no. Then …".
MISSED_END = re.compile(
    r"""
    \b(?: (?:annex|appendix|area|bay|block|box|building|bus|button|case|class|column|desk|door|drug|figure|floor|form|gate
        |grade|group|hall|item|key|letter|level|line|lot|model|option|part|phase|plan|platform|point|room|row|schedule
        |section|series|shelf|shift|side|site|size|stage|step|table|team|terminal|tier|track|type|unit|variant|version
        |vitamin|wing|zone)\ (?-i:[A-Z]) | no | (?-i:I|US|UK|EU) )
    \.\ (?=(?-i:[A-Z])[a-z]*[ ,])
    """,
    re.VERBOSE | re.IGNORECASE,
)
LIST_NUMBER = re.compile(r"\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]\s*")
IDENTIFIER = re.compile(r"[a-z]+(?:[A-Z0-9_]|\.[a-z]|\()")


class Sentence(NamedTuple):
    """A sentence of a run: its text, its inline markup, and what stood between it and the one before it."""

    text: str
    markup: str
    joined: bool


class Event(NamedTuple):
    """An inline tag at an offset of the run's text; it takes no width."""

    offset: int
    kind: str  # "open", "close" or "void"
    tag: str
    html: str


class Run:
    """Inline content gathered from a block: its visible text, with the inline tags as zero-width marks."""

    __slots__ = ("_ends_with_space", "_parts", "events", "length", "protected")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._ends_with_space = True
        self.length = 0
        self.events: list[Event] = []
        self.protected: list[tuple[int, int]] = []

    def add(self, text: str) -> None:
        """Add text, white space collapsed as a browser shows it."""
        if not text.isascii():
            text = visible(text)
        elif CONTROL.search(text):
            text = CONTROL.sub("", text)
        words = text.split()
        if not words:
            if text and not self._ends_with_space:
                self._append(" ")
            return
        collapsed = " ".join(words)
        if text[0].isspace() and not self._ends_with_space:
            collapsed = " " + collapsed
        if text[-1].isspace():
            collapsed += " "
        if not text.isascii() and self._parts and unicodedata.combining(collapsed[0]):
            collapsed = self._compose(collapsed)
        if collapsed:
            self._append(collapsed)

    def add_verbatim(self, text: str) -> None:
        """Add the text of a ``pre``, with its white space."""
        text = CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " "))
        if text:
            self._append(text if text.isascii() else unicodedata.normalize("NFC", text.translate(INVISIBLE)))

    def open(self, tag: str, html: str) -> None:
        self.events.append(Event(self.length, "open", tag, html))

    def close(self, tag: str) -> None:
        self.events.append(Event(self.length, "close", tag, f"</{tag}>"))

    def void(self, tag: str) -> None:
        self.events.append(Event(self.length, "void", tag, f"<{tag}>"))

    def protect(self, start: int) -> None:
        """No sentence ends between ``start`` and here: this is code, or another thing that is no prose."""
        if self.length > start:
            self.protected.append((start, self.length))

    def clear(self) -> None:
        """Begin anew, keeping the inline tags that are still open."""
        still_open: list[Event] = []
        for event in self.events:
            if event.kind == "open":
                still_open.append(event)
            elif event.kind == "close":
                still_open.pop()
        self.__init__()  # type: ignore[misc]
        self.events = [event._replace(offset=0) for event in still_open]

    @property
    def is_blank(self) -> bool:
        return not any(part != " " for part in self._parts)

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def sentences(self, language: str, *, whole: bool = False) -> list[Sentence]:
        """The sentences of the run, none of them empty; with ``whole``, all of it as one."""
        text = self.text
        found: list[Sentence] = []
        spans = [(0, len(text))] if whole else self._spans(text, language)
        mark_up = _Markup(text, self.events)
        for start, end in spans:
            while start < end and text[start].isspace() and not whole:
                start += 1
            stop = end
            while stop > start and text[stop - 1].isspace():
                stop -= 1
            if start < stop:
                joined = bool(found) and not text[start - 1].isspace()
                found.append(Sentence(text[start:stop], mark_up.between(start, stop), joined))
        return found

    def _spans(self, text: str, language: str) -> Iterator[tuple[int, int]]:
        start = 0
        for end in boundaries(text, language):
            if end < len(text) and any(first < end < last for first, last in self.protected):
                continue
            while end - start > LONGEST_SENTENCE:
                cut = text.rfind(" ", start + LONGEST_SENTENCE // 2, start + LONGEST_SENTENCE)
                cut = cut + 1 if cut > 0 else start + LONGEST_SENTENCE
                yield start, cut
                start = cut
            yield start, end
            start = end

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self.length += len(text)
        self._ends_with_space = text[-1] == " "

    def _compose(self, text: str) -> str:
        """A combining character that follows a tag joins the letter before it: the tag moves behind both."""
        last = self._parts.pop()
        before = self.length
        self.length -= len(last)
        marks = len(text) - len(text.lstrip("".join({c for c in text if unicodedata.combining(c)})))
        self._append(unicodedata.normalize("NFC", last + text[:marks]))
        self.events = [e._replace(offset=self.length) if e.offset >= before else e for e in self.events]
        return text[marks:]


class _Markup:
    """Cuts a run's markup at sentence boundaries; tags open across a boundary are closed and opened again."""

    def __init__(self, text: str, events: list[Event]) -> None:
        self._text = text
        self._events = events
        self._next = 0
        self._open: list[Event] = []

    def between(self, start: int, stop: int) -> str:
        if not self._events:
            return escape(self._text[start:stop], quote=False)
        events = self._events
        while self._next < len(events) and (
            events[self._next].offset < start
            or (events[self._next].offset == start and events[self._next].kind == "close")
        ):
            self._follow(events[self._next])
        pieces = [event.html for event in self._open]
        position = start
        while self._next < len(events):
            event = events[self._next]
            if event.offset > stop or (event.offset == stop and event.kind != "close"):
                break
            pieces.append(escape(self._text[position : event.offset], quote=False))
            pieces.append(event.html)
            position = event.offset
            self._follow(event)
        pieces.append(escape(self._text[position:stop], quote=False))
        pieces.extend(f"</{event.tag}>" for event in reversed(self._open))
        return _without_empty_tags("".join(pieces))

    def _follow(self, event: Event) -> None:
        self._next += 1
        if event.kind == "open":
            self._open.append(event)
        elif event.kind == "close":
            self._open.pop()


EMPTY_TAG = re.compile(r"<(\w+)(?: [^<>]*)?></\1>")


def _without_empty_tags(markup: str) -> str:
    while "></" in markup and (shorter := EMPTY_TAG.sub("", markup)) != markup:
        markup = shorter
    return markup


def visible(text: str) -> str:
    """The text as it is stored and searched: NFC, without invisible characters (soft hyphens, zero-width spaces)."""
    text = CONTROL.sub("", text.translate(INVISIBLE))
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def boundaries(text: str, language: str = "en") -> list[int]:
    """The offset at which each sentence of the text ends (in code points); the last one is the text's length.

    The boundaries of sentencex, less those after abbreviations, list numbers and initials that it takes for ends.
    """
    if not MAY_END.search(text):
        return [len(text)]
    kept: list[int] = []
    start = end = 0
    pieces = [part for piece in sentencex.segment(language or "en", text) for part in _split_further(piece)]
    for piece, following in zip(pieces, [*pieces[1:], ""], strict=True):
        end += len(piece)
        if following and not _ends(text[start:end], following):
            continue
        kept.append(end)
        start = end
    if not kept or kept[-1] != len(text):
        kept.append(len(text))
    return kept


def _split_further(piece: str) -> list[str]:
    ends = [0, *(found.end() for found in MISSED_END.finditer(piece)), len(piece)]
    return [piece[start:end] for start, end in pairwise(ends) if start < end]


def _ends(left: str, right: str) -> bool:
    """Whether a sentence really ends between these two."""
    following = right.lstrip(" \"'“”„«»‘’([{¿¡")
    if not any(character.isalnum() for character in right):
        return False
    if LIST_NUMBER.fullmatch(left):
        return False
    if following[:1].islower():
        # Sentences that begin with a small letter begin with a name of code: "It is set. max_connections limits …"
        return left.rstrip()[-1:] in ".!?" and IDENTIFIER.match(following) is not None
    last_word = LAST_WORD.search(left)
    if last_word is None:
        return True
    word = last_word[1]
    if following[:1].isdigit():
        return word.lower() not in BEFORE_A_NUMBER and word.lower() not in BEFORE_A_NAME
    return word.lower() not in BEFORE_A_NAME
