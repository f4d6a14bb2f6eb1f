"""Brings the pipeline's tables to the newest schema, by Alembic."""

from __future__ import annotations

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
