from __future__ import annotations

from pathlib import Path as FilePath

import pytest
import sqlalchemy as sa
from django.db import connection as django_connection
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.errors import UniqueViolation

from evidence.configured import pipeline
from evidence.store import revisions
from evidence.store.connection import borrow, lender
from evidence.store.revisions import (
    Context,
    add_contexts,
    read_contexts,
    read_links,
    read_tokens,
    read_tree,
    write_tree,
)
from evidence.tree.document import Document as Tree
from evidence.tree.html import parse
from evidence.tree.path import Path, PathSet
from tests.store.conftest import NewRevision, tree_of, trees

SAMPLE = FilePath(revisions.__file__).parent.parent / "sample"
shared_database = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

AWKWARD = (
    b"<!doctype html><html lang='de'><title>A \\ title\twith &lt;marks&gt;</title>"
    b"<p>Back\\slash, \\N, quotes \" ' and 100 %. Percent %s %(x)s too. <b>Bold &amp; <i>all</i></b>"
    b" {braces}, \\. at the end."
    b"<pre>tab\there\n\n  two lines\r\nmore</pre><ol start=3 reversed><li value=7>Seven &#x1F600; &#x0645;&#x0631;</ol>"
    b"<table><tr><th colspan=2>Head<tr><td id='a\"b'>1<td>NULL</table>"
)


def pages() -> list[tuple[str, Tree]]:
    found = [(page.stem, parse(page.read_bytes(), page.name)) for page in sorted(SAMPLE.glob("*.html"))]
    return [*found, ("awkward", parse(AWKWARD, "awkward.html")), ("empty", parse(b"", "empty.html"))]


@pytest.mark.parametrize(("name", "tree"), pages(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_tree_is_read_as_it_was_written(
    connection: sa.Connection, new_revision: NewRevision, name: str, tree: Tree
) -> None:
    """A citation that is quoted as something else than what the page says."""
    revision = new_revision(title=tree.title, language=tree.language, tree=tree)
    assert read_tree(connection, revision.pk).fingerprint == tree.fingerprint


text = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=30)


@shared_database
@given(written=text, markup=text, value=text)
def test_any_text_comes_back_unchanged(
    connection: sa.Connection, new_revision: NewRevision, written: str, markup: str, value: str
) -> None:
    """Characters that mean something to COPY, to ltree, to JSON or to the driver."""
    tree = tree_of([[[]]])
    sentence, block = tree.nodes[2], tree.nodes[1]
    sentence.text, sentence.markup, block.attributes = written, markup, {"id": value}
    assert read_tree(connection, new_revision(tree=tree).pk).fingerprint == tree.fingerprint


def test_a_revision_that_is_not_there_is_a_key_error(connection: sa.Connection) -> None:
    """An empty page in the place of a clear answer."""
    with pytest.raises(KeyError):
        read_tree(connection, 10**12)


def test_tokens_and_contexts_come_back_in_their_order(connection: sa.Connection, new_revision: NewRevision) -> None:
    """A budget that adds the tokens of other nodes than those it takes."""
    revision = new_revision()
    tree = tree_of([[], [[], []]])
    contexts = [Context((), (), ()), Context(("title", "heading"), (1, 3), (4, 0))]
    write_tree(connection, revision.pk, tree, tokens=[9, 8, 7, 6, 5], contexts=contexts, seeds=[(1, 0), (3, 1), (4, 1)])
    assert read_tokens(connection, revision.pk) == [9, 8, 7, 6, 5]
    assert read_contexts(connection, revision.pk) == contexts
    add_contexts(connection, revision.pk, [Context(("caption",), (2,), (1,))], first=2)
    assert [context.policies for context in read_contexts(connection, revision.pk)] == [
        (),
        ("title", "heading"),
        ("caption",),
    ]


@shared_database
@given(data=st.data())
def test_a_link_is_the_tree_pruned_to_link_of_its_paths(
    connection: sa.Connection, new_revision: NewRevision, data: st.DataObject
) -> None:
    """An excerpt with nodes that were not asked for, or one that cannot be rendered because a parent is missing."""
    places = {}
    expected = {}
    for _ in range(2):
        tree = data.draw(trees)
        chosen = data.draw(st.lists(st.sampled_from(tree.nodes), min_size=1))
        revision = new_revision(tree=tree)
        places[revision.pk] = [node.position for node in chosen]
        expected[revision.pk] = PathSet(node.path for node in chosen).link(tree.paths)
    found = read_links(connection, places)
    assert {revision: linked.tree.paths for revision, linked in found.items()} == expected


def test_links_say_where_they_come_from_and_keep_their_places(
    connection: sa.Connection, new_revision: NewRevision
) -> None:
    """An excerpt whose citations lead to another place once the tree is pruned."""
    tree = tree_of([[[], []], [[], [], []]])
    revision = new_revision("Manual", title="Leave", language="en", tree=tree)
    wanted = tree.at(Path((1, 2)))
    linked = read_links(connection, {revision.pk: [wanted.position, wanted.position]})[revision.pk]
    assert (linked.document_id, linked.revision, linked.address, linked.collection) == (
        revision.document_id,
        1,
        "0.html",
        "Manual",
    )
    assert (linked.tree.title, linked.tree.language) == ("Leave", "en")
    assert [str(path) for path in linked.tree.paths] == ["", "1", "1.2"]
    assert linked.tree.node(wanted.position).path == wanted.path


def test_links_of_many_revisions_are_one_statement(connection: sa.Connection, new_revision: NewRevision) -> None:
    """A question whose time grows with the number of documents in its answer."""
    places = {new_revision(tree=tree_of([[], [[]]])).pk: [1, 3] for _ in range(5)}
    statements = []

    def note(*arguments: object) -> None:
        statements.append(arguments[2])

    sa.event.listen(connection, "before_cursor_execute", note)
    assert len(read_links(connection, places)) == 5
    assert len(statements) == 1
    assert read_links(connection, {}) == {}
    assert read_links(connection, {next(iter(places)): []}) == {}
    assert len(statements) == 1


def test_deleting_a_document_leaves_nothing_derived_from_it(
    connection: sa.Connection, new_revision: NewRevision
) -> None:
    """Text of a deleted page that can still be found in the database."""
    revision, kept = new_revision(), new_revision(tree=tree_of([[]]))
    write_tree(connection, revision.pk, tree_of([[]]), tokens=[1, 1], contexts=[Context((), (), ())], seeds=[(1, 0)])
    revision.document.delete()
    for table in ("node", "context", "seed"):
        left = connection.execute(sa.text(f"SELECT DISTINCT revision_id FROM spire.{table}")).scalars().all()
        assert revision.pk not in left
    assert len(read_tree(connection, kept.pk)) == 2


def test_a_tree_cannot_be_written_twice(connection: sa.Connection, new_revision: NewRevision) -> None:
    """Two workers that write the same revision, and a tree with every node twice."""
    revision = new_revision(tree=tree_of([[]]))
    with pytest.raises(UniqueViolation), transaction.atomic():
        write_tree(connection, revision.pk, tree_of([[]]), tokens=[1, 1], contexts=[], seeds=[])
    assert len(read_tree(connection, revision.pk)) == 2


def test_a_borrowed_connection_neither_commits_nor_rolls_back(db: None, new_revision: NewRevision) -> None:
    """Half a revision that stays when its ingest fails."""

    class Killed(Exception): ...

    def interrupted_ingest() -> None:
        with transaction.atomic():
            with borrow(django_connection.connection) as borrowed:
                write_tree(borrowed, revision.pk, tree_of([[]]), tokens=[1, 1], contexts=[], seeds=[])
            with borrow(django_connection.connection) as borrowed:
                assert len(read_tree(borrowed, revision.pk)) == 2
            raise Killed

    revision = new_revision()
    with pytest.raises(Killed):
        interrupted_ingest()
    with pipeline() as borrowed, pytest.raises(KeyError):
        read_tree(borrowed, revision.pk)


def test_borrowing_leaves_nothing_on_the_connection(db: None) -> None:
    """A handler more with every question, on connections that live for days."""
    django_connection.ensure_connection()
    with borrow(django_connection.connection):
        before = len(django_connection.connection._notice_handlers)
    for _ in range(5):
        with borrow(django_connection.connection) as borrowed:
            assert lender(borrowed) is django_connection.connection
    assert len(django_connection.connection._notice_handlers) == before
    assert not django_connection.connection.closed
