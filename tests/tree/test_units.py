"""The text of a unit in its context: the same from its whole page and from the part that search reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.tree.context import global_context
from evidence.tree.html import parse
from evidence.tree.seeds import seeds
from evidence.tree.subdocument import prune
from evidence.tree.units import Unit, single_text, text_in_context, unit_at

PAGES = sorted((Path(__file__).parent.parent / "cases").glob("*/input*.html"))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.parent.name)
def test_a_pruned_page_says_of_a_unit_what_the_whole_one_does(page: Path) -> None:
    """A filter that is asked about other text than it has learnt from: a row without its column headers."""
    tree = parse(page.read_bytes(), page.name)
    for seed in seeds(tree):
        context = global_context(seed)
        pruned = prune(tree, [seed, *(entry.node for entry in context)])
        policies, places = [entry.policy for entry in context], [entry.node.position for entry in context]
        found = unit_at(pruned, [seed.position], policies, places)
        assert text_in_context(found) == text_in_context(Unit((seed,), tuple(context)))


def test_a_unit_without_context_is_its_own_text_alone() -> None:
    """A text that begins with a space is another text to a cache of vectors."""
    tree = parse(b"<p>Tea is green.</p>", "a.html")
    (seed,) = seeds(tree)
    assert single_text(Unit((seed,), ()), context=True) == "Tea is green."


def test_a_row_of_a_page_of_which_little_is_left_can_still_be_read() -> None:
    """A page that was pruned in front of a table: the place of the table among its siblings was taken for its index, and
    the question failed."""
    rows = "".join(f"<tr><td>Year {number}</td><td>{20 + number}</td></tr>" for number in range(3))
    table = f"<table><tr><th>Employed for</th><th>Days</th></tr>{rows}</table>"
    terms = "<dl><dt>Leave</dt><dd>Time off.</dd><dd>Paid.</dd></dl>"
    tree = parse(f"<h1>Leave</h1><p>One.</p><p>Two.</p><p>Three.</p>{table}{terms}".encode(), "a.html")
    for seed in seeds(tree):
        pruned = prune(tree, [seed])
        unit = unit_at(pruned, [seed.position], [], [])
        assert seed.content.split()[0] in text_in_context(unit)[1]


def test_the_place_of_a_node_is_that_among_the_siblings_that_are_left() -> None:
    tree = parse(b"<p>One.</p><p>Two.</p><p>Three.</p>", "a.html")
    last = tree.at(tree.nodes[0].children[-1].path)
    assert last.place == last.index
    pruned = prune(tree, [last]).node(last.position)
    assert (pruned.place, pruned.index) == (0, last.index)
    assert tree.nodes[0].place == 0
