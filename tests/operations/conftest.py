"""A small site to look over."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from evidence.configured import pipeline
from evidence.models import Document, Revision
from evidence.store import indexes
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, NEW_GATE, TABLE, take_in

Sql = Callable[..., int]


@pytest.fixture
def site(db: None, embedder: WordEmbedder) -> None:
    """Two collections, a page with an old revision, and a second index."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    take_in({"tins.html": TABLE}, "Manual")
    take_in({"gate.html": NEW_GATE})


@pytest.fixture
def sql(db: None) -> Sql:
    """A function that runs a statement of damage: how many rows it met. {current}, {old} and {vectors} stand for revisions
    of gate.html and the default index's table."""

    def run(statement: str) -> int:
        gate = Document.objects.get(address="gate.html")
        old = Revision.objects.get(document=gate, number=1)
        with pipeline() as connection:
            vectors = f"spire.{indexes.get(connection).table.name}"
            filled = statement.format(current=gate.current_id, old=old.pk, vectors=vectors)
            return connection.execute(sa.text(filled)).rowcount

    return run
