"""Saving and opening again, by services alone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from evidence.models import Collection, Document, Revision, SavedCitation, SavedClaim, SavedExcerpt, SavedQuestion
from evidence.retrieve.answer import Claim, sources_of
from evidence.retrieve.evidence import Evidence
from evidence.retrieve.pipeline import ask
from evidence.retrieve.reopening import question_reopen
from evidence.retrieve.saving import SAME_WITHIN, question_save
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, NEW_GATE, TABLE, collection_of, rows_of, take_in

QUESTION = "When does team south open the gate?"


@pytest.fixture
def asker(db: None) -> User:
    return User.objects.create_user("asker")


@pytest.fixture
def handbook(db: None, embedder: WordEmbedder) -> Collection:
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN, "tins.html": TABLE})
    return collection_of()


def evidence_of(collection: Collection, question: str = QUESTION, budget: int = 300) -> Evidence:
    return ask(question, collections=[collection.pk], budget=budget)


def save(asker: User, evidence: Evidence, claims: tuple[Claim, ...] = ()) -> SavedQuestion:
    saved = question_save(
        asker=asker, evidence=evidence, collections=[collection_of().pk], filters={}, claims=claims, ended="answered"
    )
    assert saved is not None
    return saved


def test_what_is_opened_again_is_what_was_found(asker: User, handbook: Collection) -> None:
    """Excerpts with more, less or other text than the reader saw; citations with other numbers."""
    evidence = evidence_of(handbook, "team gate tin holds tea")
    assert len(evidence.excerpts) > 1
    saved = save(asker, evidence)
    take_in({"gate.html": NEW_GATE})
    opened = question_reopen(saved).evidence
    assert [excerpt.tree.fingerprint for excerpt in opened.excerpts] == [e.tree.fingerprint for e in evidence.excerpts]
    for field in ("question", "budget", "tokens", "index", "likely"):
        assert getattr(opened, field) == getattr(evidence, field)
    for one, other in zip(opened.excerpts, evidence.excerpts, strict=True):
        assert (one.text, one.tokens, one.citations) == (other.text, other.tokens, other.citations)
        assert (one.revision, one.revision_id, one.title, one.address) == (
            other.revision,
            other.revision_id,
            other.title,
            other.address,
        )


def test_the_same_asked_again_at_once_is_saved_once(asker: User, handbook: Collection) -> None:
    """A reload of the page that makes a list of one question."""
    first = save(asker, evidence_of(handbook))
    assert save(asker, evidence_of(handbook)) == first
    assert save(User.objects.create_user("other"), evidence_of(handbook)) != first
    SavedQuestion.objects.update(asked=timezone.now() - SAME_WITHIN - timedelta(seconds=1))
    assert save(asker, evidence_of(handbook)) != first


def test_other_evidence_is_saved_again(asker: User, handbook: Collection) -> None:
    """A link to results that are not those on the page."""
    first = save(asker, evidence_of(handbook))
    take_in({"gate.html": NEW_GATE})
    assert save(asker, evidence_of(handbook)) != first
    assert save(asker, evidence_of(handbook, budget=40)) != first


def test_a_question_without_words_is_not_saved(asker: User, handbook: Collection) -> None:
    for nothing in ("\u00ad", "\0"):
        assert question_save(asker=asker, evidence=evidence_of(handbook, nothing), collections=[], filters={}) is None


def test_saving_takes_few_statements(asker: User, handbook: Collection, django_assert_max_num_queries: object) -> None:
    evidence = evidence_of(handbook)
    with django_assert_max_num_queries(9):  # type: ignore[operator]
        save(asker, evidence)


def test_a_document_deleted_while_its_question_is_saved_fails_nothing(asker: User, handbook: Collection) -> None:
    """An error page in place of the results that were found a moment ago."""
    evidence = evidence_of(handbook)
    Document.objects.all().delete()
    assert question_save(asker=asker, evidence=evidence, collections=[handbook.pk], filters={}) is None
    assert not SavedQuestion.objects.exists()


def test_a_cited_revision_cannot_be_deleted_alone(asker: User, handbook: Collection) -> None:
    save(asker, evidence_of(handbook))
    take_in({"gate.html": NEW_GATE})
    with pytest.raises(IntegrityError), transaction.atomic():
        Revision.objects.get(document__address="gate.html", number=1).delete()
        connection.check_constraints()


def test_a_deleted_document_takes_what_is_saved_of_it(asker: User, handbook: Collection) -> None:
    """Case 54: the quotation, and what an answer wrote from it, are still to be read in the database."""
    evidence = evidence_of(handbook, "team gate tin holds tea")
    sources = {source.excerpt.address: source for source in sources_of(evidence)}
    gate, tins = sources["gate.html"], sources["tins.html"]
    claims = (
        Claim("From the gate.", (gate,), "supported"),
        Claim("From the tins.", (tins,), "doubtful", ("Tins",)),
        Claim("From both.", (gate, tins), "supported"),
        Claim("From nowhere.", (), "unsupported"),
    )
    saved = save(asker, evidence, claims)
    cited = saved.citations.count()
    of_gate = saved.citations.filter(excerpt__document__address="gate.html").count()
    revision = gate.excerpt.revision_id
    Document.objects.get(address="gate.html").delete()
    connection.check_constraints()
    assert not any(rows_of(revision).values())
    assert not SavedExcerpt.objects.filter(revision=revision).exists()
    assert not SavedCitation.objects.filter(quote__contains="Team").exists()
    assert list(saved.claims.values_list("text", flat=True)) == ["", "From the tins.", "", ""]
    opened = question_reopen(saved)
    assert len(opened.removed) == of_gate
    assert len(opened.sources) == cited - of_gate
    assert [(claim.text, [source.number for source in claim.sources]) for claim in opened.claims] == [
        ("From the tins.", [tins.number])
    ]
    assert opened.forgotten == 3


def test_a_deleted_question_takes_all_that_is_its_own(asker: User, handbook: Collection) -> None:
    saved = save(asker, evidence_of(handbook), (Claim("From nowhere.", (), "unsupported"),))
    saved.delete()
    for model in (SavedExcerpt, SavedCitation, SavedClaim):
        assert not model.objects.exists()
    assert Revision.objects.exists()


def test_a_deleted_collection_takes_what_is_saved_of_it(asker: User, handbook: Collection) -> None:
    saved = save(asker, evidence_of(handbook))
    handbook.delete()
    connection.check_constraints()
    opened = question_reopen(SavedQuestion.objects.get(pk=saved.pk))
    assert opened.evidence.excerpts == ()
    assert len(opened.removed) == saved.cited > 0


def test_a_deleted_account_leaves_its_questions_without_a_name(asker: User, handbook: Collection) -> None:
    saved = save(asker, evidence_of(handbook))
    asker.delete()
    assert SavedQuestion.objects.get(pk=saved.pk).asker is None
