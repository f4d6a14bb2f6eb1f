"""What a question could go on with, for the script of the question box."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from evidence.retrieve.suggestions import suggestions
from evidence.web.scope import visible_and_named


@login_required
@require_safe
def suggest(request: HttpRequest) -> JsonResponse:
    """Suggestions for what is typed (``q``), from the collections chosen of those that the reader may see."""
    visible, named = visible_and_named(request)
    found = suggestions(request.GET.get("q", ""), collections=[collection.pk for collection in named or visible])
    # What a reader may see is decided anew for each letter.
    return JsonResponse({"suggestions": found}, headers={"Cache-Control": "no-store"})
