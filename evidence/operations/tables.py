"""Whether the tables agree with each other: orphans, counts, and what the database itself may have lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import sqlalchemy as sa
from django.db import connection as database
from django.db.migrations.loader import MigrationLoader

from evidence.configured import pipeline
from evidence.operations.finding import REPAIR, Finding
from evidence.store import indexes
from evidence.store.indexes import Index
from evidence.store.schema import EMBEDDING_TABLE, SCHEMA, metadata
from evidence.store.upgrade import differences, pending
from evidence.store.wording import recount

SHOWN = 20
"""Findings of one kind that are listed; of more, their number is told."""


@dataclass(frozen=True)
class Check:
    """A query whose rows are faults, each a text that says where. ``repair`` mends all of them at once."""

    problem: str
    faults: str
    repair: str = ""
    remedy: str = REPAIR


def pending_migrations() -> list[str]:
    """What ``migrate`` would still do, in both kinds of tables."""
    loader = MigrationLoader(database)
    # Not the plan of ``migrate``, which takes what comes before a migration that has run for granted.
    todo = [f"{app}.{name}" for app, name in sorted(set(loader.graph.nodes) - set(loader.applied_migrations))]
    with pipeline() as connection:
        return todo + [f"pipeline {line.split(':')[0]}" for line in pending(connection)]


def schema_findings() -> Iterator[Finding]:
    """What the pipeline's tables lack. Where there is any, nothing else can be asked of them."""
    with pipeline() as connection:
        there = set(sa.inspect(connection).get_table_names(schema=SCHEMA))
        found = [way.table for way in indexes.all_indexes(connection) if way.table.name in there]
        for told in differences(connection, [*metadata.sorted_tables, *found]):
            yield Finding(f"schema {SCHEMA}", told, "manage.py restore FILE, of the last good backup")


def table_findings() -> Iterator[Finding]:
    """What is wrong with the rows of the tables as a whole."""
    with pipeline() as connection:
        ways = indexes.all_indexes(connection)
        there = set(sa.inspect(connection).get_table_names(schema=SCHEMA))
    whole = [way for way in ways if way.table.name in there]
    for way in ways:
        if way not in whole:
            yield Finding(
                f"index {way.name}",
                f"its table {SCHEMA}.{way.table.name} is missing",
                f"manage.py index drop {way.name}, then manage.py index build {way.name}",
            )
    for name in sorted(there):
        if name.startswith(EMBEDDING_TABLE) and name not in {way.table.name for way in ways}:
            drop = f"DROP TABLE {SCHEMA}.{name}"
            yield Finding(f"table {SCHEMA}.{name}", "it belongs to no index", REPAIR, repair=partial(_run, drop))
    checks = [*DATABASE, *DOCUMENTS, *_derived(["node", "context", "seed", "definition", "wording"])]
    for way in whole:
        checks += [*_derived([way.table.name]), *_units(way)]
    for check in checks:
        yield from _findings(check)
    yield from _count_findings()
    yield from _index_findings(whole)


def _findings(check: Check) -> Iterator[Finding]:
    with pipeline() as connection:
        faults = [place for (place,) in connection.execute(sa.text(check.faults))]
    # One statement mends all of a kind.
    repair = partial(_run, check.repair) if check.repair else None
    for place in faults[:SHOWN]:
        yield Finding(place, check.problem, check.remedy, repair=repair)
        repair = None
    if len(faults) > SHOWN:
        yield Finding(f"and {len(faults) - SHOWN} more", check.problem, check.remedy)


def _run(statement: str) -> None:
    with pipeline() as connection:
        connection.execute(sa.text(statement))


def _count_findings() -> Iterator[Finding]:
    """Whether full text knows in how many blocks each word stands."""
    with pipeline() as connection:
        wrong = connection.execute(MISCOUNTED).all()
    for pk, name in wrong:
        problem = "the numbers of its words are not those of its documents"
        yield Finding(name, problem, REPAIR, repair=partial(_recount, pk))


def _recount(collection_id: int) -> None:
    with pipeline() as connection:
        recount(connection, collection_id)


# The database itself.
DATABASE = (
    Check(
        "this SQL index is not valid, so that searches do without it",
        f"""
        SELECT format('%I.%I', nspname, relname)
        FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE NOT (indisvalid AND indisready) AND nspname IN ('public', '{SCHEMA}')
        """,  # noqa: S608
        f"""
        DO $$ DECLARE broken regclass; BEGIN
            FOR broken IN SELECT indexrelid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
                JOIN pg_namespace ON pg_namespace.oid = relnamespace
                WHERE NOT (indisvalid AND indisready) AND nspname IN ('public', '{SCHEMA}')
            LOOP EXECUTE format('REINDEX INDEX %s', broken); END LOOP;
        END $$
        """,  # noqa: S608
    ),
    Check(
        "this constraint has not been checked for the rows that are there",
        f"""
        SELECT format('%I.%I.%I', nspname, relname, conname)
        FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid JOIN pg_namespace ON pg_namespace.oid = connamespace
        WHERE NOT convalidated AND nspname IN ('public', '{SCHEMA}')
        """,  # noqa: S608
        f"""
        DO $$ DECLARE unchecked record; BEGIN
            FOR unchecked IN SELECT conrelid::regclass AS of, conname FROM pg_constraint
                JOIN pg_namespace ON pg_namespace.oid = connamespace
                WHERE NOT convalidated AND nspname IN ('public', '{SCHEMA}')
            LOOP EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', unchecked.of, unchecked.conname); END LOOP;
        END $$
        """,  # noqa: S608
    ),
    Check(
        "a trigger of this table is switched off, so that its rows are not counted or not deleted with others",
        f"""
        SELECT DISTINCT format('%I.%I', nspname, relname)
        FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE tgenabled <> 'O' AND nspname IN ('public', '{SCHEMA}')
        """,  # noqa: S608
        f"""
        DO $$ DECLARE silent regclass; BEGIN
            FOR silent IN SELECT DISTINCT tgrelid FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
                JOIN pg_namespace ON pg_namespace.oid = relnamespace
                WHERE tgenabled <> 'O' AND nspname IN ('public', '{SCHEMA}')
            LOOP EXECUTE format('ALTER TABLE %s ENABLE TRIGGER ALL', silent); END LOOP;
        END $$
        """,  # noqa: S608
    ),
)

# A document and a revision, as text for a person.
DOCUMENT = "collection.name || ': ' || document.address"
REVISION = f"{DOCUMENT} || ' (revision ' || revision.number || ')'"
FROM = """
    FROM evidence_document AS document JOIN evidence_collection AS collection ON collection.id = document.collection_id
"""

DOCUMENTS = (
    Check(
        "its current revision is missing, so that nobody finds it",
        f"""
        SELECT {DOCUMENT} {FROM}
        WHERE NOT EXISTS (
            SELECT FROM evidence_revision AS revision
            WHERE revision.id = document.current_id AND revision.document_id = document.id
        ) AND EXISTS (SELECT FROM evidence_revision AS revision WHERE revision.document_id = document.id)
        """,  # noqa: S608
        """
        UPDATE evidence_document AS document SET current_id = newest.id
        FROM (SELECT DISTINCT ON (document_id) document_id, id FROM evidence_revision ORDER BY document_id, number DESC)
            AS newest
        WHERE newest.document_id = document.id AND NOT EXISTS (
            SELECT FROM evidence_revision AS revision
            WHERE revision.id = document.current_id AND revision.document_id = document.id
        )
        """,
        remedy=f"{REPAIR} (twice: the first makes its newest revision the current one)",
    ),
)


def _derived(tables: list[str]) -> Iterator[Check]:
    """Rows of what is derived from a revision that is no more."""
    for table in tables:
        lost = f"NOT EXISTS (SELECT FROM evidence_revision AS revision WHERE revision.id = {table}.revision_id)"
        yield Check(
            "rows of a revision that is no more",
            f"SELECT '{SCHEMA}.{table}, revision ' || revision_id || ', ' || count(*) || ' rows'"  # noqa: S608
            f" FROM {SCHEMA}.{table} WHERE {lost} GROUP BY revision_id",
            f"DELETE FROM {SCHEMA}.{table} WHERE {lost}",  # noqa: S608
        )
    for table in tables:
        if table == "wording" or table.startswith(EMBEDDING_TABLE):
            yield from _searched(table)


def _searched(table: str) -> Iterator[Check]:
    """What is searched must be current, and say the collection whose readers may see it."""
    old = f"""
        EXISTS (SELECT FROM evidence_revision AS revision WHERE revision.id = {table}.revision_id)
        AND NOT EXISTS (SELECT FROM evidence_document AS document WHERE document.current_id = {table}.revision_id)
    """  # noqa: S608
    yield Check(
        "searched, although it is no current revision",
        f"SELECT '{SCHEMA}.{table}, revision ' || revision_id FROM {SCHEMA}.{table} WHERE {old} GROUP BY revision_id",  # noqa: S608
        f"DELETE FROM {SCHEMA}.{table} WHERE {old}",  # noqa: S608
    )
    yield Check(
        f"found in {SCHEMA}.{table} by the readers of another collection than its own",
        f"""
        SELECT {DOCUMENT} {FROM}
        WHERE EXISTS (
            SELECT FROM {SCHEMA}.{table} AS searched
            WHERE searched.revision_id = document.current_id AND searched.collection_id <> document.collection_id
        )
        """,  # noqa: S608
        # Taken off, so that nobody sees what they may not; what is then missing is found by the next look.
        f"""
        DELETE FROM {SCHEMA}.{table} AS searched USING evidence_document AS document
        WHERE searched.revision_id = document.current_id AND searched.collection_id <> document.collection_id
        """,  # noqa: S608
        remedy=f"{REPAIR} (twice: the first takes it out of the search)",
    )


def _units(way: Index) -> Iterator[Check]:
    """The vectors of an index against what it should hold."""
    table = f"{SCHEMA}.{way.table.name}"
    yield Check(
        f"vectors without length or direction in index {way.name}",
        f"""
        SELECT '{table}, revision ' || revision_id || ', ' || count(*) || ' vectors' FROM {table}
        WHERE NOT coalesce(l2_norm(embedding) BETWEEN 0.9 AND 1.1, false) GROUP BY revision_id
        """,  # noqa: S608
        f"DELETE FROM {table} WHERE NOT coalesce(l2_norm(embedding) BETWEEN 0.9 AND 1.1, false)",  # noqa: S608
        remedy=f"{REPAIR} (twice: the first deletes them)",
    )


def _index_findings(ways: list[Index]) -> Iterator[Finding]:
    with pipeline() as connection:
        for way in ways:
            nearest = sa.func.to_regclass(f"{SCHEMA}.{way.nearest}")
            if way.complete and connection.execute(sa.select(nearest)).scalar() is None:
                yield Finding(
                    f"index {way.name}",
                    "every search compares all of its vectors, because its HNSW index is not built",
                    f"manage.py index build {way.name}",
                    is_damage=False,
                )
        serves = any(way.is_default for way in ways)
        current = sa.text("SELECT EXISTS (SELECT FROM evidence_document WHERE current_id IS NOT NULL)")
        if not serves and connection.execute(current).scalar_one():
            yield Finding("indexes", "none of them answers questions", "manage.py index default NAME", is_damage=False)


MISCOUNTED = sa.text(
    f"""
    WITH counted AS (
        SELECT collection_id, lexeme, sum(blocks) AS blocks FROM {SCHEMA}.word_count GROUP BY collection_id, lexeme
    ), held AS (
        SELECT collection_id, lexeme, count(*) AS blocks
        FROM {SCHEMA}.wording CROSS JOIN LATERAL unnest(tsvector_to_array(words)) AS lexeme
        GROUP BY collection_id, lexeme
    ), wrong AS (
        SELECT collection_id FROM counted FULL JOIN held USING (collection_id, lexeme)
        WHERE coalesce(counted.blocks, 0) <> coalesce(held.blocks, 0)
    ), sums AS (
        SELECT collection_id, configuration, sum(blocks) AS blocks, sum(length) AS length
        FROM {SCHEMA}.wording_count GROUP BY collection_id, configuration
    ), real AS (
        SELECT collection_id, configuration, count(*) AS blocks, sum(length) AS length
        FROM {SCHEMA}.wording GROUP BY collection_id, configuration
    ), off AS (
        SELECT collection_id FROM sums FULL JOIN real USING (collection_id, configuration)
        WHERE (coalesce(sums.blocks, 0), coalesce(sums.length, 0))
            <> (coalesce(real.blocks, 0), coalesce(real.length, 0))
    )
    SELECT collection.id, collection.name FROM evidence_collection AS collection
    WHERE id IN (SELECT collection_id FROM wrong UNION SELECT collection_id FROM off)
    """  # noqa: S608
)
