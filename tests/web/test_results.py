from __future__ import annotations

from evidence.tree.html import parse
from evidence.web.results import shared_headings


def shared(page: str, *cited: str) -> list[str]:
    tree = parse(page.encode(), "page.html")
    nodes = [sentence for sentence in tree.sentences() if sentence.text in cited]
    assert len(nodes) == len(cited)
    return [heading.content for heading in shared_headings(tree, nodes)]


PAGE = "<h1>Leave</h1><p>All.</p><h2>Annual</h2><p>Days.</p><h3>Carry</h3><p>Five.</p><h2>Sick</h2><p>Call.</p>"


def test_the_trail_is_the_headings_that_all_citations_stand_under() -> None:
    """A heading above the excerpt that does not hold for all of it would give a sentence a wrong context."""
    assert shared(PAGE, "Five.") == ["Leave", "Annual", "Carry"]
    assert shared(PAGE, "Days.", "Five.") == ["Leave", "Annual"]
    assert shared(PAGE, "Five.", "Call.") == ["Leave"]
    assert shared(PAGE, "All.", "Five.") == ["Leave"]


def test_a_cited_heading_stays_in_the_excerpt() -> None:
    assert shared(PAGE, "Carry", "Five.") == ["Leave", "Annual"]


def test_a_heading_holds_only_within_its_aside() -> None:
    page = "<h1>Gate</h1><p>One.</p><aside><h2>Note</h2><p>Two.</p></aside><p>Three.</p>"
    assert shared(page, "Two.") == ["Gate", "Note"]
    assert shared(page, "Two.", "Three.") == ["Gate"]
