from __future__ import annotations

import sqlalchemy as sa

from evidence.store.definitions import Defined, look_up, write_definitions
from tests.store.conftest import NewRevision, tree_of

TREE = [[], [], []]


def test_definitions_are_looked_up_in_the_collections_that_are_asked(
    connection: sa.Connection, new_revision: NewRevision
) -> None:
    """A glossary that a reader may not see, read aloud by the collections that they may."""
    ours, theirs = (new_revision(name, tree=tree_of(TREE)) for name in ("Ours", "Theirs"))
    for revision in (ours, theirs):
        write_definitions(connection, revision.pk, [("parcel", 2), ("parcel", 1), ("warden", 3)])
    found = look_up(connection, ["parcel", "gate"], collections=[ours.document.collection_id])
    assert found == [Defined("parcel", ours.pk, (1, 2), 2)]
    both = look_up(connection, ["parcel"], collections=[ours.document.collection_id, theirs.document.collection_id])
    assert [defined.revision_id for defined in both] == sorted([ours.pk, theirs.pk])
    assert look_up(connection, ["parcel"], collections=[]) == []
    assert look_up(connection, [], collections=[ours.document.collection_id]) == []


def test_only_the_current_revision_defines(connection: sa.Connection, new_revision: NewRevision) -> None:
    """What a term meant last year."""
    revision = new_revision(tree=tree_of(TREE))
    write_definitions(connection, revision.pk, [("parcel", 1)])
    document = revision.document
    document.current = None
    document.save()
    assert look_up(connection, ["parcel"], collections=[document.collection_id]) == []


def test_definitions_are_replaced_and_go_with_their_revision(
    connection: sa.Connection, new_revision: NewRevision
) -> None:
    revision = new_revision(tree=tree_of(TREE))
    asked = {"collections": [revision.document.collection_id]}
    write_definitions(connection, revision.pk, [("parcel", 1)])
    write_definitions(connection, revision.pk, [("warden", 1)])
    assert look_up(connection, ["parcel"], **asked) == []
    assert len(look_up(connection, ["warden"], **asked)) == 1
    revision.document.delete()
    assert look_up(connection, ["warden"], **asked) == []
