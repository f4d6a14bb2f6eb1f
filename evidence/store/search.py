"""The nearest units of an index, within the collections that the reader may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
    """The units nearest to a vector, the best first, in these collections only.

    One statement. A second, exact one follows where the approximate scan gave up before it had seen ``limit`` units that
    the reader may see.
    """
    if not collections:
        return []
    rows = connection.execute(_approximate(index, vector, collections, limit)).all()
    if len(rows) < limit:
        rows = connection.execute(_exact(index, vector, collections, limit)).all()
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
        for row in rows
    ]


def _approximate(index: Index, vector: NDArray[Any], collections: Sequence[int], limit: int) -> sa.Select[Any]:
    table = index.table
    distance = table.c.embedding.cosine_distance(vector)
    found = (
        sa.select(table, distance.label("distance"))
        .where(table.c.collection_id == sa.any_(sa.literal(list(collections), sa.ARRAY(sa.BigInteger))))
        # Bare and ascending: nothing else lets pgvector use its index.
        .order_by(distance)
        .limit(limit)
    )
    return _with_context(found.subquery("found"))


def _exact(index: Index, vector: NDArray[Any], collections: Sequence[int], limit: int) -> sa.Select[Any]:
    table = index.table
    visible = (
        sa.select(table)
        .where(table.c.collection_id == sa.any_(sa.literal(list(collections), sa.ARRAY(sa.BigInteger))))
        .cte("visible")
        .prefix_with("MATERIALIZED", dialect="postgresql")
    )
    distance = visible.c.embedding.cosine_distance(vector)
    return _with_context(
        sa.select(visible, distance.label("distance")).order_by(distance).limit(limit).subquery("found")
    )


def _with_context(found: sa.Subquery) -> sa.Select[Any]:
    return (
        sa.select(
            found.c.revision_id,
            found.c.positions,
            found.c.tokens,
            found.c.distance,
            context.c.policies.label("context_policies"),
            context.c.positions.label("context_positions"),
            context.c.tokens.label("context_tokens"),
        )
        .outerjoin(context, sa.and_(context.c.revision_id == found.c.revision_id, context.c.number == found.c.context))
        .order_by(found.c.distance, found.c.revision_id, found.c.ordinal)
    )
