"""The sample handbook and its questions, with the model that is the default: how much of the right is found."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evidence.ingest.documents import ingest_sources
from evidence.ingest.sources import read_paths
from evidence.management.commands.setup import SAMPLE
from evidence.retrieve.evidence import Excerpt
from evidence.retrieve.pipeline import ask
from tests.handbook import collection_of

QUESTIONS = [json.loads(line) for line in (SAMPLE / "questions.jsonl").read_text(encoding="utf-8").splitlines()]


def answers(excerpt: Excerpt, wanted: str) -> bool:
    """Whether a citation says it: within a sentence, or as a whole cell of a row."""
    return any(
        wanted in (citation.text.split(" | ") if " | " in citation.text else citation.text)
        for citation in excerpt.citations
    )


def is_found(asked: dict[str, Any], collection: int, budget: int) -> bool:
    found = ask(asked["question"], collections=[collection], budget=budget)
    return any(excerpt.address == asked["document"] and answers(excerpt, asked["answer"]) for excerpt in found.excerpts)


@pytest.mark.django_db
def test_the_sample_answers_its_questions() -> None:
    """A change of the tree, the contexts, the encoding or the budget that loses what was found before."""
    assert len(QUESTIONS) == 20
    collection = collection_of("Sample")
    outcomes = ingest_sources(collection=collection, sources=read_paths([SAMPLE]))
    assert {outcome.status for outcome in outcomes} == {"new"}
    for budget, at_least in ((1000, 19), (250, 19)):
        missed = [asked["question"] for asked in QUESTIONS if not is_found(asked, collection.pk, budget)]
        assert len(QUESTIONS) - len(missed) >= at_least, (budget, missed)
