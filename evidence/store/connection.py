"""SQLAlchemy on a psycopg connection that belongs to somebody else, such as Django's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.pool import NullPool


class _Lent:
    """A connection whose transaction and end are its lender's business."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def close(self) -> None: ...

    # SQLAlchemy adds one each time it gets a connection, and this one it gets again and again.
    def add_notice_handler(self, handler: object) -> None: ...


_lender: ContextVar[psycopg.Connection[Any]] = ContextVar("lender")

# One engine for all: it learns about the server once per process.
_engine = sa.create_engine(
    "postgresql+psycopg://",
    creator=lambda: _Lent(_lender.get()),
    poolclass=NullPool,
    use_native_hstore=False,
    skip_autocommit_rollback=True,
    # An error must not carry a question, or a page, into a log.
    hide_parameters=True,
)


@contextmanager
def borrow(connection: psycopg.Connection[Any]) -> Iterator[sa.Connection]:
    """SQLAlchemy on this connection, within whatever transaction it is in: nothing is begun, committed or closed."""
    token = _lender.set(connection)
    try:
        with _engine.connect() as borrowed:
            yield borrowed
    finally:
        _lender.reset(token)


def lender(connection: sa.Connection) -> psycopg.Connection[Any]:
    """The psycopg connection behind a borrowed one, for what only psycopg can do (COPY)."""
    driver: Any = connection.connection.driver_connection
    return driver._connection if isinstance(driver, _Lent) else driver
