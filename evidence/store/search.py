"""The nearest units of an index, within the collections that the reader may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from numpy.typing import NDArray

from evidence.store.indexes import Index
from evidence.store.schema import context


@dataclass(frozen=True)
class Hit:
    """A unit that search found: its nodes, its tokens, its similarity to the question (cosine, at most 1), and for each
    node of its global context the policy that found it, its position and its tokens."""

    revision_id: int
    positions: tuple[int, ...]
    tokens: int
    score: float
    context_policies: tuple[str, ...]
    context_positions: tuple[int, ...]
    context_tokens: tuple[int, ...]


def nearest(
    connection: sa.Connection, index: Index, vector: NDArray[Any], *, collections: Sequence[int], limit: int
) -> list[Hit]:
    """The units nearest to a vector, the best first, in these collections only. One statement.

    The scan of the HNSW index gives up after ``hnsw.max_scan_tuples`` units. Where it has not met ``limit`` units of
    these collections by then, the same statement compares all of theirs: what lies in other collections hides nothing.
    """
    if not collections:
        return []
    return [
        Hit(
            row.revision_id,
            tuple(row.positions),
            row.tokens,
            1 - row.distance,
            tuple(row.context_policies or ()),
            tuple(row.context_positions or ()),
            tuple(row.context_tokens or ()),
        )
        for row in connection.execute(
            _nearest(index.table), {"vector": vector, "collections": list(collections), "limit": limit}
        )
    ]


# Once per index, because making the statement takes longer than running it on a small index.
@lru_cache(maxsize=64)
def _nearest(table: sa.Table) -> sa.Select[Any]:
    limit = sa.bindparam("limit", type_=sa.Integer)
    distance = table.c.embedding.cosine_distance(sa.bindparam("vector", type_=table.c.embedding.type))
    candidates = sa.select(table.c.revision_id, table.c.ordinal, distance.label("distance")).where(
        table.c.collection_id == sa.any_(sa.bindparam("collections", type_=sa.ARRAY(sa.BigInteger))),
        sa.not_(table.c.repeats),
    )
    # Bare and ascending: nothing else lets pgvector use its index.
    scanned = _materialized(candidates.order_by(distance).limit(limit), "scanned")
    is_enough = sa.select(sa.func.count()).select_from(scanned).scalar_subquery() >= limit
    # Materialized, so that its order is not taken from the index that has failed.
    compared = _materialized(candidates.where(sa.not_(is_enough)), "compared")
    found = sa.union_all(
        sa.select(scanned).where(is_enough),
        sa.select(compared).order_by(compared.c.distance, compared.c.revision_id, compared.c.ordinal).limit(limit),
    ).subquery("found")
    return (
        sa.select(
            found.c.revision_id,
            found.c.distance,
            table.c.positions,
            table.c.tokens,
            context.c.policies.label("context_policies"),
            context.c.positions.label("context_positions"),
            context.c.tokens.label("context_tokens"),
        )
        .join(table, sa.and_(table.c.revision_id == found.c.revision_id, table.c.ordinal == found.c.ordinal))
        .outerjoin(context, sa.and_(context.c.revision_id == table.c.revision_id, context.c.number == table.c.context))
        .order_by(found.c.distance, found.c.revision_id, found.c.ordinal)
    )


def _materialized(select: sa.Select[Any], name: str) -> sa.CTE:
    return select.cte(name).prefix_with("MATERIALIZED", dialect="postgresql")
