"""The answer: written by a language model from the evidence only, and checked sentence by sentence before it is shown."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evidence.language.chat import Chat, ChatError, Stream, Usage
from evidence.retrieve.claims import missing_from, support_of
from evidence.retrieve.evidence import Citation, Evidence, Excerpt
from evidence.retrieve.labels import labelled
from evidence.retrieve.prompts import NOT_FOUND, to_write
from evidence.tree.boundaries import boundaries
from evidence.tree.sentences import visible

MOST_REPLY_TOKENS = 500
LONGEST_ANSWER = 8000
"""Characters; the rest of an answer that does not end is not read."""

# "[2]", "[S2]", "[1, 3]": the prompt asks for the first, models write them all.
MARKER = re.compile(r"\[\s*S?(\d{1,6})((?:\s*[,;]\s*S?\d{1,6})*)\s*\]", re.IGNORECASE)
BEFORE_A_STOP = re.compile(rf"(?:\s*{MARKER.pattern})+(?=\s*[.,;:!?。])", re.IGNORECASE)
# What may still become one.
BEGINNING = re.compile(r"\[[\sS\d,;]{0,40}$", re.IGNORECASE)
# After a marker a full stop ends a sentence for certain; elsewhere it may be part of a number or a name.
CERTAIN_END = re.compile(rf"{MARKER.pattern}[.!?。！？]$", re.IGNORECASE)

Standing = Literal["supported", "unsupported", "doubtful"]


@dataclass(frozen=True)
class Source:
    """A citation of the evidence by the number that the model knows it by."""

    number: int
    excerpt: Excerpt
    citation: Citation


@dataclass(frozen=True)
class Claim:
    """A sentence of an answer, without its markers, and the sources that it names; numbers without a source are gone.

    It is "unsupported" if it names none, "doubtful" if numbers, names or quoted words of it are not in what it names: those
    are ``missing``.
    """

    text: str
    sources: tuple[Source, ...]
    standing: Standing
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class End:
    """How an answer ended: "answered", "not found" (the documents do not), or "failed" and why. Cut off, it is not whole."""

    how: Literal["answered", "not found", "failed"]
    why: str = ""
    is_whole: bool = True
    invented: int = 0
    """Markers that name no source."""

    usage: Usage = field(default_factory=Usage)


def sources_of(evidence: Evidence) -> list[Source]:
    """The citations of the evidence, numbered from 1 in reading order."""
    ordered = [
        (excerpt, citation)
        for excerpt in evidence.excerpts
        for citation in sorted(excerpt.citations, key=lambda citation: citation.path)
    ]
    return [Source(number, excerpt, citation) for number, (excerpt, citation) in enumerate(ordered, 1)]


def answer(evidence: Evidence, chat: Chat, *, seconds: float) -> Iterator[Claim | End]:
    """The claims of an answer, each as soon as it is whole and checked; at last an End."""
    sources = sources_of(evidence)
    if not sources:
        yield End("not found")
        return
    reader = ClaimReader(sources)
    stream = Stream(iter(()))
    try:
        messages = to_write(evidence.question, _views(evidence, sources))
        stream = chat.stream(messages, most_tokens=MOST_REPLY_TOKENS, until=time.monotonic() + seconds)
        for chunk in stream.chunks:
            yield from reader.read(chunk)
    except ChatError as error:
        yield from reader.end()
        yield End("failed", str(error), is_whole=False, invented=reader.invented, usage=stream.usage)
        return
    yield from reader.end()
    how: Literal["answered", "not found", "failed"] = "answered" if reader.claims else "failed"
    if reader.says_not_found:
        how = "not found"
    why = "" if how != "failed" else f"{chat.name} said nothing"
    yield End(how, why, stream.is_whole, reader.invented, stream.usage)


def _views(evidence: Evidence, sources: Sequence[Source]) -> list[str]:
    views = []
    for excerpt in evidence.excerpts:
        own = [source for source in sources if source.excerpt is excerpt]
        places = [excerpt.tree.at(source.citation.path).position for source in own]
        whole = [node.position for node in excerpt.tree.nodes]
        views.append(labelled(excerpt.tree, whole, places, [str(source.number) for source in own]).text)
    return views


class ClaimReader:
    """Makes claims of a reply that comes in pieces, cut anywhere.

    Nothing is given before it is a whole sentence, so no part of a marker ever is.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = {source.number: source for source in sources}
        self._support = {source.number: support_of(source.excerpt, source.citation) for source in sources}
        self._rest = ""
        self._read = 0
        self.claims = 0
        self.invented = 0
        self.says_not_found = False

    def read(self, chunk: str) -> Iterator[Claim]:
        """The claims that this piece completes."""
        chunk = chunk[: max(LONGEST_ANSWER - self._read, 0)]
        self._read += len(chunk)
        self._rest += chunk
        yield from self._claims(is_end=False)

    def end(self) -> Iterator[Claim]:
        """The claim that is left. A marker that was begun is plain text."""
        yield from self._claims(is_end=True)

    def _claims(self, *, is_end: bool) -> Iterator[Claim]:
        pieces = _sentences(self._rest)
        is_certain = is_end or bool(CERTAIN_END.search(self._rest))
        if not is_certain and pieces:
            # The last one may go on, or be followed by its marker.
            self._rest = pieces.pop()
            while pieces and (not self._rest.strip() or BEGINNING.fullmatch(self._rest.strip())):
                self._rest = pieces.pop() + self._rest
        else:
            self._rest = ""
        for piece in pieces:
            if (claim := self._claim(piece)) is not None:
                yield claim

    def _claim(self, piece: str) -> Claim | None:
        numbers = [int(number) for marker in MARKER.finditer(piece) for number in re.findall(r"\d+", marker[0])]
        text = " ".join(visible(MARKER.sub("", BEFORE_A_STOP.sub("", piece))).split()).lstrip(" .,;:")
        known = dict.fromkeys(number for number in numbers if number in self._sources)
        self.invented += sum(number not in self._sources for number in numbers)
        if text.rstrip(".").casefold() == NOT_FOUND.rstrip(".").casefold():
            self.says_not_found = not self.claims
            return None
        if not any(map(str.isalnum, text)):
            return None
        self.claims += 1
        self.says_not_found = False
        if not known:
            return Claim(text, (), "unsupported")
        language = self._sources[next(iter(known))].excerpt.tree.language
        missing = missing_from(text, [self._support[number] for number in known], language)
        sources = tuple(self._sources[number] for number in known)
        return Claim(text, sources, "doubtful" if missing else "supported", missing)


def _sentences(text: str) -> list[str]:
    """The sentences of a reply, each with the markers after its end; they make up the text again."""
    markers = [found.span() for found in MARKER.finditer(text)]
    bare = "".join(" " * len(part) if is_marker else part for part, is_marker in _parts(text, markers))
    ends = sorted({*boundaries(bare), *(found.end() for found in re.finditer(r"\n+", text))}) if text else []
    pieces: list[str] = []
    start = 0
    for end in ends:
        if end > start:
            pieces.append(text[start:end])
            start = end
    return pieces


def _parts(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    start = 0
    for first, last in spans:
        yield text[start:first], False
        yield text[first:last], True
        start = last
    yield text[start:], False
