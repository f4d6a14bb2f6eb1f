"""What every system is asked for, whatever it makes of the pages: the evidence that it would send for a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from evidence.bench.quality.corpus import Asked, Corpus


@dataclass(frozen=True)
class Part:
    """A text of one document that is sent or cited. ``places`` are the sentences that it holds, by position; None where
    the system keeps no places. A part that is sent may be sent more than once."""

    document: int
    text: str
    places: frozenset[int] | None


@dataclass(frozen=True)
class Cited:
    """A citation, and the number of the part of the answer that it stands in."""

    part: Part
    within: int


@dataclass(frozen=True)
class Answer:
    """The evidence for a question: what is sent, its exact tokens, what is cited in it, and the best score."""

    sent: tuple[Part, ...]
    cited: tuple[Cited, ...]
    tokens: int
    score: float


class System(Protocol):
    """A way to get from pages to evidence. ``settings`` tell two states of one system apart."""

    name: str
    about: str

    @property
    def settings(self) -> str: ...

    def prepare(self, corpus: Corpus) -> None:
        """Index the pages."""

    def answers(self, asked: Asked, budgets: Sequence[int]) -> Iterator[Answer]:
        """The evidence for each budget, in their order."""


def best(scores: Any, limit: int) -> list[int]:
    """The numbers of the highest scores, the best first; equal ones in their order."""
    count = min(limit, len(scores))
    if count == 0:
        return []
    near = np.argpartition(-scores, count - 1)[:count]
    return [int(number) for number in near[np.lexsort((near, -scores[near]))]]


def fused(rankings: Sequence[tuple[float, Sequence[int]]], limit: int) -> list[tuple[int, float]]:
    """Rankings, each with its weight, by reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009, k = 60): numbers
    with their scores, the best first."""
    scores: dict[int, float] = {}
    for weight, ranking in rankings:
        for rank, number in enumerate(ranking, 1):
            scores[number] = scores.get(number, 0.0) + weight / (60 + rank)
    return sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))[:limit]
