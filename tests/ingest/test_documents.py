from __future__ import annotations

import hashlib

import pytest
import sqlalchemy as sa
from django.db import transaction

from evidence.configured import pipeline
from evidence.ingest import documents
from evidence.ingest.documents import Outcome, ingest_sources
from evidence.ingest.sources import Arrival
from evidence.models import Document, Revision
from evidence.store import indexes
from evidence.store.revisions import read_contexts, read_tree
from evidence.store.schema import SCHEMA
from evidence.tree.context import global_context
from evidence.tree.html import parse
from evidence.tree.seeds import seeds
from tests.conftest import WordEmbedder
from tests.handbook import (
    GATE,
    KITCHEN,
    NEW_GATE,
    TABLE,
    case,
    cited,
    collection_of,
    current,
    page,
    rows_of,
    take_in,
)


@pytest.mark.django_db
def test_a_new_page_becomes_the_first_revision(embedder: WordEmbedder) -> None:
    """An ingest that reports success and keeps something else than what it was given."""
    assert take_in({"gate.html": GATE}) == [Outcome("gate.html", "new", sentences=8, embedded=4)]
    revision = current()
    assert (revision.number, revision.title, revision.language, revision.sentences) == (1, "Gate", "en", 8)
    assert bytes(revision.content) == GATE
    assert revision.content_hash == hashlib.sha256(GATE).hexdigest()
    assert revision.document.title == "Gate"
    rows = rows_of(revision.pk)
    assert rows["seed"] == 4
    assert rows["node"] == len(parse(GATE, "gate.html"))
    with pipeline() as connection:
        default = indexes.get(connection)
    assert rows[default.table.name] == 4


@pytest.mark.django_db
def test_the_same_page_again_does_nothing(embedder: WordEmbedder) -> None:
    """A nightly ingest of a folder that embeds everything anew, or fills the database with equal revisions."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    before = rows_of(current().pk)
    embedder.embedded.clear()
    again = take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    assert [outcome.status for outcome in again] == ["unchanged", "unchanged"]
    assert embedder.embedded == []
    assert Revision.objects.count() == 2
    assert rows_of(current().pk) == before


@pytest.mark.django_db
def test_of_a_changed_page_only_the_changed_section_is_embedded_again(embedder: WordEmbedder) -> None:
    """One word changed in a manual of a thousand pages, paid for with all of its sentences."""
    take_in({"gate.html": GATE})
    embedder.embedded.clear()
    assert take_in({"gate.html": NEW_GATE}) == [Outcome("gate.html", "changed", sentences=8, embedded=2)]
    assert current().number == 2
    assert embedder.embedded == ["Team South opens the gate at eight each morning.", "Bring the brass key."]


@pytest.mark.django_db
def test_of_a_changed_table_only_the_changed_row_is_embedded_again(embedder: WordEmbedder) -> None:
    """A price changed in a list of ten thousand, paid for with the whole list."""
    take_in({"tins.html": TABLE})
    embedder.embedded.clear()
    take_in({"tins.html": TABLE.replace(b"Coffee beans", b"Cocoa")})
    assert len(embedder.embedded) == 1
    assert "Cocoa" in embedder.embedded[0]


@pytest.mark.django_db
def test_a_new_revision_takes_the_place_of_the_old_one_in_the_search(embedder: WordEmbedder) -> None:
    """An answer from a page as it was last year."""
    take_in({"gate.html": GATE})
    take_in({"gate.html": NEW_GATE})
    found = cited("When does Team South open the gate?")
    assert "Team South opens the gate at eight each morning." in found
    assert "Team South opens the gate at six each morning." not in found


@pytest.mark.django_db
def test_an_old_revision_keeps_its_tree(embedder: WordEmbedder) -> None:
    """Case 41: a saved citation that opens on another sentence because the page has changed under it."""
    take_in({"gate.html": case(41)})
    first = current()
    take_in({"gate.html": case(41).replace(b'<p id="a">', b'<p>New rule.</p><p id="a">')})
    assert current().number == 2
    for revision in (first, current()):
        with pipeline() as connection:
            stored = read_tree(connection, revision.pk)
        expected = parse(bytes(revision.content), "gate.html")
        assert [(node.path, node.tag, node.text) for node in stored.nodes] == [
            (node.path, node.tag, node.text) for node in expected.nodes
        ]


@pytest.mark.django_db
def test_a_page_parsed_by_an_older_parser_is_parsed_again(
    embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A better parser that never reaches the pages that are in already."""
    take_in({"gate.html": GATE})
    monkeypatch.setattr(documents, "parser_of", lambda name: "next")
    assert [outcome.status for outcome in take_in({"gate.html": GATE})] == ["changed"]
    assert (current().number, current().parser) == (2, "next")


@pytest.mark.django_db
def test_an_address_is_known_in_its_collection_only(embedder: WordEmbedder) -> None:
    """Two teams with an index.html each, of which one replaces the other."""
    take_in({"index.html": GATE}, "Handbook")
    assert [outcome.status for outcome in take_in({"index.html": KITCHEN}, "Manual")] == ["new"]
    assert Document.objects.filter(address="index.html").count() == 2


@pytest.mark.django_db
def test_the_same_address_twice_in_one_ingest_is_two_revisions(embedder: WordEmbedder) -> None:
    """A folder and an archive of it given together, where the older state wins or the second one fails."""
    sources = [Arrival("gate.html", GATE), Arrival("gate.html", NEW_GATE)]
    outcomes = ingest_sources(collection=collection_of(), sources=sources)
    assert [outcome.status for outcome in outcomes] == ["new", "changed"]
    assert bytes(current().content) == NEW_GATE


@pytest.mark.django_db
def test_what_stands_in_two_pages_alike_is_embedded_once(embedder: WordEmbedder) -> None:
    """A notice that stands on each of a thousand pages, embedded a thousand times."""
    take_in({"gate.html": GATE, "copy.html": GATE})
    assert len(embedder.embedded) == len(set(embedder.embedded)) == 4
    assert rows_of(current("copy.html").pk) == rows_of(current().pk)


@pytest.mark.django_db
def test_batches_of_one_page_give_what_one_batch_gives(embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages lost, or told of twice, where one batch ends and the next begins."""
    monkeypatch.setattr(documents, "BYTES_OF_A_BATCH", 1)
    outcomes = take_in({"gate.html": GATE, "kitchen.html": KITCHEN, "tins.html": TABLE})
    assert [(outcome.name, outcome.status) for outcome in outcomes] == [
        ("gate.html", "new"),
        ("kitchen.html", "new"),
        ("tins.html", "new"),
    ]


@pytest.mark.django_db
def test_each_outcome_is_told_as_soon_as_it_is_written(embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A progress bar that stands at nothing for an hour, then jumps to the end."""
    monkeypatch.setattr(documents, "BYTES_OF_A_BATCH", 1)
    seen: list[tuple[str, int]] = []
    ingest_sources(
        collection=collection_of(),
        sources=[Arrival("gate.html", GATE), Arrival("kitchen.html", KITCHEN)],
        report=lambda outcome: seen.append((outcome.name, Revision.objects.count())),
    )
    assert seen == [("gate.html", 1), ("kitchen.html", 2)]


@pytest.mark.django_db
def test_a_deleted_document_is_gone_with_all_that_was_derived(embedder: WordEmbedder) -> None:
    """Case 54: a page that was withdrawn, and is still quoted in answers."""
    take_in({"rota.html": case(54), "gate.html": GATE})
    revision = current("rota.html")
    assert cited("When does the Quetzal shift start?")[0] == "Quetzal shift starts at four."
    with transaction.atomic():
        Document.objects.get(address="rota.html").delete()
        assert set(rows_of(revision.pk).values()) == {0}
    assert not [text for text in cited("When does the Quetzal shift start?") if "Quetzal" in text]
    assert not Revision.objects.filter(pk=revision.pk).exists()


@pytest.mark.django_db
def test_a_deletion_that_is_rolled_back_has_removed_nothing(embedder: WordEmbedder) -> None:
    """Vectors that go at once, while the document stays because the deletion failed."""
    take_in({"rota.html": case(54)})
    revision, rows = current("rota.html"), rows_of(current("rota.html").pk)
    with pytest.raises(KeyboardInterrupt), transaction.atomic():
        Document.objects.get(address="rota.html").delete()
        raise KeyboardInterrupt
    assert rows_of(revision.pk) == rows


@pytest.mark.django_db
def test_a_page_with_nul_keeps_no_other_page_out(embedder: WordEmbedder) -> None:
    """Case 32: PostgreSQL refuses NUL, and with it the whole batch."""
    nul = case(32).replace(b"o ften", b"o\0ften").replace(b"<title>Log", b"<title>L\0og")
    outcomes = take_in({"gate.html": GATE, "log.html": nul, "tins.html": TABLE})
    assert [outcome.status for outcome in outcomes] == ["new", "new", "new"]
    with pipeline() as connection:
        texts = [sentence.text for sentence in read_tree(connection, current("log.html").pk).sentences()]
    assert {"Keep ten.", "Then stop."} <= set(texts)
    assert not [text for text in texts if "\0" in text]
    assert "Then stop." in cited("Then stop?")


@pytest.mark.django_db
def test_half_a_character_keeps_no_other_page_out(embedder: WordEmbedder) -> None:
    """A lone surrogate, which no encoding can write, on which the whole batch fails."""
    broken = page("Half &#xD83D; a face", Log="Keep &#xDE00; ten. Then &#55357; stop.")
    outcomes = take_in({"gate.html": GATE, "half.html": broken})
    assert [outcome.status for outcome in outcomes] == ["new", "new"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("number", "sentence"), [(33, "Reply at the bottom."), (60, "Bottom of the list.")], ids=["33", "60"]
)
def test_a_deep_page_is_stored_and_its_leaf_knows_its_ancestors(
    embedder: WordEmbedder, number: int, sentence: str
) -> None:
    """Cases 33 and 60: a page that PostgreSQL refuses because a path of it is too long for an index."""
    assert [outcome.status for outcome in take_in({"deep.html": case(number)})] == ["new"]
    assert sentence in cited(sentence)
    tree = parse(case(number), "deep.html")
    leaf = next(found for found in tree.sentences() if found.text == sentence)
    with pipeline() as connection:
        ancestors = connection.execute(
            sa.text(
                f"SELECT above.position FROM {SCHEMA}.node AS leaf JOIN {SCHEMA}.node AS above"
                " ON above.revision_id = leaf.revision_id AND above.path @> leaf.path"
                " WHERE leaf.revision_id = :revision AND leaf.text = :sentence ORDER BY above.position"
            ),
            {"revision": current("deep.html").pk, "sentence": sentence},
        ).scalars()
        assert list(ancestors) == [node.position for node in (*leaf.ancestors(), leaf)]


@pytest.mark.django_db
def test_contexts_are_stored_as_the_places_that_the_policies_found(embedder: WordEmbedder) -> None:
    """Excerpts whose headings are those of another section."""
    take_in({"tins.html": TABLE, "gate.html": GATE})
    for address, content in (("tins.html", TABLE), ("gate.html", GATE)):
        revision = current(address)
        with pipeline() as connection:
            contexts = read_contexts(connection, revision.pk)
            stored = connection.execute(
                sa.text(f"SELECT position, context FROM {SCHEMA}.seed WHERE revision_id = :revision ORDER BY position"),
                {"revision": revision.pk},
            ).all()
        assert [
            (position, list(zip(contexts[number].policies, contexts[number].positions, strict=True)))
            for position, number in stored
        ] == [
            (seed.position, [(entry.policy, entry.node.position) for entry in global_context(seed)])
            for seed in seeds(parse(content, address))
        ]


@pytest.mark.django_db
def test_the_declared_charset_is_kept_and_used(embedder: WordEmbedder) -> None:
    """A page that reads well today, and as garbage when it is parsed again."""
    source = Arrival("cafe.html", page("Cafe", Hours="Caf\u00e9 opens at six.").decode().encode("latin-1"), "latin-1")
    ingest_sources(collection=collection_of(), sources=[source])
    assert current("cafe.html").charset == "latin-1"
    assert "Caf\u00e9 opens at six." in cited("When does the caf\u00e9 open?")


@pytest.mark.django_db
def test_when_the_last_index_was_dropped_the_next_ingest_makes_one_of_all_pages(embedder: WordEmbedder) -> None:
    """A site that says "nothing to do" to each ingest, and "nothing has been indexed" to each question."""
    take_in({"gate.html": GATE})
    with pipeline() as connection:
        indexes.drop(connection, indexes.get(connection))
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    assert "Tea is in the blue tin." in cited("Where is the tea?")
    assert "Ring the bell twice." in cited("How often do I ring the bell?")


@pytest.mark.django_db
def test_pages_without_a_word_are_taken_in(embedder: WordEmbedder) -> None:
    """A page of one picture on which an ingest fails, or that is new again each time."""
    empty = {"picture.html": b"<!doctype html><img src=a.png>", "text.html": b"no markup"}
    assert [outcome.status for outcome in take_in(empty)] == ["new", "new"]
    assert [outcome.status for outcome in take_in(empty)] == ["unchanged", "unchanged"]
