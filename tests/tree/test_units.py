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
