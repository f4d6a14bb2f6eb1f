"""Whether time grows with the page and no faster: one page's body repeated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evidence.bench.children import Child
from evidence.bench.parsers import OURS, Lxml, Page, Parser
from evidence.bench.report import Table

SIZES = (1_000_000, 10_000_000, 50_000_000)
"""Bytes."""

PARSERS: tuple[Parser, ...] = (Lxml(), OURS)
LONGEST = 600.0
"""Seconds for the largest page."""

BODY = re.compile(rb"(?is)\A(?P<head>.*?<body\b[^>]*>)?(?P<body>.*?)(?P<end></body>.*)?\Z")


@dataclass(frozen=True)
class Repeated:
    """One parser on a page of this size in bytes: processor seconds, megabytes of memory, and why it failed if it did."""

    parser: Parser
    size: int
    seconds: float
    peak: float
    error: str = ""


def measure(page: Page, sizes: Sequence[int]) -> Iterator[Repeated]:
    """Each parser on each size, in a process of its own. ValueError for a page without a body to repeat."""
    for size in sizes:
        repeated = repeat(page, size)
        for parser in PARSERS:
            with Child(parser, longest=LONGEST) as child:
                timed = child.time(repeated)
                yield Repeated(parser, len(repeated.data), timed.seconds, child.peak, timed.error)


def repeat(page: Page, size: int) -> Page:
    """The page with its body so many times that it is at least this long."""
    parts = BODY.match(page.data)
    body = parts["body"] if parts else b""
    if not body.strip():
        raise ValueError(f"{page.address}: there is nothing in its body to repeat")
    times = max(-(-(size - len(page.data)) // len(body)) + 1, 1)
    head, end = (parts["head"] or b"", parts["end"] or b"") if parts else (b"", b"")
    return Page(page.address, head + body * times + end, page.charset)


def lines_of(results: Sequence[Repeated]) -> Iterator[str]:
    """The results, to read. The last column is 1 when time is linear."""
    table = Table(["parser", "MB", "seconds", "MB/s", "peak MB", "time per MB, smallest = 1"])
    first: dict[str, float] = {}
    for result in results:
        per_byte = result.seconds / result.size
        against = per_byte / (first.setdefault(result.parser.name, per_byte) or 1e-12)
        table.add(
            result.parser.label,
            f"{result.size / 1e6:,.1f}",
            f"{result.seconds:,.2f}",
            f"{1 / max(per_byte, 1e-12) / 1e6:,.2f}",
            f"{result.peak:,.0f}",
            result.error or f"{against:.2f}",
        )
    yield from table.lines()
