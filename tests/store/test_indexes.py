from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import psycopg
import pytest
import sqlalchemy as sa
from django.db import connection as django_connection
from django.db import transaction
from psycopg import errors

from evidence.store import indexes
from evidence.store.connection import borrow
from evidence.store.indexes import EmbeddedUnit, Index, UnknownIndex
from tests.store.conftest import NewRevision, put, units_of

NewIndex = Callable[..., Index]
UP, RIGHT, FAR = (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.6, 0.0, -0.8)


def refused(connection: sa.Connection, action: Callable[[], object]) -> str:
    """The name of the constraint that refuses this."""
    with pytest.raises((sa.exc.IntegrityError, errors.IntegrityError)) as caught, transaction.atomic():
        action()
    error = caught.value.orig if isinstance(caught.value, sa.exc.IntegrityError) else caught.value
    assert isinstance(error, errors.IntegrityError)
    return error.diag.constraint_name or ""


@contextmanager
def connected() -> Iterator[sa.Connection]:
    """Another connection, as another process has it."""
    with psycopg.connect(**django_connection.get_connection_params()) as other, borrow(other) as borrowed:
        yield borrowed


def hnsw_indexes(connection: sa.Connection, index: Index) -> int:
    return connection.execute(
        sa.text("SELECT count(*) FROM pg_indexes WHERE tablename = :name AND indexdef LIKE '%USING hnsw%'"),
        {"name": index.table.name},
    ).scalar_one()


def test_indexes_of_different_dimensions_live_side_by_side(connection: sa.Connection, new_index: NewIndex) -> None:
    """A new model that can only be tried by throwing the old one's vectors away."""
    first, second = new_index("first"), new_index("second", dimensions=5, unit="passage", encoding="single")
    assert indexes.all_indexes(connection) == [first, second]
    assert indexes.get(connection, "second") == second
    assert first.table.name != second.table.name
    assert second.table.c.embedding.type.dim == 5


def test_an_unknown_index_is_named_with_those_there_are(connection: sa.Connection, new_index: NewIndex) -> None:
    """An error that leaves people guessing what to type."""
    with pytest.raises(UnknownIndex, match="there are: none"):
        indexes.get(connection, "thrid")
    new_index("first")
    new_index("third")
    with pytest.raises(UnknownIndex, match="'thrid'; there are: first, third"):
        indexes.get(connection, "thrid")


def test_without_a_default_the_error_says_how_to_begin(connection: sa.Connection, new_index: NewIndex) -> None:
    """An index that is being built must not answer questions yet."""
    new_index()
    with pytest.raises(UnknownIndex, match=r"manage\.py ingest"):
        indexes.get(connection)


def test_the_first_complete_index_becomes_the_default_and_stays_it(
    connection: sa.Connection, new_index: NewIndex
) -> None:
    """A second index that takes over before anybody has compared the two."""
    first, second = new_index("first"), new_index("second")
    indexes.complete(connection, first)
    indexes.complete(connection, second)
    assert indexes.get(connection).name == "first"
    assert indexes.get(connection, "second").complete


def test_the_default_can_be_switched_to_a_complete_index_only(connection: sa.Connection, new_index: NewIndex) -> None:
    """Questions that are answered from half an index."""
    first, second = new_index("first"), new_index("second")
    indexes.complete(connection, first)
    with pytest.raises(ValueError, match=r"manage\.py index build second"):
        indexes.make_default(connection, second)
    assert indexes.get(connection).name == "first"
    indexes.complete(connection, second)
    indexes.make_default(connection, indexes.get(connection, "second"))
    assert indexes.get(connection).name == "second"


def test_the_database_itself_refuses_what_makes_no_sense(connection: sa.Connection, new_index: NewIndex) -> None:
    """Rules that hold only as long as all code remembers them."""
    first, second = new_index("first"), new_index("second")
    indexes.complete(connection, first)
    row = sa.text("UPDATE spire.index SET is_default = true, complete = :complete WHERE id = :id")

    def become_default(complete: bool) -> object:
        return connection.execute(row, {"complete": complete, "id": second.id})

    assert refused(connection, lambda: become_default(complete=False)) == "index_default_is_complete"
    assert refused(connection, lambda: become_default(complete=True)) == "index_one_default"
    assert refused(connection, lambda: new_index("first", fingerprint="other")) == "index_name_key"
    assert refused(connection, lambda: new_index("third", fingerprint="first")) == "index_identity"
    assert refused(connection, lambda: new_index("third", unit="chapter")) == "index_unit"
    assert refused(connection, lambda: new_index("third", encoding="twice")) == "index_encoding"
    new_index("third", fingerprint="first", context=False)


def test_a_dropped_index_leaves_no_table(connection: sa.Connection, new_index: NewIndex) -> None:
    """Gigabytes of vectors that nobody can reach."""
    index = new_index()
    indexes.drop(connection, index)
    assert indexes.all_indexes(connection) == []
    assert not sa.inspect(connection).has_table(index.table.name, schema="spire")


def test_vectors_come_back_by_hash_as_they_were_stored(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision
) -> None:
    """A sentence that moves a little with every new revision of its page."""
    index, revision = new_index(dimensions=64), new_revision()
    vectors = np.random.default_rng(1).normal(size=(20, 64))
    vectors[0] *= 1e-3
    vectors[1] *= 1e3
    units = units_of(vectors)
    home = revision.document.collection_id
    indexes.replace_units(
        connection, index, revision_id=revision.pk, replaced_revision_id=None, collection_id=home, units=units
    )
    found = indexes.known(connection, index, [unit.hash for unit in units])
    assert found.keys() == {unit.hash for unit in units}
    for unit, vector in zip(units, vectors, strict=True):
        stored = np.array(found[unit.hash].strip("[]").split(","), dtype=np.float64)
        np.testing.assert_allclose(stored, vector, rtol=1e-3, atol=1e-6)
    copies = [EmbeddedUnit(unit.positions, 0, 1, unit.hash, found[unit.hash]) for unit in units]
    other = new_revision()
    indexes.replace_units(
        connection, index, revision_id=other.pk, replaced_revision_id=revision.pk, collection_id=home, units=copies
    )
    assert indexes.known(connection, index, [unit.hash for unit in units]) == found


def test_a_hash_that_many_units_share_is_answered_once(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision
) -> None:
    """A footer on 100,000 pages, of which each brings its own copy of the same vector."""
    index = new_index()
    for _ in range(3):
        revision = new_revision()
        put(connection, index, revision, units_of([UP]))
    known = units_of([UP])[0].hash
    statements = []
    sa.event.listen(connection, "after_cursor_execute", lambda *arguments: statements.append(arguments[1].rowcount))
    assert indexes.known(connection, index, [known, known, b"unknown"]) == {known: "[0,1,0]"}
    assert statements == [1]
    assert indexes.known(connection, index, []) == {}


def test_only_the_newest_revision_is_in_an_index(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision
) -> None:
    """An answer from a page as it was last year."""
    index, old, new, other = new_index(), new_revision(), new_revision(), new_revision()
    home = old.document.collection_id

    def replace(revision_id: int, replaced: int | None, units: list[EmbeddedUnit]) -> None:
        indexes.replace_units(
            connection,
            index,
            revision_id=revision_id,
            replaced_revision_id=replaced,
            collection_id=home,
            units=units,
        )

    replace(old.pk, None, units_of([UP, RIGHT]))
    replace(other.pk, None, units_of([FAR]))
    replace(new.pk, old.pk, units_of([UP, RIGHT, FAR]))
    assert indexes.indexed_revisions(connection, index) == {new.pk, other.pk}
    assert indexes.count(connection, index) == 4
    replace(new.pk, old.pk, units_of([UP]))
    assert indexes.count(connection, index) == 2


@pytest.mark.parametrize("vector", [(0.0, 0.0, 0.0), (1e-9, 0.0, -1e-9)])
def test_a_vector_of_zeros_is_refused(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision, vector: tuple[float, ...]
) -> None:
    """A unit that the HNSW index leaves out without a word."""
    index, revision = new_index(), new_revision()
    with pytest.raises(ValueError, match="zeros"), transaction.atomic():
        put(connection, index, revision, units_of([UP, vector]))
    assert indexes.count(connection, index) == 0


def test_vectors_of_another_model_do_not_fit(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision
) -> None:
    """Vectors of two models that meet."""
    index, revision = new_index(), new_revision()
    with pytest.raises(errors.DataError, match="expected 3 dimensions"), transaction.atomic():
        put(connection, index, revision, units_of([(1.0, 2.0)]))


def test_deleting_a_document_removes_its_vectors(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision
) -> None:
    """A deleted page that is still found."""
    index, revision = new_index(), new_revision()
    put(connection, index, revision, units_of([UP]))
    revision.document.delete()
    assert indexes.count(connection, index) == 0


def test_the_hnsw_index_is_off_only_while_an_empty_table_is_loaded(
    connection: sa.Connection, new_index: NewIndex, new_revision: NewRevision
) -> None:
    """A site whose search reads every vector, because one page was added or a load was killed."""
    index, revision = new_index(), new_revision()
    indexes.complete(connection, index)
    assert hnsw_indexes(connection, index) == 1
    indexes.begin_load(connection, index)
    assert hnsw_indexes(connection, index) == 0
    put(connection, index, revision, units_of([UP]))
    indexes.end_load(connection, index)
    indexes.end_load(connection, index)
    indexes.begin_load(connection, index)
    assert hnsw_indexes(connection, index) == 1


def test_loads_of_an_index_begin_and_end_one_at_a_time(connection: sa.Connection, new_index: NewIndex) -> None:
    """Two uploads at once, of which one dies of a deadlock: each holds what the other one waits for."""
    begun, other = new_index("begun"), new_index("other")
    indexes.begin_load(connection, begun)
    free = sa.text("SELECT pg_try_advisory_xact_lock(hashtext('spire.' || :table))")
    with connected() as second:
        assert not second.execute(free, {"table": begun.table.name}).scalar_one()
        assert second.execute(free, {"table": other.table.name}).scalar_one()
    indexes.end_load(connection, other)
    with connected() as second:
        assert not second.execute(free, {"table": other.table.name}).scalar_one()
