"""Which collections a request is about: of those that its reader may see, the ones that it names."""

from __future__ import annotations

from django.http import HttpRequest

from evidence.models import Collection


def visible_and_named(request: HttpRequest) -> tuple[list[Collection], list[Collection]]:
    """The collections that the reader may see, and those of them that the address names by their slugs.

    One that is not seen is as one that is not there.
    """
    visible = list(Collection.objects.visible_to(request.user))
    named = set(request.GET.getlist("collection"))
    return visible, [collection for collection in visible if collection.slug in named]
