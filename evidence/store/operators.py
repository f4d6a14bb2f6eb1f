"""up, down and link as SQL over ltree.

up looks its prefixes up by the btree index on paths; down is a range of positions. Both were measured against ltree's
own operators on a GiST index (``manage.py bench operators``; the 223,022 nodes of the 1,169 pages of PostgreSQL 15's
documentation; two cores; milliseconds a statement, medians of three runs on a machine that had other work to do):

    nodes asked for               25 in each of 8 revisions    20 in one    1
    up    prefixes in an array             2.0 - 2.2           0.6 - 1.0   0.4 - 0.9
          from parent to parent            1.8 - 2.2           0.5 - 0.6   0.4 - 0.5
          @> by GiST                        11 - 14            1.5 - 2.0   0.4 - 0.6
          a join with prefixes              28 - 30            0.5 - 0.6   0.4 - 0.5
    down  range of positions               1.7 - 2.4           0.6 - 0.8   0.5 - 0.7
          <@ by GiST                       8.6 - 12            1.3 - 1.7   0.4 - 0.5

Prefixes and parents are equally fast; prefixes are kept, because they work from paths alone. GiST is level only where a
single node is asked for, and its index is a third larger.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from evidence.store.schema import LTREE, SCHEMA, node
from evidence.tree.path import Path, PathSet


def ltree(revision_id: int, path: Path) -> str:
    """The path as it is stored: the revision is its first label."""
    return ".".join(map(str, (revision_id, *path)))


def at(stored: Sequence[str]) -> sa.Select[tuple[int, int]]:
    """The nodes at these paths, given as they are stored: revision and position."""
    return sa.select(node.c.revision_id, node.c.position).where(node.c.path == sa.any_(_ltrees(stored)))


def up(revision_id: int, paths: PathSet) -> sa.Select[tuple[int, str]]:
    """up(P): the nodes of P and their ancestors, looked up by their exact paths."""
    prefixes = [ltree(revision_id, path) for path in paths.up()]
    return sa.select(node.c.position, node.c.path).where(node.c.path == sa.any_(_ltrees(prefixes)))


def down(revision_id: int, paths: PathSet) -> sa.Select[tuple[int, str]]:
    """down(P): the nodes of P and their descendants, each a range of positions."""
    top = node.alias("top")
    return (
        sa.select(node.c.position, node.c.path)
        .join(top, _within(top))
        .where(top.c.path == sa.any_(_ltrees([ltree(revision_id, path) for path in paths])))
        .distinct()
    )


def link(revision_id: int, paths: PathSet) -> sa.CompoundSelect[tuple[int, str]]:
    """link(P) = up(P) ∪ down(P)."""
    return sa.union(up(revision_id, paths), down(revision_id, paths))


# An array of prefixes, because a join with them is taken for so large that the whole table is read for it.
LINK_OF_POSITIONS = f"""
WITH given AS (
    SELECT n.revision_id, n.position, n.last, n.path
    FROM unnest(CAST(:revisions AS bigint[]), CAST(:positions AS integer[])) AS g (revision_id, position)
    JOIN {SCHEMA}.node n USING (revision_id, position)
)
SELECT above.revision_id, above.position
FROM {SCHEMA}.node above
WHERE above.path = ANY (
    ARRAY(SELECT DISTINCT subpath(path, 0, depth) FROM given, generate_series(1, nlevel(path)) AS depth)
)
UNION
SELECT below.revision_id, below.position
FROM given JOIN {SCHEMA}.node below
    ON below.revision_id = given.revision_id AND below.position BETWEEN given.position AND given.last
"""  # noqa: S608


def link_of_positions(revisions: Sequence[int], positions: Sequence[int]) -> sa.TextualSelect:
    """link(P) of nodes of several revisions, named by revision and position: (revision_id, position) of each node."""
    return (
        sa.text(LINK_OF_POSITIONS)
        .bindparams(revisions=list(revisions), positions=list(positions))
        .columns(revision_id=sa.BigInteger, position=sa.Integer)
    )


def _ltrees(paths: Sequence[str]) -> sa.Cast[Sequence[str]]:
    return sa.cast(list(paths), ARRAY(LTREE))


def _within(top: sa.FromClause) -> sa.ColumnElement[bool]:
    return sa.and_(node.c.revision_id == top.c.revision_id, node.c.position.between(top.c.position, top.c.last))
