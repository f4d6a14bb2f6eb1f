"""The admin of sources: where they lie, how often they are asked, and what became of each page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.timezone import localtime

from evidence.admin.documents import CollectionFilter, CountedDeletion, job_told, person_of
from evidence.admin.managed import ManagedAdmin
from evidence.ingest.refresh import PlaceError, place_of, prefix_of
from evidence.ingest.removal import documents_only_of, source_remove
from evidence.ingest.work import refresh_ask
from evidence.models import Collection, Document, Source, SourcePage

TROUBLES_SHOWN = 50
NO_TROUBLE = ("new", "changed", "unchanged")


class SourceForm(forms.ModelForm):
    """A source; what is wrong with its place is said beside it, of a list line by line."""

    class Meta:
        model = Source
        fields = ("collection", "kind", "where", "prefix", "depth", "most_pages", "pause", "every_hours", "grace_days")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        kind, where, prefix = (cleaned.get(name) for name in ("kind", "where", "prefix"))
        try:
            cleaned["prefix"] = prefix and prefix_of(prefix)
        except PlaceError as error:
            self.add_error("prefix", str(error))
            return cleaned
        if kind and where:
            try:
                cleaned["where"] = place_of(kind, where, prefix or "")
            except PlaceError as error:
                self.add_error("where", [forms.ValidationError(line) for line in str(error).split("\n")])
        return cleaned


@admin.register(Source)
class SourceAdmin(CountedDeletion):
    form = SourceForm
    documents_counted = "documents that come from nowhere else"
    actions = ("refresh_now",)
    list_display = ("place", "collection", "result", "last_run", "schedule")
    list_filter = (("collection", CollectionFilter), "kind")
    list_select_related = ("collection",)
    search_fields = ("where",)
    fieldsets = (
        (None, {"fields": ("collection", "kind", "where", "prefix")}),
        ("How it is asked", {"fields": ("every_hours", "pause", "depth", "most_pages", "grace_days")}),
        ("The last run", {"fields": ("schedule", "last_run", "result", "troubles")}),
    )
    readonly_fields = ("schedule", "last_run", "result", "troubles")

    def documents_of(self, chosen: Iterable[Any]) -> QuerySet[Document]:
        return documents_only_of(SourcePage.objects.filter(source__in=[source.pk for source in chosen]))

    def get_fieldsets(self, request: HttpRequest, obj: Source | None = None) -> Any:
        return self.fieldsets if obj else self.fieldsets[:2]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **given: Any) -> Any:
        if db_field.name == "collection":
            given["queryset"] = Collection.objects.managed_by(request.user)
        return super().formfield_for_foreignkey(db_field, request, **given)

    def formfield_for_choice_field(self, db_field: Any, request: HttpRequest, **given: Any) -> Any:
        """Folders of the server are for superusers: another collection's may lie beside one's own."""
        if db_field.name == "kind" and not request.user.is_superuser:
            given["choices"] = [choice for choice in Source.Kind.choices if choice[0] != Source.Kind.FOLDER]
        return super().formfield_for_choice_field(db_field, request, **given)

    def save_model(self, request: HttpRequest, obj: Source, form: Any, change: bool) -> None:
        if not change or {"every_hours", "kind", "where", "prefix"}.intersection(form.changed_data):
            obj.next_run = None if obj.every_hours is None else timezone.now()
        super().save_model(request, obj, form, change)

    def delete_model(self, request: HttpRequest, obj: Source) -> None:
        source_remove(obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        for source in queryset:
            source_remove(source)

    @admin.action(description="Refresh now", permissions=["change"])
    def refresh_now(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        for source in queryset.select_related("collection"):
            job_told(request, refresh_ask(source, person_of(request)))

    @admin.display(description="Source", ordering="kind")
    def place(self, source: Source) -> str:
        return str(source)

    @admin.display(description="Next run", ordering="next_run")
    def schedule(self, source: Source) -> str:
        if source.next_run is None:
            return "only when asked for"
        every = f", every {source.every_hours} hours" if source.every_hours else ""
        is_due = source.next_run <= timezone.now()
        return f"{'now' if is_due else f'{localtime(source.next_run):%Y-%m-%d %H:%M}'}{every}"

    @admin.display(description="Last run", ordering="started")
    def last_run(self, source: Source) -> str:
        if source.started is None:
            return "none yet"
        state = "; not at its end yet" if source.is_running else ""
        return f"{localtime(source.started):%Y-%m-%d %H:%M}{state}"

    @admin.display(description="Result")
    def result(self, source: Source) -> str:
        if source.started is None:
            return "–"
        counted = source.pages.filter(asked=source.started).values_list("outcome").annotate(number=Count("pk"))
        labels = dict(SourcePage.Outcome.choices)
        parts = [f"{number} {labels.get(outcome, outcome)}" for outcome, number in counted.order_by("outcome")]
        if source.left:
            parts.append(f"{source.left} documents left")
        url = f"{reverse('admin:evidence_sourcepage_changelist')}?source__id__exact={source.pk}"
        pages = format_html('<a href="{}">{}</a>', url, ", ".join(parts) or "no page")
        said = [line for line in (source.error, source.note) if line]
        return format_html("{}{}", pages, format_html_join("", "<br>{}", ((line,) for line in said)))

    @admin.display(description="Pages not taken in")
    def troubles(self, source: Source) -> str:
        if source.started is None:
            return "–"
        pages = source.pages.filter(asked=source.started).exclude(outcome__in=NO_TROUBLE)
        shown = [(page.url, page.get_outcome_display(), page.reason) for page in pages[: TROUBLES_SHOWN + 1]]
        more = "… and more, in the list of its pages" if len(shown) > TROUBLES_SHOWN else ""
        listed = format_html_join("", "<li>{} <br>{}: {}</li>", shown[:TROUBLES_SHOWN])
        return format_html("<ul>{}</ul>{}", listed, more) if shown else "none"


@admin.register(SourcePage)
class SourcePageAdmin(ManagedAdmin):
    list_display = ("url", "outcome", "reason", "missed", "asked")
    list_filter = ("outcome", ("source", admin.RelatedOnlyFieldListFilter))
    search_fields = ("url",)
    list_display_links = None
    ordering = ("source", "url")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
