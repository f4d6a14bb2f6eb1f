from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable

import pytest
from hypothesis import given

from evidence.tree.context import (
    POLICIES,
    Policy,
    caption,
    context_paths,
    global_context,
    grid_of,
    headings,
    label,
    list_label,
    list_number,
    policies_for,
    term,
)
from evidence.tree.document import Document, Node
from evidence.tree.html import parse
from evidence.tree.seeds import seed_of, seeds
from tests.tree.strategies import pages


def page(body: str) -> Document:
    return parse(body.encode(), "page.html")


def leaf(document: Document, text: str) -> Node:
    return next(node for node in document.sentences() if node.text == text)


def texts(nodes: Iterable[Node]) -> list[str]:
    return [node.content for node in nodes]


def told(document: Document, text: str) -> list[tuple[str, str]]:
    """The global context of a leaf, or of its row."""
    return [(entry.policy, entry.node.content) for entry in global_context(seed_of(leaf(document, text)))]


def label_of(document: Document, text: str) -> str | None:
    found = label(leaf(document, text))
    return None if found is None else found.content


def test_the_title_is_context_unless_the_first_heading_says_the_same() -> None:
    """The budget would pay twice for one name."""
    same = page("<title>Leave</title><h1>LEAVE</h1><p>Ask.")
    other = page("<title>Handbook</title><h1>Leave</h1><p>Ask.")
    assert told(same, "Ask.") == [("heading", "LEAVE")]
    assert told(other, "Ask.") == [("title", "Handbook"), ("heading", "Leave")]


def test_the_title_is_no_context_of_itself() -> None:
    document = page("<title>Leave</title><p>Ask.")
    assert told(document, "Leave") == []


def test_a_fallback_title_is_no_place_and_so_no_context() -> None:
    """A file's name is not on the page: nothing there could be cited for it."""
    assert told(page("<p>Ask."), "Ask.") == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h1>A</h1><h2>B</h2><h2>C</h2><p>x", ["A", "C"]),
        ("<h1>A</h1><h3>B</h3><h2>C</h2><p>x", ["A", "C"]),
        ("<h3>A</h3><h2>B</h2><p>x", ["B"]),
        ("<h1>A</h1><h2>B</h2><h1>C</h1><p>x", ["C"]),
        ("<h1>A</h1><div><h2>B</h2></div><p>x", ["A", "B"]),
        ("<h1>A</h1><section><h2>B</h2></section><p>x", ["A"]),
        ("<h1>A</h1><section><h2>B</h2><p>x</section>", ["A", "B"]),
        ("<h1>A</h1><aside><h2>B</h2></aside><p>x", ["A"]),
        ("<h1>A</h1><blockquote><h1>B</h1></blockquote><p>x", ["A"]),
        ("<h1>A</h1><blockquote><h1>B</h1><p>x</blockquote>", ["B"]),
        ("<h1>A</h1><ul><li><h3>B</h3></li><li>x</ul>", ["A"]),
        ("<h1>A</h1><header><h2>B</h2></header><p>x", ["A", "B"]),
        ("<h1>A</h1><h2></h2><p>x", ["A"]),
        ("<h1>A</h1><h2><img src=b.png></h2><p>x", ["A"]),
        ("<p>x<h1>A</h1>", []),
        ("<h1>A<h2>B</h2><p>x", ["A", "B"]),
    ],
)
def test_headings_that_are_active_at_a_place(body: str, expected: list[str]) -> None:
    """A heading closes all equal and deeper ones, within the part of the page that it stands in."""
    assert texts(headings(leaf(page(body), "x"))) == expected


def test_a_heading_is_headed_by_those_above_it() -> None:
    document = page("<h1>A</h1><h2>B</h2><h3>C</h3><p>x")
    assert texts(headings(leaf(document, "C"))) == ["A", "B"]
    assert texts(headings(leaf(document, "A"))) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>You start. Bring these:<ul><li>x</ul>", "Bring these:"),
        ("Bring these:<ul><li>x</ul>", "Bring these:"),
        ("<p>Bring these:<ol><li><div>x</div></ol>", "Bring these:"),
        ("<p>Bring these:</p><div><div><ul><li>x</ul></div></div>", "Bring these:"),
        ("<p>Bring these:</p><section><ul><li>x</ul></section>", "Bring these:"),
        ("<p>Bring these:</p><section><p>A.</p><ul><li>x</ul></section>", "A."),
        ("<p>Bring these:</p><ul><li>a</ul><ul><li>x</ul>", None),
        ("<p>Bring these:</p><p>&nbsp;</p><p></p><ul><li>x</ul>", "Bring these:"),
        ("<p>Bring these:<br><br><ul><li>x</ul>", "Bring these:"),
        ("<p>Bring these:</p><hr><ul><li>x</ul>", None),
        ("<p>Bring these:</p><h2>B</h2><ul><li>x</ul>", None),
        ("<ul><li>x</ul>", None),
        ("<p>x</p>", None),
    ],
)
def test_the_label_of_a_list_is_the_sentence_right_before_it(body: str, expected: str | None) -> None:
    """An item alone ("bank card") answers nothing; words about something else would mislead."""
    assert label_of(page(body), "x") == expected


def test_a_nested_list_carries_its_items_and_their_labels() -> None:
    """The item "Three days" is the answer only together with the item and the words that it belongs to."""
    document = page("<p>Leave is:<ol><li>Short. It is paid.<ul><li>Three days</ul><li>Long:<ul><li>A year</ul></ol>")
    assert texts(list_label(leaf(document, "Three days"))) == ["Leave is:", "Short. It is paid."]
    assert texts(list_label(leaf(document, "A year"))) == ["Leave is:", "Long:"]
    assert label_of(document, "A year") == "Long:"


def test_an_item_that_begins_with_a_list_is_not_introduced_by_what_follows() -> None:
    document = page("<ul><li><ul><li>x</ul>After.</ul>")
    assert texts(list_label(leaf(document, "x"))) == []


def test_an_item_of_several_paragraphs_labels_with_the_last_one() -> None:
    """The item's own first words name it; the words right before the inner list introduce that."""
    document = page("<ul><li><p>Install.</p><p>You need:</p><ul><li>x</ul></ul>")
    assert texts(list_label(leaf(document, "x"))) == ["Install.", "You need:"]


def test_terms_of_a_definition() -> None:
    """Terms belong to all definitions up to the next term, however they are wrapped."""
    document = page("<dl><dt>A<dt>B<dd>one<dd>two<div><dt>C<dd><p>three<p>four<ul><li>five</ul></div></dl>")
    for text, terms in (("one", "AB"), ("two", "AB"), ("three", "C"), ("four", "C"), ("five", "C")):
        assert texts(term(leaf(document, text))) == list(terms)
    assert texts(term(leaf(document, "A"))) == []


def test_a_definition_without_a_term_has_none() -> None:
    assert texts(term(leaf(page("<dl><dd>one</dl>"), "one"))) == []


def test_a_list_of_definitions_has_the_words_before_it() -> None:
    document = page("<p>We say:<dl><dt>RTO<dd>Measured in hours.</dl>")
    assert told(document, "Measured in hours.") == [("list label", "We say:"), ("term", "RTO")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<table><caption>Fares</caption><tr><th>A<tr><td>x<td>y</table>", "Fares"),
        ("<p>Table 3 Fares<table><tr><th>A<th>B<tr><td>x<td>y</table>", "Table 3 Fares"),
        ("<p>Our fares<table><tr><th>A<th>B<tr><td>x<td>y</table>", "Our fares"),
        ("<p>These are the fares:<table><tr><th>A<th>B<tr><td>x<td>y</table>", "These are the fares:"),
        ("<p>Trains are late.<table><tr><th>A<th>B<tr><td>x<td>y</table>", None),
        ("<figure><figcaption>Fares</figcaption><table><tr><th>A<th>B<tr><td>x<td>y</table></figure>", "Fares"),
        ("<h2>Fares</h2><table><tr><th>A<th>B<tr><td>x<td>y</table>", None),
    ],
)
def test_the_caption_of_a_table(body: str, expected: str | None) -> None:
    """A table without a caption is named by the words before it, if these are about it."""
    assert texts(caption(leaf(page(body), "x"))) == ([] if expected is None else [expected])


def test_the_caption_is_no_context_of_itself() -> None:
    document = page("<table><caption>Fares</caption><tr><th>A<th>B<tr><td>x<td>y</table>")
    assert "Fares" not in [text for _, text in told(document, "Fares")]


def test_a_row_has_its_caption_and_its_header_rows() -> None:
    """The unit of retrieval in a table: all of its cells can be read with this context alone."""
    document = page(
        "<h1>Travel</h1><table><caption>Fares</caption><tr><th>Zone<th>Fare<tr><th>A<td>5<tr><th>B<td>7</table>"
    )
    assert told(document, "7") == [("heading", "Travel"), ("caption", "Fares"), ("column header", "Zone Fare")]


def test_a_row_has_the_cells_that_span_it_and_the_row_that_heads_its_group() -> None:
    document = page(
        "<table><tr><th>Land<th>Town<th>km<tr><th rowspan=2>Sweden<td>Lund<td>5<tr><td>Umeå<td>6"
        "<tr><th colspan=3>Norway<tr><td><td>Oslo<td>7</table>"
    )
    assert ("row header", "Sweden") in told(document, "6")
    assert ("row header", "Norway") in told(document, "7")
    assert ("row header", "Sweden") not in told(document, "7")


def test_the_summary_of_details() -> None:
    """The text of a closed box is read under its summary only."""
    document = page("<details><summary>Late?</summary><p>Call us.</p></details><details><p>No name.</p></details>")
    assert told(document, "Call us.") == [("summary", "Late?")]
    assert told(document, "Late?") == []
    assert told(document, "No name.") == []


def test_a_pre_has_the_words_that_introduce_it() -> None:
    document = page("<p>Stop first. Then run:</p><pre>sync --all</pre><pre>sync --one</pre>")
    assert told(document, "sync --all") == [("lead-in", "Then run:")]
    assert told(document, "sync --one") == []


def test_a_site_adds_a_policy_of_its_own() -> None:
    """Policies are a list to extend, not a switch to edit."""

    def first_sentence(node: Node) -> list[Node]:
        return [next(node.document.sentences())]

    document = page("<p>Draft.</p><p>Ask.</p>")
    policies = [*POLICIES, Policy("status", first_sentence)]
    found = global_context(leaf(document, "Ask."), policies)
    assert [(entry.policy, entry.node.content) for entry in found] == [("status", "Draft.")]
    assert [str(path) for path in context_paths(leaf(document, "Ask."), policies)] == ["0.0"]
    assert global_context(leaf(document, "Draft."), policies) == []


def test_the_optional_policies_of_a_collection_come_after_the_others() -> None:
    """The same names always give the same policies, and an unknown one is an error that names those there are."""
    assert policies_for([]) is POLICIES
    assert policies_for(["reference", "definition"]) is policies_for(["definition", "reference"])
    assert [policy.name for policy in policies_for(["reference", "definition"])[-2:]] == ["definition", "reference"]
    with pytest.raises(ValueError, match="no optional policy 'other'; there are: 'definition', 'reference'"):
        policies_for(["other"])


def test_a_policy_adds_no_more_than_its_bounds() -> None:
    """A plug-in that would bring half a page along with each sentence."""

    def all_paragraphs(node: Node) -> list[Node]:
        return [found for found in node.document.nodes if found.tag == "p"]

    document = page(
        f"<p>Ask.</p><p>Short. Also.</p><p>First one. {'It is long. ' * 20}</p><p>{'x' * 99}</p><p>Last.</p>"
    )
    bounded = Policy("all", all_paragraphs, most=3, longest=50)
    found = global_context(leaf(document, "Ask."), [bounded])
    assert texts(entry.node for entry in found) == ["Short. Also.", "First one.", "Last."]
    assert len(global_context(leaf(document, "Ask."), [bounded._replace(most=2)])) == 2


def test_sentences_of_one_place_are_asked_for_once() -> None:
    """A policy that looks at the place only, and is asked for each sentence of a long paragraph."""
    asked: list[Node] = []

    def note(node: Node) -> list[Node]:
        asked.append(node)
        return []

    document = page("<h1>H</h1><p>One. Two. Three.</p><p>Four.</p><h2>I</h2><p>Five.</p>")
    for policies, times in (([Policy("note", note, by_place=True)], 2), ([Policy("note", note)], 5)):
        asked.clear()
        for text in ("One.", "Two.", "Three.", "Four.", "Five."):
            global_context(leaf(document, text), policies)
        assert len(asked) == times


def test_the_number_of_an_item() -> None:
    document = page("<ol start=4><li>four<li>five<ul><li>dot</ul></ol><li>loose</li>")
    numbers = {text: list_number(leaf(document, text)) for text in ("four", "five", "dot", "loose")}
    assert numbers == {"four": 4, "five": 5, "dot": None, "loose": None}


def test_a_layout_table_gives_sentences_and_no_headers() -> None:
    document = page("<table role=presentation><tr><th>A<th>B<tr><td>x<td>y</table>")
    assert grid_of(leaf(document, "x").nearest("table")) is None
    assert told(document, "x") == []
    assert seed_of(leaf(document, "x")).is_sentence


@given(pages())
def test_contexts_are_the_same_each_time_and_lie_elsewhere(text: str) -> None:
    """Contexts are stored as places; they must lead to the same nodes in the same bytes parsed again."""
    document, again = parse(text.encode()), parse(text.encode())
    for seed, same in zip(seeds(document), seeds(again), strict=True):
        assert seed.path == same.path
        found = global_context(seed)
        assert [(entry.policy, entry.node.path) for entry in found] == [
            (entry.policy, entry.node.path) for entry in global_context(same)
        ]
        positions = [entry.node.position for entry in found]
        assert len(positions) == len(set(positions))
        assert seed.position not in positions
        assert context_paths(seed) <= document.paths


def test_a_document_that_nobody_holds_any_more_is_freed() -> None:
    """A worker whose memory grows with every page that it has ever read."""
    document = parse(b"<title>T</title><h1>H</h1><p>One. Two.</p>", "t.html")
    for seed in seeds(document):
        global_context(seed)
    gone = weakref.ref(document)
    del document, seed
    gc.collect()
    assert gone() is None


def test_a_choice_in_a_form_has_the_legend_of_its_group() -> None:
    """ "Standard" and "Express" of which nobody knows that they are ways of delivery."""
    page = b"<form><fieldset><legend>Delivery</legend><label><input type=radio> Express</label></fieldset></form>"
    document = parse(page)
    [express] = seeds(document)
    assert (express.content, [entry.node.content for entry in global_context(express)]) == ("Express", ["Delivery"])
