"""Indexes: ways to embed that live side by side, each with a table of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from numpy.typing import NDArray

from evidence.store.connection import lender
from evidence.store.schema import SCHEMA, embedding_table, index

M, EF_CONSTRUCTION = 16, 64


class UnknownIndex(Exception):
    """There is no index of this name, or none at all."""


@dataclass(frozen=True)
class Index:
    """One way to embed: its identity is (fingerprint of the model, unit, encoding, context)."""

    id: int
    name: str
    model: str
    fingerprint: str
    dimensions: int
    unit: str
    encoding: str
    context: bool
    complete: bool
    is_default: bool

    @property
    def table(self) -> sa.Table:
        return embedding_table(self.id, self.dimensions)

    @property
    def nearest(self) -> str:
        """The name of the HNSW index on the table."""
        return f"{self.table.name}_nearest"


@dataclass(frozen=True)
class EmbeddedUnit:
    """A unit as it is stored: its nodes by position, the number of its context, its tokens, the hash of all that the
    model was given for it, its vector (or the text of one that was read from the database), and the position of the
    block whose wording it belongs to."""

    positions: tuple[int, ...]
    context: int
    tokens: int
    hash: bytes
    embedding: NDArray[Any] | str
    block: int | None = None


COLUMNS = (
    index.c.id,
    index.c.name,
    index.c.model,
    index.c.fingerprint,
    index.c.dimensions,
    index.c.unit,
    index.c.encoding,
    index.c.context,
    index.c.complete,
    index.c.is_default,
)


def all_indexes(connection: sa.Connection) -> list[Index]:
    """All indexes, the oldest first."""
    return [_read(row) for row in connection.execute(sa.select(*COLUMNS).order_by(index.c.id))]


def get(connection: sa.Connection, name: str | None = None) -> Index:
    """The index of this name; without a name, the default one. UnknownIndex says what there is."""
    wanted = index.c.is_default if name is None else index.c.name == name
    row = connection.execute(sa.select(*COLUMNS).where(wanted)).one_or_none()
    if row is not None:
        return _read(row)
    if name is None:
        raise UnknownIndex(
            "nothing has been indexed yet; take documents in with: manage.py ingest PATH --collection NAME"
        )
    names = ", ".join(found.name for found in all_indexes(connection)) or "none"
    raise UnknownIndex(f"there is no index {name!r}; there are: {names}")


def create(
    connection: sa.Connection,
    *,
    name: str,
    model: str,
    fingerprint: str,
    dimensions: int,
    unit: str = "seed",
    encoding: str = "shared",
    context: bool = True,
) -> Index:
    """A new, empty index and its table. IntegrityError when the name or the identity is taken.

    Until it is complete, a search in it compares every unit.
    """
    row = connection.execute(
        sa.insert(index)
        .values(
            name=name,
            model=model,
            fingerprint=fingerprint,
            dimensions=dimensions,
            unit=unit,
            encoding=encoding,
            context=context,
        )
        .returning(*COLUMNS)
    ).one()
    created = _read(row)
    created.table.create(connection, checkfirst=False)
    return created


def drop(connection: sa.Connection, found: Index) -> None:
    """Remove an index and its vectors."""
    found.table.drop(connection, checkfirst=True)
    connection.execute(sa.delete(index).where(index.c.id == found.id))


def complete(connection: sa.Connection, found: Index) -> None:
    """Say that an index holds every current revision, and make the search in it fast. It becomes the default where
    there is none."""
    end_load(connection, found)
    connection.execute(sa.update(index).where(index.c.id == found.id).values(complete=True))
    if not connection.execute(sa.select(index.c.id).where(index.c.is_default)).first():
        connection.execute(sa.update(index).where(index.c.id == found.id).values(is_default=True))


def make_default(connection: sa.Connection, found: Index) -> None:
    """Let questions be answered from this index. ValueError when it is not complete."""
    if not found.complete:
        raise ValueError(f"index {found.name!r} is not complete; finish it with: manage.py index build {found.name}")
    connection.execute(sa.update(index).where(index.c.is_default).values(is_default=False))
    connection.execute(sa.update(index).where(index.c.id == found.id).values(is_default=True))


def known(connection: sa.Connection, found: Index, hashes: Iterable[bytes]) -> dict[bytes, str]:
    """The vectors that the index holds already for these hashes, as PostgreSQL writes them."""
    wanted = list(set(hashes))
    if not wanted:
        return {}
    table = found.table
    digest = sa.func.unnest(sa.literal(wanted, sa.ARRAY(sa.LargeBinary))).column_valued("wanted")
    # One row each: what stands on every page has a vector on every page.
    first = sa.select(sa.cast(table.c.embedding, sa.Text)).where(table.c.hash == digest).limit(1).lateral("first")
    rows = connection.execute(sa.select(digest, first.c.embedding).join(first, sa.true()))
    return {bytes(hash_): vector for hash_, vector in rows}


def replace_units(
    connection: sa.Connection,
    found: Index,
    *,
    revision_id: int,
    replaced_revision_id: int | None,
    collection_id: int,
    units: Sequence[EmbeddedUnit],
) -> None:
    """Put a revision's units in the place of those of the revision before it. ValueError for a vector of zeros."""
    table = found.table
    gone = [revision_id] if replaced_revision_id is None else [revision_id, replaced_revision_id]
    connection.execute(sa.delete(table).where(table.c.revision_id.in_(gone)))
    with (
        lender(connection).cursor() as cursor,
        cursor.copy(
            f"COPY {SCHEMA}.{table.name}"
            " (revision_id, ordinal, collection_id, positions, block, context, tokens, hash, embedding) FROM STDIN"
        ) as copy,
    ):
        for ordinal, unit in enumerate(units):
            copy.write_row(
                (
                    revision_id,
                    ordinal,
                    collection_id,
                    list(unit.positions),
                    unit.block,
                    unit.context,
                    unit.tokens,
                    unit.hash,
                    unit.embedding if isinstance(unit.embedding, str) else _written(unit.embedding),
                )
            )


def begin_load(connection: sa.Connection, found: Index) -> None:
    """Take the HNSW index off a table that is still empty: built at the end, it costs a fifth of what it costs to keep
    row by row. Until ``end_load`` a search compares all rows."""
    _wait_for_other_loads(connection, found)
    if connection.execute(sa.select(found.table.c.revision_id).limit(1)).first() is None:
        connection.execute(sa.text(f"DROP INDEX IF EXISTS {SCHEMA}.{found.nearest}"))


def end_load(connection: sa.Connection, found: Index) -> None:
    """Build the HNSW index where it is missing: the index is new, or was loaded, or the load was killed."""
    _wait_for_other_loads(connection, found)
    if not connection.execute(sa.select(sa.func.to_regclass(f"{SCHEMA}.{found.nearest}"))).scalar():
        build_nearest(connection, found)
        # Whether a collection is better read whole is decided by how many rows it has.
        connection.execute(sa.text(f"ANALYZE {SCHEMA}.{found.table.name}"))


def build_nearest(connection: sa.Connection, found: Index, m: int = M, ef_construction: int = EF_CONSTRUCTION) -> None:
    """Build the HNSW index, of so many neighbours of each unit, found among so many."""
    connection.execute(
        sa.text(
            f"CREATE INDEX IF NOT EXISTS {found.nearest} ON {SCHEMA}.{found.table.name} USING hnsw"
            f" (embedding halfvec_cosine_ops) WITH (m = {m}, ef_construction = {ef_construction})"
        )
    )


def indexed_revisions(connection: sa.Connection, found: Index) -> set[int]:
    """The revisions of which the index holds units."""
    return set(connection.execute(sa.select(found.table.c.revision_id).distinct()).scalars())


def first_positions(connection: sa.Connection, found: Index, revision_id: int) -> list[int]:
    """The position of the first node of each unit of a revision."""
    first = found.table.c.positions[1]
    return list(connection.execute(sa.select(first).where(found.table.c.revision_id == revision_id)).scalars())


def count(connection: sa.Connection, found: Index) -> int:
    """How many units the index holds."""
    return connection.execute(sa.select(sa.func.count()).select_from(found.table)).scalar_one()


def _wait_for_other_loads(connection: sa.Connection, found: Index) -> None:
    """Two that begin or end a load at once would each hold the table and wait for the other to let go of it."""
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtext(f"{SCHEMA}.{found.table.name}"))))


def _read(row: Any) -> Index:
    return Index(*row)


def _written(vector: NDArray[Any]) -> str:
    """The vector as PostgreSQL reads it; a halfvec keeps about three digits of each number."""
    if not vector.astype("float16").any():
        raise ValueError("a vector of zeros cannot be found by its direction")
    return "[" + ",".join(map("{:.5g}".format, vector.tolist())) + "]"
