from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest
import sqlalchemy as sa
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evidence.configured import OtherModel
from evidence.ingest.rebuild import build
from evidence.language.tokens import count
from evidence.models import Document
from evidence.retrieve import pipeline
from evidence.retrieve.evidence import Evidence
from evidence.retrieve.pipeline import NoIndex, ask
from evidence.store import connection as store_connection
from evidence.tree.path import Path
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, TABLE, collection_of, page, take_in

QUESTION = "When does Team South open the gate?"


def answer(question: str = QUESTION, *names: str, **asked: Any) -> Evidence:
    return ask(question, collections=[collection_of(name).pk for name in names or ("Handbook",)], **asked)


def cited(found: Evidence) -> list[str]:
    return [citation.text for excerpt in found.excerpts for citation in excerpt.citations]


@contextmanager
def statements() -> Iterator[list[str]]:
    """What the database is asked, by Django and by the pipeline; the frame of the transaction is none of it."""
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    sa.event.listen(store_connection._engine, "before_cursor_execute", note)
    try:
        with CaptureQueriesContext(connection) as captured:
            yield asked
    finally:
        sa.event.remove(store_connection._engine, "before_cursor_execute", note)
    asked.extend(query["sql"] for query in captured if "SAVEPOINT" not in query["sql"])


@pytest.mark.django_db
def test_a_question_takes_three_statements(embedder: WordEmbedder) -> None:
    """A page that asks the database once for each excerpt, and is slow where the database is far."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN, "tins.html": TABLE})
    collections = [collection_of().pk]
    with statements() as asked:
        found = ask(QUESTION, collections=collections)
    assert len(found.excerpts) == 3
    assert len(asked) == 3, asked


@pytest.mark.django_db
def test_the_evidence_says_what_it_is_and_where_from(embedder: WordEmbedder) -> None:
    """An excerpt that cannot be opened, or opens on another page, revision or place."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    found = answer()
    document = Document.objects.get(address="gate.html")
    assert document.current is not None
    excerpt = found.excerpts[0]
    assert (excerpt.document_id, excerpt.revision_id, excerpt.revision) == (document.pk, document.current.pk, 1)
    assert (excerpt.title, excerpt.address, excerpt.collection) == ("Gate", "gate.html", "Handbook")
    citation = excerpt.citations[0]
    assert citation.text == "Team South opens the gate at six each morning."
    assert excerpt.tree.at(citation.path).text == citation.text
    assert citation.path in excerpt.cited
    assert (found.question, found.budget, found.index) == (QUESTION, pipeline.DEFAULT_BUDGET, "default")


@pytest.mark.django_db
def test_a_citation_of_a_table_is_its_row_with_its_headers(embedder: WordEmbedder) -> None:
    """Numbers without the columns that say what they are."""
    take_in({"tins.html": TABLE})
    found = answer("What does the blue tin hold?")
    assert cited(found)[0] == "Blue | Tea leaves"
    assert "| Tin | Holds |\n| Blue | Tea leaves |" in found.excerpts[0].text


@pytest.mark.django_db
def test_the_best_come_first(embedder: WordEmbedder) -> None:
    """An answer at the end of a long list."""
    take_in({"kitchen.html": KITCHEN, "gate.html": GATE, "tins.html": TABLE})
    found = answer("Where is the coffee in the red tin?")
    best = [excerpt.citations[0].score for excerpt in found.excerpts]
    assert best == sorted(best, reverse=True)
    assert found.excerpts[0].address in ("kitchen.html", "tins.html")
    for excerpt in found.excerpts:
        scores = [citation.score for citation in excerpt.citations]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.django_db
@pytest.mark.parametrize("budget", [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2000, 1_000_000])
def test_the_texts_never_exceed_the_budget(embedder: WordEmbedder, budget: int) -> None:
    """A prompt that is cut, or refused, by a model whose window was to be kept."""
    long = page(
        "Gate", **{f"Part{n}": f"The gate of part {n} opens at {n} o’clock. 門は六時に開く。" for n in range(60)}
    )
    pages = {"gate.html": GATE, "kitchen.html": KITCHEN, "tins.html": TABLE, "long.html": long}
    take_in(pages)
    found = answer(budget=budget)
    assert sum(count(excerpt.text) for excerpt in found.excerpts) == found.tokens <= budget
    assert [count(excerpt.text) for excerpt in found.excerpts] == [excerpt.tokens for excerpt in found.excerpts]


@pytest.mark.django_db
def test_texts_that_cost_more_than_was_foreseen_are_cut_to_the_budget(
    embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A budget that holds only because the estimate at ingest was high."""
    monkeypatch.setattr("evidence.ingest.documents.token_costs", lambda tree, count_all: [0] * len(tree.nodes))
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN, "tins.html": TABLE})
    everything = answer().tokens
    for budget in (1, everything // 2, everything - 1, everything):
        found = answer(budget=budget)
        assert sum(count(excerpt.text) for excerpt in found.excerpts) == found.tokens <= budget
    assert found.tokens == everything
    half = answer(budget=everything // 2)
    assert cited(half)[0] == "Team South opens the gate at six each morning."


@pytest.mark.django_db
def test_a_larger_budget_loses_no_excerpt_of_a_smaller_one(embedder: WordEmbedder) -> None:
    """More asked for, and the best answer gone."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN, "tins.html": TABLE})
    found = [answer(budget=budget) for budget in (40, 80, 160, 320)]
    assert all(one.tokens <= more.tokens for one, more in pairwise(found))
    assert all(cited(one)[0] == "Team South opens the gate at six each morning." for one in found)


@pytest.mark.django_db
def test_a_budget_of_nothing_is_refused(embedder: WordEmbedder) -> None:
    """A budget of 0 that passes for an empty handbook."""
    with pytest.raises(ValueError, match="a budget of 0 tokens holds nothing"):
        answer(budget=0)


@pytest.mark.django_db
@pytest.mark.parametrize("question", ["", "   ", "\n\t", "\u200b\u00ad", "\0"])
def test_an_empty_question_has_no_evidence(embedder: WordEmbedder, question: str) -> None:
    """An error page, or some excerpts by chance, for a question box sent empty."""
    take_in({"gate.html": GATE})
    found = answer(question)
    assert (found.excerpts, found.tokens, found.question) == ((), 0, question)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "question",
    [
        "gate " * 2_000,
        "g" * 10_000,
        "門は何時に開きますか？",
        "متى تفتح البوابة؟",
        "Когда открываются ворота?",
        "?!",
        "🚪🕕",
        "\ud800 gate",
        "gate\0gate",
        "'; DROP TABLE evidence_document; --",
    ],
    ids=["words", "letters", "japanese", "arabic", "russian", "marks", "emoji", "surrogate", "nul", "sql"],
)
def test_any_question_gets_a_normal_answer(embedder: WordEmbedder, question: str) -> None:
    """An error page for a question that is 10,000 characters long, or in another script."""
    take_in({"gate.html": GATE})
    found = answer(question)
    assert found.question == question
    assert found.excerpts


@pytest.mark.django_db
def test_without_an_index_the_error_says_how_to_begin(embedder: WordEmbedder) -> None:
    """An error from the database's depths on the first day."""
    with pytest.raises(NoIndex, match=r"manage\.py ingest"):
        answer()


@pytest.mark.django_db
def test_an_unknown_index_is_named_with_those_there_are(embedder: WordEmbedder) -> None:
    """A typing error answered from the default index, as if it were the one asked for."""
    take_in({"gate.html": GATE})
    with pytest.raises(NoIndex, match="no index 'passages'; there are: default"):
        answer(index="passages")


@pytest.mark.django_db
def test_no_collection_is_no_evidence(embedder: WordEmbedder) -> None:
    """A reader who may see nothing, and gets everything, because an empty filter is no filter."""
    take_in({"gate.html": GATE})
    assert ask(QUESTION, collections=[]).excerpts == ()


@pytest.mark.django_db
def test_only_the_given_collections_are_searched(embedder: WordEmbedder) -> None:
    """Contracts of one team in the answers of another."""
    take_in({"gate.html": GATE}, "Handbook")
    take_in({"gate.html": GATE.replace(b"six", b"nine")}, "Secret")
    assert "nine" not in "".join(excerpt.text for excerpt in answer(QUESTION, "Handbook").excerpts)
    assert {excerpt.collection for excerpt in answer(QUESTION, "Handbook", "Secret").excerpts} == {"Handbook", "Secret"}


@pytest.mark.django_db
def test_better_hits_in_a_closed_collection_take_no_place(
    embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 50: ten results asked for and none shown, because the best ten are those the reader may not see."""
    monkeypatch.setattr(pipeline, "CANDIDATES", 10)
    question = "How many months does Kestrel pay?"
    take_in({f"{n}.html": page(f"Rota {n}", Shift=f"Shift {n} starts at noon.") for n in range(20)}, "Handbook")
    before = answer(question, "Handbook", budget=49)
    take_in({f"{n}.html": page(f"Kestrel {n}", Pay=f"Kestrel pays {n} months.") for n in range(40)}, "HR")
    after = answer(question, "Handbook", budget=49)
    assert "Kestrel" not in "".join(excerpt.text for excerpt in after.excerpts)
    assert cited(after) == cited(before) != []
    assert "Kestrel" in answer(question, "Handbook", "HR", budget=49).excerpts[0].text


@pytest.mark.django_db
def test_two_models_answer_each_from_their_own_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 58: vectors of two models compared with each other, or an error about their dimensions, after a switch."""
    first, second = WordEmbedder(), WordEmbedder()
    second.name, second.fingerprint, second.dimensions = "others", "others-1", 64
    models = {"words": first, "others": second}
    for place in ("evidence.configured", "evidence.ingest.rebuild"):
        monkeypatch.setattr(f"{place}.embedder_named", lambda name: models.get(name, first))
    take_in({"gate.html": GATE})
    build("second", model="others", unit="seed", encoding="shared", context=True)
    take_in({"gate.html": GATE, "heron.html": page("Heron", Nest="The heron nests in reeds.")})
    for index in ("default", "second"):
        found = answer("Where do herons nest? In reeds?", index=index)
        assert cited(found)[0] == "The heron nests in reeds."
        assert found.index == index
    assert answer().index == "default"


@pytest.mark.django_db
def test_an_index_of_a_model_that_has_changed_does_not_answer(embedder: WordEmbedder) -> None:
    """Case 58: another model under the old name, whose vectors mean something else: answers by chance."""
    take_in({"gate.html": GATE})
    embedder.fingerprint = "words-2"
    with pytest.raises(OtherModel, match=r"index 'default' was made by .* build a new index"):
        answer()


@pytest.mark.django_db
def test_an_excerpt_is_well_formed_and_holds_its_context(embedder: WordEmbedder) -> None:
    """A cited sentence without the headings that say what it is about."""
    take_in({"gate.html": GATE})
    excerpt = answer(budget=40).excerpts[0]
    texts = [sentence.text for sentence in excerpt.tree.sentences()]
    assert texts[0] == "Gate"
    assert {"South", "Team South opens the gate at six each morning."} <= set(texts)
    paths = {node.path for node in excerpt.tree.nodes}
    assert all(Path(path[:-1]) in paths for path in paths if path)


@pytest.mark.django_db
@pytest.mark.parametrize("unit", ["sentence", "block", "passage"])
def test_every_unit_can_be_cited(embedder: WordEmbedder, unit: str) -> None:
    """An experiment with passages whose citations have no place in the document."""
    take_in({"gate.html": GATE, "tins.html": TABLE})
    build(unit, model="words", unit=unit, encoding="single", context=False)
    found = answer(index=unit)
    assert any("Team South opens the gate at six each morning." in text for text in cited(found))
    for excerpt in found.excerpts:
        for citation in excerpt.citations:
            assert excerpt.tree.at(citation.path).path == citation.path
