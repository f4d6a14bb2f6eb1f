"""How fast pages become trees, next to other parsers of HTML, on one core.

Parsers take the same pages in turns, a few hundred kilobytes each, so that whatever else the machine does troubles all of
them alike. A slow one leaves when it has had its time; what is said of it is of the pages that it has had.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from evidence.bench.children import Child
from evidence.bench.parsers import OURS, Page, Parser
from evidence.bench.report import Table
from evidence.ingest.readers.formats import by_ending
from evidence.ingest.sources import Arrival, Refusal, read_paths

TURN = 250_000
"""Bytes of HTML that each parser takes before the next one's turn."""

TOTAL = "total"
NAMED = 10
"""Pages that are named, of those that a parser failed on."""


@dataclass
class Work:
    """What one parser did with pages.

    ``pages`` counts those that it failed on as well; ``size`` in bytes and ``seconds`` are of those that it could read.
    ``spent`` are the seconds for all. ``failures`` are addresses and errors. ``ratios`` are its times against ours, turn by
    turn.
    """

    parser: Parser
    pages: int = 0
    size: int = 0
    seconds: float = 0.0
    spent: float = 0.0
    pieces: int = 0
    sentences: int = 0
    nodes: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    loaded: float = 0.0
    peak: float = 0.0

    @property
    def speed(self) -> float:
        """Megabytes a second."""
        return self.size / 1e6 / max(self.seconds, 1e-9)

    @property
    def ratio(self) -> float:
        """Its time for a turn against ours, the median; 1 for ours."""
        return median(self.ratios) if self.ratios else 1.0

    def add(self, other: Work) -> None:
        """Count what it did elsewhere as well. Memory is the largest, not the sum."""
        for name in ("pages", "size", "seconds", "spent", "pieces", "sentences", "nodes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.failures += other.failures
        self.ratios += other.ratios
        self.loaded, self.peak = max(self.loaded, other.loaded), max(self.peak, other.peak)


@dataclass
class Measured:
    """The pages below one path, and what each parser did with them."""

    path: str
    pages: int = 0
    size: int = 0
    refusals: list[Refusal] = field(default_factory=list)
    works: list[Work] = field(default_factory=list)


def measure(paths: Sequence[Path], others: Sequence[Parser], *, seconds: float) -> Iterator[Measured]:
    """What each parser does with the pages of each path, and in the end with all of them.

    Ours takes every page; each of the others as many as it can in so many seconds of processor time, drawn from all over
    the path. ValueError when a path holds no page.
    """
    total = Measured(TOTAL, works=[Work(parser) for parser in (OURS, *others)])
    for path in paths:
        measured = _measure_path(path, others, seconds)
        yield measured
        total.pages += measured.pages
        total.size += measured.size
        total.refusals += measured.refusals
        for whole, part in zip(total.works, measured.works, strict=True):
            whole.add(part)
    if len(paths) > 1:
        yield total


def _measure_path(path: Path, others: Sequence[Parser], seconds: float) -> Measured:
    found = list(read_paths([path]))
    refusals = [entry for entry in found if isinstance(entry, Refusal) and by_ending(entry.name) in ("html", "")]
    pages = [
        Page(entry.address, entry.data, entry.charset)
        for entry in found
        if isinstance(entry, Arrival) and entry.format == "html"
    ]
    if not pages:
        raise ValueError(f"{path}: {refusals[0].reason if refusals else 'there are no HTML pages'}")
    random.Random(0).shuffle(pages)  # noqa: S311
    measured = Measured(str(path), len(pages), sum(len(page.data) for page in pages), refusals)
    with ExitStack() as ending:
        children = [ending.enter_context(Child(parser)) for parser in (OURS, *others)]
        measured.works = [Work(child.parser) for child in children]
        for turn, taken in enumerate(_turns(pages)):
            _take_turns(taken, list(zip(children, measured.works, strict=True)), seconds, first=turn % len(children))
        for child, work in zip(children, measured.works, strict=True):
            work.loaded, work.peak = child.loaded, child.peak
    return measured


def _turns(pages: Iterable[Page]) -> Iterator[list[Page]]:
    taken: list[Page] = []
    for page in pages:
        taken.append(page)
        if sum(len(page.data) for page in taken) >= TURN:
            yield taken
            taken = []
    if taken:
        yield taken


def _take_turns(pages: Sequence[Page], running: list[tuple[Child, Work]], seconds: float, *, first: int) -> None:
    taken: dict[int, float] = {}
    for place in (*range(first, len(running)), *range(first)):
        child, work = running[place]
        if place and work.spent >= seconds:
            continue
        before, failed = work.seconds, len(work.failures)
        _take(pages, child, work)
        if len(work.failures) == failed:
            taken[place] = work.seconds - before
    for place, time in taken.items():
        if place and taken.get(0):
            running[place][1].ratios.append(time / taken[0])


def _take(pages: Sequence[Page], child: Child, work: Work) -> None:
    for page in pages:
        timed = child.time(page)
        work.pages += 1
        work.spent += timed.seconds
        if timed.counts is None:
            work.failures.append((page.address, timed.error))
            continue
        work.size += len(page.data)
        work.seconds += timed.seconds
        work.pieces += timed.counts.pieces
        work.sentences += timed.counts.sentences
        work.nodes += timed.counts.nodes


def table_of(measured: Measured) -> Table:
    """What was measured below a path, a row for each parser."""
    table = Table(
        ["parser", "pages", "MB", "failed", "seconds", "MB/s", "pages/s", "time, ours = 1", "peak MB", "of it at start"]
    )
    for work in measured.works:
        sampled = "" if work.pages == measured.pages else " of them"
        table.add(
            work.parser.label,
            f"{work.pages:,}{sampled}",
            f"{work.size / 1e6:,.1f}",
            f"{len(work.failures):,}",
            f"{work.seconds:,.1f}",
            f"{work.speed:,.2f}",
            f"{(work.pages - len(work.failures)) / max(work.seconds, 1e-9):,.0f}",
            f"{work.ratio:,.2f}",
            f"{work.peak:,.0f}",
            f"{work.loaded:,.0f}",
        )
    return table


def lines_of(measured: Measured) -> Iterator[str]:
    """What was measured below a path, to read; each page that was refused or that a parser failed on by name."""
    ours = measured.works[0]
    yield f"{measured.path}: {measured.pages:,} pages, {measured.size / 1e6:,.1f} MB, {len(measured.refusals):,} refused"
    yield f"  ours: {ours.sentences:,} sentences, {ours.nodes:,} nodes, {ours.pieces:,} seeds with their contexts"
    yield from (f"  {line}" for line in table_of(measured).lines())
    if measured.path == TOTAL:
        return
    for refusal in measured.refusals:
        yield f"  refused: {refusal.name} {refusal.reason}"
    for work in measured.works:
        for address, error in work.failures[:NAMED]:
            yield f"  {work.parser.name} failed on {address}: {error}"
        if len(work.failures) > NAMED:
            yield f"  {work.parser.name} failed on {len(work.failures) - NAMED:,} more"


def as_json(measured: Measured) -> dict[str, Any]:
    """What was measured below a path, for machines."""
    return {
        "path": measured.path,
        "pages": measured.pages,
        "bytes": measured.size,
        "refused": {refusal.name: refusal.reason for refusal in measured.refusals},
        "parsers": [
            {
                "name": work.parser.label,
                "pages": work.pages,
                "bytes": work.size,
                "failures": work.failures,
                "seconds": work.seconds,
                "megabytes_a_second": work.speed,
                "time_against_ours": work.ratio,
                "peak_megabytes": work.peak,
                "megabytes_at_start": work.loaded,
                "pieces": work.pieces,
                "sentences": work.sentences,
                "nodes": work.nodes,
            }
            for work in measured.works
        ],
    }
