from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from evidence.configured import pipeline
from evidence.ingest import documents, rebuild
from evidence.ingest.rebuild import build
from evidence.models import Document
from evidence.retrieve.pipeline import ask
from evidence.store import indexes
from evidence.store.indexes import Index, UnknownIndex
from evidence.store.revisions import read_contexts, read_tree
from evidence.tree.context import global_context
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, NEW_GATE, TABLE, collection_of, rows_of, take_in

PAGES = {"gate.html": GATE, "kitchen.html": KITCHEN, "tins.html": TABLE}


def build_one(name: str = "second", **different: Any) -> Index:
    """An index of sentences, one by one and without context; other things if told so."""
    return build(name, **{"model": "words", "unit": "sentence", "encoding": "single", "context": False, **different})


def units_of(index: Index, address: str = "gate.html") -> int:
    revision = Document.objects.get(address=address).current_id
    assert revision is not None
    return rows_of(revision)[index.table.name]


def cited(question: str, index: str) -> list[str]:
    found = ask(question, collections=[collection_of().pk], index=index)
    return [citation.text for excerpt in found.excerpts for citation in excerpt.citations]


@pytest.mark.django_db
def test_an_index_is_built_beside_the_one_that_serves(embedder: WordEmbedder) -> None:
    """A new way to embed that takes over, or takes the old vectors away, before anybody has compared the two."""
    take_in(PAGES)
    reported: list[int] = []
    built = build_one(report=reported.append)
    assert (built.name, built.complete, built.is_default) == ("second", True, False)
    assert sum(reported) == 3
    with pipeline() as connection:
        assert indexes.get(connection).name == "default"
    assert units_of(built) == 4


@pytest.mark.django_db
def test_an_index_that_is_complete_is_not_built_again(embedder: WordEmbedder) -> None:
    """A second ``index build`` that embeds everything anew."""
    take_in(PAGES)
    first = build_one()
    embedder.embedded.clear()
    reported: list[int] = []
    assert build_one(report=reported.append) == first
    assert embedder.embedded == []
    assert reported == []


@pytest.mark.django_db
def test_an_interrupted_build_goes_on_where_it_was(embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build of a night, begun anew after each restart."""
    monkeypatch.setattr(rebuild, "DOCUMENTS_OF_A_BATCH", 1)
    take_in(PAGES)

    def interrupt(documents: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_one(report=interrupt)
    with pipeline() as connection:
        half = indexes.get(connection, "second")
        assert len(indexes.indexed_revisions(connection, half)) == 1
        assert not half.complete
        with pytest.raises(ValueError, match=r"not complete; finish it with: manage\.py index build second"):
            indexes.make_default(connection, half)
    reported: list[int] = []
    assert build_one(report=reported.append).complete
    assert reported == [1, 1]
    assert all(units_of(half, address) for address in PAGES)


@pytest.mark.django_db
@pytest.mark.parametrize("different", [{"unit": "block"}, {"encoding": "shared"}, {"context": True}])
def test_a_name_stands_for_one_way_to_embed(embedder: WordEmbedder, different: dict[str, Any]) -> None:
    """Units of two kinds in one index, whose figures then mean nothing."""
    take_in(PAGES)
    build_one()
    with pytest.raises(ValueError, match="'second' exists and embeds in another way .* choose another name"):
        build_one(**different)


@pytest.mark.django_db
def test_one_way_to_embed_has_one_name(embedder: WordEmbedder) -> None:
    """The same vectors kept, and paid for at each ingest, twice."""
    take_in(PAGES)
    build_one()
    with pytest.raises(ValueError, match="'second' embeds in the same way already"):
        build_one("third")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("unit", "encoding", "context", "units"),
    [
        ("seed", "single", True, 4),
        ("seed", "shared", False, 4),
        ("sentence", "shared", True, 4),
        ("block", "single", True, 2),
        ("passage", "single", False, 1),
    ],
)
def test_indexes_of_every_kind_hold_their_units(
    embedder: WordEmbedder, unit: str, encoding: str, context: bool, units: int
) -> None:
    """An experiment whose index is empty, or is of another kind than its name says."""
    take_in(PAGES)
    built = build_one(unit=unit, encoding=encoding, context=context)
    assert (built.unit, built.encoding, built.context) == (unit, encoding, context)
    assert units_of(built) == units


@pytest.mark.django_db
def test_an_index_with_context_gives_the_model_the_headings(embedder: WordEmbedder) -> None:
    """A comparison of with and without context that compares the same vectors."""
    take_in(PAGES)
    embedder.embedded.clear()
    build_one("without")
    assert "Bring the brass key." in embedder.embedded
    embedder.embedded.clear()
    build_one("with", context=True)
    assert "Gate. South. Bring the brass key." in embedder.embedded


@pytest.mark.django_db
def test_new_revisions_go_into_every_index(embedder: WordEmbedder) -> None:
    """An index that is right on the day it is built, and out of date from then on."""
    take_in(PAGES)
    build_one()
    take_in({"gate.html": NEW_GATE, "new.html": KITCHEN.replace(b"tin", b"drawer")})
    for index in ("default", "second"):
        assert "Tea is in the blue drawer." in cited("Is the tea in the blue drawer?", index)
        found = cited("When does Team South open the gate?", index)
        assert "Team South opens the gate at eight each morning." in found
        assert "Team South opens the gate at six each morning." not in found


@pytest.mark.django_db
def test_pages_that_change_while_an_index_is_built_are_in_it_as_they_are_now(
    embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page in the new index twice, or as it was when the build began."""
    monkeypatch.setattr(rebuild, "DOCUMENTS_OF_A_BATCH", 1)
    take_in(PAGES)

    def change(done: int) -> None:
        take_in({"gate.html": NEW_GATE, "kitchen.html": KITCHEN.replace(b"tin", b"drawer")})
        Document.objects.filter(address="tins.html").delete()

    built = build_one(report=change)
    assert built.complete
    with pipeline() as connection:
        assert indexes.count(connection, built) == units_of(built) + units_of(built, "kitchen.html") == 6
    assert "Team South opens the gate at eight each morning." in cited("When does Team South open?", "second")


@pytest.mark.django_db
def test_an_ingest_that_was_under_way_when_a_build_began_leaves_no_gap(
    embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index that is called complete, and lacks the pages of an ingest that ran beside its build."""
    take_in({"tins.html": TABLE})
    embed_for = documents.embed_for

    def embed_while_another_builds(prepared: Sequence[Any], ways: Sequence[Index]) -> None:
        embed_for(prepared, ways)
        build_one()

    monkeypatch.setattr(documents, "embed_for", embed_while_another_builds)
    take_in({"gate.html": GATE})
    assert "Ring the bell twice." in cited("Ring the bell twice?", "second")


@pytest.mark.django_db
def test_contexts_that_only_other_units_have_are_stored(embedder: WordEmbedder) -> None:
    """A block or passage without its headings, because only those of seeds were stored at ingest."""
    take_in(PAGES)
    build_one("cells")
    revision = Document.objects.get(address="tins.html").current_id
    assert revision is not None
    with pipeline() as connection:
        index = indexes.get(connection, "cells")
        contexts, tree = read_contexts(connection, revision), read_tree(connection, revision)
        units = connection.execute(
            index.table.select().where(index.table.c.revision_id == revision).order_by(index.table.c.ordinal)
        ).all()
    assert units
    for unit in units:
        expected = [(entry.policy, entry.node.position) for entry in global_context(tree.node(unit.positions[0]))]
        stored = contexts[unit.context]
        assert list(zip(stored.policies, stored.positions, strict=True)) == expected
    assert len({(context.policies, context.positions) for context in contexts}) == len(contexts)


@pytest.mark.django_db
def test_an_index_that_is_being_built_does_not_answer_unless_asked(embedder: WordEmbedder) -> None:
    """Answers from a tenth of the pages, on the day of the first build."""
    take_in(PAGES)
    with pipeline() as connection:
        indexes.drop(connection, indexes.get(connection))

    def look(done: int) -> None:
        with pipeline() as connection, pytest.raises(UnknownIndex):
            indexes.get(connection)

    assert build_one("first", report=look).is_default
