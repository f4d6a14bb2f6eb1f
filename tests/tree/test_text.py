from __future__ import annotations

from pathlib import Path

import pytest

from evidence.language.tokens import count, count_all
from evidence.tree.document import Document
from evidence.tree.html import parse
from evidence.tree.subdocument import prune
from evidence.tree.text import to_text, token_costs

TESTS = Path(__file__).parent.parent
REAL_PAGES = sorted(
    [
        *(TESTS.parent / "evidence" / "sample").glob("*.html"),
        # Fifty items in each other, with one sentence: their marks are more than their words.
        *(page for page in TESTS.glob("cases/*/input.html") if page.parent.name != "60-ltree-depth-and-labels"),
    ]
)


def page(body: str) -> Document:
    return parse(body.encode(), "page.html")


def text_of(body: str) -> str:
    return to_text(page(body))


def excerpt_of(body: str, *texts: str) -> str:
    document = page(body)
    return to_text(prune(document, [leaf for leaf in document.sentences() if leaf.text in texts]))


def test_structure_is_seen_in_the_text() -> None:
    """A model reads it; without marks, a heading is a sentence and an item is lost in its list."""
    body = """<title>Handbook</title><h1>Leave</h1><p>One. <b>Two</b>.</p><h2>Short</h2>
    <ol start=3><li>Three<ul><li>Deep one<li>Deep two</ul><li>Four</ol>
    <dl><dt>RTO<dd>Measured in hours.</dl><blockquote><p>Said.</blockquote><pre>a
  b</pre>"""
    assert text_of(body) == (
        "# Handbook\n# Leave\nOne. Two.\n## Short\n3. Three\n  - Deep one\n  - Deep two\n4. Four\n"
        "RTO:\n  Measured in hours.\nSaid.\na\n  b"
    )


def test_a_table_is_a_line_per_row() -> None:
    body = "<table><caption>Fares</caption><tr><th>Zone<th>Fare<tr><td>A<td>5<tr><td><td>7</table>"
    assert text_of(body) == "Fares\n| Zone | Fare |\n| A | 5 |\n|  | 7 |"


def test_columns_stay_in_line_under_cells_that_span() -> None:
    """A value one column off is a wrong answer."""
    body = (
        "<table><tr><th rowspan=2>Depot<th colspan=2>2025<th>2026<tr><th>Spring<th>Autumn<th>Spring"
        "<tr><th>Lund<td>1<td>2<td>3</table>"
    )
    assert text_of(body) == ("| Depot | 2025 |  | 2026 |\n|  | Spring | Autumn | Spring |\n| Lund | 1 | 2 | 3 |")


def test_a_cell_with_blocks_is_still_one_line() -> None:
    body = "<table><tr><th>A<th>B<tr><td><p>One.</p><ul><li>two<li>three</ul><td>x</table>"
    assert text_of(body) == "| A | B |\n| One. - two - three | x |"


def test_a_layout_table_is_read_as_running_text() -> None:
    assert text_of("<table role=presentation><tr><td>One.<td>Two.</table>") == "One.\nTwo."


def test_sentences_that_follow_each_other_share_a_line_and_others_do_not() -> None:
    """Two sentences with one left out between them must not read as if they belonged together."""
    body = "<p>One. Two. Three. Four.</p>"
    assert excerpt_of(body, "One.", "Two.", "Four.") == "One. Two.\nFour."


def test_japanese_sentences_are_joined_without_a_space() -> None:
    assert text_of("<p>受付は九時。電話は不要！</p>") == "受付は九時。電話は不要！"


def test_an_item_keeps_its_number_when_it_is_shown_alone() -> None:
    assert excerpt_of("<ol><li>One<li>Two<li>Three</ol>", "Three") == "3. Three"


def test_blocks_without_text_leave_no_marks() -> None:
    """Icons in headings and empty items are common; their marks would be paid for and say nothing."""
    assert text_of("<h2><img></h2><ul><li></ul><dl><dt></dl><p></p><p>x</p>") == "x"
    assert to_text(Document()) == ""


def test_a_pruned_table_keeps_its_columns() -> None:
    body = "<table><tr><th>Zone<th>Fare<tr><td>A<td>5<tr><td>B<td>7</table>"
    document = page(body)
    rows = [node for node in document.nodes if node.tag == "tr"]
    assert to_text(prune(document, [rows[0], rows[2]])) == "| Zone | Fare |\n| B | 7 |"


def test_cells_shown_alone_stay_in_their_columns() -> None:
    """Of a wide row only some cells are shown, and of the header row only theirs."""
    body = "<table><tr><th>Zone<th>Line<th>Stop<th>Fare<tr><th>A<td>7<td>Lund<td>5<tr><th>B<td>8<td>Umeå<td>6</table>"
    assert excerpt_of(body, "A", "5", "Fare") == "|  | Fare |\n| A | 5 |"
    assert excerpt_of(body, "Stop", "Lund", "Fare", "6") == "| Stop | Fare |\n| Lund |\n|  | 6 |"
    spanning = "<table><tr><th rowspan=2>Sweden<th>Lund<td>5<td>6<tr><th>Umeå<td>7<td>8</table>"
    assert excerpt_of(spanning, "Sweden", "8") == "| Sweden | 8 |"


def test_columns_that_are_not_there_are_not_paid_for() -> None:
    """A span of a thousand columns in a table of two."""
    assert text_of("<table><tr><td colspan=1000>All<td>x<tr><td>a<td>b</table>") == "| All |  | x |\n| a | b |"


@pytest.mark.parametrize("path", REAL_PAGES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_tokens_of_a_page_are_not_counted_too_low(path: Path) -> None:
    """The budget adds these numbers; the text that is sent must fit it."""
    document = parse(path.read_bytes(), path.name)
    assert token_costs(document, count_all)[0] >= count(to_text(document))


def test_the_cost_of_a_node_is_the_cost_of_what_is_below() -> None:
    document = page("<h1>Leave</h1><ul><li>One<li>Two three</ul>")
    costs = token_costs(document, count_all)
    assert costs[0] == sum(costs[node.position] for node in document.root.children)
    assert all(costs[node.position] > 0 for node in document.sentences())
    assert token_costs(Document(), count_all) == [0]
