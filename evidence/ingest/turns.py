"""Turns: one at a time of what several processes may want to do, by PostgreSQL's advisory locks of a session.

A process that dies lets go of its turn. A pooler must not hand one session to several clients in between (PgBouncer's
``session`` mode).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


class NotNow(Exception):
    """Somebody else has the turn."""


@contextmanager
def turn(name: str, *, wait: bool = True) -> Iterator[bool]:
    """Hold the turn of this name; gives whether it had to be waited for. NotNow where it is taken and ``wait`` is false."""
    key = f"spire.turn.{name}"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtext(%s))", [key])
        is_mine = bool(cursor.fetchone()[0])
        if not is_mine and not wait:
            raise NotNow(name)
        if not is_mine:
            cursor.execute("SELECT pg_advisory_lock(hashtext(%s))", [key])
    try:
        yield not is_mine
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(hashtext(%s))", [key])
