"""The door of the admin: who may open it, and where they sign in."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evidence.models import Collection, Reader


def may_administer(person: Reader) -> bool:
    """Whether the admin has anything for this person: for staff, and for managers of a collection while they are."""
    if not person.is_active:
        return False
    return bool(getattr(person, "is_staff", False)) or Collection.objects.managed_by(person).exists()


class Site(admin.AdminSite):
    """Django's admin for staff and for managers of collections. Everybody signs in on one page, the site's own, which counts
    what fails."""

    site_header = site_title = "SPIRE"
    index_title = "Collections and people"

    def has_permission(self, request: HttpRequest) -> bool:
        return may_administer(request.user)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Leads who is not signed in to the sign-in page; whom the admin has nothing for finds nothing."""
        if self.has_permission(request):
            return HttpResponseRedirect(reverse("admin:index", current_app=self.name))
        if request.user.is_authenticated:
            raise Http404("The admin has nothing for this account.")
        return redirect_to_login(request.GET.get("next") or reverse("admin:index", current_app=self.name))
