from __future__ import annotations

import numpy as np
import pytest

from evidence.configured import pipeline
from evidence.ingest.embedding import HASH_BYTES, Plan, embed, plan
from evidence.language.embedder import Window
from evidence.store import indexes
from evidence.store.indexes import Index
from evidence.tree.html import parse
from tests.conftest import WordEmbedder
from tests.handbook import GATE, NEW_GATE, TABLE, page


def an_index(unit: str = "seed", encoding: str = "shared", *, context: bool = True) -> Index:
    """An index of the word embedder, new and empty."""
    with pipeline() as connection:
        return indexes.create(
            connection,
            name=f"{unit} {encoding} {context}",
            model="words",
            fingerprint="words-1",
            dimensions=256,
            unit=unit,
            encoding=encoding,
            context=context,
        )


def planned(content: bytes, index: Index) -> Plan:
    return plan(parse(content, "page.html"), index, WordEmbedder())


def hash_of(made: Plan, text: str) -> bytes:
    return next(
        digest for unit, digest in zip(made.units, made.hashes, strict=True) if unit.nodes[0].content.startswith(text)
    )


@pytest.mark.django_db
def test_sentences_of_a_section_share_a_window_and_rows_stand_alone() -> None:
    """Rows read through the rows around them, or sentences that are each sent with all of their headings."""
    index = an_index()
    gate, tins = planned(GATE, index), planned(TABLE, index)
    assert [window.sentences for window, _ in gate.windows] == [
        ("Team North closes the gate at six each evening.", "Ring the bell twice."),
        ("Team South opens the gate at six each morning.", "Bring the brass key."),
    ]
    assert [window.context for window, _ in gate.windows] == ["Gate. North.", "Gate. South."]
    assert gate.singles == []
    assert [text for _, text in tins.singles] == [
        "Tins. What is in them. Tin: Blue; Holds: Tea leaves",
        "Tins. What is in them. Tin: Red; Holds: Coffee beans",
    ]


@pytest.mark.django_db
def test_a_hash_covers_all_that_the_vector_depends_on() -> None:
    """A sentence that keeps the vector of another section, because only its own words were looked at."""
    index = an_index()
    old, new = planned(GATE, index), planned(NEW_GATE, index)
    assert {len(digest) for digest in old.hashes} == {HASH_BYTES}
    assert hash_of(old, "Ring") == hash_of(new, "Ring")
    assert hash_of(old, "Bring") != hash_of(new, "Bring"), "its neighbour in the window has changed"
    renamed = planned(GATE.replace(b"<h2>North", b"<h2>West"), index)
    assert hash_of(old, "Ring") != hash_of(renamed, "Ring")
    twice = planned(page("Gate", North="Ring. Ring."), index)
    assert len(set(twice.hashes)) == 2, "the same words at two places of a window"


@pytest.mark.django_db
def test_without_context_a_hash_is_that_of_the_unit_alone() -> None:
    """A heading that is renamed, and an index that never saw it embedded anew."""
    index = an_index(encoding="single", context=False)
    renamed = GATE.replace(b"<h2>North", b"<h2>West")
    assert planned(GATE, index).hashes == planned(renamed, index).hashes


@pytest.mark.django_db
@pytest.mark.parametrize("encoding", ["shared", "single"])
def test_every_unit_gets_the_vector_of_its_own_text(embedder: WordEmbedder, encoding: str) -> None:
    """Vectors that belong to the sentence before, after a unit that the model was not asked for."""
    index = an_index(encoding=encoding)
    plans = [planned(content, index) for content in (GATE, TABLE, NEW_GATE)]
    embed(plans, index)
    for made in plans:
        expected: dict[int, np.ndarray] = {number: embedder.embed_passages([text])[0] for number, text in made.singles}
        for window, numbers in made.windows:
            vectors = embedder.embed_windows([Window(window.context, window.sentences)])[0]
            expected |= {number: vector for number, vector in zip(numbers, vectors, strict=True) if number is not None}
        assert sorted(expected) == list(range(len(made.units)))
        for number, vector in expected.items():
            np.testing.assert_array_equal(made.vectors[number], vector)


@pytest.mark.django_db
@pytest.mark.parametrize("encoding", ["shared", "single"])
def test_what_stands_twice_is_given_to_the_model_once(embedder: WordEmbedder, encoding: str) -> None:
    """The footer of a thousand pages, embedded a thousand times in one batch."""
    index = an_index(encoding=encoding)
    asked = embed([planned(GATE, index), planned(GATE, index), planned(TABLE, index)], index)
    assert len(embedder.embedded) == len(set(embedder.embedded)) == 6
    assert asked[0] == 4
    assert asked[2] == 2


@pytest.mark.django_db
def test_terms_and_captions_are_read_and_not_kept(embedder: WordEmbedder) -> None:
    """A definition that is embedded without the word that it defines."""
    glossary = b"<title>Words</title><h1>Words</h1><dl><dt>Ember</dt><dd>A sensor for the cold.</dd></dl>"
    index = an_index()
    made = planned(glossary, index)
    assert [window.sentences for window, _ in made.windows] == [("Ember", "A sensor for the cold.")]
    assert [numbers for _, numbers in made.windows] == [(None, 0)]
    embed([made], index)
    assert len(made.vectors) == 1


@pytest.mark.django_db
def test_nothing_to_embed_asks_for_nothing(embedder: WordEmbedder) -> None:
    """A page of pictures on which a batch fails."""
    index = an_index()
    assert embed([planned(b"<img src=a.png>", index)], index) == [0]
    assert embed([], index) == []
    assert embedder.embedded == []
