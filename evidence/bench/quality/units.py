"""Ways to embed: the units of a corpus, and their vectors. The default way is the product's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evidence.bench.quality.corpus import Corpus
from evidence.ingest.units import sections_of, units_of
from evidence.language.embedder import WINDOW_TOKENS, Vectors, Window, pack
from evidence.store.search import Hit
from evidence.tree.context import POLICIES, Entry, Policy, global_context
from evidence.tree.document import Document, Node
from evidence.tree.tags import CELLS
from evidence.tree.units import Unit, single_text

KEPT = 3
"""Indexes of a corpus that stay in memory."""


@dataclass(frozen=True)
class Way:
    """One way to embed.

    ``unit`` is one of the product's, or "cell" (seeds, but cells where these are rows). ``policies`` limits the context
    to some by name. ``order`` is that of the text of a unit that is encoded alone: "context first", "inner first" (the
    nearest heading before the title) or "unit first". ``window`` is in tokens.
    """

    unit: str = "seed"
    encoding: str = "shared"
    context: bool = True
    policies: tuple[str, ...] = ()
    order: str = "context first"
    window: int = WINDOW_TOKENS


class Index:
    """The units of a corpus embedded in one way: a hit for each without its score, its text, and its vector."""

    def __init__(self, corpus: Corpus, way: Way) -> None:
        self.hits: list[Hit] = []
        self.texts: list[str] = []
        singles: list[tuple[int, str]] = []
        windows: list[tuple[Window, tuple[int | None, ...]]] = []
        policies = [policy for policy in POLICIES if policy.name in way.policies] if way.policies else POLICIES
        for number, (tree, costs) in enumerate(zip(corpus.trees, corpus.costs, strict=True)):
            units = _units(tree, way.unit, policies)
            first = len(self.hits)
            self.hits.extend(_hit(number, unit, costs) for unit in units)
            self.texts.extend(single_text(unit, context=True) for unit in units)
            done: set[int] = set()
            if way.encoding == "shared":
                for window, numbers in _windows(tree, units, way, corpus):
                    done.update(n for n in numbers if n is not None)
                    windows.append((window, tuple(None if n is None else first + n for n in numbers)))
            singles.extend((first + n, _text(unit, way)) for n, unit in enumerate(units) if n not in done)
        self.vectors = _vectors(corpus, len(self.hits), singles, windows)


def index_of(corpus: Corpus, way: Way) -> Index:
    """The corpus embedded in this way; the last few are kept."""
    found = corpus.findings.pop(way, None)
    if not isinstance(found, Index):
        found = Index(corpus, way)
    corpus.findings[way] = found
    while len(corpus.findings) > KEPT:
        del corpus.findings[next(iter(corpus.findings))]
    return found


def _vectors(
    corpus: Corpus,
    count: int,
    singles: Sequence[tuple[int, str]],
    windows: Sequence[tuple[Window, tuple[int | None, ...]]],
) -> Vectors:
    vectors = np.empty((count, corpus.embedder.dimensions), np.float32)
    for (_, numbers), found in zip(windows, corpus.embedder.embed_windows([w for w, _ in windows]), strict=True):
        for number, vector in zip(numbers, found, strict=True):
            if number is not None:
                vectors[number] = vector
    if singles:
        vectors[[number for number, _ in singles]] = corpus.embedder.embed_passages([text for _, text in singles])
    return vectors


def _units(tree: Document, unit: str, policies: Sequence[Policy]) -> list[Unit]:
    if unit != "cell":
        return units_of(tree, unit, policies)
    found: list[Unit] = []
    for seed in units_of(tree, "seed", policies):
        row = seed.nodes[0]
        if row.tag != "tr":
            found.append(seed)
            continue
        cells = [cell for cell in row.children if cell.tag in CELLS and cell.children]
        found.extend(Unit((cell,), _context_of_cell(cell, cells[0], policies)) for cell in cells)
    return found


def _context_of_cell(cell: Node, first: Node, policies: Sequence[Policy]) -> tuple[Entry, ...]:
    """The context of a cell. Where the page marks no row header, the row's first cell says which row it is."""
    found = global_context(cell, policies)
    if cell is first or any(entry.policy == "row header" for entry in found):
        return tuple(found)
    before = [entry for entry in found if entry.policy != "column header"]
    return (*before, Entry("row header", first), *found[len(before) :])


def _hit(document: int, unit: Unit, costs: Sequence[int]) -> Hit:
    positions = tuple(node.position for node in unit.nodes)
    around = tuple(entry.node.position for entry in unit.context)
    return Hit(
        revision_id=document,
        positions=positions,
        tokens=sum(costs[position] for position in positions),
        score=0.0,
        context_policies=tuple(entry.policy for entry in unit.context),
        context_positions=around,
        context_tokens=tuple(costs[position] for position in around),
    )


def _windows(
    tree: Document, units: Sequence[Unit], way: Way, corpus: Corpus
) -> Iterator[tuple[Window, tuple[int | None, ...]]]:
    sections = list(sections_of(tree, units, context=way.context))
    packed = pack([(section.context, section.pieces) for section in sections], corpus.embedder, way.window)
    for section, windows in zip(sections, packed, strict=True):
        start = 0
        for window in windows:
            numbers = section.units[start : start + len(window.sentences)]
            start += len(window.sentences)
            if any(number is not None for number in numbers):
                yield window, numbers


def _text(unit: Unit, way: Way) -> str:
    if way.order == "inner first":
        unit = replace(unit, context=unit.context[::-1])
    text = single_text(unit, context=way.context)
    if way.order != "unit first" or not way.context:
        return text
    own = single_text(replace(unit, context=()), context=True)
    return f"{own} {text.removesuffix(own)}".strip()
