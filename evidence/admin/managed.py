"""What managers of collections see in the admin: what belongs to theirs, as if there were nothing else."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.options import InlineModelAdmin
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest

from evidence.models import Collection


class ManagedAdmin(admin.ModelAdmin):
    """A model of which each person sees what their collections hold: its queryset has ``managed_by``.

    Superusers and managers have rights here, by the collections that they manage. Django's model permissions count for
    nothing: they would be rights over all collections. What is not managed is not found.
    """

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request).managed_by(request.user)  # type: ignore[attr-defined]
        return found

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Model:
        """The object, if it is managed; Django's own answer would tell which ids were looked for."""
        found = super().get_object(request, object_id, from_field)
        if found is None:
            raise Http404("There is no such object.")
        return found

    def _manages(self, request: HttpRequest, obj: Model | None) -> bool:
        if obj is None:
            return request.user.is_superuser or Collection.objects.managed_by(request.user).exists()
        managed = self.model._default_manager.managed_by(request.user)
        return bool(managed.filter(pk=obj.pk).exists())

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._manages(request, None)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._manages(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._manages(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self._manages(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._manages(request, None)


class ManagedInline(InlineModelAdmin):
    """What is shown with an object that is managed already."""

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return True
