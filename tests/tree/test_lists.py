from __future__ import annotations

import pytest

from evidence.tree.context import global_context, list_number
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


@pytest.mark.parametrize(
    ("kind", "number", "mark"),
    [
        ("1", 12, "12."),
        ("a", 3, "c."),
        ("a", 27, "aa."),
        ("A", 52, "AZ."),
        ("a", 0, "0."),
        ("i", 1994, "mcmxciv."),
        ("I", 4, "IV."),
        ("I", 4000, "4000."),
        ("i", -2, "-2."),
        ("x", 5, "5."),
    ],
)
def test_items_are_marked_as_a_browser_marks_them(kind: str, number: int, mark: str) -> None:
    """Clause (c) of a contract is not its clause 3 to those who look for it."""
    assert to_text(parse(f"<ol type={kind} start={number}><li>Pay.</ol>".encode())) == f"{mark} Pay."


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<ol><li>a</ol><p>Then:</p><ol start=2><li>b<li>c</ol>", [1, None, 2, 3]),
        ("<div><ol><div><div><li>a</div></div><li>b</ol></div>", [1, 2]),
        ("<table><tr><th>Steps<th>Who<tr><td><ol start=4><li>a<li>b</ol><td>c</table>", [None, None, 4, 5, None]),
        ("<ol><li><p>a</p><p>b</p><li><div>c</div></ol>", [1, 1, 2]),
        ("<ol type=i><li>a<ol type=a start=3><li>b</ol></ol>", [1, 3]),
    ],
)
def test_lists_in_other_things_are_numbered_all_the_same(body: str, expected: list[int | None]) -> None:
    assert numbers(body) == expected


def terms_of(body: str, text: str) -> list[str]:
    document = parse(body.encode())
    sentence = next(node for node in document.sentences() if node.text == text)
    return [entry.node.content for entry in global_context(sentence) if entry.policy == "term"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<dl><dt>A<dd>x</dl>", ["A"]),
        ("<dl><dt>A</dt><dt>B</dt><dd>x</dd></dl>", ["A", "B"]),
        ("<dl><dt>A<dd>y<dd>x</dl>", ["A"]),
        ("<dl><dt>A<dd>y<dt>B<dd>x</dl>", ["B"]),
        ("<dl><div><dt>A<dd>y</div><div><dt>B<dd>x</div></dl>", ["B"]),
        ("<dl><dd>x<dt>A<dd>y</dl>", []),
        ("<dl><dt>A<dd>y<dl><dt>B<dd>x</dl></dl>", ["A", "B"]),
        ("<dl><dt>A<dd><p>y<p>x</dl>", ["A"]),
        ("<dl><dt>A<dd><ul><li>x</ul></dl>", ["A"]),
        ("<dl><dt>A</dt><p>y</p><dd>x</dl>", []),
        ("<dl><dt><dd>x</dl>", [""]),
    ],
)
def test_a_definition_has_its_terms_in_every_shape_of_list(body: str, expected: list[str]) -> None:
    """A definition without its term defines nothing."""
    assert terms_of(body, "x") == expected


def test_paragraphs_with_bullets_are_paragraphs() -> None:
    """Office programs write lists so; their words must not be lost with the bullets."""
    document = parse("<p>Bring:</p><p>• a key</p><p>1. a card</p>".encode())
    assert [sentence.text for sentence in document.sentences()] == ["Bring:", "• a key", "1. a card"]
