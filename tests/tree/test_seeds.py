from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given

from evidence.tree.context import global_context
from evidence.tree.document import Document, Node
from evidence.tree.html import parse
from evidence.tree.main_content import APART, apart_reasons
from evidence.tree.seeds import seed_of, seeds
from tests.tree.strategies import pages


def page(body: str) -> Document:
    return parse(body.encode(), "page.html")


def texts(nodes: Iterable[Node]) -> list[str]:
    return [node.content for node in nodes]


def test_seeds_are_sentences_and_rows_and_not_what_only_serves_as_context() -> None:
    """Headings and header rows come along with what they head; found alone they answer nothing."""
    document = page(
        "<title>T</title><h1>H</h1><p>One. Two.<dl><dt>D<dd>d</dl>"
        "<table><caption>C</caption><tr><th>A<th>B<tr><td>1<td>2</table>"
    )
    assert [(seed.tag, seed.content) for seed in seeds(document)] == [
        ("sentence", "One."),
        ("sentence", "Two."),
        ("sentence", "d"),
        ("tr", "1 2"),
    ]


def test_a_heading_that_heads_nothing_is_a_seed() -> None:
    """A heading such as "Closed on Fridays" is all that a page may say about it."""
    document = page("<h1>Desk</h1><p>Open.</p><h2>Closed on Fridays</h2>")
    assert texts(seeds(document)) == ["Open.", "Closed on Fridays"]


def test_a_page_of_headings_alone_is_found() -> None:
    assert texts(seeds(page("<h1>Closed</h1>"))) == ["Closed"]


def test_navigation_is_searched_only_where_there_is_nothing_else() -> None:
    """Menus are on every page and match every question."""
    assert texts(seeds(page("<nav>Home</nav><p>Text."))) == ["Text."]
    assert texts(seeds(page("<nav>Home</nav>"))) == ["Home"]


def test_what_has_no_letter_or_digit_is_no_seed() -> None:
    assert texts(seeds(page("<p>***</p><p>Text.</p><p>→</p>"))) == ["Text."]


def test_a_row_of_prose_is_found_by_its_sentences() -> None:
    """A row that would fill the budget is a page's layout."""
    document = page(f"<table><tr><th>A<th>B<tr><td>{'Long talk here. ' * 100}<td>x</table>")
    assert {seed.tag for seed in seeds(document)} == {"sentence"}


def test_a_row_in_a_cell_of_a_row_is_its_own_unit_or_part_of_the_outer_one() -> None:
    """A table within a data cell is found once."""
    document = page("<table><tr><th>A<th>B<tr><td>1<td><table><tr><th>C<th>D<tr><td>8<td>9</table></table>")
    found = texts(seeds(document))
    assert found == ["1 C D 8 9"]
    assert len(found) == len(set(found))


def test_a_node_that_is_marked_takes_all_below_it_out_of_the_search() -> None:
    """The mark stands on the outermost node; sentences deep in a menu would be found without it."""
    document = page("<section><ul><li>Home</ul></section><p>Text.")
    section = next(node for node in document.nodes if node.tag == "section")
    section.attributes = {**section.attributes, APART: "navigation"}
    assert texts(seeds(document)) == ["Text."]


def test_seeds_are_found_once() -> None:
    """A page whose seeds are asked for by each index, and found anew for each."""
    document = page("<p>One. Two.")
    assert seeds(document) == seeds(document)
    seeds(document).clear()
    assert texts(seeds(document)) == ["One.", "Two."]


def test_the_seed_of_a_sentence_is_its_row() -> None:
    document = page("<p>Before.<table><tr><th>A<th>B<tr><td>x<td>y</table>")
    assert [seed_of(sentence).content for sentence in document.sentences()] == ["Before.", "A B", "A B", "x y", "x y"]


@given(pages())
def test_every_sentence_is_in_a_seed_or_in_the_context_of_one(text: str) -> None:
    """A sentence of the main content that is neither can never be shown as evidence."""
    document = parse(text.encode())
    chosen = seeds(document)
    reached = {sentence.position for seed in chosen for sentence in seed.sentences()}
    for seed in chosen:
        for entry in global_context(seed):
            reached.update(sentence.position for sentence in entry.node.sentences())
    reasons = apart_reasons(document)
    missed = [
        s.text
        for s in document.sentences()
        if s.position not in reached and not reasons[s.position] and any(map(str.isalnum, s.text))
    ]
    assert missed == []
