from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.tree.document import Document
from evidence.tree.html import parse
from evidence.tree.path import Path, PathSet
from evidence.tree.subdocument import Subdocument, cover, prune
from tests.tree.strategies import pages, subdocuments

Tree = tuple[Document, PathSet]


@given(subdocuments())
def test_an_excerpt_is_the_tree_pruned_to_link(tree: Tree) -> None:
    """The paper's claim: pruning to link(P) leaves a well-formed tree."""
    document, chosen = tree
    excerpt = Subdocument(document, chosen).extract()
    assert excerpt.paths == chosen.link(document.paths) | PathSet([Path()])
    for node in excerpt.nodes:
        original = document.at(node.path)
        assert (node.tag, node.text, node.markup, node.position, node.last) == (
            original.tag,
            original.text,
            original.markup,
            original.position,
            original.last,
        )
        assert node.parent is None or node in node.parent.children


@given(subdocuments())
def test_the_sentences_of_an_excerpt_are_those_at_or_below_its_paths(tree: Tree) -> None:
    """Nothing that was not selected is shown as evidence, and nothing selected is lost."""
    document, chosen = tree
    excerpt = Subdocument(document, chosen).extract()
    expected = [s.text for s in document.sentences() if any(path.contains(s.path) for path in chosen)]
    assert [sentence.text for sentence in excerpt.sentences()] == expected


@given(pages(), st.lists(st.integers(0, 200), max_size=5))
def test_an_excerpt_of_a_page_leaves_the_page_as_it_was(page: str, numbers: list[int]) -> None:
    """Documents are shared between requests."""
    document = parse(page.encode())
    before = document.fingerprint
    chosen = [document.nodes[number % len(document)] for number in numbers]
    excerpt = prune(document, chosen)
    assert excerpt is not document
    assert parse(page.encode()).fingerprint == document.fingerprint == before
    again = prune(excerpt, [excerpt.at(node.path) for node in chosen])
    assert list(again.rows()) == list(excerpt.rows())


@given(subdocuments())
def test_the_operators_of_a_subdocument_are_those_of_its_paths(tree: Tree) -> None:
    document, chosen = tree
    sub = Subdocument(document, chosen)
    assert sub.up().paths == chosen.up()
    assert sub.down().paths == chosen.down(document.paths)
    assert sub.link().paths == sub.up().paths | sub.down().paths == (sub.up() | sub.down()).paths


def test_subdocuments_of_two_documents_do_not_unite() -> None:
    """A path means nothing in another document."""
    left, right = parse(b"<p>A.</p>"), parse(b"<p>A.</p>")
    with pytest.raises(ValueError, match="one document"):
        Subdocument(left, left.paths) | Subdocument(right, right.paths)


def test_a_path_that_the_document_does_not_have_is_refused() -> None:
    """An address of another revision must not give an empty excerpt."""
    document = parse(b"<p>A.</p>")
    with pytest.raises(KeyError):
        Subdocument(document, PathSet([Path((4, 2))])).extract()


def test_an_empty_selection_gives_an_empty_document() -> None:
    document = parse(b"<title>T</title><p>A.</p>")
    excerpt = Subdocument(document, PathSet()).extract()
    assert list(excerpt.sentences()) == []
    assert (excerpt.title, len(excerpt)) == ("T", 1)


@given(subdocuments())
def test_the_cover_of_an_excerpt_makes_it_again(tree: Tree) -> None:
    """A saved excerpt that opens with more or less than it had."""
    document, chosen = tree
    excerpt = Subdocument(document, chosen).extract()
    paths = cover(excerpt)
    assert Subdocument(document, paths).extract().fingerprint == excerpt.fingerprint
    assert not any(one.contains(other) for one in paths for other in paths if one != other)
