"""Where links lead."""

from __future__ import annotations

from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.tree.inline import Links

BASES = ["page.html", "a/b.html", "https://h.example/a/b.html", "https://h.example", "https://h.example/?q=/x", ""]


@given(st.sampled_from(BASES), st.from_regex(r"[A-Za-z0-9_.-]{1,6}\.[a-z]{1,5}(#[\w.-]{0,4})?", fullmatch=True))
def test_the_short_way_to_an_address_gives_the_same_as_the_long_one(base: str, target: str) -> None:
    """A link that leads elsewhere because it was resolved in a hurry."""
    assert Links(base).resolved(target) == urljoin(base, target)


@pytest.mark.parametrize("target", ["javascript:alert(1)", "data:text/html,x", "http://[broken", "vbscript:x"])
def test_what_would_run_or_is_no_address_is_no_link(target: str) -> None:
    """A link of a document that runs in our pages."""
    assert Links("page.html").resolved(target) is None
