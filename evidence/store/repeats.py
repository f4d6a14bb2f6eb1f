"""What most documents of a collection say at their beginning or end: it is searched in one of them only.

The tree never depends on the collection, so this is an overlay on its seeds, found anew when the collection changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from evidence.store import indexes
from evidence.store.indexes import Index
from evidence.store.schema import SCHEMA
from evidence.tree.document import Document, Node
from evidence.tree.main_content import apart_reasons
from evidence.tree.tags import HEADINGS

MOST = 0.5
"""The share of a collection's documents that must say the same."""

FEWEST = 5
"""The documents that must, at least: two of three pages that agree are no pattern."""

DIGEST_BYTES = 8


def digest_of(seed: Node) -> bytes:
    """A hash of what a seed says: equal for texts that differ in case or white space only."""
    said = " ".join(seed.content.casefold().split())
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()


def digests_of(document: Document, seeds: Sequence[Node]) -> list[bytes | None]:
    """The digest of each seed that could be furniture by its place, None for the others.

    That is what stands before the first heading or after the last one, and is no row of a table. In between, documents
    made from one template say the same as content ("This policy applies to all employees."), each of its own subject.
    """
    reasons = apart_reasons(document)
    headings = [node.position for node in document.nodes if node.tag in HEADINGS and not reasons[node.position]]
    first, last = (headings[0], headings[-1]) if headings else (len(document), -1)
    return [digest_of(seed) if seed.tag != "tr" and not first <= seed.position <= last else None for seed in seeds]


# A repeated seed is apart while nothing of the document's own stands before it, or after it: a document that says only
# what others say keeps all of it. The first of all that say the same stays searched.
MARK = sa.text(
    f"""
    WITH held AS (
        SELECT seed.revision_id, seed.position, seed.digest, seed.repeats, document.id AS document_id
        FROM {SCHEMA}.seed JOIN evidence_document AS document ON document.current_id = seed.revision_id
        WHERE document.collection_id = :collection
    ), repeated AS (
        SELECT digest, count(DISTINCT document_id) AS documents
        FROM held WHERE digest IS NOT NULL
        GROUP BY digest
        HAVING count(DISTINCT document_id) >= greatest(:fewest, :most * (
            SELECT count(*) FROM evidence_document WHERE collection_id = :collection AND current_id IS NOT NULL
        ))
    ), own AS (
        SELECT revision_id, min(position) AS first, max(position) AS last
        FROM held LEFT JOIN repeated USING (digest)
        WHERE repeated.digest IS NULL
        GROUP BY revision_id
    ), occurrence AS (
        SELECT
            held.revision_id, position, documents,
            row_number() OVER (PARTITION BY digest ORDER BY document_id, position) AS number
        FROM held JOIN repeated USING (digest)
    ), apart AS (
        SELECT revision_id, position, documents
        FROM occurrence JOIN own USING (revision_id)
        WHERE number > 1 AND (position < own.first OR position > own.last)
    ), wanted AS (
        SELECT held.revision_id, held.position, held.repeats AS known, coalesce(documents, 0) AS repeats
        FROM held LEFT JOIN apart USING (revision_id, position)
        WHERE held.repeats > 0 OR documents IS NOT NULL
    ), changed AS (
        UPDATE {SCHEMA}.seed SET repeats = wanted.repeats
        FROM wanted
        WHERE wanted.repeats <> wanted.known
            AND seed.revision_id = wanted.revision_id AND seed.position = wanted.position
        RETURNING seed.revision_id
    )
    SELECT revision_id, count(*) FROM changed GROUP BY revision_id
    """  # noqa: S608
)


def one_at_a_time(connection: sa.Connection, collection_id: int) -> None:
    """Wait until nobody else marks this collection; until the transaction ends nobody will.

    To be called before anything that locks its seeds: two that lock them in different orders would wait for each other.
    """
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtext(f"{SCHEMA}.repeats.{collection_id}"))))


def mark_repeats(connection: sa.Connection, collection_id: int) -> int:
    """Find anew which seeds of a collection's current revisions repeat, and keep them out of the search: how many changed.

    A text that stands in at least ``MOST`` of the documents, and in ``FEWEST``, stays searched in the first of them.
    """
    one_at_a_time(connection, collection_id)
    found = connection.execute(MARK, {"collection": collection_id, "fewest": FEWEST, "most": MOST}).all()
    if found:
        for index in indexes.all_indexes(connection):
            mark_units(connection, index, [revision_id for revision_id, _ in found])
    return sum(count for _, count in found)


def mark_units(connection: sa.Connection, index: Index, revisions: Sequence[int] | None = None) -> int:
    """Keep the units out of an index's search that hold nothing but repeated seeds; of all revisions, or of these: how many
    changed."""
    chosen = "TRUE" if revisions is None else "unit.revision_id = ANY(:revisions)"
    # What a unit holds is told by the range of its nodes: a block's seeds stand below it.
    statement = f"""
        WITH wanted AS (
            SELECT unit.revision_id, unit.ordinal, unit.repeats AS known, bool_and(seed.repeats > 0) AS repeats
            FROM {SCHEMA}.{index.table.name} AS unit
            CROSS JOIN LATERAL unnest(unit.positions) AS place
            JOIN {SCHEMA}.node ON node.revision_id = unit.revision_id AND node.position = place
            JOIN {SCHEMA}.seed ON seed.revision_id = node.revision_id AND seed.position BETWEEN node.position AND node.last
            WHERE {chosen}
            GROUP BY unit.revision_id, unit.ordinal
        )
        UPDATE {SCHEMA}.{index.table.name} AS unit SET repeats = wanted.repeats
        FROM wanted
        WHERE wanted.repeats <> wanted.known
            AND unit.revision_id = wanted.revision_id AND unit.ordinal = wanted.ordinal
    """  # noqa: S608
    return connection.execute(sa.text(statement), {} if revisions is None else {"revisions": list(revisions)}).rowcount


@dataclass(frozen=True)
class Repeat:
    """Where else a seed's text stands: in how many documents, and the one in which it is searched."""

    documents: int
    document_id: int
    title: str


def read_repeats(connection: sa.Connection, revision_id: int) -> dict[int, Repeat]:
    """The seeds of a revision, by position, that are not searched because other documents of its collection say them."""
    rows = connection.execute(READ, {"revision": revision_id})
    return {row.position: Repeat(row.repeats, row.document_id, row.title) for row in rows}


READ = sa.text(
    f"""
    SELECT DISTINCT ON (seed.position) seed.position, seed.repeats, document.id AS document_id, document.title
    FROM {SCHEMA}.seed
    JOIN evidence_revision AS revision ON revision.id = seed.revision_id
    JOIN evidence_document AS own ON own.id = revision.document_id
    JOIN {SCHEMA}.seed AS other ON other.digest = seed.digest AND other.repeats = 0
    JOIN evidence_document AS document ON document.current_id = other.revision_id
        AND document.collection_id = own.collection_id
    WHERE seed.revision_id = :revision AND seed.repeats > 0
    ORDER BY seed.position, document.id
    """  # noqa: S608
)
