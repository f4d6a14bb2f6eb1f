"""The admin's list of jobs, with what can be done about them. The status page shows each."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from procrastinate.contrib.django.models import ProcrastinateJob

from evidence.admin.documents import CollectionFilter
from evidence.admin.managed import ManagedAdmin
from evidence.ingest.jobs import job_cancel, job_retry
from evidence.models import Job

# The queue as it is inside; what people need of it is shown by our own jobs.
admin.site.unregister(ProcrastinateJob)


@admin.register(Job)
class JobAdmin(ManagedAdmin):
    list_display = ("title", "state", "progress", "error", "collection", "asked_by", "created", "finished")
    list_filter = ("state", "kind", ("collection", CollectionFilter))
    search_fields = ("title", "error")
    list_select_related = ("collection", "asked_by")
    actions = ("retry", "cancel")
    fields = (
        "title",
        "state",
        "progress",
        "summary",
        "error",
        "collection",
        "asked_by",
        "created",
        "started",
        "finished",
    )

    @admin.display(description="Progress")
    def progress(self, job: Job) -> str:
        return f"{job.done} of {job.total}" if job.total else ""

    @admin.action(description="Retry (those that failed)", permissions=["act"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        count = sum(job_retry(job) for job in queryset)
        messages.success(request, f"{count} of {len(queryset)} jobs wait again.")

    @admin.action(description="Cancel (those that wait), or stop", permissions=["act"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        count = sum(job_cancel(job) for job in queryset)
        messages.success(request, f"{count} of {len(queryset)} jobs are cancelled, or told to stop.")

    def has_act_permission(self, request: HttpRequest) -> bool:
        """On those that are listed: whoever sees a job here looks after its collection."""
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Jobs are asked for by what people do elsewhere."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """They are forgotten by themselves."""
        return False

    def view_on_site(self, job: Job) -> str:
        return reverse("job", args=[job.pk])
