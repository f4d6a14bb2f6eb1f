"""A database that has gone, or has no room left: the errors that say so, and what a person is told of them."""

from __future__ import annotations

import django.db
import psycopg
import sqlalchemy.exc

CAN_PASS = tuple(
    error
    for library in (django.db, sqlalchemy.exc, psycopg)
    for error in (library.OperationalError, library.InterfaceError)
)
"""The database has gone, is too busy, or its disk is full; as told by whichever library asked it."""

DISK_FULL = "No space left on device"


def told(error: BaseException) -> str:
    """What is wrong with the database, in one line; with a full disk, what to do."""
    # What the libraries add (the statement, an address to read more at) helps nobody.
    reason = f"the database: {str(error).partition(chr(10))[0]}"
    return f"{reason}: make room on its disk" if DISK_FULL in reason else reason
