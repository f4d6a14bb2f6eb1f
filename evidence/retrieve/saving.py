"""Saving a question with what it got."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from evidence.models import (
    Feedback,
    Reader,
    SavedCitation,
    SavedClaim,
    SavedExcerpt,
    SavedQuestion,
    SavedQuestionQuerySet,
    SearchedCollection,
)
from evidence.retrieve.answer import Claim, sources_of
from evidence.retrieve.evidence import Evidence
from evidence.retrieve.pipeline import LONGEST_QUESTION
from evidence.tree.sentences import visible
from evidence.tree.subdocument import cover

SAME_WITHIN = timedelta(minutes=10)
"""A question that is asked again so soon, by a reload, and gets the same, is the one that is saved already."""


def question_save(
    *,
    asker: Reader,
    evidence: Evidence,
    collections: Sequence[int],
    filters: Mapping[str, Sequence[str]],
    claims: Sequence[Claim] = (),
    ended: str = "",
    ending: str = "",
) -> SavedQuestion | None:
    """The question as it is saved: with its evidence, and the answer if there is one. None where it says nothing, and where
    something that it cites has been deleted since it was found.

    ``collections`` are those that were searched, and ``filters`` what the form had; ``ended`` and ``ending`` are how the
    answer ended, in a word and as the page says it.
    """
    asked = visible(evidence.question)[:LONGEST_QUESTION].strip()
    if not asked:
        return None
    digest = _digest(evidence, collections, filters, claims, ending)
    since = timezone.now() - SAME_WITHIN
    known = SavedQuestion.objects.filter(asker=asker.pk, asked__gte=since, digest=digest).first()
    if known is not None:
        return known
    sources = sources_of(evidence)
    question = SavedQuestion(
        asker_id=asker.pk,
        question=asked,
        searched=len(collections),
        budget=evidence.budget,
        filters=dict(filters),
        index=evidence.index,
        milliseconds=sum(evidence.milliseconds.values()),
        likely=evidence.likely,
        tokens=evidence.tokens,
        cited=len(sources),
        digest=digest,
        ended=ended,
        ending=ending,
    )
    excerpts = {
        excerpt.revision_id: SavedExcerpt(
            question=question,
            document_id=excerpt.document_id,
            revision_id=excerpt.revision_id,
            place=place,
            paths=[str(path) for path in cover(excerpt.tree)],
        )
        for place, excerpt in enumerate((*evidence.excerpts, *evidence.definitions), 1)
    }
    try:
        with transaction.atomic():
            question.save(force_insert=True)
            SearchedCollection.objects.bulk_create(
                SearchedCollection(question=question, collection_id=collection) for collection in collections
            )
            SavedExcerpt.objects.bulk_create(excerpts.values())
            SavedCitation.objects.bulk_create(
                SavedCitation(
                    question=question,
                    excerpt=excerpts[source.excerpt.revision_id],
                    number=source.number,
                    path=str(source.citation.path),
                    quote=source.citation.text,
                    score=source.citation.score,
                    rank=source.citation.rank,
                    why=asdict(source.citation.why),
                )
                for source in sources
            )
            SavedClaim.objects.bulk_create(
                SavedClaim(
                    question=question,
                    place=place,
                    text=claim.text,
                    standing=claim.standing,
                    numbers=[source.number for source in claim.sources],
                    missing=list(claim.missing),
                )
                for place, claim in enumerate(claims, 1)
            )
    # The database's own check: a document or a collection was deleted after the search had read it.
    except IntegrityError:
        return None
    return question


def feedback_save(*, question: SavedQuestion, person: Reader, helpful: bool, comment: str) -> Feedback:
    """What a person thinks of a saved question, in place of what they thought before."""
    feedback, _ = Feedback.objects.update_or_create(
        question=question, person_id=person.pk, defaults={"helpful": helpful, "comment": comment}
    )
    return feedback


def question_opened(*, question: SavedQuestion, person: Reader) -> None:
    """Note that somebody has opened a saved question: it stays, once it was opened by another than its asker. Superusers
    look after the site, and what they look at is not shared with them by that."""
    if not question.shared and person.pk != question.asker_id and not getattr(person, "is_superuser", False):
        SavedQuestion.objects.filter(pk=question.pk).update(shared=True)


def question_keep(*, question: SavedQuestion, kept: bool) -> None:
    """Keep a saved question for ever, or no longer."""
    SavedQuestion.objects.filter(pk=question.pk).update(kept=kept)


def questions_of(person: Reader) -> SavedQuestionQuerySet:
    """All that a person has ever asked, also of collections that they may no longer see: to delete it, never to show it."""
    return SavedQuestion.objects.filter(asker=person.pk)


def _digest(
    evidence: Evidence,
    collections: Sequence[int],
    filters: Mapping[str, Sequence[str]],
    claims: Sequence[Claim],
    ending: str,
) -> bytes:
    excerpts = [
        (excerpt.revision_id, [str(path) for path in excerpt.cited])
        for excerpt in (*evidence.excerpts, *evidence.definitions)
    ]
    said = [(claim.text, claim.standing) for claim in claims]
    asked = (evidence.question, evidence.budget, evidence.index, sorted(collections), sorted(filters.items()))
    return hashlib.sha256(repr((asked, excerpts, said, ending)).encode("utf-8", "surrogatepass")).digest()
