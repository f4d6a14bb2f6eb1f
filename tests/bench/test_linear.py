"""evidence.bench.linear: one page, its body repeated."""

from __future__ import annotations

import pytest

from evidence.bench import linear
from evidence.bench.parsers import Page

PAGE = Page("desk.html", b"<!doctype html><title>Desk</title><body class=a><p>Keys are at desk A.</p></body></html>")


def test_the_body_is_repeated_and_what_is_around_it_is_not() -> None:
    data = linear.repeat(PAGE, 1000).data
    assert 1000 <= len(data) < 1000 + len(PAGE.data)
    assert data.count(b"<title>") == data.count(b"<body") == data.count(b"</html>") == 1
    assert data.count(b"Keys") > 20


def test_a_page_without_tags_around_its_body_is_repeated_whole() -> None:
    assert linear.repeat(Page("a.html", b"<p>One.</p>"), 30).data == b"<p>One.</p>" * 3


def test_a_page_that_is_long_enough_stays_as_it_is() -> None:
    assert linear.repeat(PAGE, 10) == PAGE


def test_an_empty_body_cannot_be_repeated() -> None:
    with pytest.raises(ValueError, match="nothing in its body to repeat"):
        linear.repeat(Page("empty.html", b"<body>  </body>"), 1000)


def test_ours_and_lxml_are_measured_on_each_size() -> None:
    results = list(linear.measure(PAGE, [500, 1000]))
    assert [result.parser.name for result in results] == ["lxml", "SPIRE", "lxml", "SPIRE"]
    assert not any(result.error for result in results)
    assert len(list(linear.lines_of(results))) == 5
