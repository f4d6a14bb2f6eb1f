"""Saved questions and old revisions: which are kept, and deleting the others.

An ingest deletes none: it is over sooner, and what a reader has just opened is still there. ``manage.py prune`` does, and a
worker each night: ``questions_prune`` first, as ``revisions_prune`` keeps what saved questions cite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from evidence.models import Revision, SavedExcerpt, SavedQuestion

TOGETHER = 100
"""Questions or revisions that are deleted in one transaction."""


@dataclass(frozen=True)
class Pruned:
    """How many old revisions the policy no longer keeps: those deleted, and those that saved questions cite, which stay."""

    deleted: int
    cited: int


def questions_prune(*, dry_run: bool = False) -> int:
    """Delete the saved questions that are older than SPIRE_QUESTION_DAYS and that nobody keeps, marked, or opened but who
    asked them: how many. With ``dry_run`` it only counts."""
    if dry_run:
        return questions_beyond_policy().count()
    deleted = 0
    for together in _batches(list(questions_beyond_policy().order_by("pk").values_list("pk", flat=True))):
        with transaction.atomic():
            # Whoever marks one of these just now is waited for here, or waits, and then finds it gone.
            held = SavedQuestion.objects.filter(pk__in=together).select_for_update(of=("self",))
            found = list(held.order_by("pk").values_list("pk", flat=True))
            free = questions_beyond_policy().filter(pk__in=found).values("pk")
            # What is its own goes with a question by the database's own cascade.
            deleted += SavedQuestion.objects.filter(pk__in=free).delete()[1].get(SavedQuestion._meta.label, 0)
    return deleted


def questions_beyond_policy() -> QuerySet[SavedQuestion]:
    """The saved questions that the site's settings no longer keep."""
    return SavedQuestion.objects.with_end().filter(Q(ends__lt=timezone.now())).order_by()


def revisions_prune(*, dry_run: bool = False) -> Pruned:
    """Delete the old revisions that are neither among a document's newest SPIRE_KEEP_REVISIONS nor younger than
    SPIRE_KEEP_DAYS, and what is derived from them.

    Never a current one, and never one that a saved question cites. Interrupted, it has deleted some of them whole; called
    again, it goes on. With ``dry_run`` it only counts, as if ``questions_prune`` had gone before.
    """
    old = revisions_beyond_policy()
    waiting = list(old.order_by("pk").values_list("pk", flat=True))
    if dry_run:
        citing = SavedExcerpt.objects.filter(revision__in=waiting)
        staying = citing.exclude(question__in=questions_beyond_policy().values("pk"))
        cited = staying.values("revision").distinct().count()
        return Pruned(len(waiting) - cited, cited)
    deleted = 0
    for together in _batches(waiting):
        with transaction.atomic():
            # Whoever saves a question that cites one of these is waited for here, or waits, and then finds it gone.
            held = Revision.objects.filter(pk__in=together).select_for_update(of=("self",))
            found = list(held.order_by("pk").values_list("pk", flat=True))
            free = Revision.objects.filter(pk__in=found).exclude(Exists(_citing()))
            # Rows of theirs in the pipeline's tables go by the database's own cascade.
            deleted += free.only("pk").delete()[1].get(Revision._meta.label, 0)
    return Pruned(deleted, len(waiting) - deleted)


def revisions_beyond_policy() -> QuerySet[Revision]:
    """The revisions that the site's settings no longer keep; those that saved questions cite are among them."""
    until = timezone.now() - timedelta(days=settings.SPIRE_KEEP_DAYS)
    newest_first = Window(RowNumber(), partition_by=F("document"), order_by=F("number").desc())
    numbered = Revision.objects.annotate(place=newest_first).order_by()
    beyond = numbered.filter(place__gt=settings.SPIRE_KEEP_REVISIONS, received__lt=until).values("pk")
    return Revision.objects.filter(pk__in=beyond).exclude(document__current=F("pk")).order_by()


def _citing() -> QuerySet[SavedExcerpt]:
    return SavedExcerpt.objects.filter(revision=OuterRef("pk"))


def _batches(keys: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (keys[start : start + TOGETHER] for start in range(0, len(keys), TOGETHER))
