"""From a question to its evidence."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa

from evidence.configured import embedder_of, pipeline
from evidence.language.judge import Busy, Judge
from evidence.language.tokens import count
from evidence.retrieve.budget import Selection, fill
from evidence.retrieve.evidence import Citation, Evidence, Excerpt, Why
from evidence.retrieve.filter import Filter
from evidence.retrieve.glossary import add_definitions
from evidence.retrieve.likely import is_likely
from evidence.retrieve.question import read_question
from evidence.retrieve.relevance import judged, read_of, seems_to_answer
from evidence.store import indexes
from evidence.store.indexes import UnknownIndex
from evidence.store.revisions import Linked, read_links
from evidence.store.search import NO_FILTERS, Asked, Filters, Hit, nearest
from evidence.tree.document import Document, Node
from evidence.tree.subdocument import prune
from evidence.tree.text import to_text

DEFAULT_BUDGET = 1000
CANDIDATES = 200
ALWAYS_KEPT = 10
SLACK = 1.1
"""The budget times this is filled, by costs that are rather too high; the exact count then cuts."""
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
    filters: Filters = NO_FILTERS,
    reader: Filter | None = None,
    judge: Judge | None = None,
) -> Evidence:
    """The evidence for a question from these collections, at most ``budget`` tokens of it.

    In the question "quoted phrases" must stand in what is found, and -excluded words must not.
    ``floor`` is the share of the best score below which a candidate is left out, though it would fit; the first few stay.
    ``glossaries`` are the collections, of those asked, whose glossaries define the terms that the evidence uses.
    ``judge`` judges the first candidates and leaves out what is unlikely to help, unless it is busy with others' questions;
    ``reader``, a language model, takes its place where both are given. Where they leave nothing, the evidence is what search
    found, and not likely.

    Three statements go to the database: which index, the candidates, their excerpts; with glossaries up to two more for
    the definitions and their excerpts, and where a judge leaves nothing one more. NoIndex when nothing has been indexed, or
    there is no index of this name; ValueError for a budget below 1.
    """
    if budget < 1:
        raise ValueError(f"a budget of {budget} tokens holds nothing; give 1 or more")
    asked = read_question(question[:LONGEST_QUESTION])
    clock = _Clock()
    with pipeline() as connection:
        way = indexes.get(connection, index)
        if not asked.text or not collections:
            return Evidence(question, budget, 0, (), clock.laps, way.name)
        embedder = embedder_of(way)
        clock.lap("load")
        vector = embedder.embed_queries([asked.text])[0]
        clock.lap("embed")
        # A large budget holds more candidates; a small one does not need fewer, since short ones fit where long do not.
        hits = nearest(
            connection,
            way,
            vector,
            collections=collections,
            limit=max(CANDIDATES, budget // 5),
            asked=Asked(asked.words, asked.identifiers, asked.phrases, asked.excluded),
            filters=filters,
        )
        clock.lap("search")
        asked_glossaries = [collection for collection in glossaries if collection in collections]
        gathering = _Gathering(question, budget, way.name, asked_glossaries, clock)
        if reader is None:
            if judge is None or not hits:
                return gathering.evidence(connection, _above(floor, hits))
            read = hits[: read_of(budget)]
            linked = _linked(connection, read)
            clock.lap("read")
            try:
                kept, filtered = judged(judge, asked.text, read, linked, keeps_all=bool(asked.phrases))
            except Busy:
                clock.lap("filter")
                return gathering.evidence(connection, _above(floor, hits))
            clock.lap("filter")
            if kept:
                found = gathering.evidence(connection, _above(floor, kept), linked)
                return replace(found, filtered=filtered, likely=found.likely and seems_to_answer(kept))
            return replace(gathering.evidence(connection, _above(floor, hits)), filtered=filtered, likely=False)
    # Nothing is held open in the database while a language model reads.
    kept, filtered = reader.choose(asked.text, hits, budget)
    hits = [replace(hit, rank=rank) for rank, hit in enumerate(kept, 1)]
    clock.lap("filter")
    with pipeline() as connection:
        return replace(gathering.evidence(connection, hits), filtered=filtered)


@dataclass(frozen=True)
class _Gathering:
    """What makes evidence of a question's candidates."""

    question: str
    budget: int
    index: str
    glossaries: Sequence[int]
    clock: _Clock

    def evidence(self, connection: sa.Connection, hits: list[Hit], linked: dict[int, Linked] | None = None) -> Evidence:
        """The evidence that these candidates make, the best first; ``linked`` if their documents were read already."""
        selections = fill(hits, int(self.budget * SLACK))
        if linked is None:
            linked = read_links(connection, {selection.revision_id: selection.places() for selection in selections})
        # A document may have gone while its candidates were read.
        selections = [selection for selection in selections if selection.revision_id in linked]
        if self.glossaries:
            add_definitions(connection, selections, linked, glossaries=self.glossaries, budget=self.budget)
        self.clock.lap("read")
        excerpts = excerpts_within(selections, linked, self.budget)
        answering = tuple(excerpt for excerpt in excerpts if excerpt.citations)
        definitions = tuple(excerpt for excerpt in excerpts if not excerpt.citations) if answering else ()
        self.clock.lap("excerpt")
        return Evidence(
            question=self.question,
            budget=self.budget,
            tokens=sum(excerpt.tokens for excerpt in (*answering, *definitions)),
            excerpts=answering,
            milliseconds=self.clock.laps,
            index=self.index,
            definitions=definitions,
            likely=is_likely(hits),
        )


def _linked(connection: sa.Connection, hits: Sequence[Hit]) -> dict[int, Linked]:
    """The documents of these candidates, pruned to them and their contexts."""
    places: dict[int, set[int]] = {}
    for hit in hits:
        places.setdefault(hit.revision_id, set()).update(hit.positions, hit.context_positions)
    return read_links(connection, places)


def _above(floor: float, hits: list[Hit]) -> list[Hit]:
    best = max((hit.score for hit in hits), default=0.0)
    return [hit for hit in hits if hit.rank <= ALWAYS_KEPT or hit.identifiers or hit.score >= floor * best]


def excerpts_within(selections: list[Selection], linked: dict[int, Linked], budget: int) -> list[Excerpt]:
    """The excerpts, counted exactly. Where they are above the budget after all, the last candidates go, and without any
    candidates the definitions."""
    excerpts = {selection.revision_id: _excerpt(selection, linked[selection.revision_id]) for selection in selections}
    while (excess := sum(excerpt.tokens for excerpt in excerpts.values()) - budget) > 0:
        for selection in _cut(selections, excess):
            if selection.hits or selection.defining:
                excerpts[selection.revision_id] = _excerpt(selection, linked[selection.revision_id])
            else:
                selections.remove(selection)
                del excerpts[selection.revision_id]
    return list(excerpts.values())


def _cut(selections: list[Selection], excess: int) -> list[Selection]:
    """Take the last candidates off until, by what they were thought to cost, the excess is gone; the selections changed.

    At once not more than an eighth of them, as they may have cost more. Without candidates, the last definitions go.
    """
    changed: dict[int, Selection] = {}
    for _ in range(1 + sum(len(selection.hits) for selection in selections) // 8):
        cited = [selection for selection in selections if selection.hits]
        if excess <= 0 or not cited:
            break
        weakest = max(cited, key=lambda selection: selection.hits[-1].rank)
        weakest.hits.pop()
        excess -= weakest.costs.pop()
        changed[weakest.revision_id] = weakest
    if not changed:
        selections[-1].defining.clear()
        return [selections[-1]]
    return list(changed.values())


def _excerpt(selection: Selection, source: Linked) -> Excerpt:
    tree = prune(source.tree, [source.tree.node(position) for position in selection.places()])
    cited: dict[int, Citation] = {}
    for hit in selection.hits:
        for position in hit.positions:
            node = tree.node(position)
            cited.setdefault(position, Citation(node.path, _quote(node), hit.score, hit.rank, _why(hit, tree)))
    citations = tuple(sorted(cited.values(), key=lambda citation: citation.rank))
    return excerpt_from(source, selection.revision_id, tree, citations)


def excerpt_from(source: Linked, revision_id: int, tree: Document, citations: tuple[Citation, ...]) -> Excerpt:
    """The excerpt that a pruned tree makes, its tokens counted."""
    text = to_text(tree)
    return Excerpt(
        document_id=source.document_id,
        revision_id=revision_id,
        revision=source.revision,
        collection=source.collection,
        title=tree.title,
        address=source.address,
        tree=tree,
        citations=citations,
        text=text,
        tokens=count(text),
    )


def _why(hit: Hit, tree: Document) -> Why:
    context = tuple(
        (policy, tree.node(position).content)
        for policy, position in zip(hit.context_policies, hit.context_positions, strict=True)
    )
    return Why(hit.vector_rank, hit.text_rank, hit.words, hit.identifiers, context, hit.relevance)


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
        self.laps[name] = round(self.laps.get(name, 0.0) + (now - self._last) * 1000, 2)
        self._last = now
