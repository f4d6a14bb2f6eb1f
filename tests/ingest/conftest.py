"""What the tests of fetching and of refreshing share: a site."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ingest.site import Site, serving


@pytest.fixture
def site() -> Iterator[Site]:
    """An empty site on loopback."""
    with serving(Site()) as served:
        yield served
