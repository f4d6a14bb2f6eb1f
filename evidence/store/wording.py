"""What full text searches: the words of each block of a document, counted by collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from evidence.store.indexes import Index
from evidence.store.schema import SCHEMA, wording

MOST_CHARACTERS = 100_000
"""Of a block, and of its context: PostgreSQL keeps no positions of words that come later."""

SHARE_CHANGED, FEWEST_CHANGED, MOST_CHANGED = 1 / 8, 50, 2000
"""Of the documents of a collection so many are written before their words are gathered."""


@dataclass(frozen=True)
class Wording:
    """What a block says, as plain words; its identifiers; and the plain words of its global context."""

    position: int
    own: str
    context: str
    identifiers: tuple[str, ...]


# A lexeme that no text has says whose block it is: so the index itself leaves out the collections that are not asked.
WORDED = """
    SELECT position, array_length(string_to_array(own || ' ' || context, ' '), 1) AS length,
        setweight(to_tsvector(CAST(:configuration AS regconfig), own), 'A')
        || setweight(to_tsvector(CAST(:configuration AS regconfig), context), 'D')
        || array_to_tsvector(array_append(string_to_array(NULLIF(named, ''), chr(10)), CAST(:within AS text))) AS words
    FROM unnest(
        CAST(:positions AS integer[]), CAST(:own AS text[]), CAST(:context AS text[]), CAST(:named AS text[])
    ) AS block (position, own, context, named)
"""
WRITE = sa.text(
    f"""
    INSERT INTO {SCHEMA}.wording (revision_id, position, collection_id, configuration, length, words)
    SELECT :revision, position, :collection, :configuration, length, words FROM ({WORDED}) AS worded
    """  # noqa: S608
)
DIFFERING = sa.text(
    f"""
    SELECT count(*)
    FROM ({WORDED}) AS worded
    FULL JOIN (SELECT * FROM {SCHEMA}.wording WHERE revision_id = :revision) AS stored USING (position)
    WHERE (worded.length, worded.words, CAST(:configuration AS text), CAST(:collection AS bigint))
        IS DISTINCT FROM (stored.length, stored.words, stored.configuration, stored.collection_id)
    """  # noqa: S608
)


def within(collection_id: int) -> str:
    """The lexeme that all blocks of a collection have."""
    return f"@{collection_id}"


def named(identifier: str) -> str:
    """The lexeme of an identifier, which is no word's."""
    return f"={identifier}"


def replace_wordings(
    connection: sa.Connection,
    *,
    revision_id: int,
    replaced_revision_id: int | None,
    collection_id: int,
    configuration: str,
    wordings: Sequence[Wording],
) -> None:
    """Put the wordings of a revision in the place of those of the revision before it."""
    gone = [revision_id] if replaced_revision_id is None else [revision_id, replaced_revision_id]
    connection.execute(sa.delete(wording).where(wording.c.revision_id.in_(gone)))
    if not wordings:
        return
    about = {"revision": revision_id, "collection": collection_id, "configuration": configuration}
    connection.execute(WRITE, about | _told(collection_id, wordings))


def differing_wordings(
    connection: sa.Connection,
    *,
    revision_id: int,
    collection_id: int,
    configuration: str,
    wordings: Sequence[Wording],
) -> int:
    """How many blocks of a revision are stored otherwise than these, are missing, or should not be there."""
    about = {"revision": revision_id, "collection": collection_id, "configuration": configuration}
    return connection.execute(DIFFERING, about | _told(collection_id, wordings)).scalar_one()


def _told(collection_id: int, wordings: Sequence[Wording]) -> dict[str, Any]:
    return {
        "within": within(collection_id),
        "positions": [entry.position for entry in wordings],
        "own": [entry.own[:MOST_CHARACTERS] for entry in wordings],
        "context": [entry.context[:MOST_CHARACTERS] for entry in wordings],
        "named": ["\n".join(map(named, entry.identifiers)) for entry in wordings],
    }


def worded_revisions(connection: sa.Connection) -> set[int]:
    """The revisions that full text searches."""
    return set(connection.execute(sa.select(wording.c.revision_id).distinct()).scalars())


def put_blocks(connection: sa.Connection, index: Index, revision_id: int, blocks: Mapping[int, int]) -> None:
    """Tell an index of each unit's block, by the position of the unit's first node."""
    statement = sa.text(
        f"UPDATE {SCHEMA}.{index.table.name} AS unit SET block = given.block"  # noqa: S608
        " FROM unnest(CAST(:positions AS integer[]), CAST(:blocks AS integer[])) AS given (position, block)"
        " WHERE unit.revision_id = :revision AND unit.positions[1] = given.position"
    )
    connection.execute(statement, {"revision": revision_id, "positions": list(blocks), "blocks": list(blocks.values())})


def gather_where_due(connection: sa.Connection, collection_id: int) -> None:
    """Gather what was counted, once enough documents have changed since the last time.

    It goes through all words of the collection, and is worth that only now and then; meanwhile a search adds up a few rows
    more for each of its words.
    """
    changed = connection.execute(CHANGED, {"collection": collection_id}).one()
    if changed.times > min(max(changed.documents * SHARE_CHANGED, FEWEST_CHANGED), MOST_CHANGED):
        gather(connection, [collection_id])


def gather(connection: sa.Connection, collections: Iterable[int]) -> None:
    """Add up what the triggers have counted: one row for each word, none for words that are gone."""
    for collection_id in sorted(collections):
        connection.execute(
            sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtext(f"{SCHEMA}.wording.{collection_id}")))
        )
        connection.execute(GATHER_WORDS, {"collection": collection_id})
        connection.execute(GATHER_WORDINGS, {"collection": collection_id})


CHANGED = sa.text(
    f"""
    SELECT
        (SELECT count(*) FROM {SCHEMA}.wording_count WHERE collection_id = :collection) AS times,
        (SELECT count(*) FROM evidence_document WHERE collection_id = :collection) AS documents
    """  # noqa: S608
)
GATHER_WORDS = sa.text(
    f"""
    WITH many AS (
        SELECT lexeme FROM {SCHEMA}.word_count WHERE collection_id = :collection
        GROUP BY lexeme HAVING count(*) > 1 OR sum(blocks) = 0
    ), gone AS (
        DELETE FROM {SCHEMA}.word_count AS counted USING many
        WHERE counted.collection_id = :collection AND counted.lexeme = many.lexeme
        RETURNING counted.lexeme, counted.blocks
    )
    INSERT INTO {SCHEMA}.word_count (collection_id, lexeme, blocks)
    SELECT :collection, lexeme, sum(blocks) FROM gone GROUP BY lexeme HAVING sum(blocks) <> 0
    """  # noqa: S608
)
GATHER_WORDINGS = sa.text(
    f"""
    WITH gone AS (
        DELETE FROM {SCHEMA}.wording_count WHERE collection_id = :collection RETURNING configuration, blocks, length
    )
    INSERT INTO {SCHEMA}.wording_count (collection_id, configuration, blocks, length)
    SELECT :collection, configuration, sum(blocks), sum(length) FROM gone
    GROUP BY configuration HAVING sum(blocks) <> 0
    """  # noqa: S608
)


# What was counted is deleted and counted anew by the same statement, so that whatever is committed meanwhile is in both or
# in neither.
RECOUNT_WORDS = sa.text(
    f"""
    WITH gone AS (DELETE FROM {SCHEMA}.word_count WHERE collection_id = :collection)
    INSERT INTO {SCHEMA}.word_count (collection_id, lexeme, blocks)
    SELECT collection_id, lexeme, count(*)
    FROM {SCHEMA}.wording CROSS JOIN LATERAL unnest(tsvector_to_array(words)) AS lexeme
    WHERE collection_id = :collection
    GROUP BY collection_id, lexeme
    """  # noqa: S608
)
RECOUNT_WORDINGS = sa.text(
    f"""
    WITH gone AS (DELETE FROM {SCHEMA}.wording_count WHERE collection_id = :collection)
    INSERT INTO {SCHEMA}.wording_count (collection_id, configuration, blocks, length)
    SELECT collection_id, configuration, count(*), sum(length) FROM {SCHEMA}.wording
    WHERE collection_id = :collection
    GROUP BY collection_id, configuration
    """  # noqa: S608
)


def recount(connection: sa.Connection, collection_id: int) -> None:
    """Count the words of a collection anew, whatever the triggers have counted."""
    gather(connection, [collection_id])
    connection.execute(RECOUNT_WORDS, {"collection": collection_id})
    connection.execute(RECOUNT_WORDINGS, {"collection": collection_id})
