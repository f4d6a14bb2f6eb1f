"""Which documents are searched, as people say it: by format, and by the days on which they were received."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta

from django.utils.timezone import make_aware

from evidence.store.search import Filters


def filters_of(*, formats: Sequence[str] = (), since: date | None = None, until: date | None = None) -> Filters:
    """Filters for these formats, and for documents received from ``since`` to ``until``, both days included, as the site's
    time zone has them."""
    # The last day of all has no next one.
    before = None if until is None or until == date.max else _midnight(until + timedelta(days=1))
    return Filters(tuple(formats), None if since is None else _midnight(since), before)


def _midnight(day: date) -> datetime:
    return make_aware(datetime.combine(day, time.min))
