"""The answer as a page, and as a stream of events for the page that asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from evidence.configured import OtherModel, chat
from evidence.language.chat import Chat, Usage
from evidence.language.embedder import ModelError
from evidence.models import Collection, Reader, SavedQuestion
from evidence.retrieve.answer import Claim, End, Source, answer
from evidence.retrieve.evidence import Evidence
from evidence.retrieve.filter import Filter
from evidence.retrieve.library import stored
from evidence.retrieve.pipeline import LONGEST_QUESTION, NoIndex, ask
from evidence.retrieve.saving import question_save
from evidence.tree.context import DEFINITION
from evidence.web.budget import budget_of
from evidence.web.forms import FilterForm
from evidence.web.log import note
from evidence.web.middleware import POLICY
from evidence.web.results import definitions_of, place_url, results_of
from evidence.web.scope import visible_and_named

SCRIPTED_POLICY = f"{POLICY}; script-src 'self'; connect-src 'self'"
"""Of a page with scripts of ours, each of them a file."""

FAILED = "The language model gave no answer."


def answer_url(question: str, chosen: list[Collection], budget: int, form: FilterForm) -> str:
    """Where the answer to a question is; "" where the site has no language model."""
    if chat() is None:
        return ""
    slugs = [collection.slug for collection in chosen]
    named = {"q": question, "budget": budget, "collection": slugs, **form.given()}
    return f"{reverse('answer')}?{urlencode(named, doseq=True)}"


@login_required
@require_safe
def answering(request: HttpRequest) -> HttpResponseBase:
    """The answer to a question from what its evidence says: events for a script, a finished page for everybody else."""
    model = chat()
    question = request.GET.get("q", "").strip()[:LONGEST_QUESTION]
    if model is None or not question:
        raise Http404("There is no answer here.")
    visible, named = visible_and_named(request)
    wanted = set(request.GET.getlist("collection"))
    chosen = named if wanted else visible
    if len(chosen) < len(wanted) or not chosen:
        # One that is not seen is as unknown as one that is not there.
        raise Http404("There is no such collection.")
    budget = budget_of(request.GET.get("budget", ""))
    form = FilterForm(request.GET)
    if "text/event-stream" in request.headers.get("Accept", ""):
        return StreamingHttpResponse(
            _events(request.user, question, chosen, budget, form, model),
            content_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Security-Policy": POLICY},
        )
    context: dict[str, Any] = {
        "question": question,
        "longest_question": LONGEST_QUESTION,
        "collections": [(collection, collection in chosen) for collection in visible],
        "budget": budget,
        "default_budget": settings.SPIRE_BUDGET,
        "form": form,
        "is_filtered": bool(form.given()),
    }
    try:
        evidence = _evidence(question, chosen, budget, form, model)
    except (NoIndex, OtherModel, ModelError) as error:
        return render(request, "answer.html", {**context, "problem": error})
    claims, end = _read(answer(evidence, model, seconds=settings.SPIRE_LLM_SECONDS))
    context["saved"] = _save(request.user, evidence, chosen, form, claims, end)
    return render(request, "answer.html", context | _shown(evidence, claims, end))


def _evidence(question: str, chosen: list[Collection], budget: int, form: FilterForm, model: Chat) -> Evidence:
    evidence = ask(
        question,
        collections=[collection.pk for collection in chosen],
        budget=budget,
        glossaries=[collection.pk for collection in chosen if DEFINITION.name in collection.policies],
        filters=form.filters(),
        reader=Filter(model, stored, settings.SPIRE_LLM_AT_ONCE, settings.SPIRE_LLM_SECONDS),
    )
    note(stages=evidence.milliseconds)
    return evidence


def _read(said: Iterable[Claim | End]) -> tuple[list[Claim], End]:
    claims: list[Claim] = []
    end = End("failed")
    for part in said:
        if isinstance(part, Claim):
            claims.append(part)
        else:
            end = part
    return claims, end


def _save(
    asker: Reader, evidence: Evidence, chosen: list[Collection], form: FilterForm, claims: list[Claim], end: End
) -> SavedQuestion | None:
    return question_save(
        asker=asker,
        evidence=evidence,
        collections=[collection.pk for collection in chosen],
        filters=form.understood(),
        claims=claims,
        ended=end.how,
        ending=_says(end, evidence),
    )


def _shown(evidence: Evidence, claims: list[Claim], end: End) -> dict[str, Any]:
    return {
        "evidence": evidence,
        "filtered": evidence.filtered,
        "claims": [claim_shown(claim) for claim in claims],
        "says": _says(end, evidence),
        "usage": end.usage + (evidence.filtered.usage if evidence.filtered else Usage()),
        "results": results_of(evidence),
        "definitions": definitions_of(evidence),
        "passages": sum(len(excerpt.citations) for excerpt in evidence.excerpts),
        "milliseconds": sum(evidence.milliseconds.values()),
    }


def _events(
    asker: Reader, question: str, chosen: list[Collection], budget: int, form: FilterForm, model: Chat
) -> Iterator[bytes]:
    """An event for each claim, as data that the script writes as text, and one for the end."""
    try:
        evidence = _evidence(question, chosen, budget, form, model)
    except (NoIndex, OtherModel, ModelError):
        yield _event("end", {"how": "failed", "says": FAILED, "saved": ""})
        return
    claims: list[Claim] = []
    for said in answer(evidence, model, seconds=settings.SPIRE_LLM_SECONDS):
        if isinstance(said, Claim):
            claims.append(said)
            yield _event("claim", claim_shown(said))
        else:
            saved = _save(asker, evidence, chosen, form, claims, said)
            url = reverse("question", args=[saved.pk]) if saved else ""
            yield _event("end", {"how": said.how, "says": _says(said, evidence), "saved": url})


def claim_shown(claim: Claim) -> dict[str, Any]:
    """A claim as pages show it: its words, what is told of it, and where each of its sources opens."""
    return {
        "text": claim.text,
        "standing": claim.standing,
        "says": standing_in_words(claim),
        "sources": [
            {"number": source.number, "url": _opens(source), "quote": source.citation.text[:300]}
            for source in claim.sources
        ],
    }


def standing_in_words(claim: Claim) -> str:
    """What a reader is told of a claim that is not simply supported."""
    if claim.standing == "unsupported":
        return "no source"
    return f"not in the source: {', '.join(claim.missing)}" if claim.missing else ""


def _says(end: End, evidence: Evidence) -> str:
    parts = []
    if end.how == "not found":
        parts.append("Not in these documents.")
    elif end.how == "failed":
        parts.append(FAILED)
    elif not end.is_whole:
        parts.append("The answer broke off.")
    if evidence.filtered is not None and evidence.filtered.failures:
        count = len(evidence.filtered.failures)
        parts.append(f"The model could not read {count} of the documents; of these, what search found was used.")
    return " ".join(parts)


def _opens(source: Source) -> str:
    """The cited place in its document, in the revision that was read."""
    return place_url(source.excerpt.document_id, source.excerpt.revision, source.citation.path)


def _event(name: str, data: dict[str, Any]) -> bytes:
    # JSON writes line breaks as escapes, so that no text ends an event.
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
