from __future__ import annotations

import pytest

from evidence.tree.elements import LONGEST_TAG, MOST_ATTRIBUTES, elements


def words(page: str) -> list[str]:
    return " ".join(" ".join(map(str, root.itertext())) for root in elements(page)).split()


@pytest.mark.parametrize("tag", ["div", "b", "ul", "table", "a", "section", "span", "custom-tag"])
def test_what_comes_after_ten_thousand_levels_is_kept(tag: str) -> None:
    """libxml2 drops the rest of a page that is nested deeper than 2048 levels."""
    page = f"<p>first</p>{f'<{tag}>' * 10_000}deep{f'</{tag}>' * 10_000}<p>last</p>"
    assert words(page) == ["first", "deep", "last"]


def test_table_in_table_is_deep_too() -> None:
    page = f"{'<table><tr><td>' * 3_000}deep{'</td></tr></table>' * 3_000}<p>last</p>"
    assert words(page) == ["deep", "last"]


def test_tags_that_never_end_lose_no_word() -> None:
    assert words("<div><b>x " * 5_000) == ["x"] * 5_000


@pytest.mark.parametrize("cut", ["<p", "<a href='", "<!-- ", "</"])
def test_a_deep_page_that_is_cut_takes_linear_time(cut: str) -> None:
    """A tag without its end must not be looked for from each of the others."""
    assert words("<div>" * 3_000 + "x " + cut * 100_000)[0] == "x"


def test_a_tag_of_a_hundred_thousand_attributes_takes_linear_time() -> None:
    """The parser compares each attribute with all before it: minutes for a page of a megabyte."""
    many = " ".join(f"a{number}='<p>'" for number in range(100_000))
    root = elements(f"<p id=first {many} id=last>x</p><p>y</p>")[0]
    assert root.find(".//p").get("id") == "first"
    assert len(root.find(".//p").attrib) <= MOST_ATTRIBUTES
    assert words(f"<p {many}>x</p><p>y</p>") == ["x", "y"]


@pytest.mark.parametrize(
    "page",
    [
        f"<p title='{'long words ' * LONGEST_TAG}'>x</p>",
        f"<script>if (a<b) {{ '{'x = y ' * LONGEST_TAG}</script><p>x</p>",
        f"<!-- <p {'a b ' * LONGEST_TAG} --><p>x</p>",
        f"<style>a<b {'c d ' * LONGEST_TAG}</style><p>x</p>",
    ],
)
def test_long_tags_that_are_no_bombs_stay_as_they_are(page: str) -> None:
    """A picture in an attribute, or a script that looks like a tag, must not take the text after it away."""
    assert words(page)[-1] == "x"
    assert "long" not in words(page)


def test_an_xml_declaration_is_no_content() -> None:
    assert words('<?xml version="1.0" encoding="utf-8"?><html><body><p>x</p>') == ["x"]


def test_what_follows_the_end_of_the_page_is_read() -> None:
    assert words("<html><body><p>x</p></body></html><p>y</p>") == ["x", "y"]


@pytest.mark.parametrize("page", ["", " ", "\0", "<", "<!-- ", "<?", "</", "<!doctype html>", "\ufffe"])
def test_pages_of_nothing_raise_nothing(page: str) -> None:
    elements(page)
