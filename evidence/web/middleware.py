"""What every response says about what may run in it."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# The admin brings scripts of its own, all of them in files.
ADMIN_POLICY = f"{POLICY}; script-src 'self'"


def content_security_policy(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """A strict Content-Security-Policy on every response that does not bring its own: nothing inline, nothing foreign."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        is_admin = request.resolver_match is not None and request.resolver_match.app_name == "admin"
        response.headers.setdefault("Content-Security-Policy", ADMIN_POLICY if is_admin else POLICY)
        return response

    return middleware
