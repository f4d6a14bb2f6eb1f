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
from evidence.ingest.keeping import Pruned, questions_prune, revisions_prune
from evidence.models import Collection, Document, Revision, SavedQuestion
from evidence.retrieve.pipeline import ask
from evidence.retrieve.saving import feedback_save, question_opened, question_save
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


def asked(gates: Collection, asker: User, *names: str, days: int) -> list[SavedQuestion]:
    """A question for each name, asked so many days ago."""
    saved = [
        question_save(asker=asker, evidence=ask(name, collections=[gates.pk]), collections=[gates.pk], filters={})
        for name in names
    ]
    found = [question for question in saved if question]
    SavedQuestion.objects.filter(pk__in=[question.pk for question in found]).update(
        asked=timezone.now() - timedelta(days=days)
    )
    return found


def questions_left() -> set[str]:
    return set(SavedQuestion.objects.values_list("question", flat=True))


def test_old_questions_go_unless_somebody_wants_them(gates: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that everybody ever asked, kept for ever; or an answer that people link to, gone."""
    monkeypatch.setattr(keeping, "TOGETHER", 1)
    asker, other, root = (User.objects.create_user(name) for name in ("asker", "other", "root"))
    root.is_superuser = True
    names = "old gate", "other gate", "kept gate", "shared gate", "marked gate", "overseen gate", "own gate"
    _, _, kept, shared, marked, overseen, own = asked(gates, asker, *names, days=366)
    asked(gates, asker, "young gate", days=364)
    SavedQuestion.objects.filter(pk=kept.pk).update(kept=True)
    feedback_save(question=marked, person=other, helpful=False, comment="")
    for question, person in ((shared, other), (overseen, root), (own, asker)):
        question_opened(question=question, person=person)
    assert questions_prune(dry_run=True) == 4
    assert len(questions_left()) == 8, "a rehearsal"
    assert questions_prune() == 4
    connection.check_constraints()
    assert questions_left() == {"kept gate", "shared gate", "marked gate", "young gate"}
    assert questions_prune() == 0


def test_questions_are_kept_for_ever_where_the_site_says_so(gates: Collection, settings: Any) -> None:
    settings.SPIRE_QUESTION_DAYS = 0
    asked(gates, User.objects.create_user("asker"), "gate", days=9999)
    assert questions_prune(dry_run=True) == questions_prune() == 0


def test_a_question_without_an_account_goes_too(gates: Collection) -> None:
    """Whoever left: nobody could ever delete what they asked."""
    asker = User.objects.create_user("asker")
    asked(gates, asker, "gate", days=366)
    asker.delete()
    assert questions_prune() == 1


def test_the_command_says_what_it_did(gates: Collection) -> None:
    """What only questions needed that go stays a day longer, or the rehearsal counts otherwise than what then happens."""
    Document.objects.filter(address="door.html").delete()
    asked(gates, User.objects.create_user("asker"), "gate", days=366)
    for hour in range(6, 10):
        take_in({"gate.html": GATE.replace(b"six", b"%d" % hour)})
    Revision.objects.update(received=timezone.now() - timedelta(days=100))
    for options, expected in (
        (["--dry-run"], "1 saved questions would be deleted.\n8 old revisions would be deleted, 0 kept"),
        ([], "1 saved questions deleted.\n8 old revisions deleted, 0 kept"),
    ):
        said = StringIO()
        call_command("prune", *options, stdout=said)
        assert expected in said.getvalue()
