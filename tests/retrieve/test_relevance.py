"""The filter without a language model, with a judge that a test tells what to think."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from django.core.exceptions import ImproperlyConfigured

from evidence.configured import judge
from evidence.language.judge import Busy, Passage
from evidence.retrieve import relevance
from evidence.retrieve.evidence import Evidence
from evidence.retrieve.pipeline import ask
from tests.handbook import GATE, KITCHEN, collection_of, take_in


class Opinion:
    """Thinks much of passages that hold some words, and nothing of others."""

    name = "opinion"
    fingerprint = "opinion-1"

    def __init__(self, *, floor: float = 0.2, **worth: float) -> None:
        self.floor = floor
        self.worth = worth
        self.read: list[Passage] = []

    def probabilities(self, question: str, passages: Sequence[Passage]) -> Any:
        self.read.extend(passages)
        return np.array([max((v for w, v in self.worth.items() if w in own), default=0.0) for _, own in passages])


def page(body: str, *, title: str = "Page", language: str = "en") -> bytes:
    return f'<!doctype html><html lang="{language}"><title>{title}</title>{body}'.encode()


def found(question: str, judge: Opinion, **given: Any) -> Evidence:
    return ask(question, collections=[collection_of().pk], judge=judge, **given)


def cited(evidence: Evidence) -> list[str]:
    citations = [citation for excerpt in evidence.excerpts for citation in excerpt.citations]
    return [citation.text for citation in sorted(citations, key=lambda citation: citation.rank)]


@pytest.mark.django_db
def test_what_the_judge_thinks_little_of_is_left_out(embedder: object) -> None:
    """A page full of passages that only share words with the question."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    evidence = found("When does Team South open the gate?", Opinion(South=0.9999))
    assert cited(evidence) == ["Team South opens the gate at six each morning.", "Bring the brass key."]
    assert evidence.likely
    assert evidence.filtered is not None
    assert evidence.filtered.kept == len(cited(evidence)) < evidence.filtered.read


@pytest.mark.django_db
def test_the_likeliest_comes_first_and_says_how_likely(embedder: object) -> None:
    take_in({"a.html": page("<h1>Tea</h1><p>Tea is green.</p><p>Tea is black.</p><p>Tea is white.</p>")})
    evidence = found("tea", Opinion(floor=0.0, green=0.01, black=0.9999, white=0.7))
    assert cited(evidence) == ["Tea is black.", "Tea is white.", "Tea is green."]
    told = [citation.why.relevance for citation in evidence.excerpts[0].citations]
    assert told == sorted(told, reverse=True)
    assert told[0] > 0.8 > 0.2 > told[-1]


@pytest.mark.django_db
def test_a_sentence_beside_one_that_helps_is_not_torn_from_it(embedder: object) -> None:
    """ "This is where he shoots." is worth nothing by itself, and is the other half of an answer."""
    aside = "<p>Passes are of many kinds.</p>"
    take_in({"a.html": page(f"<h1>Passes</h1><p>A wet pass lands on water. This is harder.</p>{aside}")})
    evidence = found("Which pass is harder?", Opinion(wet=0.999, floor=0.1))
    assert set(cited(evidence)) == {"A wet pass lands on water.", "This is harder."}


@pytest.mark.django_db
def test_a_row_has_to_reach_less_than_a_sentence(embedder: object) -> None:
    """A question over a whole column, of which each row alone says next to nothing."""
    rows = "".join(f"<tr><td>Tea {number}</td><td>{number}</td></tr>" for number in range(4))
    table = f"<table><tr><th>Kind</th><th>Tins</th></tr>{rows}</table>"
    take_in({"a.html": page(f"<h1>Tea</h1>{table}<p>Tea is liked.</p>")})
    evidence = found("How many tins of tea?", Opinion(floor=0.15, Tea=0.1))
    assert any("Tea 3" in text for text in cited(evidence))
    assert "Tea is liked." not in cited(evidence)


@pytest.mark.django_db
def test_candidates_are_read_in_their_global_context(embedder: object) -> None:
    """A judge that reads "It opens at noon." and cannot know what does."""
    take_in({"a.html": page("<h1>Gate</h1><h2>South</h2><p>It opens at noon.</p>", title="Handbook")})
    judge = Opinion(noon=1.0)
    found("When does the gate open?", judge)
    assert judge.read == [("Handbook. Gate. South.", "It opens at noon.")]


@pytest.mark.django_db
def test_where_the_judge_leaves_nothing_the_nearest_is_shown_as_unlikely(embedder: object) -> None:
    """An empty page where a person could have seen at a glance that the judge erred."""
    take_in({"a.html": page("<p>Tea is green.</p>")})
    evidence = found("Is tea green?", Opinion())
    assert cited(evidence) == ["Tea is green."]
    assert not evidence.likely
    assert evidence.filtered is not None
    assert evidence.filtered.kept == 0


class BusyOpinion(Opinion):
    def probabilities(self, question: str, passages: Sequence[Passage]) -> Any:
        raise Busy


@pytest.mark.django_db
def test_while_the_judge_is_busy_questions_are_answered_without_it(embedder: object) -> None:
    """An error, or minutes of waiting, for the fifty-first who asks."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    question = "When does Team South open the gate?"
    evidence = found(question, BusyOpinion())
    assert evidence.filtered is None
    assert cited(evidence) == cited(ask(question, collections=[collection_of().pk]))


@pytest.mark.django_db
def test_an_identifier_that_was_asked_for_stays_in_front(embedder: object) -> None:
    """An error code whose sentence a model of language makes nothing of."""
    take_in({"a.html": page("<p>E-4711 means a jam. Errors are listed here.</p>")})
    evidence = found("E-4711", Opinion(listed=0.9999))
    assert cited(evidence)[0] == "E-4711 means a jam."


@pytest.mark.django_db
def test_a_quoted_phrase_is_ordered_but_not_left_out(embedder: object) -> None:
    """A person asks for every place that says a phrase, and a judge hides some."""
    take_in({"a.html": page("<p>The south gate is red. The south gate is old.</p>")})
    evidence = found('"south gate"', Opinion(old=0.9999))
    assert cited(evidence) == ["The south gate is old.", "The south gate is red."]


@pytest.mark.django_db
def test_other_languages_than_english_are_not_judged(embedder: object) -> None:
    """A judge that has learnt English, and throws away every German page."""
    german = "<p>Das Tor im Süden wird um sechs Uhr geöffnet.</p>"
    take_in({"de.html": page(german, language="de"), "en.html": page("<p>Um is a word, and so is Tor.</p>")})
    evidence = found("Wann wird das Tor geöffnet?", Opinion())
    assert cited(evidence) == ["Das Tor im Süden wird um sechs Uhr geöffnet."]
    assert evidence.excerpts[0].citations[0].why.relevance is None


@pytest.mark.django_db
def test_a_long_page_that_does_not_say_its_language_is_known_by_its_words(embedder: object) -> None:
    german = "<p>Das Tor im Süden wird um sechs Uhr geöffnet, wenn Nebel liegt, und sonst um fünf.</p>" * 4
    take_in({"de.html": page(german, language="")})
    assert cited(found("Wann wird das Tor geöffnet?", Opinion()))[0].startswith("Das Tor")


@pytest.mark.django_db
def test_no_more_candidates_are_read_than_there_is_time_for(embedder: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relevance, "FEWEST_READ", 3)
    take_in({"a.html": page("".join(f"<p>Tea number {number}.</p>" for number in range(9)))})
    judge = Opinion(Tea=1.0)
    assert len(cited(found("tea", judge, budget=50))) == len(judge.read) == 3
    assert relevance.read_of(2000) == 100


def test_a_filter_that_there_is_not_is_named(settings: Any) -> None:
    """A misspelt setting that silently switches the filter off."""
    settings.SPIRE_FILTER = "of"
    judge.cache_clear()
    with pytest.raises(ImproperlyConfigured, match="'of': set it to offline or none"):
        judge()
    judge.cache_clear()
