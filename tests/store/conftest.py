"""What the tests of the store share: the pipeline's connection, revisions to hang things on, and random trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import strategies as st

from evidence.configured import pipeline
from evidence.models import Collection, Document, Revision
from evidence.store import indexes
from evidence.store.indexes import EmbeddedUnit, Index
from evidence.store.revisions import write_tree
from evidence.tree.document import Document as Tree
from evidence.tree.document import Node

NewRevision = Callable[..., Revision]
Shape = list["Shape"]


@pytest.fixture
def connection(db: None) -> Iterator[sa.Connection]:
    """SQLAlchemy on Django's connection, rolled back with the test."""
    with pipeline() as borrowed:
        yield borrowed


@pytest.fixture
def new_revision(db: None) -> NewRevision:
    """A function that makes a document with one revision in the collection of this name, and writes its tree."""

    def make(
        collection: str = "Handbook", *, title: str = "", language: str = "", tree: Tree | None = None
    ) -> Revision:
        home, _ = Collection.objects.get_or_create(name=collection, defaults={"slug": collection.lower()})
        document = Document.objects.create(collection=home, address=f"{home.documents.count()}.html", title=title)
        revision = Revision.objects.create(
            document=document, number=1, content=b"", parser="1", title=title, language=language, sentences=0
        )
        document.current = revision
        document.save()
        if tree is not None:
            with pipeline() as borrowed:
                write_tree(borrowed, revision.pk, tree, tokens=[1] * len(tree), contexts=[], seeds=[])
        return revision

    return make


@pytest.fixture
def new_index(connection: sa.Connection) -> Callable[..., Index]:
    """A function that creates an index of three dimensions, by a model named after it; other things if told so."""

    def make(name: str = "first", **different: Any) -> Index:
        return indexes.create(
            connection, **{"name": name, "model": name, "fingerprint": name, "dimensions": 3, **different}
        )

    return make


def units_of(vectors: Sequence[Sequence[float]] | np.ndarray, *, context: int = 0) -> list[EmbeddedUnit]:
    """A unit for each vector: the nodes 1, 2, 3, …, each with a hash of its own."""
    return [
        EmbeddedUnit((number,), context, number * 10, number.to_bytes(16, "big"), np.asarray(vector, dtype=np.float32))
        for number, vector in enumerate(vectors, 1)
    ]


def put(connection: sa.Connection, index: Index, revision: Revision, units: list[EmbeddedUnit]) -> None:
    """Put units into an index as those of a document's only revision."""
    indexes.replace_units(
        connection,
        index,
        revision_id=revision.pk,
        replaced_revision_id=None,
        collection_id=revision.document.collection_id,
        units=units,
    )


def tree_of(shape: Shape) -> Tree:
    """A document whose blocks are nested as these lists are; an empty list is a sentence."""
    tree = Tree()

    def add(parent: Node, children: Shape) -> None:
        for index, grandchildren in enumerate(children):
            tag = "div" if grandchildren else "sentence"
            text = "" if grandchildren else f"Sentence {index}."
            node = Node(tree, parent, index, tag, text=text, markup=text)
            parent.children.append(node)
            add(node, grandchildren)

    add(tree.root, shape)
    tree.number()
    return tree


# Wide enough for a child 10, which as text stands before child 2.
trees = st.recursive(st.just([]), lambda shapes: st.lists(shapes, max_size=12), max_leaves=40).map(tree_of)
