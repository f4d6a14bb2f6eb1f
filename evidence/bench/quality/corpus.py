"""A set made ready for every system: trees, gold in its place, token costs, the vectors of the questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from evidence.bench.quality.data import DataError, Question, Set
from evidence.bench.quality.gold import Placed, Places
from evidence.language.embedder import Embedder, Vectors
from evidence.language.tokens import count_all
from evidence.tree.document import Document
from evidence.tree.html import parse
from evidence.tree.text import token_costs


@dataclass(frozen=True)
class Asked:
    """A question as the systems get it: its text and its vector. ``gold`` is for the measures alone."""

    number: int
    text: str
    vector: Vectors = field(repr=False)
    gold: tuple[Placed, ...] = field(repr=False)


class Corpus:
    """The pages of a set as trees. A document is known by its place in the set, from 0 on."""

    def __init__(self, data: Set, questions: Sequence[Question], embedder: Embedder) -> None:
        self.data = data
        self.embedder = embedder
        self.trees = [parse(page.data, page.address) for page in data.pages]
        self._numbers = {page.address: number for number, page in enumerate(data.pages)}
        self._places: dict[int, Places] = {}
        # What systems find out about the pages and share; the oldest goes first, vectors are large.
        self.findings: dict[object, object] = {}
        self.unplaced = 0
        vectors = embedder.embed_queries([question.text for question in questions])
        asked = [
            Asked(number, question.text, vector, self._placed(question))
            for number, (question, vector) in enumerate(zip(questions, vectors, strict=True))
        ]
        # Without a place for its gold, a question would pass for one that has no answer.
        self.asked = [
            given for given, question in zip(asked, questions, strict=True) if given.gold or not question.gold
        ]

    @cached_property
    def costs(self) -> list[list[int]]:
        """For each document the tokens of each node by position."""
        return [token_costs(tree, count_all) for tree in self.trees]

    def address(self, document: int) -> str:
        return self.data.pages[document].address

    def _placed(self, question: Question) -> tuple[Placed, ...]:
        found = []
        for gold in question.gold:
            number = self._numbers.get(gold.document)
            if number is None:
                raise DataError(f"{question.origin or question.text}: there is no page {gold.document!r}")
            if number not in self._places:
                self._places[number] = Places(number, self.trees[number])
            placed = self._places[number].place(gold)
            if placed is None:
                self.unplaced += 1
            else:
                found.append(placed)
        return tuple(found)


def sentences_under(tree: Document, positions: Sequence[int]) -> frozenset[int]:
    """The positions of the sentences at or below these nodes."""
    return frozenset(s.position for position in positions for s in tree.node(position).sentences())
