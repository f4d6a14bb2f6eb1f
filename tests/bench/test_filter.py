from __future__ import annotations

import re
from typing import Any

import pytest

from evidence.bench.quality.catalogue import FILTERED, systems
from evidence.bench.quality.corpus import Corpus
from evidence.bench.quality.data import DataError
from evidence.bench.quality.filter_command import unanswerable
from evidence.bench.quality.measures import mark
from evidence.bench.quality.run import Result
from tests.bench.test_quality import MINIATURE, QUESTIONS
from tests.conftest import WordEmbedder
from tests.stub_server import Says, last_said, stub


def answered(settings: Any, script: Any) -> list[dict[str, float]]:
    """The marks of SPIRE filtered by a model that says this."""
    (system,) = systems([FILTERED])
    corpus = Corpus(MINIATURE, QUESTIONS, WordEmbedder())
    with stub(script) as server:
        settings.SPIRE_LLM_URL, settings.SPIRE_LLM_MODEL = server.url, "stub"
        system.prepare(corpus)
        return [
            mark(found, asked, corpus).as_row() for asked in corpus.asked for found in system.answers(asked, [1000])
        ]


def test_what_the_model_picks_is_what_is_measured(settings: Any) -> None:
    """Figures of a filter that nobody has asked."""

    def script(asked: dict[str, Any], number: int) -> str:
        said = last_said(asked)
        wanted = "Team North" if "close" in said.rpartition("Question")[2] else "Coffee is"
        return ", ".join(re.findall(rf"\[(S\d+)\] {wanted}", said)) or "none"

    rows = answered(settings, script)
    assert [(row["citations"], row["useful"]) for row in rows[:2]] == [(1, 1), (1, 1)]


def test_questions_without_an_answer_are_counted(settings: Any) -> None:
    rows = answered(settings, "none")
    result = Result("miniature", FILTERED, "", (1000,), {1000: rows}, [], 1.0, 0)
    assert unanswerable(result, 1000) == (
        "miniature spire+llm: nothing for 1 of 1 questions without an answer; 0.0 citations each"
    )


def test_a_model_that_fails_is_no_figure(settings: Any) -> None:
    """A filter's figures that are those of no filter."""
    with pytest.raises(DataError, match="could not be filtered"):
        answered(settings, Says(status=500))


def test_without_a_model_the_system_says_what_to_set(settings: Any) -> None:
    (system,) = systems([FILTERED])
    corpus = Corpus(MINIATURE, QUESTIONS, WordEmbedder())
    system.prepare(corpus)
    with pytest.raises(DataError, match="SPIRE_LLM_URL"):
        next(system.answers(corpus.asked[0], [1000]))
