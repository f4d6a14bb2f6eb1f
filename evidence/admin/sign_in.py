"""Of what the libraries for signing in bring to the admin, what an administrator needs: to see and lift a lock-out."""

from __future__ import annotations

# They register their models when they are imported, and are imported once.
import allauth.account.admin
import allauth.socialaccount.admin  # noqa: F401
import axes.admin  # noqa: F401
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib import admin

admin.site.unregister([EmailAddress, SocialAccount, SocialApp, SocialToken, AccessAttempt, AccessFailureLog, AccessLog])


@admin.register(AccessAttempt)
class FailedSignIns(admin.ModelAdmin):
    """Sign-ins that failed, by name and address. Whoever is deleted here is unlocked."""

    list_display = ("username", "ip_address", "failures_since_start", "attempt_time")
    search_fields = ("username", "ip_address")
    fields = readonly_fields = ("username", "ip_address", "user_agent", "failures_since_start", "attempt_time")

    def has_add_permission(self, request: object) -> bool:
        return False
