"""How Alembic runs here: on a connection that the caller gives it (see ``evidence.store.upgrade``)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import context

from evidence.store.schema import EMBEDDING_TABLE, LTREE, SCHEMA, metadata

connection: sa.Connection = context.config.attributes["connection"]


def is_ours(name: str | None, kind: str, parents: Any) -> bool:
    """Whether Alembic looks after this: Django's tables are Django's, and the tables of indexes come and go."""
    if kind == "schema":
        return name == SCHEMA
    return not (kind == "table" and name is not None and name.startswith(EMBEDDING_TABLE))


# So that a comparison of the database with the schema knows the type again.
connection.dialect.ischema_names["ltree"] = LTREE  # type: ignore[attr-defined]

connection.execute(sa.text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
context.configure(
    connection=connection,
    target_metadata=metadata,
    include_schemas=True,
    include_name=is_ours,
    version_table_schema=SCHEMA,
    compare_server_default=False,
)
with context.begin_transaction():
    context.run_migrations()
