"""Whether the process lives, and whether it can answer: for machines that watch it, without signing in.

Answered before all else, so that a probe by IP address and plain HTTP needs no place in SPIRE_HOSTS, is not sent to https,
opens no session and fills no log. Nothing is told but the names of what fails.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import sqlalchemy as sa
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, connection, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse

from evidence.configured import OtherModel, embedder_of, judge, pipeline
from evidence.language.embedder import ModelError
from evidence.models import Document
from evidence.operations.tables import pending_migrations
from evidence.store import indexes
from evidence.store.indexes import UnknownIndex

MOST_MILLISECONDS = 2000
"""For each statement of a look at the database."""

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}

log = logging.getLogger(__name__)


def database() -> bool:
    """The database answers."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return True


def migrations() -> bool:
    """Its tables are those that this code knows."""
    return not pending_migrations()


def index() -> bool:
    """There is an index that answers questions, or nothing yet to ask."""
    try:
        with pipeline() as borrowed:
            indexes.get(borrowed)
    except UnknownIndex:
        return not Document.objects.filter(current__isnull=False).exists()
    return True


def embedder() -> bool:
    """The model of that index is loaded, and the filter's; the first look loads them."""
    try:
        with pipeline() as borrowed:
            found = indexes.get(borrowed)
    except UnknownIndex:
        return True
    try:
        embedder_of(found)
        judge()
    except (ModelError, OtherModel) as error:
        log.warning("not ready: %s", error)
        return False
    return True


CHECKS: list[Callable[[], bool]] = [database, migrations, index, embedder]
"""What must hold before questions are sent here, each under its name. Those after one that fails are not asked."""


def failing() -> str:
    """The name of the first check that does not hold; "" when all do."""
    for check in CHECKS:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL statement_timeout = {MOST_MILLISECONDS}")
                if not check():
                    return check.__name__
        except (Error, sa.exc.SQLAlchemyError, ImproperlyConfigured) as error:
            log.warning("not ready: %s: %s", check.__name__, error)
            return check.__name__
    return ""


def probes(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Answers /healthz (the process lives) and /readyz (it can answer questions)."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path_info not in ("/healthz", "/readyz"):
            return get_response(request)
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        failed = failing() if request.path_info == "/readyz" else ""
        said = {"status": "failing", "failing": [failed]} if failed else {"status": "ok"}
        return JsonResponse(said, status=503 if failed else 200, headers=HEADERS)

    return middleware
