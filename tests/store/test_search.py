from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa

from evidence.models import Revision
from evidence.store import indexes, search
from evidence.store.indexes import Index
from evidence.store.revisions import Context, write_tree
from evidence.store.schema import word_count, wording_count
from evidence.store.search import Asked, Filters, Hit, nearest
from evidence.store.wording import FEWEST_CHANGED, Wording, gather_where_due, replace_wordings
from tests.store.conftest import NewRevision, put, tree_of, units_of

NewIndex = Callable[..., Index]
QUESTION = np.array([1.0, 0.0, 0.0], dtype=np.float32)
QUESTION_16 = np.eye(16, dtype=np.float32)[0]


def at_angles(*degrees: float) -> np.ndarray:
    """Vectors at these angles to the question."""
    radians = np.radians(degrees)
    return np.stack([np.cos(radians), np.sin(radians), np.zeros(len(degrees))], axis=1)


def put_vectors(connection: sa.Connection, index: Index, revision: Revision, vectors: np.ndarray) -> None:
    put(connection, index, revision, units_of(vectors))


def plan_of(
    connection: sa.Connection,
    index: Index,
    collections: list[int],
    limit: int,
    asked: Asked = search.NOTHING_ASKED,
    filters: Filters = search.NO_FILTERS,
) -> str:
    vector = np.ones(index.dimensions, dtype=np.float32)
    parameters = search._parameters(vector, collections, limit, asked, filters)
    statements = []

    def explain(_: object, __: object, statement: str, values: object, *___: object) -> tuple[str, object]:
        statements.append(statement)
        return f"EXPLAIN (ANALYZE, TIMING OFF) {statement}", values

    sa.event.listen(connection, "before_cursor_execute", explain, retval=True)
    made = search._statement(index.table, False, False, filters != search.NO_FILTERS)
    rows = connection.execute(made, parameters).cursor.fetchall()
    sa.event.remove(connection, "before_cursor_execute", explain)
    return "\n".join(row[0] for row in rows)


@pytest.fixture
def statements(connection: sa.Connection) -> list[str]:
    """What goes to the database, as it goes."""
    seen: list[str] = []
    sa.event.listen(connection, "before_cursor_execute", lambda *arguments: seen.append(arguments[2]))
    return seen


def test_the_nearest_units_come_first_with_their_similarity(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision
) -> None:
    """The best sentence at the end of the list, or a score that is a distance."""
    index, revision = new_index(), new_revision()
    put_vectors(connection, index, revision, at_angles(60, 0, 180, 90))
    hits = nearest(connection, index, QUESTION, collections=[revision.document.collection_id], limit=10)
    assert [hit.positions for hit in hits] == [(2,), (1,), (4,), (3,)]
    assert [hit.score for hit in hits] == pytest.approx([1, 0.5, 0, -1], abs=1e-3)
    assert [hit.tokens for hit in hits] == [20, 10, 40, 30]
    assert {hit.revision_id for hit in hits} == {revision.pk}


def test_the_length_of_a_vector_does_not_matter(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision
) -> None:
    """Long sentences that win because their vectors are long."""
    index, revision = new_index(), new_revision()
    put_vectors(connection, index, revision, at_angles(30, 10) * [[9.0], [0.1]])
    hits = nearest(connection, index, QUESTION * 7, collections=[revision.document.collection_id], limit=1)
    assert hits[0].positions == (2,)
    assert hits[0].score == pytest.approx(np.cos(np.radians(10)), abs=1e-3)


def test_hits_bring_their_context(connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision) -> None:
    """A second statement, for each hit, to learn which headings belong to it."""
    index, revision, bare = new_index(), new_revision(), new_revision()
    contexts = [Context(("title", "heading"), (1, 2), (3, 4))]
    write_tree(connection, revision.pk, tree_of([[], [], []]), tokens=[1] * 4, contexts=contexts, seeds=[])
    put_vectors(connection, index, revision, at_angles(0))
    put_vectors(connection, index, bare, at_angles(5))
    told, untold = nearest(connection, index, QUESTION, collections=[revision.document.collection_id], limit=2)
    assert (told.context_policies, told.context_positions, told.context_tokens) == (
        ("title", "heading"),
        (1, 2),
        (3, 4),
    )
    assert (untold.context_policies, untold.context_positions, untold.context_tokens) == ((), (), ())


def test_only_the_given_collections_are_searched(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision
) -> None:
    """A reader who is shown what they may not see."""
    index = new_index()
    open_, secret, third = new_revision("Open"), new_revision("Secret"), new_revision("Third")
    for revision in (open_, secret, third):
        put_vectors(connection, index, revision, at_angles(0, 10))
    open_id, third_id = open_.document.collection_id, third.document.collection_id
    found = nearest(connection, index, QUESTION, collections=[open_id], limit=10)
    assert [hit.revision_id for hit in found] == [open_.pk, open_.pk]
    found = nearest(connection, index, QUESTION, collections=[open_id, third_id], limit=10)
    assert [hit.revision_id for hit in found] == [open_.pk, third.pk, open_.pk, third.pk]


def test_without_collections_nothing_is_asked(
    connection: sa.Connection, new_index: NewIndex, statements: list[str]
) -> None:
    """A reader who may see nothing, and by the time it takes learns how much there is."""
    index = new_index()
    statements.clear()
    assert nearest(connection, index, QUESTION, collections=[], limit=10) == []
    assert statements == []


def test_a_search_is_one_statement(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision, statements: list[str]
) -> None:
    """More than three round trips for a question, when a collection holds fewer units than were asked for."""
    index, revision = new_index(), new_revision()
    put_vectors(connection, index, revision, at_angles(0, 10))
    statements.clear()
    assert len(nearest(connection, index, QUESTION, collections=[revision.document.collection_id], limit=200)) == 2
    assert len(statements) == 1


def test_equal_scores_come_in_the_order_of_revisions_and_units(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision
) -> None:
    """The same question with another answer each time."""
    index, first, second = new_index(), new_revision(), new_revision()
    put_vectors(connection, index, second, at_angles(0, 0, 0))
    put_vectors(connection, index, first, at_angles(0, 0))
    hits = nearest(connection, index, QUESTION, collections=[first.document.collection_id], limit=10)
    assert [(hit.revision_id, hit.positions[0]) for hit in hits] == [
        (first.pk, 1),
        (first.pk, 2),
        (second.pk, 1),
        (second.pk, 2),
        (second.pk, 3),
    ]


def test_the_scan_goes_on_past_what_the_reader_may_not_see(connection: sa.Connection) -> None:
    """A connection that was opened without the session options finds too little, and then reads everything."""
    shown = {
        name: connection.execute(sa.text(f"SHOW hnsw.{name}")).scalar_one()
        for name in ("iterative_scan", "ef_search", "max_scan_tuples")
    }
    assert shown == {"iterative_scan": "relaxed_order", "ef_search": "800", "max_scan_tuples": "10000"}


def claim_blocks(connection: sa.Connection, collection: int, blocks: int) -> None:
    """Have search believe that a collection is so large, so that it scans the index for it, or does not."""
    connection.execute(sa.delete(wording_count).where(wording_count.c.collection_id == collection))
    values = {"collection_id": collection, "configuration": "english", "blocks": blocks, "length": 10 * blocks}
    connection.execute(sa.insert(wording_count).values(values))


@pytest.fixture
def crowded(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision
) -> tuple[Index, np.ndarray, int, int]:
    """An index in which 3,000 units of one collection are all nearer to the question than the 400 of another.

    The index, the vectors of the 400, and the two collections.
    """
    draw = np.random.default_rng(2)
    index = new_index(dimensions=16)
    near = draw.normal(size=(3000, 16)) * 0.05 + np.eye(16)[0]
    far = draw.normal(size=(400, 16)) * 0.3 - np.eye(16)[0]
    crowd, few = new_revision("Crowd"), new_revision("Few")
    put_vectors(connection, index, crowd, near)
    put_vectors(connection, index, few, far)
    indexes.complete(connection, index)
    for revision in (crowd, few):
        claim_blocks(connection, revision.document.collection_id, 40_000)
    # What the planner would do with millions of units: use the HNSW index.
    connection.execute(sa.text("SET LOCAL enable_bitmapscan = off"))
    connection.execute(sa.text("SET LOCAL enable_sort = off"))
    return index, far, crowd.document.collection_id, few.document.collection_id


def exact(vectors: np.ndarray, question: np.ndarray, limit: int) -> list[int]:
    similarity = vectors.astype(np.float16).astype(float) @ question / np.linalg.norm(vectors, axis=1)
    return [int(number) + 1 for number in np.argsort(-similarity, kind="stable")[:limit]]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hnsw.iterative_scan": "off"},
        {"hnsw.max_scan_tuples": "500"},
    ],
    ids=["with iterative scan", "without iterative scan", "with a scan that gives up"],
)
def test_as_many_are_found_as_were_asked_for_though_all_nearer_ones_are_elsewhere(
    connection: sa.Connection, crowded: tuple[Index, np.ndarray, int, int], options: dict[str, str]
) -> None:
    """An empty answer for a reader with a small collection beside a large one."""
    index, far, _, few = crowded
    for name, value in options.items():
        connection.execute(sa.text(f"SET LOCAL {name} = '{value}'"))
    hits = nearest(connection, index, QUESTION_16, collections=[few], limit=100)
    assert len(hits) == 100
    wanted = set(exact(far, QUESTION_16.astype(float), 100))
    assert len(wanted & {hit.positions[0] for hit in hits}) >= 98
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(nearest(connection, index, QUESTION_16, collections=[few], limit=1000)) == 400


def test_the_index_is_used_and_the_rest_is_not_read(
    connection: sa.Connection, crowded: tuple[Index, np.ndarray, int, int]
) -> None:
    """A search that compares a million vectors for each question, and is right but slow."""
    index, _, crowd, few = crowded
    plan = plan_of(connection, index, [crowd], 50)
    assert f"Index Scan using {index.nearest}" in plan
    assert "(never executed)" in plan
    connection.execute(sa.text("SET LOCAL hnsw.max_scan_tuples = 100"))
    assert "(never executed)" not in plan_of(connection, index, [few], 50).split("CTE compared")[1].split("CTE Scan")[0]


def test_a_small_collection_is_compared_and_no_index_is_scanned_for_it(
    connection: sa.Connection, crowded: tuple[Index, np.ndarray, int, int]
) -> None:
    """A reader of ten pages who waits until the scan has gone through the million units of others, and who learns by the
    wait how many there are."""
    index, far, _, few = crowded
    claim_blocks(connection, few, 400)
    assert "never executed" in line_of(plan_of(connection, index, [few], 50), f"Index Scan using {index.nearest}")
    hits = nearest(connection, index, QUESTION_16, collections=[few], limit=100)
    assert [hit.positions[0] for hit in hits[:20]] == exact(far, QUESTION_16.astype(float), 20)


def test_what_a_filter_lets_through_is_compared_where_it_is_little(
    connection: sa.Connection, crowded: tuple[Index, np.ndarray, int, int]
) -> None:
    """A filter that lets a thousandth through, for which the scan goes through everything, and then every unit is looked at
    once more."""
    index, _, crowd, few = crowded
    Revision.objects.filter(document__collection=few).update(format="text", sentences=400)
    plan = plan_of(connection, index, [crowd, few], 50, filters=Filters(formats=("text",)))
    assert "never executed" in line_of(plan, f"Index Scan using {index.nearest}")
    found = nearest(
        connection, index, QUESTION_16, collections=[crowd, few], limit=100, filters=Filters(formats=("text",))
    )
    assert len(found) == 100
    assert {hit.revision_id for hit in found} == set(
        Revision.objects.filter(document__collection=few).values_list("pk", flat=True)
    )


def test_where_a_filter_lets_much_through_the_index_is_scanned(
    connection: sa.Connection, crowded: tuple[Index, np.ndarray, int, int]
) -> None:
    """A filter by date, which nearly everything passes, and every search compares a million vectors."""
    index, _, crowd, few = crowded
    Revision.objects.filter(document__collection=crowd).update(format="text", sentences=200_000)
    plan = plan_of(connection, index, [crowd, few], 50, filters=Filters(formats=("text",)))
    assert "never executed" not in line_of(plan, f"Index Scan using {index.nearest}")
    found = nearest(
        connection, index, QUESTION_16, collections=[crowd, few], limit=50, filters=Filters(formats=("text",))
    )
    assert len(found) == 50


def line_of(plan: str, text: str) -> str:
    """The one line of a plan that holds a text."""
    [line] = [line for line in plan.splitlines() if text in line]
    return line


def words_of(
    connection: sa.Connection, revision: Revision, wordings: list[str], *, configuration: str = "english"
) -> None:
    """A block for each text, at the positions 1, 2, 3, …"""
    replace_wordings(
        connection,
        revision_id=revision.pk,
        replaced_revision_id=None,
        collection_id=revision.document.collection_id,
        configuration=configuration,
        wordings=[Wording(position, text, "", ()) for position, text in enumerate(wordings, 1)],
    )


def put_blocks(connection: sa.Connection, index: Index, revision: Revision, vectors: np.ndarray) -> None:
    """A unit for each vector, in the block of its own position."""
    put(connection, index, revision, [replace(unit, block=unit.positions[0]) for unit in units_of(vectors)])


def test_rare_words_count_for_more_than_common_ones(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision
) -> None:
    """What says the common word three times, before what says the rare one."""
    index, revision = new_index(), new_revision()
    put_blocks(connection, index, revision, at_angles(50, 50, 50, 50, 50))
    words_of(connection, revision, ["gate gate gate", "gate bell", "gate", "gate ring", "the lantern of a gate keeper"])
    hits = nearest(
        connection,
        index,
        QUESTION,
        collections=[revision.document.collection_id],
        limit=10,
        asked=Asked(("the", "gates", "lantern")),
    )
    assert min(hits, key=lambda hit: hit.text_rank or 99).positions == (5,)
    first = next(hit for hit in hits if hit.text_rank == 1)
    assert (first.words, first.overlap) == (("gates", "lantern"), 1.0)


def test_words_are_only_those_of_the_given_collections(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision
) -> None:
    """A reader who is shown what they may not see, because it says the word they typed; or who learns from an order
    how common a word is elsewhere."""
    index, open_, secret = new_index(), new_revision("Open"), new_revision("Secret")
    put_blocks(connection, index, open_, at_angles(80, 10, 20))
    words_of(connection, open_, ["a lantern", "a gate", "a bell"])
    open_id, secret_id = open_.document.collection_id, secret.document.collection_id
    asked = Asked(("lantern", "gate"))

    def found(*collections: int) -> list[Hit]:
        return nearest(connection, index, QUESTION, collections=collections, limit=10, asked=asked)

    before = found(open_id)
    put_blocks(connection, index, secret, at_angles(*[5] * 30))
    words_of(connection, secret, ["lantern"] * 30)
    assert found(open_id) == before
    assert {hit.revision_id for hit in found(secret_id)} == {secret.pk}
    assert len(found(open_id, secret_id)) == 10


def test_full_text_uses_its_index(connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision) -> None:
    """A search that reads the words of every block."""
    index, revision = new_index(), new_revision()
    count = 3000
    put_blocks(connection, index, revision, at_angles(*range(count)))
    words_of(connection, revision, [f"common word{number}" for number in range(count)])
    indexes.end_load(connection, index)
    connection.execute(sa.text("ANALYZE spire.wording"))
    plan = plan_of(connection, index, [revision.document.collection_id], 20, Asked(("word77", "common")))
    assert "Bitmap Index Scan on wording_words" in plan
    assert "Seq Scan on wording " not in plan
    assert index.nearest in plan


def test_words_are_added_up_now_and_then_and_not_at_each_document(
    connection: sa.Connection, new_revision: NewRevision
) -> None:
    """An ingest into a large collection that goes through all its words after every few pages, and gets slower with each."""

    def rows() -> int:
        return connection.execute(sa.select(sa.func.count()).where(word_count.c.lexeme == "lamp")).scalar_one()

    for _ in range(FEWEST_CHANGED):
        revision = new_revision()
        words_of(connection, revision, ["A lamp."])
    gather_where_due(connection, revision.document.collection_id)
    assert rows() == FEWEST_CHANGED
    words_of(connection, new_revision(), ["A lamp."])
    gather_where_due(connection, revision.document.collection_id)
    assert rows() == 1
