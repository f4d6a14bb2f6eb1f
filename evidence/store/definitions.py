"""What glossaries define: written with their revision, looked up for the other documents of their collection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import aggregate_order_by

from evidence.store.schema import definition, document, node


@dataclass(frozen=True)
class Defined:
    """A term as it is looked up, the places that define it in the current revision of a glossary, and their tokens."""

    term: str
    revision_id: int
    positions: tuple[int, ...]
    tokens: int


def write_definitions(connection: sa.Connection, revision_id: int, entries: Iterable[tuple[str, int]]) -> None:
    """Let these be the definitions of a revision: (term as it is looked up, position)."""
    connection.execute(sa.delete(definition).where(definition.c.revision_id == revision_id))
    rows = [{"revision_id": revision_id, "term": term, "position": position} for term, position in entries]
    if rows:
        connection.execute(sa.insert(definition), rows)


def look_up(connection: sa.Connection, terms: Iterable[str], *, collections: Sequence[int]) -> list[Defined]:
    """The definitions of these terms in the glossaries of these collections, by term and revision. One statement."""
    wanted = sorted(set(terms))
    if not wanted or not collections:
        return []
    places = sa.func.array_agg(aggregate_order_by(definition.c.position, definition.c.position))
    rows = connection.execute(
        sa.select(definition.c.term, definition.c.revision_id, places, sa.func.sum(node.c.tokens))
        .join(document, document.c.current_id == definition.c.revision_id)
        .join(
            node,
            sa.and_(node.c.revision_id == definition.c.revision_id, node.c.position == definition.c.position),
        )
        .where(
            document.c.collection_id.in_(collections),
            definition.c.term == sa.any_(sa.literal(wanted, sa.ARRAY(sa.Text))),
        )
        .group_by(definition.c.term, definition.c.revision_id)
        .order_by(definition.c.term, definition.c.revision_id)
    )
    return [Defined(term, revision_id, tuple(positions), tokens) for term, revision_id, positions, tokens in rows]
