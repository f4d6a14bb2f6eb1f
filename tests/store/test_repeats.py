from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import sqlalchemy as sa

from evidence.models import Revision
from evidence.store import indexes
from evidence.store.indexes import EmbeddedUnit, Index
from evidence.store.repeats import FEWEST, digest_of, digests_of, mark_repeats, mark_units, read_repeats
from evidence.store.revisions import write_tree
from evidence.store.search import nearest
from evidence.tree.html import parse
from evidence.tree.seeds import seeds
from tests.store.conftest import NewRevision, put
from tests.store.test_search import plan_of

NewIndex = Callable[..., Index]
QUESTION = np.array([1.0, 0.0, 0.0], dtype=np.float32)
HEAD, FOOT = "Acme handbook.", "Nobody may copy this."


def with_page(connection: sa.Connection, revision: Revision, page: str, index: Index | None = None) -> list[int]:
    """Write a page as this revision's tree, every seed a unit of the index. The positions of its seeds."""
    tree = parse(page.encode(), "page.html")
    positions = [seed.position for seed in seeds(tree)]
    write_tree(connection, revision.pk, tree, tokens=[1] * len(tree), contexts=[], seeds=[(p, 0) for p in positions])
    if index is not None:
        units = [EmbeddedUnit((p,), 0, 1, p.to_bytes(16, "big"), QUESTION) for p in positions]
        put(connection, index, revision, units)
    return positions


def page(number: int, *, head: str = HEAD, foot: str = FOOT) -> str:
    return f"<p>{head}</p><h1>Part {number}</h1><p>It is about thing {number}.</p><p>{foot}</p>"


@pytest.fixture
def handbook(connection: sa.Connection, new_revision: NewRevision, new_index: NewIndex) -> tuple[list[Revision], Index]:
    """As many pages as make a pattern, with the same beginning and end."""
    index = new_index()
    revisions = [new_revision() for _ in range(FEWEST)]
    for number, revision in enumerate(revisions):
        with_page(connection, revision, page(number), index)
    return revisions, index


def texts(connection: sa.Connection, revision: Revision, repeats: str) -> list[str]:
    """The sentences of a revision whose seeds repeat so often."""
    statement = (
        "SELECT node.text FROM spire.seed JOIN spire.node USING (revision_id, position)"
        f" WHERE revision_id = {revision.pk} AND repeats {repeats} ORDER BY position"
    )
    return list(connection.execute(sa.text(statement)).scalars())


def searched(connection: sa.Connection, index: Index, revision: Revision) -> dict[int, int]:
    """How many units of each revision a search finds."""
    hits = nearest(connection, index, QUESTION, collections=[revision.document.collection_id], limit=100)
    found: dict[int, int] = {}
    for hit in hits:
        found[hit.revision_id] = found.get(hit.revision_id, 0) + 1
    return found


def test_what_most_pages_say_is_searched_in_the_first_of_them(
    connection: sa.Connection, handbook: tuple[list[Revision], Index]
) -> None:
    """The same line from forty pages as the evidence for a question; or from none."""
    revisions, index = handbook
    assert mark_repeats(connection, revisions[0].document.collection_id) == 2 * (FEWEST - 1)
    assert texts(connection, revisions[0], "> 0") == []
    for revision in revisions[1:]:
        assert texts(connection, revision, f"= {FEWEST}") == [HEAD, FOOT]
    assert searched(connection, index, revisions[0]) == {
        revision.pk: 3 if revision is revisions[0] else 1 for revision in revisions
    }


def test_marking_again_changes_nothing(connection: sa.Connection, handbook: tuple[list[Revision], Index]) -> None:
    """Rows, and entries of the HNSW index, that are written anew after each ingest."""
    revisions, _ = handbook
    collection = revisions[0].document.collection_id
    assert mark_repeats(connection, collection)
    assert mark_repeats(connection, collection) == 0


def test_what_was_searched_in_a_document_that_goes_is_searched_in_another(
    connection: sa.Connection, handbook: tuple[list[Revision], Index], new_revision: NewRevision
) -> None:
    """A line that nobody finds any more, because the page it was found on has been deleted."""
    revisions, index = handbook
    with_page(connection, new_revision(), page(99), index)
    collection = revisions[0].document.collection_id
    mark_repeats(connection, collection)
    first = revisions.pop(0)
    first.document.delete()
    mark_repeats(connection, collection)
    assert texts(connection, revisions[0], "= 0") == [HEAD, "It is about thing 1.", FOOT]
    assert searched(connection, index, revisions[0])[revisions[0].pk] == 3
    # One fewer is no pattern any more.
    revisions.pop(0).document.delete()
    mark_repeats(connection, collection)
    assert all(texts(connection, revision, "> 0") == [] for revision in revisions)
    assert set(searched(connection, index, revisions[0]).values()) == {3}


def test_a_document_that_says_only_what_others_say_keeps_it(
    connection: sa.Connection, handbook: tuple[list[Revision], Index], new_revision: NewRevision
) -> None:
    """A page that no question finds."""
    _, index = handbook
    bare = new_revision()
    with_page(connection, bare, f"<p>{HEAD}</p><h1>Nothing yet</h1><p>{FOOT}</p>", index)
    mark_repeats(connection, bare.document.collection_id)
    assert texts(connection, bare, "= 0") == [HEAD, FOOT]
    assert searched(connection, index, bare)[bare.pk] == 2


@pytest.mark.parametrize(
    "same",
    [
        "<h2>Who</h2><p>This applies to all employees.</p><h2>What</h2>",
        "<table><tr><th>Unit</th><th>Until</th></tr><tr><td>All</td><td>Six</td></tr></table>",
    ],
)
def test_content_from_a_template_is_no_furniture(
    connection: sa.Connection, new_revision: NewRevision, same: str
) -> None:
    """Who a policy applies to, found in another policy, or in none."""
    revisions = [new_revision() for _ in range(FEWEST)]
    for number, revision in enumerate(revisions):
        with_page(connection, revision, f"<h1>Policy {number}</h1>{same}<p>Of thing {number}.</p>")
    assert mark_repeats(connection, revisions[0].document.collection_id) == 0


def test_what_few_pages_say_stays(connection: sa.Connection, new_revision: NewRevision) -> None:
    few = [new_revision("Few") for _ in range(FEWEST - 1)]
    many = [new_revision("Many") for _ in range(3 * FEWEST)]
    for number, revision in enumerate(few + many):
        with_page(connection, revision, page(number, head=f"Page {number}.", foot=FOOT if number < 9 else f"{number}."))
    assert mark_repeats(connection, few[0].document.collection_id) == 0
    assert mark_repeats(connection, many[0].document.collection_id) == 0


def test_collections_do_not_count_for_each_other(connection: sa.Connection, new_revision: NewRevision) -> None:
    """A reader who learns from what is missing that a collection they may not see says the same."""
    revisions = [new_revision(f"Own {number % 2}") for number in range(2 * FEWEST - 2)]
    for number, revision in enumerate(revisions):
        with_page(connection, revision, page(number))
    assert mark_repeats(connection, revisions[0].document.collection_id) == 0


def test_a_unit_is_searched_while_any_of_it_is_its_own(
    connection: sa.Connection, handbook: tuple[list[Revision], Index], new_index: NewIndex
) -> None:
    """Blocks and passages hold several seeds; one of them repeats, and the others are lost with it."""
    revisions, seed_index = handbook
    blocks = new_index("blocks", unit="block")
    last = revisions[-1]
    tree = parse(page(FEWEST - 1).encode())
    heads = [node.position for node in tree.nodes if node.tag == "p"]
    head, own, foot = heads
    units = [
        EmbeddedUnit(positions, 0, 1, bytes([number]) * 16, QUESTION)
        for number, positions in enumerate([(head,), (own,), (foot,), (own, foot)])
    ]
    put(connection, blocks, last, units)
    mark_repeats(connection, last.document.collection_id)
    assert searched(connection, blocks, last) == {last.pk: 2}
    # An index that comes later learns of it too.
    put(connection, blocks, last, units)
    assert searched(connection, blocks, last) == {last.pk: 4}
    mark_units(connection, blocks)
    assert searched(connection, blocks, last) == {last.pk: 2}
    assert searched(connection, seed_index, last)[last.pk] == 1


def test_where_it_is_searched_is_told(connection: sa.Connection, handbook: tuple[list[Revision], Index]) -> None:
    revisions, _ = handbook
    first, *_, last = revisions
    mark_repeats(connection, last.document.collection_id)
    told = read_repeats(connection, last.pk)
    assert [(repeat.documents, repeat.document_id) for repeat in told.values()] == [(FEWEST, first.document_id)] * 2
    assert list(told) == [
        p for p in told if p in {node.position for node in parse(page(FEWEST - 1).encode()).sentences()}
    ]
    assert read_repeats(connection, first.pk) == {}


def test_case_and_white_space_make_no_difference() -> None:
    one, two, other = parse("<p>© Acme\n<b>Ltd</b><p>© ACME ltd<p>© Bell".encode()).sentences()
    assert digest_of(one) == digest_of(two) != digest_of(other)


def test_only_what_stands_around_the_headings_can_be_furniture() -> None:
    tree = parse(
        b"<p>One.<h1>A</h1><p>Two.<h2>B</h2><p>Three.<table><tr><th>H<th>I<tr><td>4<td>5</table><nav><h3>N</h3></nav>"
    )
    found = seeds(tree)
    assert [seed.content for seed, digest in zip(found, digests_of(tree, found), strict=True) if digest] == [
        "One.",
        "Three.",
    ]


def test_the_index_is_used_past_units_that_are_not_searched(
    connection: sa.Connection, new_revision: NewRevision, new_index: NewIndex
) -> None:
    """A search that finds copies of one line nearest, leaves them out, and has nothing left, or reads everything."""
    draw = np.random.default_rng(3)
    index = new_index(dimensions=16)
    near = new_revision()
    vectors = np.concatenate([np.tile(np.eye(16)[0], (300, 1)), draw.normal(size=(3000, 16))])
    units = [
        EmbeddedUnit((number,), 0, 1, number.to_bytes(16, "big"), vector.astype(np.float32))
        for number, vector in enumerate(vectors, 1)
    ]
    put(connection, index, near, units)
    connection.execute(sa.update(index.table).where(index.table.c.ordinal < 300).values(repeats=True))
    indexes.complete(connection, index)
    # What the planner would do with millions of units: use the HNSW index.
    connection.execute(sa.text("SET LOCAL enable_bitmapscan = off"))
    connection.execute(sa.text("SET LOCAL enable_sort = off"))
    collections = [near.document.collection_id]
    hits = nearest(connection, index, np.eye(16, dtype=np.float32)[0], collections=collections, limit=50)
    assert len(hits) == 50
    assert min(hit.positions[0] for hit in hits) > 300
    plan = plan_of(connection, index, collections, 50)
    assert f"Index Scan using {index.nearest}" in plan
    assert "NOT repeats" in plan
    assert "(never executed)" in plan
