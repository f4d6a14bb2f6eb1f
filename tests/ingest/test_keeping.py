from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from evidence.ingest import keeping
from evidence.ingest.keeping import Pruned, revisions_prune
from evidence.models import Collection, Document, Revision
from evidence.retrieve.pipeline import ask
from evidence.retrieve.saving import question_save
from tests.conftest import WordEmbedder
from tests.handbook import GATE, collection_of, rows_of, take_in


@pytest.fixture
def gates(db: None, embedder: WordEmbedder, settings: Any) -> Collection:
    """Six revisions of one document and two of another, all received a hundred days ago; two of each are kept."""
    settings.SPIRE_KEEP_REVISIONS, settings.SPIRE_KEEP_DAYS = 2, 90
    for hour in range(6):
        take_in({"gate.html": GATE.replace(b"six", b"%d" % hour)})
    for hour in range(2):
        take_in({"door.html": GATE.replace(b"six", b"%d" % hour)})
    Revision.objects.update(received=timezone.now() - timedelta(days=100))
    return collection_of()


def left(address: str = "gate.html") -> list[int]:
    return list(Revision.objects.filter(document__address=address).order_by("number").values_list("number", flat=True))


def test_the_newest_revisions_of_each_document_are_kept(gates: Collection) -> None:
    first = Revision.objects.get(document__address="gate.html", number=1).pk
    assert rows_of(first)["node"]
    assert revisions_prune(dry_run=True) == Pruned(deleted=4, cited=0)
    assert left() == [1, 2, 3, 4, 5, 6], "a rehearsal"
    assert revisions_prune() == Pruned(deleted=4, cited=0)
    connection.check_constraints()
    assert (left(), left("door.html")) == ([5, 6], [1, 2])
    assert not any(rows_of(first).values()), "what was derived from it"
    assert revisions_prune() == Pruned(deleted=0, cited=0)


def test_young_revisions_are_kept(gates: Collection) -> None:
    Revision.objects.filter(number=3).update(received=timezone.now() - timedelta(days=89))
    assert revisions_prune().deleted == 3
    assert left() == [3, 5, 6]


def test_the_current_revision_is_kept_whatever_the_settings(gates: Collection, settings: Any) -> None:
    """A site that keeps none, and a document whose current revision is not the newest."""
    settings.SPIRE_KEEP_REVISIONS = 0
    Document.objects.filter(address="gate.html").update(
        current=Revision.objects.get(document__address="gate.html", number=2)
    )
    revisions_prune()
    assert (left(), left("door.html")) == ([2], [2])


def test_a_revision_that_a_saved_question_cites_is_kept(gates: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer whose source is gone because its page was changed often."""
    monkeypatch.setattr(keeping, "TOGETHER", 1)
    asker = User.objects.create_user("asker")
    Document.objects.filter(address="door.html").delete()
    saved = question_save(asker=asker, evidence=ask("gate", collections=[gates.pk]), collections=[gates.pk], filters={})
    assert saved
    for hour in range(6, 10):
        take_in({"gate.html": GATE.replace(b"six", b"%d" % hour)})
    Revision.objects.update(received=timezone.now() - timedelta(days=100))
    assert revisions_prune(dry_run=True) == Pruned(deleted=7, cited=1)
    assert revisions_prune() == Pruned(deleted=7, cited=1)
    connection.check_constraints()
    assert left() == [6, 9, 10]
    saved.delete()
    assert revisions_prune() == Pruned(deleted=1, cited=0)
    assert left() == [9, 10]


def test_the_command_says_what_it_did(gates: Collection) -> None:
    for options, expected in (
        (["--dry-run"], "4 old revisions would be deleted, 0 kept"),
        ([], "4 old revisions deleted"),
    ):
        said = StringIO()
        call_command("prune", *options, stdout=said)
        assert expected in said.getvalue()
