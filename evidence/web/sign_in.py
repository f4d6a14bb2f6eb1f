"""Signing in by name and password, how it is locked after failures, and from which address somebody comes."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse, reverse_lazy
from django.utils.http import urlencode

from evidence.admin_site import may_administer
from evidence.models import Reader


def administration(request: HttpRequest) -> dict[str, Any]:
    """For templates: whether the admin has something for who asks, looked up only where it is used; and whether they have a
    password to change."""
    return {
        "may_administer": lambda: may_administer(request.user),
        "may_change_password": lambda: may_change_password(request.user),
    }


def may_change_password(person: Reader) -> bool:
    """Whether somebody signs in here by a password. Whom a sign-in service vouches for has none."""
    return bool(settings.SPIRE_PASSWORDS and person.is_active and person.has_usable_password())


def client_address(request: HttpRequest) -> str:
    """The address that somebody comes from, by the SPIRE_PROXIES servers in front of this one that say so.

    Each proxy adds the address that it was called from to X-Forwarded-For. What stands there before those of our own
    proxies is anybody's claim: counting is done from the end. A request that came past the proxies has its own address.
    """
    claimed = [address.strip() for address in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    if settings.SPIRE_PROXIES and len(claimed) >= settings.SPIRE_PROXIES and claimed[-settings.SPIRE_PROXIES]:
        return claimed[-settings.SPIRE_PROXIES]
    return str(request.META.get("REMOTE_ADDR", ""))


def sign_in_context(request: HttpRequest) -> dict[str, Any]:
    """What the sign-in page offers: a form, another sign-in service, or both."""
    going_on = request.POST.get("next") or request.GET.get("next", "")
    query = f"?{urlencode({'next': going_on})}" if going_on else ""
    return {
        "next": going_on,
        "by_password": settings.SPIRE_PASSWORDS,
        "service": settings.SPIRE_OIDC_NAME if settings.SPIRE_OIDC_URL else "",
        "service_url": f"{reverse('openid_connect_login')}{query}" if settings.SPIRE_OIDC_URL else "",
    }


class SignIn(auth.LoginView):
    """The sign-in page. Where passwords are off it takes none."""

    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.SPIRE_PASSWORDS:
            return self.http_method_not_allowed(request, *args, **kwargs)
        return super().post(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return sign_in_context(self.request) | super().get_context_data(**kwargs)


class PasswordChange(auth.PasswordChangeView):
    """The page where whoever is signed in changes their password; for who has none it is not there."""

    template_name = "registration/password.html"
    success_url = reverse_lazy("password")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not may_change_password(request.user):
            raise Http404("There is no password to change.")
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        # Of this session it is known that it is theirs; Django ends all others.
        messages.success(
            self.request, "Your password is changed. Wherever else you were signed in, you are signed out."
        )
        return super().form_valid(form)


def refused(request: HttpRequest, problem: str, status: int) -> HttpResponse:
    """The sign-in page with a reason why nobody is signed in."""
    return render(request, "registration/login.html", {"problem": problem, **sign_in_context(request)}, status=status)


def locked_out(request: HttpRequest, response: HttpResponse | None, credentials: dict[str, Any] | None) -> HttpResponse:
    """What somebody is told under whose name, from whose address, too many sign-ins have failed."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() / 60)
    told = refused(
        request,
        f"Too many sign-ins with this name have failed. Wait {minutes} minutes and try again, or ask an administrator"
        " to unlock it.",
        status=429,
    )
    told.headers["Retry-After"] = str(minutes * 60)
    return told
