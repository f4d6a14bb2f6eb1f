"""What the tests of ingest share: a site, and a small limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.ingest.site import Site, serving


@pytest.fixture
def site() -> Iterator[Site]:
    """An empty site on loopback."""
    with serving(Site()) as served:
        yield served


@pytest.fixture
def small(settings: Any) -> None:
    """The limit for one file: a megabyte."""
    settings.SPIRE_LARGEST_FILE = 1
