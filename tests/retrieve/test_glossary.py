from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evidence.models import Collection, Document
from evidence.retrieve.evidence import Evidence
from evidence.retrieve.glossary import SHARE
from evidence.retrieve.pipeline import ask
from tests.conftest import WordEmbedder
from tests.handbook import collection_of, page, take_in
from tests.ingest.test_recontext import GLOSSARY

RULES = page("Rules", Gate="The warden opens the gate at six.", Pump="The pump is painted blue each spring.")


@pytest.fixture
def handbook(embedder: WordEmbedder, db: None) -> Collection:
    """A collection with a glossary, and the policy on."""
    collection = collection_of()
    collection.policies = ["definition"]
    collection.save()
    take_in({"rules.html": RULES, "words.html": GLOSSARY})
    return collection


def asked(question: str, *collections: Collection, glossaries: list[Collection], budget: int = 60) -> Evidence:
    return ask(
        question,
        collections=[collection.pk for collection in collections],
        glossaries=[collection.pk for collection in glossaries],
        budget=budget,
        floor=0.9,
    )


def test_terms_of_the_evidence_are_defined_by_a_glossary_of_the_collection(handbook: Collection) -> None:
    """ "The warden opens the gate", for a reader who does not know who that is."""
    take_in(
        {"more.html": page("More", **{f"Part {n}": f"Sentence {n} on other things altogether." for n in range(12)})}
    )
    Document.objects.filter(address="words.html").update(title="Words")
    found = asked("warden opens the gate at six", handbook, glossaries=[handbook], budget=400)
    texts = [excerpt.text for excerpt in (*found.excerpts, *found.definitions)]
    assert any("Who keeps the key of the gate." in text for text in texts)
    assert found.tokens == sum(excerpt.tokens for excerpt in (*found.excerpts, *found.definitions)) <= 400


def test_definitions_are_no_citations(handbook: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A definition that stands there as if it answered the question."""
    monkeypatch.setattr("evidence.retrieve.pipeline.ALWAYS_KEPT", 1)
    found = asked("warden opens the gate at six", handbook, glossaries=[handbook], budget=400)
    assert [citation.text for excerpt in found.excerpts for citation in excerpt.citations] == [
        "The warden opens the gate at six."
    ]
    (definition,) = found.definitions
    assert definition.citations == ()
    assert definition.address == "words.html"
    assert "Warden" in definition.text
    assert "RTO" not in definition.text


def test_definitions_take_their_share_of_the_budget_and_no_more(
    handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Explanations in the place of answers."""
    monkeypatch.setattr("evidence.retrieve.pipeline.ALWAYS_KEPT", 1)
    for budget in (20, 40, 80, 200):
        found = asked("warden opens the gate at six", handbook, glossaries=[handbook], budget=budget)
        assert found.tokens <= budget
        assert sum(excerpt.tokens for excerpt in found.definitions) <= SHARE * budget + 8
        assert found.excerpts
    assert asked("warden gate", handbook, glossaries=[handbook], budget=1).definitions == ()


def test_a_glossary_of_a_collection_that_was_not_asked_stays_shut(
    handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words from a collection that the reader may not see."""
    monkeypatch.setattr("evidence.retrieve.pipeline.ALWAYS_KEPT", 1)
    take_in({"rules.html": RULES}, "Open")
    found = asked("warden opens the gate at six", collection_of("Open"), glossaries=[handbook], budget=400)
    assert found.excerpts
    assert found.definitions == ()


def test_without_the_policy_nothing_more_is_asked_of_the_database(handbook: Collection) -> None:
    with CaptureQueriesContext(connection) as without:
        asked("warden opens the gate", handbook, glossaries=[])
    with CaptureQueriesContext(connection) as again:
        ask("warden opens the gate", collections=[handbook.pk], budget=60, floor=0.9)
    assert len(without) == len(again)
    assert asked("warden opens the gate", handbook, glossaries=[]).definitions == ()
