"""Runs systems over sets. What is finished is kept as JSON, and done again only when code, data or arguments changed."""

from __future__ import annotations

import hashlib
import json
import os
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tqdm import tqdm

import evidence
from evidence.bench.quality.cache import CachedEmbedder
from evidence.bench.quality.corpus import Asked, Corpus
from evidence.bench.quality.data import Question, Set
from evidence.bench.quality.measures import is_useful, mark
from evidence.bench.quality.systems import Answer, System
from evidence.language.embedder import Embedder

BUDGETS = (250, 500, 1000, 2000, 4000)
EXAMPLES = 20
EXAMPLE_BUDGET = 1000
SEED = 20260301

# What the marks of a system depend on.
ASKED = ("budget", "filter", "labels", "pipeline", "prompts", "relevance", "views")
ROOMS = ("tree", "language", "ingest/units.py", *(f"retrieve/{name}.py" for name in ASKED), "bench/quality")
PRESENTATION = (
    "filter_command.py",
    "command.py",
    "opinion.py",
    "report.py",
    "plots.py",
    "summary.py",
    "catalogue.py",
    "statistics.py",
)


@dataclass(frozen=True)
class Result:
    """The marks of one system on one set: for each budget a row per question, and the evidence of drawn questions."""

    set_name: str
    system: str
    about: str
    budgets: tuple[int, ...]
    marks: dict[int, list[dict[str, float]]]
    examples: list[dict[str, Any]]
    seconds: float
    unplaced: int


@dataclass(frozen=True)
class Run:
    """What to run, and where to keep what was found. ``questions`` limits a set to so many, drawn (0: all)."""

    systems: Sequence[System]
    budgets: Sequence[int]
    questions: int
    embedder: Embedder
    folder: Path

    def results(self, sets: Iterable[Set]) -> Iterator[Result]:
        """The result of each system on each set, in order."""
        for data in sets:
            yield from self._on(data)

    def _on(self, data: Set) -> Iterator[Result]:
        asked = drawn(data.questions, self.questions)
        known = {system.name: self._read(data, system) for system in self.systems}
        if missing := [system for system in self.systems if known[system.name] is None]:
            known |= self._measure(data, asked, missing)
        yield from (found for found in known.values() if found is not None)

    def _measure(self, data: Set, asked: Sequence[Question], systems: Sequence[System]) -> dict[str, Result | None]:
        found: dict[str, Result | None] = {}
        with tqdm(desc=f"{data.name}: embedding", unit=" inputs", leave=False) as embedded:
            embedder = CachedEmbedder(self.embedder, self.folder / "vectors.sqlite", embedded.update)
            corpus = Corpus(data, asked, embedder)
            for system in systems:
                begun = time.monotonic()
                system.prepare(corpus)
                result = _measured(system, corpus, self.budgets, time.monotonic() - begun)
                self._write(data, system, result)
                found[system.name] = result
            embedder.close()
        return found

    def _file(self, data: Set, system: System) -> Path:
        budgets = sorted(self.budgets)
        given = repr((self.embedder.fingerprint, code_hash(), set_hash(data), system.settings, budgets, self.questions))
        key = hashlib.blake2b(given.encode(), digest_size=8).hexdigest()
        return self.folder / "results" / data.name / f"{system.name}-{key}.json"

    def _read(self, data: Set, system: System) -> Result | None:
        file = self._file(data, system)
        if not file.is_file():
            return None
        kept = json.loads(file.read_text(encoding="utf-8"))
        kept["marks"] = {int(budget): rows for budget, rows in kept["marks"].items()}
        return Result(**{**kept, "about": system.about, "budgets": tuple(kept["budgets"])})

    def _write(self, data: Set, system: System, result: Result) -> None:
        file = self._file(data, system)
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".draft")
        draft.write_text(json.dumps(result.__dict__, ensure_ascii=False), encoding="utf-8")
        os.replace(draft, file)


def drawn(questions: Sequence[Question], count: int) -> list[Question]:
    """So many of the questions, always the same ones, in their order; all with 0."""
    if not count or count >= len(questions):
        return list(questions)
    chosen = sorted(random.Random(SEED).sample(range(len(questions)), count))  # noqa: S311
    return [questions[number] for number in chosen]


def _measured(system: System, corpus: Corpus, budgets: Sequence[int], prepared: float) -> Result:
    ordered = sorted(budgets)
    shown = min(ordered, key=lambda budget: abs(budget - EXAMPLE_BUDGET))
    chosen = {asked.number for asked in _examples(corpus.asked)}
    marks: dict[int, list[dict[str, float]]] = {budget: [] for budget in ordered}
    examples = []
    begun = time.monotonic()
    for asked in tqdm(corpus.asked, desc=f"{corpus.data.name}: {system.name}", unit=" questions", leave=False):
        for budget, answer in zip(ordered, system.answers(asked, ordered), strict=True):
            marks[budget].append(mark(answer, asked, corpus).as_row())
            if budget == shown and asked.number in chosen:
                examples.append(_example(answer, asked, corpus))
    return Result(
        corpus.data.name,
        system.name,
        system.about,
        tuple(ordered),
        marks,
        examples,
        round(prepared + time.monotonic() - begun, 1),
        corpus.unplaced,
    )


def _examples(asked: Sequence[Asked]) -> list[Asked]:
    """The questions that are shown, drawn from those that have gold."""
    known = [question for question in asked if question.gold]
    return random.Random(SEED).sample(known, min(EXAMPLES, len(known)))  # noqa: S311


def _example(answer: Answer, asked: Asked, corpus: Corpus) -> dict[str, Any]:
    """The evidence for a question as a person judges it: each part that is sent, and what is cited in it."""
    return {
        "question": asked.text,
        "gold": [_said(gold.document, gold.places[0], corpus) for gold in asked.gold],
        "tokens": answer.tokens,
        "parts": [
            {
                "title": corpus.trees[part.document].title,
                "text": part.text,
                "cited": [
                    {"text": cited.part.text, "useful": any(is_useful(cited.part, gold) for gold in asked.gold)}
                    for cited in answer.cited
                    if cited.within == number
                ],
            }
            for number, part in enumerate(answer.sent)
        ],
    }


def _said(document: int, places: Iterable[int], corpus: Corpus) -> str:
    tree = corpus.trees[document]
    return f"{tree.title}: {' '.join(tree.node(place).text for place in sorted(places))}"


@lru_cache(maxsize=1)
def code_hash() -> str:
    """A hash of the code that the marks depend on."""
    root = Path(evidence.__path__[0])
    digest = hashlib.blake2b(digest_size=8)
    for room in ROOMS:
        place = root / room
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            if file.name not in PRESENTATION:
                digest.update(file.read_bytes())
    return digest.hexdigest()


@lru_cache(maxsize=8)
def set_hash(data: Set) -> str:
    """A hash of a set's pages and questions."""
    digest = hashlib.blake2b(digest_size=8)
    for page in data.pages:
        digest.update(page.address.encode() + b"\0" + page.data)
    digest.update(repr(data.questions).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
