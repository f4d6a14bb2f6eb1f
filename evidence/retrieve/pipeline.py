"""From a question to its evidence."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import sqlalchemy as sa

from evidence.configured import embedder_of, pipeline
from evidence.language.tokens import count
from evidence.retrieve.budget import Selection, fill
from evidence.retrieve.evidence import Citation, Evidence, Excerpt
from evidence.retrieve.filter import Filter
from evidence.retrieve.glossary import add_definitions
from evidence.store import indexes
from evidence.store.indexes import UnknownIndex
from evidence.store.revisions import Linked, read_links
from evidence.store.search import Hit, nearest
from evidence.tree.document import Node
from evidence.tree.sentences import visible
from evidence.tree.subdocument import prune
from evidence.tree.text import to_text

DEFAULT_BUDGET = 1000
CANDIDATES = 200
ALWAYS_KEPT = 10
LONGEST_QUESTION = 2000
"""Characters of a question that are read; the model reads fewer."""

NoIndex = UnknownIndex


def ask(
    question: str,
    *,
    collections: Sequence[int],
    budget: int = DEFAULT_BUDGET,
    index: str | None = None,
    floor: float = 0.0,
    glossaries: Sequence[int] = (),
    reader: Filter | None = None,
) -> Evidence:
    """The evidence for a question from these collections, at most ``budget`` tokens of it.

    ``floor`` is the share of the best score below which a candidate is left out, though it would fit; the first few stay.
    ``glossaries`` are the collections, of those asked, whose glossaries define the terms that the evidence uses.
    ``reader`` reads the candidates and keeps what helps.

    Three statements go to the database: which index, the candidates, their excerpts; with glossaries up to two more for
    the definitions and their excerpts. NoIndex when nothing has been
    indexed, or there is no index of this name; ValueError for a budget below 1.
    """
    if budget < 1:
        raise ValueError(f"a budget of {budget} tokens holds nothing; give 1 or more")
    asked = " ".join(visible(question[:LONGEST_QUESTION]).split())
    asked_glossaries = [collection for collection in glossaries if collection in collections]
    clock = _Clock()
    with pipeline() as connection:
        way = indexes.get(connection, index)
        if not asked or not collections:
            return Evidence(question, budget, 0, (), clock.laps, way.name)
        embedder = embedder_of(way)
        clock.lap("load")
        vector = embedder.embed_queries([asked])[0]
        clock.lap("embed")
        # A large budget holds more candidates; a small one does not need fewer, since short ones fit where long do not.
        hits = nearest(connection, way, vector, collections=collections, limit=max(CANDIDATES, budget // 5))
        clock.lap("search")
        hits = _above(floor, hits)
        if reader is None:
            return _gathered(connection, hits, question, way.name, clock, glossaries=asked_glossaries, budget=budget)
    # Nothing is held open in the database while a language model reads.
    hits, filtered = reader.choose(asked, hits, budget)
    clock.lap("filter")
    with pipeline() as connection:
        found = _gathered(connection, hits, question, way.name, clock, glossaries=asked_glossaries, budget=budget)
    return replace(found, filtered=filtered)


def _gathered(
    connection: sa.Connection,
    hits: list[Hit],
    question: str,
    index: str,
    clock: _Clock,
    *,
    glossaries: Sequence[int],
    budget: int,
) -> Evidence:
    """The evidence that these candidates make, the best first."""
    selections = fill(hits, budget)
    linked = read_links(connection, {selection.revision_id: selection.places() for selection in selections})
    # A document may have gone while its candidates were read.
    selections = [selection for selection in selections if selection.revision_id in linked]
    if glossaries:
        add_definitions(connection, selections, linked, glossaries=glossaries, budget=budget)
    clock.lap("read")
    excerpts = excerpts_within(selections, linked, budget)
    answering = tuple(excerpt for excerpt in excerpts if excerpt.citations)
    definitions = tuple(excerpt for excerpt in excerpts if not excerpt.citations) if answering else ()
    clock.lap("excerpt")
    tokens = sum(excerpt.tokens for excerpt in (*answering, *definitions))
    return Evidence(question, budget, tokens, answering, clock.laps, index, definitions)


def _above(floor: float, hits: list[Hit]) -> list[Hit]:
    return [hit for rank, hit in enumerate(hits) if rank < ALWAYS_KEPT or hit.score >= floor * hits[0].score]


def excerpts_within(selections: list[Selection], linked: dict[int, Linked], budget: int) -> list[Excerpt]:
    """The excerpts, counted exactly. Where they are above the budget after all, the last candidates go, and without any
    candidates the definitions."""
    excerpts = {selection.revision_id: _excerpt(selection, linked[selection.revision_id]) for selection in selections}
    while sum(excerpt.tokens for excerpt in excerpts.values()) > budget:
        cited = [selection for selection in selections if selection.hits]
        weakest = min(cited, key=lambda selection: selection.hits[-1].score) if cited else selections[-1]
        weakest.hits = weakest.hits[:-1]
        if weakest.hits or (cited and weakest.defining):
            excerpts[weakest.revision_id] = _excerpt(weakest, linked[weakest.revision_id])
        else:
            selections.remove(weakest)
            del excerpts[weakest.revision_id]
    return list(excerpts.values())


def _excerpt(selection: Selection, source: Linked) -> Excerpt:
    tree = prune(source.tree, [source.tree.node(position) for position in selection.places()])
    cited: dict[int, Citation] = {}
    for hit in selection.hits:
        for position in hit.positions:
            node = tree.node(position)
            cited.setdefault(position, Citation(node.path, _quote(node), hit.score))
    text = to_text(tree)
    return Excerpt(
        document_id=source.document_id,
        revision_id=selection.revision_id,
        revision=source.revision,
        collection=source.collection,
        title=tree.title,
        address=source.address,
        tree=tree,
        citations=tuple(sorted(cited.values(), key=lambda citation: -citation.score)),
        text=text,
        tokens=count(text),
    )


def _quote(node: Node) -> str:
    """What a citation says: a sentence, or the cells of a row."""
    if node.tag != "tr":
        return node.content
    return " | ".join(cell.content for cell in node.children)


class _Clock:
    """Milliseconds of each step."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round((now - self._last) * 1000, 2)
        self._last = now
