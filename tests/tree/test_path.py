from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.tree.document import Document
from evidence.tree.path import Path, PathSet
from tests.tree.strategies import paths, subdocuments

TREES = subdocuments()
Tree = tuple[Document, PathSet]


def path_set(*texts: str) -> PathSet:
    return PathSet(map(Path.parse, texts))


TREE = path_set("", "0", "0.0", "0.1", "0.1.0", "1", "1.0", "2", "10")


@given(paths())
def test_a_path_reads_back_from_its_text(path: Path) -> None:
    """A citation's address is stored and linked as text."""
    assert Path.parse(str(path)) == path


@pytest.mark.parametrize("text", [".", "0.", ".1", "a", "-1", "1..2", "0.1a", " 1", "²", "٣", "1\n"])
def test_what_is_no_path_is_refused_by_name(text: str) -> None:
    """Addresses come from links that people edit."""
    with pytest.raises(ValueError, match="not a path"):
        Path.parse(text)


def test_paths_sort_in_document_order() -> None:
    """As text, 10 stands before 2."""
    assert sorted(map(Path.parse, ["10", "2", "0.1", "0", "", "0.0.5"])) == [
        Path.parse(text) for text in ("", "0", "0.0.5", "0.1", "2", "10")
    ]


def test_the_root_has_no_parent_and_no_ancestors() -> None:
    """A walk upwards must end."""
    assert list(Path().ancestors()) == []
    with pytest.raises(ValueError, match="no parent"):
        _ = Path().parent


@given(paths(), st.integers(0, 20))
def test_a_child_is_below_its_parent(path: Path, index: int) -> None:
    child = path.child(index)
    assert child.parent == path
    assert path.contains(child)
    assert not child.contains(path)
    assert list(child.ancestors()) == [*path.ancestors(), path]


def test_contains_compares_labels_not_characters() -> None:
    """1.1 is no ancestor of 1.10."""
    assert not Path.parse("1.1").contains(Path.parse("1.10"))


def test_a_path_set_is_a_set_in_document_order() -> None:
    """Evidence is shown in the order of the page, each place once."""
    both = path_set("2", "10", "0.1", "2")
    assert [str(path) for path in both] == ["0.1", "2", "10"]
    assert len(both) == 3
    assert Path.parse("10") in both
    assert both == path_set("10", "0.1", "2")
    assert hash(both) == hash(path_set("10", "0.1", "2"))
    assert both != {Path.parse("2")}
    assert repr(path_set("0.1")) == "PathSet(['0.1'])"


def test_path_sets_unite_meet_and_differ() -> None:
    left, right = path_set("0", "1"), path_set("1", "2")
    assert left | right == path_set("0", "1", "2")
    assert left & right == path_set("1")
    assert left - right == path_set("0")
    assert path_set("1") <= left
    assert not right <= left


def test_up_down_and_link_on_one_tree() -> None:
    """The operators as section 2 of the design defines them."""
    assert path_set("0.1").up() == path_set("", "0", "0.1")
    assert path_set("0.1").down(TREE) == path_set("0.1", "0.1.0")
    assert path_set("0.1").link(TREE) == path_set("", "0", "0.1", "0.1.0")
    assert path_set("1").down(TREE) == path_set("1", "1.0")
    assert path_set("").down(TREE) == TREE


def test_nothing_selected_gives_nothing() -> None:
    """No candidate, no evidence: not the whole page."""
    assert PathSet().up() == PathSet().down(TREE) == PathSet().link(TREE) == PathSet()


def test_a_path_that_the_tree_does_not_have_has_nothing_below() -> None:
    assert path_set("7").down(TREE) == PathSet()


@given(TREES)
def test_up_and_down_are_closures(tree: Tree) -> None:
    """up(up(P)) = up(P), down(down(P)) = down(P), link(link(P)) ⊇ link(P) ⊇ P, and each grows with P."""
    document, chosen = tree
    whole = document.paths
    assert chosen.up().up() == chosen.up()
    assert chosen.down(whole).down(whole) == chosen.down(whole)
    assert chosen <= chosen.up()
    assert chosen <= chosen.down(whole)
    for path in chosen:
        one = PathSet([path])
        assert one.up() <= chosen.up()
        assert one.down(whole) <= chosen.down(whole)


@given(TREES)
def test_up_is_closed_under_ancestors_and_down_under_descendants(tree: Tree) -> None:
    document, chosen = tree
    up, down = chosen.up(), chosen.down(document.paths)
    assert all(ancestor in up for path in up for ancestor in path.ancestors())
    assert all(below in down for path in down for below in document.paths if path.contains(below))
    assert up == PathSet(other for other in document.paths if any(other.contains(path) for path in chosen))
    assert down == PathSet(other for other in document.paths if any(path.contains(other) for path in chosen))


@given(TREES)
def test_link_is_up_and_down_together(tree: Tree) -> None:
    document, chosen = tree
    assert chosen.link(document.paths) == chosen.up() | chosen.down(document.paths)


@given(TREES, TREES)
def test_up_and_down_of_a_union_are_the_unions(tree: Tree, other: Tree) -> None:
    """The path sets of several candidates are united before they are linked; the result must be that of each apart."""
    document, chosen = tree
    more = other[1] & document.paths
    assert (chosen | more).up() == chosen.up() | more.up()
    assert (chosen | more).down(document.paths) == chosen.down(document.paths) | more.down(document.paths)
