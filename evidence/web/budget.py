"""The budget that an address asks for."""

from __future__ import annotations

from django.conf import settings

LARGEST_BUDGET = 20_000


def budget_of(text: str) -> int:
    """The number of tokens, within bounds; the site's own for what is no number."""
    if text.isascii() and text.isdigit() and 0 < len(text) < 7:
        return min(max(int(text), 1), LARGEST_BUDGET)
    return settings.SPIRE_BUDGET
