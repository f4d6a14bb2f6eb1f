"""How fast up, down and link are in SQL, in the ways that were tried, over all trees of the database.

``manage.py bench operators`` prints what ``measure`` gives; ``evidence.store.operators`` keeps the fastest.
"""

# ruff: noqa: S608 - statements are made of this module's own constants

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import sqlalchemy as sa

from evidence.store.operators import LINK_OF_POSITIONS
from evidence.store.schema import SCHEMA

BY_GIST = f"{SCHEMA}.node_by_gist"

GIVEN = f"""given AS (
    SELECT n.revision_id, n.position, n.last, n.parent, n.path
    FROM unnest(CAST(:revisions AS bigint[]), CAST(:positions AS integer[])) AS g (revision_id, position)
    JOIN {SCHEMA}.node n USING (revision_id, position)
)"""

WAYS = {
    ("up", "prefixes in an array, btree"): f"""
        WITH {GIVEN}
        SELECT a.revision_id, a.position FROM {SCHEMA}.node a WHERE a.path = ANY (
            ARRAY(SELECT DISTINCT subpath(path, 0, depth) FROM given, generate_series(1, nlevel(path)) AS depth)
        )""",
    ("up", "prefixes joined, btree"): f"""
        WITH {GIVEN}
        SELECT a.revision_id, a.position
        FROM (SELECT DISTINCT subpath(path, 0, depth) AS path FROM given, generate_series(1, nlevel(path)) AS depth) p
        JOIN {SCHEMA}.node a ON a.path = p.path""",
    ("up", "from parent to parent"): f"""
        WITH RECURSIVE {GIVEN}, up AS (
            SELECT revision_id, position, parent FROM given
            UNION
            SELECT n.revision_id, n.position, n.parent
            FROM up JOIN {SCHEMA}.node n ON n.revision_id = up.revision_id AND n.position = up.parent
        )
        SELECT revision_id, position FROM up""",
    ("up", "@>, GiST"): f"""
        WITH {GIVEN}
        SELECT a.revision_id, a.position FROM {BY_GIST} a WHERE a.path @> ANY (ARRAY(SELECT path FROM given))""",
    ("down", "range of positions, btree"): f"""
        WITH {GIVEN}
        SELECT DISTINCT b.revision_id, b.position
        FROM given JOIN {SCHEMA}.node b
            ON b.revision_id = given.revision_id AND b.position BETWEEN given.position AND given.last""",
    ("down", "<@, GiST"): f"""
        WITH {GIVEN}
        SELECT b.revision_id, b.position FROM {BY_GIST} b WHERE b.path <@ ANY (ARRAY(SELECT path FROM given))""",
    ("link", "as kept"): LINK_OF_POSITIONS,
}

SHAPES = {"1 revision, 1 node": (1, 1), "1 revision, 20 nodes": (1, 20), "8 revisions, 25 nodes each": (8, 25)}
"""Of the path sets that are asked for: a citation, a page with its marks, a question's evidence."""

PathSets = list[tuple[list[int], list[int]]]


@dataclass(frozen=True)
class Timing:
    """Of one way: milliseconds per statement, read to the end, and the nodes that all of them gave."""

    operator: str
    way: str
    shape: str
    median: float
    p95: float
    nodes: int


def measure(connection: sa.Connection, *, samples: int = 100) -> Iterator[Timing]:
    """Each operator in each way on the same random path sets. GiST gets a table of its own, which goes at the end.

    ValueError when the database holds no trees.
    """
    revisions = list(
        connection.execute(sa.text(f"SELECT DISTINCT revision_id FROM {SCHEMA}.seed ORDER BY 1")).scalars()
    )
    if not revisions:
        raise ValueError("there are no trees to measure on; take documents in with: manage.py ingest PATH")
    draw = random.Random(0)  # noqa: S311
    path_sets = {
        shape: [_path_set(connection, draw, revisions, *size) for _ in range(samples)] for shape, size in SHAPES.items()
    }
    with connection.begin_nested() as nothing_stays:
        connection.execute(sa.text(f"CREATE TABLE {BY_GIST} AS SELECT revision_id, position, path FROM {SCHEMA}.node"))
        connection.execute(sa.text(f"CREATE INDEX ON {BY_GIST} USING gist (path)"))
        connection.execute(sa.text(f"ANALYZE {SCHEMA}.node, {BY_GIST}"))
        for shape, asked in path_sets.items():
            yield from _timings(connection, shape, asked)
        nothing_stays.rollback()


def _path_set(
    connection: sa.Connection, draw: random.Random, revisions: list[int], most: int, nodes: int
) -> tuple[list[int], list[int]]:
    chosen = draw.sample(revisions, min(most, len(revisions)))
    rows = connection.execute(
        sa.text(
            f"SELECT revision_id, array_agg(position ORDER BY position) FROM {SCHEMA}.seed"
            " WHERE revision_id = ANY(:chosen) GROUP BY 1 ORDER BY 1"
        ),
        {"chosen": chosen},
    )
    places = [(revision, position) for revision, positions in rows for position in draw.choices(positions, k=nodes)]
    return [revision for revision, _ in places], [position for _, position in places]


def _timings(connection: sa.Connection, shape: str, path_sets: PathSets) -> Iterator[Timing]:
    """All ways on one path set before the next, so that what else the machine does troubles all of them alike."""
    times: dict[tuple[str, str], list[float]] = {way: [] for way in WAYS}
    nodes = dict.fromkeys(WAYS, 0)
    statements = {way: sa.text(statement) for way, statement in WAYS.items()}
    for revisions, positions in path_sets:
        for way, statement in statements.items():
            start = perf_counter()
            nodes[way] += len(connection.execute(statement, {"revisions": revisions, "positions": positions}).all())
            times[way].append((perf_counter() - start) * 1000)
    for (operator, name), taken in times.items():
        p95 = sorted(taken)[int(0.95 * len(taken))]
        yield Timing(operator, name, shape, median(taken), p95, nodes[operator, name])
