"""How much of one file is read."""

from __future__ import annotations

from django.conf import settings

MEGABYTE = 1_000_000


def largest_file() -> int:
    """Bytes of one file, and of what is packed in it (SPIRE_LARGEST_FILE)."""
    return int(settings.SPIRE_LARGEST_FILE * MEGABYTE)


def too_large() -> str:
    """What is said of a file over the limit."""
    return f"is larger than {settings.SPIRE_LARGEST_FILE} MB, the limit for one file (SPIRE_LARGEST_FILE)"
