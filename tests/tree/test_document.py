from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from evidence.tree.document import Document, Node
from evidence.tree.html import parse
from evidence.tree.path import Path
from evidence.tree.subdocument import prune
from tests.tree.strategies import documents, pages

PAGE = (
    b"<title>Keys</title><h1>Keys</h1><ul><li>Blue key. It opens the yard.<ul><li>Spare</ul><li>Red</ul><p>Ask. Sign."
)


@given(documents())
def test_every_node_is_found_by_its_path_and_by_its_position(document: Document) -> None:
    """A citation is an address: it must lead back to its node."""
    for node in document.nodes:
        assert document.at(node.path) is node
        assert document.node(node.position) is node
    assert list(document.paths) == [node.path for node in document.nodes]


@given(documents())
def test_positions_are_pre_order_and_end_with_the_subtree(document: Document) -> None:
    """``down`` is answered by a range of positions."""
    for number, node in enumerate(document.nodes):
        assert node.position == number
        below = [other.position for other in node.descendants()]
        assert below == list(range(node.position + 1, node.last + 1))
        assert [child.index for child in node.children] == list(range(len(node.children)))


@given(documents())
def test_sentences_come_in_document_order(document: Document) -> None:
    found = list(document.sentences())
    assert found == list(document.root.sentences())
    assert all(before.path < after.path for before, after in pairwise(found))
    assert all(not sentence.children for sentence in found)


@given(documents())
def test_rows_build_the_same_document(document: Document) -> None:
    """The tree is read from the database as often as it is shown."""
    again = Document.from_rows(document.rows(), title=document.title, language=document.language)
    assert again.fingerprint == document.fingerprint
    assert [node.path for node in again.nodes] == [node.path for node in document.nodes]


@given(pages())
def test_rows_of_a_page_build_the_same_document(page: str) -> None:
    document = parse(page.encode())
    again = Document.from_rows(document.rows(), title=document.title, language=document.language)
    assert again.fingerprint == document.fingerprint


def test_places_that_are_not_there_are_key_errors() -> None:
    """A link to an older revision may name a place that this one does not have."""
    document = parse(PAGE)
    for path in ("9", "1.0.0", "0.7"):
        with pytest.raises(KeyError):
            document.at(Path.parse(path))
    for position in (-1, len(document)):
        with pytest.raises(KeyError):
            document.node(position)


def test_a_pruned_document_knows_its_own_nodes_only() -> None:
    """Positions stay those of the revision, so they no longer are places in the list."""
    document = parse(PAGE)
    last = document.nodes[-1]
    pruned = prune(document, [last])
    assert pruned.node(last.position).text == "Sign."
    assert pruned.at(last.path).text == "Sign."
    with pytest.raises(KeyError):
        pruned.node(last.position - 1)
    with pytest.raises(KeyError):
        pruned.at(document.nodes[1].path)


def test_a_row_without_its_parent_is_refused() -> None:
    """Half of a tree would be shown as if it were all."""
    rows = list(parse(PAGE).rows())
    del rows[3]
    with pytest.raises(ValueError, match="without its parent 3"):
        Document.from_rows(rows)


def test_trees_that_differ_in_one_thing_have_other_fingerprints() -> None:
    """A page of which only a link or a header's scope changed is a new revision."""
    pages = [
        "<p>A b.</p>",
        "<p>A c.</p>",
        "<p>A <b>b</b>.</p>",
        "<div>A b.</div><p>C.",
        "<li>A b.</li>",
        "<p id=x>A b.</p>",
        "<html lang=sv><p>A b.</p>",
        "<title>T</title><p>A b.</p>",
        "<p>A <a href=/x>b</a>.</p>",
        "<p>A <a href=/y>b</a>.</p>",
    ]
    assert len({parse(page.encode()).fingerprint for page in pages}) == len(pages)


def test_the_nearest_ancestor_and_the_content() -> None:
    document = parse(PAGE)
    spare = next(node for node in document.sentences() if node.text == "Spare")
    item = spare.nearest("li")
    assert item is not None
    assert item.content == "Spare"
    outer = item.nearest("li")
    assert outer is not None
    assert outer.content == "Blue key. It opens the yard. Spare"
    assert spare.nearest("table") is None
    assert [node.tag for node in spare.ancestors()] == ["root", "ul", "li", "ul", "li"]


def test_a_node_says_what_and_where_it_is() -> None:
    document = parse(PAGE)
    assert repr(document.at(Path.parse("1.0"))) == "<sentence 1.0 'Keys'>"
    assert isinstance(document.title_node, Node)
    assert parse(b"<p>A.").title_node is None
    assert Document().title_node is None
