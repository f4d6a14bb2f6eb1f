"""Trees to read in, from the database."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from evidence.configured import pipeline
from evidence.retrieve.views import Readable
from evidence.store.revisions import read_tokens, read_tree
from evidence.store.schema import node

LARGEST_READ = 50_000
"""Nodes of a document that is read whole. Of larger ones the candidates stay as search found them."""


def stored(revision_ids: Sequence[int]) -> dict[int, Readable]:
    """The trees of these revisions, less those that are too large, and those that are gone."""
    size = sa.select(node.c.revision_id).where(
        node.c.revision_id.in_(revision_ids), node.c.position == 0, node.c.last < LARGEST_READ
    )
    with pipeline() as connection:
        return {
            revision_id: Readable(read_tree(connection, revision_id), read_tokens(connection, revision_id))
            for revision_id in connection.execute(size).scalars().all()
        }
