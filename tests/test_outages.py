from __future__ import annotations

import psycopg
import pytest
import sqlalchemy.exc
from django.db import OperationalError

from evidence.outages import CAN_PASS, told

FULL = psycopg.errors.DiskFull(
    'could not extend file "base/1/2": No space left on device\nHINT:  Check free disk space.'
)


@pytest.mark.parametrize("error", [FULL, OperationalError(str(FULL)), sqlalchemy.exc.OperationalError("x", {}, FULL)])
def test_a_full_disk_is_told_with_what_to_do(error: Exception) -> None:
    """A job that has failed for a reason that nobody understands who is not a programmer."""
    assert isinstance(error, CAN_PASS)
    assert told(error).startswith("the database: ")
    assert told(error).endswith('could not extend file "base/1/2": No space left on device: make room on its disk')
