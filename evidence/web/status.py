"""The status of jobs: all that somebody may see, and one with what became of each file."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Case, IntegerField, QuerySet, When
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from evidence.ingest.jobs import job_cancel, job_retry
from evidence.ingest.workers import workers
from evidence.models import Collection, Job, JobState
from evidence.models.jobs import UNFINISHED
from evidence.web.answering import SCRIPTED_POLICY

JOBS_OF_A_PAGE = 50
FILES_OF_A_PAGE = 200


@login_required
@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """The jobs, the newest first; those that wait or run before all others."""
    jobs = Job.objects.visible_to(request.user)
    if not (request.user.is_superuser or Collection.objects.managed_by(request.user).exists() or jobs.exists()):
        raise Http404("There is nothing here.")
    first = Case(When(state__in=UNFINISHED, then=0), default=1, output_field=IntegerField())
    listed = jobs.select_related("collection", "asked_by").order_by(first, "-pk")
    context = {
        "page": Paginator(listed, JOBS_OF_A_PAGE).get_page(request.GET.get("page")),
        "changeable": _changeable(jobs),
        # Something may always be asked for by somebody else.
        "is_live": True,
    }
    return _page(request, "status.html", context)


@login_required
@require_safe
def job(request: HttpRequest, pk: int) -> HttpResponse:
    """One job, and what became of each file that it has to take in."""
    jobs = Job.objects.visible_to(request.user)
    found = get_object_or_404(jobs.select_related("collection", "asked_by"), pk=pk)
    first = Case(When(status="refused", then=0), default=1, output_field=IntegerField())
    files = found.received.defer("content").order_by(first, "pk")
    context = {
        "job": found,
        "files": Paginator(files, FILES_OF_A_PAGE).get_page(request.GET.get("page")),
        "changeable": _changeable(jobs),
        "is_live": found.state in UNFINISHED,
    }
    return _page(request, "job.html", context)


@login_required
@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Have a job that failed tried again."""
    job_retry(_to_change(request, pk))
    return redirect("job", pk)


@login_required
@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a job back, or stop it."""
    job_cancel(_to_change(request, pk))
    return redirect("job", pk)


def _to_change(request: HttpRequest, pk: int) -> Job:
    return get_object_or_404(Job.objects.visible_to(request.user), pk=pk)


def _changeable(jobs: QuerySet[Job]) -> set[int]:
    return set(jobs.filter(state__in=[*UNFINISHED, JobState.FAILED]).values_list("pk", flat=True))


def _page(request: HttpRequest, template: str, context: dict[str, object]) -> HttpResponse:
    response = render(request, template, {**context, "workers": workers()})
    response.headers["Content-Security-Policy"] = SCRIPTED_POLICY
    response.headers["Cache-Control"] = "no-store"
    return response
