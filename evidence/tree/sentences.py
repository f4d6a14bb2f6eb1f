"""Sentence boundaries, found on a block's whole text, across its inline markup."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from evidence.tree.boundaries import boundaries

LONGEST_SENTENCE = 2000
"""Characters. What is longer is no prose (a dump, a list without stops) and could never be shown within a budget."""

DEEPEST_INLINE = 30
"""Inline tags inside each other that are kept: each sentence in them opens all of them again."""

MOST_MARKS = 30
"""Combining marks that a letter may have, as in the Unicode standard's stream-safe text format."""

INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
# Everything that is neither printable nor white space: C0, C1, and what the Unicode standard calls noncharacters.
CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff]")
MANY_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{{MOST_MARKS + 1},}}")


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


# What Event(…) does, in half the time.
_event = partial(tuple.__new__, Event)


class Run:
    """Inline content gathered from a block: its visible text, with the inline tags as zero-width marks."""

    __slots__ = ("_depth", "_ends_with_space", "_parts", "events", "is_blank", "length", "protected")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._depth = 0
        self._ends_with_space = True
        self.is_blank = True
        self.length = 0
        self.events: list[Event] = []
        self.protected: list[tuple[int, int]] = []

    def add(self, text: str) -> None:
        """Add text, white space collapsed as a browser shows it."""
        collapsed = " ".join(text.split())
        is_plain = collapsed.isascii() and collapsed.isprintable()
        if not is_plain:
            text = visible(text)
            collapsed = " ".join(text.split())
        if not collapsed:
            if text and not self._ends_with_space:
                self._append(" ")
            return
        if text[0].isspace() and not self._ends_with_space:
            collapsed = " " + collapsed
        if text[-1].isspace():
            collapsed += " "
        if not is_plain and self._parts and unicodedata.combining(collapsed[0]):
            collapsed = self._compose(collapsed)
            if not collapsed:
                return
        # As _append does: this is the most frequent call of all.
        self._parts.append(collapsed)
        self.length += len(collapsed)
        self._ends_with_space = collapsed[-1] == " "
        self.is_blank = False

    def add_verbatim(self, text: str) -> None:
        """Add the text of a ``pre``, with its white space."""
        text = CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\u00a0", " "))
        if shown := text if text.isascii() else visible(text):
            self._append(shown)

    def open(self, tag: str, html: str) -> None:
        self._depth += 1
        if self._depth <= DEEPEST_INLINE:
            self.events.append(_event((self.length, "open", tag, html)))

    def close(self, tag: str) -> None:
        if self._depth <= DEEPEST_INLINE:
            self.events.append(_event((self.length, "close", tag, f"</{tag}>")))
        self._depth -= 1

    def void(self, tag: str) -> None:
        self.events.append(_event((self.length, "void", tag, f"<{tag}>")))

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
        self._parts = []
        self._ends_with_space = True
        self.is_blank = True
        self.length = 0
        self.events = [event._replace(offset=0) for event in still_open]
        self.protected = []

    @property
    def text(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def sentences(self, language: str, *, whole: bool = False) -> list[Sentence]:
        """The sentences of the run, none of them empty; with ``whole``, all of it as one."""
        text = self.text
        if whole:
            shown = text.rstrip()
            return [Sentence(shown, _Markup(text, self.events).between(0, len(shown)), False)] if shown else []
        found: list[Sentence] = []
        mark_up = _Markup(text, self.events)
        for start, end in self._spans(text, language):
            piece = text[start:end]
            shown = piece.strip()
            if shown:
                start += len(piece) - len(piece.lstrip())
                joined = bool(found) and not text[start - 1].isspace()
                found.append(Sentence(shown, mark_up.between(start, start + len(shown)), joined))
        return found

    def _spans(self, text: str, language: str) -> Iterator[tuple[int, int]]:
        start = 0
        for end in boundaries(text, language, self.protected):
            while end - start > LONGEST_SENTENCE:
                cut = text.rfind(" ", start + LONGEST_SENTENCE // 2, start + LONGEST_SENTENCE) + 1
                cut = cut or _between_characters(text, start + LONGEST_SENTENCE)
                yield start, cut
                start = cut
            yield start, end
            start = end

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self.length += len(text)
        self._ends_with_space = text[-1] == " "
        if text != " ":
            self.is_blank = False

    def _compose(self, text: str) -> str:
        """A combining character that follows a tag joins the letter before it: the tag moves behind both."""
        last = self._parts[-1]
        before = self.length
        letter = len(last) - 1
        earliest = max(0, len(last) - MOST_MARKS)
        while letter > earliest and unicodedata.combining(last[letter]):
            letter -= 1
        if unicodedata.combining(last[letter]):
            return text
        marks = 1
        while marks < min(len(text), MOST_MARKS) and unicodedata.combining(text[marks]):
            marks += 1
        self._parts[-1] = last[:letter]
        self.length -= len(last) - letter
        self._append(unicodedata.normalize("NFC", last[letter:] + text[:marks]))
        place = len(self.events)
        while place and self.events[place - 1].offset >= before:
            place -= 1
            self.events[place] = self.events[place]._replace(offset=self.length)
        return text[marks:]


class _Markup:
    """Cuts a run's markup at sentence boundaries; tags open across a boundary are closed and opened again."""

    def __init__(self, text: str, events: list[Event]) -> None:
        self._text = text
        self._is_plain = not ("&" in text or "<" in text or ">" in text)
        self._events = events
        self._next = 0
        self._open: list[Event] = []

    def between(self, start: int, stop: int) -> str:
        events, opened = self._events, self._open
        count = len(events)
        place = self._next
        if not opened and (place == count or events[place].offset > stop):
            return self._escaped(start, stop)
        while place < count:
            event = events[place]
            if event.offset > start or (event.offset == start and event.kind != "close"):
                break
            place += 1
            _follow(event, opened)
        pieces = [event.html for event in opened]
        position = start
        while place < count:
            event = events[place]
            offset = event.offset
            if offset > stop or (offset == stop and event.kind != "close"):
                break
            if offset > position:
                pieces.append(self._escaped(position, offset))
                position = offset
            pieces.append(event.html)
            place += 1
            _follow(event, opened)
        self._next = place
        pieces.append(self._escaped(position, stop))
        if opened:
            pieces.extend(f"</{event.tag}>" for event in reversed(opened))
        return _without_empty_tags("".join(pieces))

    def _escaped(self, start: int, stop: int) -> str:
        text = self._text[start:stop]
        return text if self._is_plain else text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _follow(event: Event, opened: list[Event]) -> None:
    if event.kind == "open":
        opened.append(event)
    elif event.kind == "close":
        opened.pop()


EMPTY_TAG = re.compile(r"<(\w+)(?: [^<>]*)?></\1>")


def _without_empty_tags(markup: str) -> str:
    while "></" in markup and (shorter := EMPTY_TAG.sub("", markup)) != markup:
        markup = shorter
    return markup


def _between_characters(text: str, cut: int) -> int:
    """The place at or shortly before this one that parts no letter from its marks, and no emoji."""
    for place in range(cut, cut - 10, -1):
        if unicodedata.category(text[place])[0] not in "MC" and text[place - 1] != "\u200d":
            return place
    return cut


def visible(text: str) -> str:
    """The text as it is stored and searched: NFC, without invisible characters (soft hyphens, zero-width spaces)."""
    text = CONTROL.sub("", text.translate(INVISIBLE))
    if (endless := MANY_MARKS.search(text)) and any(map(unicodedata.combining, endless[0])):
        # Normalising takes quadratic time on these.
        return text
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)
