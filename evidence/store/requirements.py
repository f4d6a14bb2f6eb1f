"""What SPIRE asks of a PostgreSQL server: its version and two extensions."""

from typing import Any

import psycopg
from psycopg import errors, sql

OLDEST_SERVER = 15
OLDEST_EXTENSIONS = {"vector": (0, 8), "ltree": (1, 0)}


class MissingRequirementError(RuntimeError):
    """What the server lacks, and the fix."""


def check(connection: psycopg.Connection[Any]) -> None:
    """Raise MissingRequirementError unless the server is new enough and offers the extensions. One small query."""
    server = connection.info.server_version // 10000
    if server < OLDEST_SERVER:
        raise MissingRequirementError(
            f"This server is PostgreSQL {server}; SPIRE needs {OLDEST_SERVER} or newer. Upgrade it, or unset "
            "DATABASE_URL to use the embedded server."
        )
    rows = connection.execute(
        "SELECT name, default_version, installed_version FROM pg_available_extensions WHERE name = ANY(%s)",
        [list(OLDEST_EXTENSIONS)],
    ).fetchall()
    versions = {name: (available, installed) for name, available, installed in rows}
    problems = [
        problem
        for name, oldest in OLDEST_EXTENSIONS.items()
        if (problem := _problem(name, oldest, *versions.get(name, (None, None)), server=server))
    ]
    if problems:
        raise MissingRequirementError(" ".join(problems))


def create_extensions(connection: psycopg.Connection[Any]) -> None:
    """Create the extensions in the connection's database where they are missing.

    Raises MissingRequirementError when the role may not.
    """
    for name in OLDEST_EXTENSIONS:
        try:
            connection.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(name)))
        except errors.InsufficientPrivilege:
            statements = " ".join(f"CREATE EXTENSION IF NOT EXISTS {name};" for name in OLDEST_EXTENSIONS)
            raise MissingRequirementError(
                f'The role "{connection.info.user}" may not create the extension {name}. Run this once as a superuser '
                f'in the database "{connection.info.dbname}": {statements}'
            ) from None


def _problem(name: str, oldest: tuple[int, ...], available: str | None, installed: str | None, *, server: int) -> str:
    """Why the extension will not do, or nothing. An installed one counts, however new the available one is."""
    needed = ".".join(map(str, oldest))
    package = {
        "vector": f"pgvector {needed} or newer (Debian package postgresql-{server}-pgvector, or "
        "https://github.com/pgvector/pgvector)",
        "ltree": "PostgreSQL's contrib modules (in Debian part of the server's package, in Red Hat's systems "
        "postgresql-contrib)",
    }[name]
    if available is None:
        return f"The server lacks the extension {name}: install {package}."
    if _version(available) < oldest:
        return f"The server's extension {name} is version {available}, older than {needed}: install {package}."
    if installed is not None and _version(installed) < oldest:
        return (
            f"This database uses version {installed} of the extension {name}, older than {needed}: "
            f"run ALTER EXTENSION {name} UPDATE as a superuser."
        )
    return ""


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())
