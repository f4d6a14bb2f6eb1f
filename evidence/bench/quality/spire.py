"""SPIRE as the product answers, with everything that may be changed about it as a parameter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evidence.bench.quality.corpus import Asked, Corpus, sentences_under
from evidence.bench.quality.fulltext import FullText
from evidence.bench.quality.systems import Answer, Cited, Part, best, fused
from evidence.bench.quality.units import Index, Way, index_of
from evidence.language.embedder import Vectors, unit_length
from evidence.retrieve.budget import fill
from evidence.retrieve.evidence import Excerpt
from evidence.retrieve.pipeline import ALWAYS_KEPT, CANDIDATES, excerpts_within
from evidence.store.revisions import Linked
from evidence.store.search import Hit
from evidence.tree.document import Document

TIE = 1e-3
"""What cosine is worth between units that BM25 takes for equal."""

HOPS_FROM = 5
"""Candidates that a second search starts from."""


@dataclass
class Spire:
    """SPIRE. What is not set is as in the product; each parameter is an ablation, or something tried.

    Of the vectors: ``own_weight`` is the share of the vector without context in that of a unit. ``around``: the share of
    the vector of the whole block in a unit's score.

    Of the search: ``candidates``, None for as many as the product takes. ``full_text``: the weight of BM25, fused by
    reciprocal ranks with the vectors, which have 1; ``by_block``: it is that of the unit's whole block, whose units then
    come in the order of their vectors. ``hop``: the weight of second searches, each for the question and one of the first
    candidates together, fused too. ``floor``: the share of the best score below which a candidate is left out.
    ``alike``: the cosine from which a candidate is a near-duplicate of a better one, and left out.

    Of the evidence: ``shows_context``: it holds the global context. ``local``: so many sentences (or rows) before and
    after each candidate join it before the budget. ``is_united``: the excerpts of a document are one. ``passes_over``:
    candidates that do not fit and are passed over for smaller ones, None for any number. ``slack``: the budget times this
    is filled, by costs that are rather too high, and the exact count then cuts.
    """

    name: str
    about: str
    way: Way = field(default_factory=Way)
    shows_context: bool = True
    own_weight: float = 0.0
    candidates: int | None = None
    local: int = 0
    is_united: bool = True
    slack: float = 1.0
    passes_over: int | None = None
    floor: float = 0.0
    full_text: float = 0.0
    by_block: bool = False
    around: float = 0.0
    hop: float = 0.0
    alike: float | None = None

    @property
    def settings(self) -> str:
        return repr(self)

    def prepare(self, corpus: Corpus) -> None:
        self._corpus = corpus
        index = index_of(corpus, self.way)
        self._hits: list[Hit] = [self._prepared(hit) for hit in index.hits]
        self._vectors, self._texts = index.vectors, index.texts
        if self.own_weight:
            own = index_of(corpus, replace(self.way, context=False)).vectors
            self._vectors = unit_length((1 - self.own_weight) * self._vectors + self.own_weight * own)
        self._block_of = _block_numbers(index, corpus.trees)
        self._blocks = _block_vectors(self._block_of, self._vectors) if self.around else None
        self._full_text = FullText(self._searched(index)) if self.full_text else None

    def answers(self, asked: Asked, budgets: Sequence[int]) -> Iterator[Answer]:
        # As the product has it: a large budget holds more candidates.
        limits = [self.candidates or max(CANDIDATES, budget // 5) for budget in budgets]
        found = self._kept(self._search(asked, max(limits, default=0)))
        for budget, limit in zip(budgets, limits, strict=True):
            yield self._answer(found[:limit], budget)

    @property
    def hits(self) -> Sequence[Hit]:
        """The units of the corpus, by their numbers."""
        return self._hits

    def found(self, asked: Asked, limit: int) -> list[int]:
        """The numbers of the candidates, the best first."""
        return [number for number, _ in self._search(asked, limit)]

    def similarity(self, asked: Asked, number: int) -> float:
        """The cosine of a unit and the question."""
        return float(self._vectors[number] @ asked.vector)

    def _search(self, asked: Asked, limit: int) -> list[tuple[int, float]]:
        rankings = self._rankings(asked.vector, asked.text, 1.0, limit)
        if len(rankings) == 1 and not self.hop:
            scores = self._scores(asked.vector)
            return [(number, float(scores[number])) for number in rankings[0][1]]
        for number, _ in fused(rankings, HOPS_FROM) if self.hop else ():
            vector = unit_length((asked.vector + self._vectors[number])[None])[0]
            text = f"{asked.text} {self._texts[number]}"
            rankings += self._rankings(vector, text, self.hop / HOPS_FROM, limit)
        return fused(rankings, limit)

    def _rankings(self, vector: Vectors, text: str, weight: float, limit: int) -> list[tuple[float, list[int]]]:
        """What vectors find, and BM25 if it takes part, with the weight of each."""
        scores = self._scores(vector)
        rankings = [(weight, best(scores, limit))]
        if self._full_text is not None:
            words = self._full_text.scores(text)
            if self.by_block:
                words = words[self._block_of]
            ranked = best(words + TIE * scores, limit)
            rankings.append((weight * self.full_text, [number for number in ranked if words[number] > 0]))
        return rankings

    def _scores(self, vector: Vectors) -> Any:
        scores = self._vectors @ vector
        if self._blocks is None:
            return scores
        return (1 - self.around) * scores + self.around * (self._blocks @ vector)[self._block_of]

    def _searched(self, index: Index) -> list[str]:
        """The texts that BM25 knows: those of the units, or of their blocks."""
        if not self.by_block:
            return index.texts
        texts: list[list[str]] = [[] for _ in range(int(self._block_of.max(initial=-1)) + 1)]
        for text, block in zip(index.texts, self._block_of, strict=True):
            texts[block].append(text)
        return ["\n".join(some) for some in texts]

    def _kept(self, found: list[tuple[int, float]]) -> list[Hit]:
        """The candidates that are left in the race for the budget."""
        kept: list[Hit] = []
        numbers: list[int] = []
        for rank, (number, score) in enumerate(found):
            if rank >= ALWAYS_KEPT and score < self.floor * found[0][1]:
                continue
            if self.alike is not None:
                if numbers and float((self._vectors[numbers] @ self._vectors[number]).max()) >= self.alike:
                    continue
                numbers.append(number)
            kept.append(replace(self._hits[number], score=score, rank=rank + 1))
        return kept

    def _answer(self, hits: list[Hit], budget: int) -> Answer:
        document_of = {hit.revision_id: hit.revision_id for hit in hits}
        if not self.is_united:
            # Each candidate as if it came from a document of its own.
            document_of = {rank: hit.revision_id for rank, hit in enumerate(hits)}
            hits = [replace(hit, revision_id=rank) for rank, hit in enumerate(hits)]
        room = int(budget * self.slack)
        selections = fill(hits, room)
        if self.passes_over is not None:
            chosen = {id(hit) for selection in selections for hit in selection.hits}
            passed = [rank for rank, hit in enumerate(hits) if id(hit) not in chosen]
            if len(passed) > self.passes_over:
                selections = fill(hits[: passed[self.passes_over]], room)
        linked = {s.revision_id: self._linked(document_of[s.revision_id]) for s in selections}
        excerpts = excerpts_within(selections, linked, budget)
        parts = tuple(_part(excerpt) for excerpt in excerpts)
        cited = tuple(one for number, excerpt in enumerate(excerpts) for one in _cited(number, excerpt))
        return Answer(parts, cited, sum(excerpt.tokens for excerpt in excerpts), hits[0].score if hits else 0.0)

    def _linked(self, document: int) -> Linked:
        return Linked(self._corpus.trees[document], document, 1, self._corpus.address(document), "")

    def _prepared(self, hit: Hit) -> Hit:
        """The hit with the context that it is shown with."""
        if not self.shows_context:
            hit = replace(hit, context_policies=(), context_positions=(), context_tokens=())
        if not self.local:
            return hit
        tree, costs = self._corpus.trees[hit.revision_id], self._corpus.costs[hit.revision_id]
        held = {*hit.positions, *hit.context_positions}
        near = [position for position in _neighbours(tree, hit, self.local) if position not in held]
        return replace(
            hit,
            context_policies=(*hit.context_policies, *("local",) * len(near)),
            context_positions=(*hit.context_positions, *near),
            context_tokens=(*hit.context_tokens, *(costs[position] for position in near)),
        )


def _part(excerpt: Excerpt) -> Part:
    places = frozenset(sentence.position for sentence in excerpt.tree.sentences())
    return Part(excerpt.document_id, excerpt.text, places)


def _cited(number: int, excerpt: Excerpt) -> Iterator[Cited]:
    for citation in excerpt.citations:
        places = sentences_under(excerpt.tree, [excerpt.tree.at(citation.path).position])
        yield Cited(Part(excerpt.document_id, citation.text, places), number)


def _neighbours(tree: Document, hit: Hit, reach: int) -> Iterator[int]:
    """The positions of the siblings before and after a candidate: sentences of a block, rows of a table."""
    first, last = tree.node(hit.positions[0]), tree.node(hit.positions[-1])
    parent = first.parent
    if parent is None or last.parent is not parent:
        return
    start = next(place for place, child in enumerate(parent.children) if child is first)
    for place in range(max(start - reach, 0), min(start + reach + 1, len(parent.children))):
        if parent.children[place].tag == first.tag:
            yield parent.children[place].position


def _block_numbers(index: Index, trees: Sequence[Document]) -> Any:
    """The number of each unit's block: the paragraph of a sentence, the table (or its part) of a row."""
    numbers: dict[tuple[int, int], int] = {}
    found = np.empty(len(index.hits), np.int64)
    for place, hit in enumerate(index.hits):
        parent = trees[hit.revision_id].node(hit.positions[0]).parent
        key = (hit.revision_id, parent.position if parent is not None else 0)
        found[place] = numbers.setdefault(key, len(numbers))
    return found


def _block_vectors(block_of: Any, vectors: Vectors) -> Vectors:
    """The mean vector of the units of each block."""
    sums = np.zeros((int(block_of.max(initial=-1)) + 1, vectors.shape[1]), np.float32)
    np.add.at(sums, block_of, vectors)
    return unit_length(sums)
