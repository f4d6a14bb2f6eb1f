"""Saved questions: opened again by their address, marked as helpful or not, listed for who asked them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from evidence.models import SavedQuestion, SavedQuestionQuerySet
from evidence.retrieve.reopening import Reopened, Since, question_reopen
from evidence.retrieve.saving import feedback_save, question_keep, question_opened, questions_of
from evidence.tree.changes import Piece, word_changes
from evidence.web.answering import claim_shown
from evidence.web.forms import FeedbackForm
from evidence.web.results import Result, definitions_of, place_url, results_of

ON_A_PAGE = 20


@dataclass(frozen=True)
class Fate:
    """What has become of a citation that is not as it was: its number in the result, and the number that the answer knows it
    by; changed, the words of both revisions in pieces; where it is left, the place in the current revision."""

    number: int
    state: str
    quote: str
    url: str
    before: list[Piece]
    after: list[Piece]


@login_required
@require_safe
def question(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A question with the evidence and the answer that it had when it was asked, and what has become of them since."""
    found = _visible(request, pk)
    question_opened(question=found, person=request.user)
    return _page(request, found)


@login_required
@require_POST
def feedback(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Whether it helped, in place of what the same person said before."""
    found = _visible(request, pk)
    form = FeedbackForm(request.POST)
    if not form.is_valid():
        return _page(request, found, form)
    feedback_save(question=found, person=request.user, **form.cleaned_data)
    return redirect("question", pk=found.pk)


@login_required
@require_safe
def questions(request: HttpRequest) -> HttpResponse:
    """The questions that whoever asks for this has asked, the newest first."""
    page = Paginator(_own(request).with_end(), ON_A_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "days": settings.SPIRE_QUESTION_DAYS, "has_any": questions_of(request.user).exists()}
    return render(request, "questions.html", context)


@login_required
@require_POST
def keep(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Keeps a question for ever, for who asked it, or no longer."""
    found = get_object_or_404(_own(request), pk=pk)
    question_keep(question=found, kept=request.POST.get("kept") == "yes")
    return redirect("question", pk=pk)


@login_required
@require_POST
def delete(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Deletes a question, for who asked it."""
    get_object_or_404(_own(request), pk=pk).delete()
    return redirect("questions")


@login_required
@require_POST
def delete_all(request: HttpRequest) -> HttpResponse:
    """Deletes all that whoever asks for this has ever asked, also of collections that they may no longer see."""
    questions_of(request.user).delete()
    return redirect("questions")


def _own(request: HttpRequest) -> SavedQuestionQuerySet:
    return SavedQuestion.objects.visible_to(request.user).filter(asker=request.user.pk)


def _visible(request: HttpRequest, pk: UUID) -> SavedQuestion:
    return get_object_or_404(SavedQuestion.objects.visible_to(request.user).with_end(), pk=pk)


def _page(request: HttpRequest, found: SavedQuestion, form: FeedbackForm | None = None) -> HttpResponse:
    reopened = question_reopen(found)
    results = results_of(reopened.evidence)
    given = found.feedback.filter(person=request.user.pk).first()
    context: dict[str, Any] = {
        "saved": found,
        "evidence": reopened.evidence,
        "results": [(result, _fates(result, reopened)) for result in results],
        "definitions": definitions_of(reopened.evidence),
        "passages": len(reopened.sources),
        "claims": [claim_shown(claim) for claim in reopened.claims],
        "forgotten": reopened.forgotten,
        "removed": len(reopened.removed),
        "states": _states(reopened),
        "again": _again(found),
        "feedback": given,
        "form": form or FeedbackForm(initial={"comment": given.comment} if given else None),
        "is_own": found.asker_id == request.user.pk,
    }
    return render(request, "question.html", context)


def _states(reopened: Reopened) -> list[tuple[str, int]]:
    """How many citations have become what, where not all are as they were."""
    counts = Counter(since.state for since in reopened.since.values())
    counts["gone"] = len(reopened.removed)
    states = [
        (state, counts[state])
        for state in ("unchanged", "moved", "changed", "removed", "unfollowed", "gone")
        if counts[state]
    ]
    return [] if [state for state, _ in states] in ([], ["unchanged"]) else states


def _fates(result: Result, reopened: Reopened) -> list[Fate]:
    since = {
        source.citation.path: reopened.since[number]
        for number, source in reopened.sources.items()
        if source.excerpt is result.excerpt
    }
    return [
        _fate(result, link.number, link.citation.text, since[link.citation.path])
        for link in result.citations
        if since[link.citation.path].state != "unchanged"
    ]


def _fate(result: Result, number: int, quote: str, since: Since) -> Fate:
    before, after = word_changes(quote, since.text) if since.state == "changed" else ([], [])
    url = place_url(result.excerpt.document_id, since.revision, since.path) if since.path is not None else ""
    return Fate(number, since.state, quote, url, before, after)


def _again(found: SavedQuestion) -> str:
    """The address that asks the same once more, of the collections that are left."""
    slugs = list(found.collections.values_list("slug", flat=True))
    if not slugs:
        return ""
    return "?" + urlencode(
        {"q": found.question, "budget": found.budget, "collection": slugs, **found.filters}, doseq=True
    )
