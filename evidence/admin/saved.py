"""Saved questions in the admin: what found nothing, what people disliked and why, and what was slow."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Count, Model, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from evidence.admin.managed import ManagedAdmin, ManagedInline
from evidence.models import Feedback, SavedQuestion

SLOW = 1000
"""Milliseconds; a question without a language model is expected to take a sixth of it."""


class FeedbackInline(ManagedInline, admin.TabularInline):
    model = Feedback
    fields = readonly_fields = ("person", "helpful", "comment", "given")
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class EvidenceFilter(admin.SimpleListFilter):
    """Questions by what was found."""

    title = "evidence"
    parameter_name = "evidence"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [("none", "None"), ("unlikely", "None that seems to answer"), ("likely", "Some that seems to answer")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[SavedQuestion]) -> QuerySet[SavedQuestion]:
        if self.value() == "none":
            return queryset.filter(cited=0)
        if self.value() == "unlikely":
            return queryset.filter(Q(cited=0) | Q(likely=False))
        return queryset.filter(cited__gt=0, likely=True) if self.value() == "likely" else queryset


class FeedbackFilter(admin.SimpleListFilter):
    """Questions by what people thought of them."""

    title = "feedback"
    parameter_name = "helpful"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [("no", "Not helpful"), ("yes", "Helpful")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[SavedQuestion]) -> QuerySet[SavedQuestion]:
        if self.value() not in ("yes", "no"):
            return queryset
        return queryset.filter(pk__in=Feedback.objects.filter(helpful=self.value() == "yes").values("question"))


class SpeedFilter(admin.SimpleListFilter):
    """Questions that took long."""

    title = "time"
    parameter_name = "time"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [("slow", f"More than {SLOW} ms")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[SavedQuestion]) -> QuerySet[SavedQuestion]:
        return queryset.filter(milliseconds__gt=SLOW) if self.value() == "slow" else queryset


@admin.register(SavedQuestion)
class SavedQuestionAdmin(ManagedAdmin):
    list_display = ("question", "asked", "asker", "cited", "likely", "time", "liked", "disliked", "comments")
    list_filter = (EvidenceFilter, FeedbackFilter, SpeedFilter, "asked")
    list_select_related = ("asker",)
    search_fields = ("question", "feedback__comment")
    date_hierarchy = "asked"
    fields = (
        *("question", "asked", "asker", "kept", "shared", "cited", "tokens", "budget", "likely", "time", "index"),
        *("ended", "ending"),
    )
    inlines = (FeedbackInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[SavedQuestion]:
        return (
            super()
            .get_queryset(request)
            .prefetch_related("feedback")
            .annotate(
                likes=Count("feedback", filter=Q(feedback__helpful=True)),
                dislikes=Count("feedback", filter=Q(feedback__helpful=False)),
            )
        )

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_superuser)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_superuser)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """What goes with a question is its own: it is not listed."""
        return [str(chosen) for chosen in objs], {str(self.opts.verbose_name_plural): len(objs)}, set(), []

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Questions are asked on the page."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """What was asked and found is not changed."""
        return False

    @admin.display(description="Milliseconds", ordering="milliseconds")
    def time(self, question: SavedQuestion) -> str:
        return f"{question.milliseconds:.0f}"

    @admin.display(description="Helpful", ordering="likes")
    def liked(self, question: SavedQuestion) -> int:
        return getattr(question, "likes", 0)

    @admin.display(description="Not helpful", ordering="dislikes")
    def disliked(self, question: SavedQuestion) -> int:
        return getattr(question, "dislikes", 0)

    @admin.display(description="Comments")
    def comments(self, question: SavedQuestion) -> str:
        return " / ".join(feedback.comment for feedback in question.feedback.all() if feedback.comment)

    def view_on_site(self, question: SavedQuestion) -> str:
        return reverse("question", args=[question.pk])
