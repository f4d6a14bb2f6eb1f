from __future__ import annotations

from pathlib import Path as FilePath

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence.bench.operators import BY_GIST, measure
from evidence.store import operators
from evidence.store.operators import link_of_positions, ltree
from evidence.store.revisions import Context, write_tree
from evidence.tree.document import Document as Tree
from evidence.tree.html import parse
from evidence.tree.path import Path, PathSet
from tests.store.conftest import NewRevision, tree_of, trees

SAMPLE = FilePath(operators.__file__).parent.parent / "sample"
shared_database = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def paths_of(connection: sa.Connection, revision_id: int, selected: sa.Executable) -> PathSet:
    """The paths that a statement of (position, path) gives; the path's first label must be the revision."""
    found = []
    for _, path in connection.execute(selected):
        first, _, rest = path.partition(".")
        assert int(first) == revision_id
        found.append(Path.parse(rest))
    assert len(found) == len(set(found))
    return PathSet(found)


def check_operators(connection: sa.Connection, revision_id: int, tree: Tree, chosen: PathSet) -> None:
    assert paths_of(connection, revision_id, operators.up(revision_id, chosen)) == chosen.up()
    assert paths_of(connection, revision_id, operators.down(revision_id, chosen)) == chosen.down(tree.paths)
    assert paths_of(connection, revision_id, operators.link(revision_id, chosen)) == chosen.link(tree.paths)
    positions = [tree.at(path).position for path in chosen]
    linked = connection.execute(link_of_positions([revision_id] * len(positions), positions)).all()
    assert sorted(linked) == [(revision_id, tree.at(path).position) for path in chosen.link(tree.paths)]


@shared_database
@given(data=st.data())
def test_the_operators_give_what_the_pure_ones_give_on_random_trees(
    connection: sa.Connection, new_revision: NewRevision, data: st.DataObject
) -> None:
    """An excerpt that loses its heading, or takes in the page's neighbour, because SQL and Python disagree."""
    tree = data.draw(trees)
    revision, other = new_revision(tree=tree), new_revision(tree=tree)
    chosen = PathSet(data.draw(st.lists(st.sampled_from(list(tree.paths)))))
    check_operators(connection, revision.pk, tree, chosen)
    check_operators(connection, other.pk, tree, chosen)


@pytest.mark.parametrize("page", sorted(SAMPLE.glob("*.html")), ids=lambda page: page.stem)
def test_the_operators_give_what_the_pure_ones_give_on_real_pages(
    connection: sa.Connection, new_revision: NewRevision, page: FilePath
) -> None:
    """Laws that hold on small random trees only."""
    tree = parse(page.read_bytes(), page.name)
    revision = new_revision(tree=tree)
    for every in (7, 3, 1):
        check_operators(connection, revision.pk, tree, PathSet(list(tree.paths)[::every]))


def test_the_root_alone_is_up_and_its_down_is_all(connection: sa.Connection, new_revision: NewRevision) -> None:
    """A path of one label only, which is the one that has no dot."""
    tree = tree_of([[], [[], []]])
    revision = new_revision(tree=tree)
    root = PathSet([Path()])
    assert paths_of(connection, revision.pk, operators.up(revision.pk, root)) == root
    assert paths_of(connection, revision.pk, operators.down(revision.pk, root)) == tree.paths


def test_of_no_paths_all_operators_are_empty(connection: sa.Connection, new_revision: NewRevision) -> None:
    """An empty array has no type that PostgreSQL could guess."""
    tree = tree_of([[], []])
    check_operators(connection, new_revision(tree=tree).pk, tree, PathSet())


def test_a_path_that_is_not_there_finds_only_the_ancestors_that_are(
    connection: sa.Connection, new_revision: NewRevision
) -> None:
    """A citation of another revision must not make an error, nor a node that does not exist."""
    revision = new_revision(tree=tree_of([[[]]]))
    gone = PathSet([Path((0, 5, 1))])
    assert paths_of(connection, revision.pk, operators.up(revision.pk, gone)) == PathSet([Path(), Path((0,))])
    assert not paths_of(connection, revision.pk, operators.down(revision.pk, gone))


def test_a_tree_a_hundred_deep_is_stored_and_its_ancestors_found(
    connection: sa.Connection, new_revision: NewRevision
) -> None:
    """Paths too long for an index's key (https://github.com/LemmyNet/lemmy/issues/2663)."""
    shape: list = []
    for _ in range(100):
        shape = [*([[]] * 11), shape]
    tree = tree_of(shape)
    deepest = max(tree.paths, key=len)
    assert len(deepest) == 100
    revision = new_revision(tree=tree)
    check_operators(connection, revision.pk, tree, PathSet([deepest]))
    connection.execute(sa.text("CREATE TABLE by_gist AS SELECT path FROM spire.node"))
    connection.execute(sa.text("CREATE INDEX ON by_gist USING gist (path)"))


def test_labels_are_digits_only() -> None:
    """PostgreSQL before 16 refuses a hyphen in a label."""
    assert ltree(17, Path((0, 3, 1))) == "17.0.3.1"
    assert ltree(17, Path()) == "17"


def test_up_and_down_use_the_indexes(connection: sa.Connection, new_revision: NewRevision) -> None:
    """A plan that reads every node of every document for each question."""
    new_revision(tree=tree_of([[[]] * 10] * 200))
    revision = new_revision(tree=tree_of([[[]] * 10] * 200))
    connection.execute(sa.text("ANALYZE spire.node"))
    positions = list(range(1, 2001, 10))
    statement = link_of_positions([revision.pk] * len(positions), positions)
    text = str(statement.compile(connection.engine))
    plan = connection.exec_driver_sql(
        f"EXPLAIN {text}", {"revisions": [revision.pk] * len(positions), "positions": positions}
    ).scalars()
    assert "Seq Scan on node above" not in "\n".join(plan)


def test_all_ways_that_are_measured_give_the_same_nodes(connection: sa.Connection, new_revision: NewRevision) -> None:
    """A way that is faster because it does less; or a measurement that leaves its tables behind."""
    for page in SAMPLE.glob("*.html"):
        tree = parse(page.read_bytes(), page.name)
        seeds = [(sentence.position, 0) for sentence in tree.sentences()]
        write_tree(
            connection,
            new_revision().pk,
            tree,
            tokens=[1] * len(tree),
            contexts=[Context((), (), ())],
            seeds=seeds,
        )
    nodes: dict[tuple[str, str], set[int]] = {}
    for timing in measure(connection, samples=3):
        nodes.setdefault((timing.operator, timing.shape), set()).add(timing.nodes)
    assert len(nodes) == 9
    assert all(len(counts) == 1 and 0 not in counts for counts in nodes.values())
    assert connection.execute(sa.select(sa.func.to_regclass(BY_GIST))).scalar() is None


def test_without_trees_there_is_nothing_to_measure(connection: sa.Connection) -> None:
    """Figures of an empty database."""
    with pytest.raises(ValueError, match=r"manage\.py ingest"):
        next(measure(connection))
