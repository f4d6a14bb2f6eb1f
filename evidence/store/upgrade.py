"""Brings the pipeline's tables to the newest schema, by Alembic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from evidence.store.schema import SCHEMA

MIGRATIONS = Path(__file__).parent / "migrations"


def configuration(connection: sa.Connection) -> Config:
    """Alembic's configuration for work on this connection."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config


def upgrade(connection: sa.Connection) -> None:
    """Bring the schema to head, within the connection's transaction."""
    command.upgrade(configuration(connection), "head")


def pending(connection: sa.Connection) -> list[str]:
    """The migrations that ``upgrade`` would run, the first one first."""
    script = ScriptDirectory(str(MIGRATIONS))
    todo = script.iterate_revisions("head", current(connection) or "base")
    return [f"{revision.revision}: {revision.doc}" for revision in reversed(list(todo))]


def current(connection: sa.Connection) -> str | None:
    """The revision that the schema is at; None before the first migration."""
    return MigrationContext.configure(connection, opts={"version_table_schema": SCHEMA}).get_current_revision()


def knows(revision: str) -> bool:
    """Whether there is a migration of this revision, or the schema is newer than this code."""
    return any(script.revision == revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions())


def differences(connection: sa.Connection, tables: Iterable[sa.Table]) -> Iterator[str]:
    """What the database lacks of these tables of the schema, or has in another way: columns, keys and indexes."""
    stored = {name: (set(columns), set(rest)) for name, columns, rest in connection.execute(STORED, {"schema": SCHEMA})}
    for table in tables:
        if table.name not in stored:
            yield f"the table {table.name} is missing"
            continue
        columns, rest = stored[table.name]
        wanted = {f"{column.name} {'NULL' if column.nullable else 'NOT NULL'}" for column in table.columns}
        if columns != wanted:
            yield f"the columns of {table.name} differ: {', '.join(sorted(columns ^ wanted))}"
        counts = {"p": min(1, len(table.primary_key.columns)), "f": len(table.foreign_keys)}
        keys = {f"{kind} {count}" for kind, count in counts.items() if count}
        missing = {str(index.name) for index in table.indexes}.union(keys) - rest
        if missing:
            yield f"indexes or keys of {table.name} are missing: {', '.join(sorted(missing))}"


STORED = sa.text(
    """
    SELECT relname,
        ARRAY(
            SELECT attname::text || CASE WHEN attnotnull THEN ' NOT NULL' ELSE ' NULL' END
            FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
        ),
        ARRAY(
            SELECT made.relname::text FROM pg_index JOIN pg_class AS made ON made.oid = indexrelid
            WHERE indrelid = pg_class.oid
            UNION ALL
            SELECT contype::text || ' ' || count(*) FROM pg_constraint
            WHERE conrelid = pg_class.oid AND contype IN ('f', 'p') GROUP BY contype
        )
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = :schema AND relkind = 'r'
    """
)
