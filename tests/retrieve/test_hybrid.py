from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from evidence.configured import pipeline
from evidence.ingest.rebuild import build
from evidence.ingest.recontext import collection_recontext
from evidence.models import Document, Revision
from evidence.retrieve.evidence import Evidence
from evidence.retrieve.filters import filters_of
from evidence.retrieve.pipeline import ask
from evidence.store.schema import SCHEMA
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, NEW_GATE, TABLE, collection_of, page, take_in

SENTENCES = {
    "ORA-01555": "The long report stops with ORA-01555 when it runs at night.",
    "0x80070005": "Denied access is reported as 0x80070005.",
    "AB-1234/5": "The spare hinge is part AB-1234/5, kept in the cellar.",
    "15.2.1": "The fault is gone since 15.2.1.",
    "pg_stat_get_backend_activity": "Its text comes from pg_stat_get_backend_activity(integer).",
    "os.path.join": "Join names with os.path.join() only.",
    "--no-verify": "Hooks are skipped by git commit --no-verify.",
    "ann.b@example.com": "Lost keys go to ann.b@example.com.",
    "/etc/app/pg_hba.conf": "Who may enter stands in /etc/app/pg_hba.conf.",
    "max_connections": "It is limited by max_connections = 100.",
    "std::vector": "The list is a std::vector of numbers.",
    "CVE-2021-44228": "Everything is mended for CVE-2021-44228.",
    "C++": "The driver is written in C++, not in C.",
}


def answer(question: str, **asked: Any) -> Evidence:
    return ask(question, collections=[collection_of().pk], **asked)


def cited(found: Evidence) -> list[str]:
    citations = sorted((c for excerpt in found.excerpts for c in excerpt.citations), key=lambda c: c.rank)
    return [citation.text for citation in citations]


@pytest.fixture
def manual(db: None, embedder: WordEmbedder) -> None:
    """A page with a sentence for each identifier, among sentences with the same words and other identifiers."""
    noise = " ".join(
        f"What is meant by part XY-{n}/5 or ORA-{n:05} is meant by 15.{n}.7 and tell_me_{n}." for n in range(40)
    )
    take_in({"manual.html": page("Manual", Codes=f"{' '.join(SENTENCES.values())}", Noise=noise)})


@pytest.mark.parametrize("identifier", SENTENCES)
@pytest.mark.parametrize("question", ["What is meant by {}?", "tell me {}", "{}"])
def test_an_identifier_finds_its_sentence(manual: None, identifier: str, question: str) -> None:
    """An error code, typed exactly, that finds what is said of other codes."""
    found = answer(question.format(identifier if len(identifier) < 12 else identifier.lower()), budget=200)
    assert cited(found)[0] == SENTENCES[identifier]
    assert found.likely
    first = min((c for excerpt in found.excerpts for c in excerpt.citations), key=lambda c: c.rank)
    assert first.why.identifiers >= 1


@pytest.mark.django_db
def test_a_phrase_must_stand_in_what_is_found_or_in_its_context(embedder: WordEmbedder) -> None:
    """Quotation marks that do nothing."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN, "tins.html": TABLE})
    assert cited(answer('When is it opened with the "brass key"?')) == ["Bring the brass key."]
    assert cited(answer('"key brass" gate')) == []
    assert cited(answer('"BRASS  KEY"')) == ["Bring the brass key."]
    assert set(cited(answer('tea "Kitchen"'))) == {"Tea is in the blue tin.", "Coffee is in the red tin."}
    assert cited(answer('"Tea leaves" "Blue"')) == ["Blue | Tea leaves"]


@pytest.mark.django_db
def test_excluded_words_stand_in_nothing_that_is_found(embedder: WordEmbedder) -> None:
    """A minus sign that asks for more of the same."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN, "tins.html": TABLE})
    found = cited(answer("gate team tin -north -coffee"))
    assert "Team South opens the gate at six each morning." in found
    assert "Tea is in the blue tin." in found
    assert not any("North" in text or "Coffee" in text for text in found)


@pytest.mark.django_db
def test_documents_are_filtered_by_type_and_day(embedder: WordEmbedder) -> None:
    """A filter that is applied after the best were chosen, and leaves none."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    Revision.objects.filter(document__address="gate.html").update(received="2020-05-05T23:30:00Z", format="markdown")

    def addresses(**given: Any) -> set[str]:
        return {excerpt.address for excerpt in answer("gate tea", filters=filters_of(**given)).excerpts}

    assert addresses() == {"gate.html", "kitchen.html"}
    assert addresses(formats=["markdown"]) == {"gate.html"}
    assert addresses(formats=["html", "text"]) == {"kitchen.html"}
    assert addresses(until=date(2020, 5, 5)) == {"gate.html"}
    assert addresses(until=date(2020, 5, 4)) == set()
    assert addresses(since=date(2020, 5, 5)) == {"gate.html", "kitchen.html"}
    assert addresses(since=date(2020, 5, 6), until=date.max) == {"kitchen.html"}
    assert addresses(since=date(2020, 5, 5), until=date(2020, 5, 5) + timedelta(days=1)) == {"gate.html"}


@pytest.mark.django_db
def test_a_citation_says_why_it_is_there(embedder: WordEmbedder) -> None:
    """A result that nobody can explain."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    found = answer("When does Team South open the gate?")
    why = found.excerpts[0].citations[0].why
    assert (why.vector_rank, why.text_rank, why.identifiers) == (1, 1, 0)
    assert why.words == ("gate", "open", "south", "team")
    assert ("heading", "South") in why.context


@pytest.mark.django_db
def test_a_question_on_something_else_is_told_apart(embedder: WordEmbedder) -> None:
    """The least bad, shown as if it were an answer."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    assert answer("When does Team South open the gate?").likely
    assert not answer("Quarterly revenue forecasts of Norwegian fisheries").likely
    assert not answer('"no such phrase" gate').likely


def counts() -> dict[str, int]:
    """In how many blocks each word stands, as search sees it."""
    with pipeline() as connection:
        rows = connection.execute(
            sa.text(f"SELECT lexeme, sum(blocks) FROM {SCHEMA}.word_count GROUP BY lexeme HAVING sum(blocks) <> 0")
        )
        return {lexeme: int(number) for lexeme, number in rows}


def recounted() -> dict[str, int]:
    with pipeline() as connection:
        rows = connection.execute(sa.text(f"SELECT word, ndoc FROM ts_stat('SELECT words FROM {SCHEMA}.wording')"))
        return {word: int(number) for word, number in rows}


@pytest.mark.django_db
def test_words_are_counted_through_changes_and_deletions(embedder: WordEmbedder) -> None:
    """Words of pages that are gone, and still weigh."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    assert counts() == recounted()
    take_in({"gate.html": NEW_GATE, "tins.html": TABLE})
    assert counts() == recounted()
    assert "eight" in counts()
    collection_recontext(collection=collection_of())
    assert counts() == recounted()
    Document.objects.get(address="kitchen.html").delete()
    assert counts() == recounted()
    collection_of().documents.all().delete()
    assert counts() == recounted() == {}
    collection_of().delete()


@pytest.mark.django_db
def test_what_was_there_before_full_text_is_found_by_its_words_after_a_build(embedder: WordEmbedder) -> None:
    """A site that is upgraded, and finds only what is new by its words."""
    take_in({"gate.html": GATE, "tins.html": TABLE})
    before = counts()
    with pipeline() as connection:
        connection.execute(sa.text(f"DELETE FROM {SCHEMA}.wording"))
        connection.execute(sa.text(f"UPDATE {SCHEMA}.embedding_{index_id(connection)} SET block = NULL"))
    unworded = answer("brass key")
    assert all(c.why.text_rank is None for excerpt in unworded.excerpts for c in excerpt.citations)
    assert cited(unworded)
    build("default", model="words", unit="seed", encoding="shared", context=True)
    assert counts() == before
    assert answer("brass key").excerpts[0].citations[0].why.text_rank == 1


def index_id(connection: sa.Connection) -> int:
    return connection.execute(sa.text(f"SELECT id FROM {SCHEMA}.index")).scalar_one()


@pytest.mark.django_db
@pytest.mark.parametrize("option", ["--no-owner", "--no-privileges"])
def test_an_identifier_finds_what_is_said_of_it_as_a_term(embedder: WordEmbedder, option: str) -> None:
    """ "What does --no-owner do?", answered by a sentence about owners, because the option is the term of a list."""
    others = "".join(f"<dt>--set-{n}<dd>Sets what does do no owner {n}." for n in range(30))
    page_of_options = f"""<title>Options</title><h1>Options</h1><p>What does the owner do? No owner does it.</p>
        <dl>{others}<dt>--no-owner<dd>Skips names.<dt>--no-privileges<dd>Skips grants.</dl>"""
    take_in({"options.html": page_of_options.encode()})
    expected = {"--no-owner": "Skips names.", "--no-privileges": "Skips grants."}
    assert cited(answer(f"What does {option} do?", budget=200))[0] == expected[option]
