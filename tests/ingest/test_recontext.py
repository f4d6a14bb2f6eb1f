from __future__ import annotations

import pytest

from evidence.configured import pipeline
from evidence.ingest.recontext import collection_recontext
from evidence.models import Document
from evidence.store import indexes
from evidence.store.revisions import read_contexts
from evidence.store.schema import definition, seed
from tests.conftest import WordEmbedder
from tests.handbook import collection_of, page, rows_of, take_in

RULES = page(
    "Rules", Definitions="“Parcel” means a strip of land.", Duties="The parcel is dug in May. Rakes are shared."
)
GLOSSARY = (
    b"<title>Words</title><h1>Words</h1><dl><dt>Warden<dd>Who keeps the key of the gate."
    b"<dt>Parcel<dd>A strip of land.<dt>RTO<dd>The time until the pump runs again.</dl>"
)


def current(address: str) -> int:
    revision = Document.objects.get(address=address).current_id
    assert revision is not None
    return revision


def policies_in(address: str) -> set[str]:
    """The policies that found something for a seed of this document."""
    with pipeline() as connection:
        contexts = read_contexts(connection, current(address))
        used = set(
            connection.execute(seed.select().where(seed.c.revision_id == current(address))).columns("context").scalars()
        )
    assert used <= set(range(len(contexts)))
    return {policy for number in used for policy in contexts[number].policies}


def switch_on(*names: str) -> None:
    collection = collection_of()
    collection.policies = list(names)
    collection.save()


@pytest.mark.django_db
def test_policies_that_are_on_hold_for_what_is_taken_in(embedder: WordEmbedder) -> None:
    """A switch in the admin that changes nothing."""
    take_in({"before.html": RULES})
    switch_on("definition")
    take_in({"after.html": RULES})
    assert "definition" not in policies_in("before.html")
    assert "definition" in policies_in("after.html")


@pytest.mark.django_db
def test_contexts_are_found_anew_for_what_is_there(embedder: WordEmbedder) -> None:
    """Taking in thousands of pages again for a switch; or rows of the old contexts left behind."""
    take_in({"rules.html": RULES})
    rows = rows_of(current("rules.html"))
    switch_on("definition")
    reported: list[int] = []
    assert collection_recontext(collection=collection_of(), report=reported.append) == sum(reported) == 1
    assert "definition" in policies_in("rules.html")
    switch_on()
    collection_recontext(collection=collection_of())
    assert "definition" not in policies_in("rules.html")
    assert rows_of(current("rules.html")) == rows


@pytest.mark.django_db
def test_what_has_the_same_context_is_not_embedded_again(embedder: WordEmbedder) -> None:
    take_in({"rules.html": RULES})
    embedder.embedded.clear()
    collection_recontext(collection=collection_of())
    assert embedder.embedded == []


@pytest.mark.django_db
def test_every_index_points_to_the_contexts_that_are_found_anew(embedder: WordEmbedder) -> None:
    """A unit with the context of another one: contexts are numbered anew, and an index keeps the numbers."""
    take_in({"rules.html": RULES})
    switch_on("definition")
    collection_recontext(collection=collection_of())
    revision = current("rules.html")
    with pipeline() as connection:
        contexts = read_contexts(connection, revision)
        of_seed = dict(
            connection.execute(seed.select().where(seed.c.revision_id == revision)).columns("position", "context").all()
        )
        table = indexes.get(connection).table
        units = connection.execute(table.select().where(table.c.revision_id == revision)).all()
    assert units
    assert {unit.positions[0]: unit.context for unit in units} == of_seed
    assert max(of_seed.values()) < len(contexts)


@pytest.mark.django_db
def test_glossaries_are_kept_for_the_others_while_the_policy_is_on(embedder: WordEmbedder) -> None:
    """Definitions of a collection that has switched them off."""

    def terms() -> list[str]:
        with pipeline() as connection:
            return sorted(connection.execute(definition.select()).columns("term").scalars())

    take_in({"words.html": GLOSSARY})
    assert terms() == []
    switch_on("definition")
    collection_recontext(collection=collection_of())
    assert terms() == ["RTO", "RTO", "parcel", "parcel", "warden", "warden"]
    switch_on()
    collection_recontext(collection=collection_of())
    assert terms() == []
