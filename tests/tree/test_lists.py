from __future__ import annotations

import pytest

from evidence.tree.context import list_number
from evidence.tree.html import parse
from evidence.tree.text import to_text


def numbers(body: str) -> list[int | None]:
    return [list_number(sentence) for sentence in parse(body.encode()).sentences()]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<ol><li>a<li>b</ol>", [1, 2]),
        ("<ol start=3><li>a<li>b</ol>", [3, 4]),
        ("<ol start=-1><li>a<li>b<li>c</ol>", [-1, 0, 1]),
        ("<ol start=+2><li>a</ol>", [2]),
        ("<ol start=' 7th'><li>a</ol>", [7]),
        ("<ol start=x><li>a</ol>", [1]),
        ("<ol start=''><li>a</ol>", [1]),
        ("<ol start=-><li>a</ol>", [1]),
        ("<ol start=²><li>a</ol>", [1]),
        ("<ol start=99999999999999999999><li>a</ol>", [999999999]),
        ("<ol><li>a<li value=10>b<li>c</ol>", [1, 10, 11]),
        ("<ol><li>a<li value=x>b<li>c</ol>", [1, 2, 3]),
        ("<ol reversed><li>a<li>b<li>c</ol>", [3, 2, 1]),
        ("<ol reversed start=9><li>a<li value=4>b<li>c</ol>", [9, 4, 3]),
        ("<ol type=a><li>a<li>b</ol>", [1, 2]),
        ("<ol><li>a<ol><li>b<li>c</ol><li>d</ol>", [1, 1, 2, 2]),
        ("<ol><li>a<ul><li>b</ul><li>c</ol>", [1, None, 2]),
        ("<ol><div><li>a</div><div><li>b</div></ol>", [1, 2]),
        ("<ul><li value=4>a</ul>", [None]),
        ("<li>a<li>b", [None, None]),
    ],
)
def test_items_have_the_numbers_that_a_browser_shows(body: str, expected: list[int | None]) -> None:
    """The "step 4" of an answer must be step 4 of the page, though the excerpt shows that item alone."""
    assert numbers(body) == expected


def test_items_outside_a_list_are_items_all_the_same() -> None:
    """Pages forget the list around its items."""
    document = parse(b"<li>Blue key<li>Red key")
    assert [node.tag for node in document.nodes] == ["root", "li", "sentence", "li", "sentence"]
    assert to_text(document) == "- Blue key\n- Red key"


@pytest.mark.parametrize("tag", ["ul", "menu", "dir"])
def test_old_names_of_lists_are_lists(tag: str) -> None:
    document = parse(f"<{tag}><li>Blue key</{tag}>".encode())
    assert [node.tag for node in document.nodes] == ["root", "ul", "li", "sentence"]


def test_text_between_items_is_kept() -> None:
    """It is not allowed there, and is there."""
    document = parse(b"<ul>Keys:<li>Blue</li>and<li>Red</ul>")
    assert [sentence.text for sentence in document.sentences()] == ["Keys:", "Blue", "and", "Red"]
