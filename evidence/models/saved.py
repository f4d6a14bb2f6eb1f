"""Saved questions: what a person asked, and the evidence and the answer as they were, by revision, path and quote.

Their foreign keys are the database's own (migration 0003): with a document or a collection goes what is saved of it, as
what is derived from it does, without being loaded; and a revision that an excerpt needs cannot be deleted alone.
"""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Case, Count, DateTimeField, Exists, F, OuterRef, Q, When
from django.utils import timezone

from evidence.models.documents import Collection, Document, Revision
from evidence.models.rights import Reader, RightsQuerySet


def _reference(to: type[models.Model] | str, **options: Any) -> Any:
    return models.ForeignKey(to, on_delete=models.DO_NOTHING, db_constraint=False, **options)


class SavedQuestionQuerySet(RightsQuerySet["SavedQuestion"]):
    def visible_to(self, reader: Reader) -> Self:
        """The saved questions that this person may open: their own, and those that searched and cite nothing but
        collections that this person may see.

        What was asked of a collection that they may not see is nobody's, not even their own; what was asked of one that has
        been deleted is only their own. Superusers see all.
        """
        visible = Collection.objects.visible_to(reader).values("pk")
        searched = SearchedCollection.objects.filter(question=OuterRef("pk"))
        cited = SavedExcerpt.objects.filter(question=OuterRef("pk"))
        there_still = searched.values("question").annotate(number=Count("*")).values("number")
        return self.granted(
            reader,
            (Q(asker=reader.pk) | Q(searched=models.Subquery(there_still)))
            & ~Exists(searched.exclude(collection__in=visible))
            & ~Exists(cited.exclude(document__collection__in=visible)),
        )

    def managed_by(self, person: Reader) -> Self:
        """All for a superuser; no other person sees what somebody asked."""
        return self.granted(person, Q(pk__in=()))

    def with_end(self) -> Self:
        """With ``ends``, until when each is kept: SPIRE_QUESTION_DAYS from when it was asked (0: for ever). None for those
        that stay: their asker keeps them, somebody else has opened them, or they are marked as helpful or not."""
        passing = Q(kept=False, shared=False) & ~Exists(Feedback.objects.filter(question=OuterRef("pk")))
        days = settings.SPIRE_QUESTION_DAYS
        ends = [When(passing, then=F("asked") + timedelta(days=days))] if days else []
        return self.annotate(ends=Case(*ends, default=None, output_field=DateTimeField()))


class SavedQuestion(models.Model):
    """A question that a person asked on the page; with what it got, it can be opened again by its address."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    asker = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="saved_questions"
    )
    asked = models.DateTimeField(default=timezone.now, db_index=True)
    question = models.TextField()
    collections = models.ManyToManyField(Collection, through="SearchedCollection", related_name="+")
    searched = models.PositiveIntegerField(help_text="Collections that were searched; some may be gone by now.")
    budget = models.PositiveIntegerField(help_text="Tokens of evidence that it was to get.")
    filters = models.JSONField(default=dict, help_text="As the form of the page has them.")
    index = models.TextField(help_text="The name of the index that it was asked of.")
    milliseconds = models.FloatField()
    likely = models.BooleanField("likely answered", help_text="Whether what was found seemed to answer.")
    tokens = models.PositiveIntegerField(help_text="Of the evidence.")
    cited = models.PositiveIntegerField(help_text="Places that the evidence cited; some may be removed by now.")
    digest = models.BinaryField(help_text="Of the question and all that it got: asked again at once, it is the same.")
    ended = models.CharField("how the answer ended", max_length=20, blank=True, help_text="Empty without an answer.")
    ending = models.TextField("what the page said of the answer's end", blank=True)
    kept = models.BooleanField(default=False, help_text="Whether its asker wants it kept for ever.")
    shared = models.BooleanField(default=False, help_text="Whether somebody else has opened it.")

    objects = SavedQuestionQuerySet.as_manager()

    class Meta:
        ordering = ["-asked"]
        indexes = [models.Index(fields=["asker", "-asked"], name="saved_question_of_asker")]

    def __str__(self) -> str:
        return self.question


class SearchedCollection(models.Model):
    """A collection that a question was asked of."""

    question = _reference(SavedQuestion, related_name="+")
    collection = _reference(Collection, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["question", "collection"], name="searched_collection_unique")]

    def __str__(self) -> str:
        return str(self.collection)


class SavedExcerpt(models.Model):
    """The evidence of one revision: the paths whose link is the excerpt.

    It keeps its revision from being deleted alone; with the document it goes.
    """

    question = _reference(SavedQuestion, related_name="excerpts")
    document = _reference(Document, related_name="+")
    revision = _reference(Revision, related_name="saved_excerpts")
    place = models.PositiveIntegerField(help_text="Among the excerpts of the evidence, then those of definitions.")
    paths = ArrayField(models.TextField())

    class Meta:
        ordering = ["question", "place"]
        constraints = [models.UniqueConstraint(fields=["question", "place"], name="saved_excerpt_place_unique")]

    def __str__(self) -> str:
        return f"{self.document_id}, revision {self.revision_id}"


class SavedCitation(models.Model):
    """A citation: the path of a place in its excerpt's revision, and what it says there.

    When it goes with its document, a trigger takes away what the answer wrote from it.
    """

    question = _reference(SavedQuestion, related_name="citations")
    excerpt = _reference(SavedExcerpt, related_name="citations")
    number = models.PositiveIntegerField(help_text="As the answer names it: in reading order through all the evidence.")
    path = models.TextField()
    quote = models.TextField()
    score = models.FloatField()
    rank = models.PositiveIntegerField()
    why = models.JSONField()

    class Meta:
        ordering = ["question", "number"]
        constraints = [models.UniqueConstraint(fields=["question", "number"], name="saved_citation_number_unique")]

    def __str__(self) -> str:
        return self.quote


class SavedClaim(models.Model):
    """A sentence of the answer, the numbers of the citations that it names, and what was found of it."""

    question = _reference(SavedQuestion, related_name="claims")
    place = models.PositiveIntegerField()
    text = models.TextField(help_text="Empty once a document that it was written from is deleted.")
    standing = models.CharField(max_length=20)
    numbers = ArrayField(models.PositiveIntegerField())
    missing = ArrayField(models.TextField())

    class Meta:
        ordering = ["question", "place"]
        constraints = [models.UniqueConstraint(fields=["question", "place"], name="saved_claim_place_unique")]

    def __str__(self) -> str:
        return self.text


class Feedback(models.Model):
    """What one person thinks of a saved question: whether it helped, and why."""

    question = _reference(SavedQuestion, related_name="feedback")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    helpful = models.BooleanField()
    comment = models.TextField(blank=True)
    given = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "feedback"
        ordering = ["-given"]
        constraints = [models.UniqueConstraint(fields=["question", "person"], name="feedback_one_of_each_person")]

    def __str__(self) -> str:
        return "helpful" if self.helpful else "not helpful"
