"""SPIRE with its contextual filter: by the judge that it brings along, or by the language model that the site is set to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from evidence.bench.quality.corpus import Asked
from evidence.bench.quality.data import DataError
from evidence.bench.quality.spire import Spire
from evidence.bench.quality.systems import Answer
from evidence.configured import chat
from evidence.language.judge import Judge, Passage, load_judge
from evidence.retrieve.filter import Filter
from evidence.retrieve.pipeline import CANDIDATES
from evidence.retrieve.relevance import judged, read_of
from evidence.retrieve.views import Readable
from evidence.store.search import Hit

SECONDS = 600.0
"""Of a question. What is measured here is what a filter finds; a deadline would measure the server."""


@dataclass
class Remembering:
    """A judge, perhaps with another floor, that is not asked twice: of a question each budget has the same candidates."""

    judge: Judge
    other_floor: float | None = None
    said: dict[tuple[str, Passage], float] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return self.judge.name

    @property
    def fingerprint(self) -> str:
        return self.judge.fingerprint

    @property
    def floor(self) -> float:
        return self.judge.floor if self.other_floor is None else self.other_floor

    def probabilities(self, question: str, passages: Sequence[Passage]) -> NDArray[np.float32]:
        new = [passage for passage in dict.fromkeys(passages) if (question, passage) not in self.said]
        if new:
            found = self.judge.probabilities(question, new)
            self.said |= {(question, passage): float(value) for passage, value in zip(new, found, strict=True)}
        return np.array([self.said[question, passage] for passage in passages], np.float32)


@dataclass
class JudgedSpire(Spire):
    """SPIRE whose first candidates a judge has read; the product's own where none is given. Nothing is cited where it leaves
    nothing."""

    judge: Judge = field(default_factory=lambda: Remembering(load_judge()), repr=False)

    @property
    def settings(self) -> str:
        return f"{super().settings} {self.judge.fingerprint} {self.judge.floor}"

    def answers(self, asked: Asked, budgets: Sequence[int]) -> Iterator[Answer]:
        limits = [read_of(budget) for budget in budgets]
        # As the product has it: more are searched than are read.
        searched = max([CANDIDATES, *(budget // 5 for budget in budgets)])
        hits = self._kept(self._search(asked, searched))[: max(limits, default=0)]
        linked = {hit.revision_id: self._linked(hit.revision_id) for hit in hits}
        for budget, limit in zip(budgets, limits, strict=True):
            kept, _ = judged(self.judge, asked.text, hits[:limit], linked)
            yield self._answer(kept, budget)


@dataclass
class FilteredSpire(Spire):
    """SPIRE whose candidates a language model has read. DataError where the site has none."""

    _question: str = field(default="", init=False, repr=False)

    @property
    def settings(self) -> str:
        return f"{super().settings} {settings.SPIRE_LLM_MODEL}"

    def _search(self, asked: Asked, limit: int) -> list[tuple[int, float]]:
        self._question = asked.text
        return super()._search(asked, limit)

    def _answer(self, hits: list[Hit], budget: int) -> Answer:
        model = chat()
        if model is None:
            raise DataError(f"{self.name} needs a language model: set SPIRE_LLM_URL and SPIRE_LLM_MODEL")
        reader = Filter(model, self._library, settings.SPIRE_LLM_AT_ONCE, SECONDS)
        kept, about = reader.choose(self._question, hits, budget)
        if about.failures:
            raise DataError(f"{self._question!r} could not be filtered: {next(iter(about.failures.values()))}")
        return super()._answer(kept, budget)

    def _library(self, documents: Sequence[int]) -> Mapping[int, Readable]:
        return {number: Readable(self._corpus.trees[number], self._corpus.costs[number]) for number in documents}
