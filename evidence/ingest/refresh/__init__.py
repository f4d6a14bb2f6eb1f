"""Refreshing a source: asking for its pages, taking in what is new or changed, letting go of what is gone.

``refresh`` is safe to run twice and at any time. What is known of each page is written as soon as the page is done, so
that a killed run is gone on with by the next one. Nothing leaves a collection because a site failed: only what was said to
be gone (404, 410, no longer named), for longer than the source's days of grace.
"""

from evidence.ingest.refresh.places import PlaceError, place_of, prefix_of
from evidence.ingest.refresh.refreshing import Refreshed, refresh
from evidence.ingest.turns import NotNow

__all__ = ["NotNow", "PlaceError", "Refreshed", "place_of", "prefix_of", "refresh"]
