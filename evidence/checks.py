"""What a site's settings get wrong, said before it serves anybody."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def language_model_is_named(**_: Any) -> list[CheckMessage]:
    """A server of language models without the name of one answers nothing."""
    if settings.SPIRE_LLM_URL and not settings.SPIRE_LLM_MODEL:
        hint = "Set SPIRE_LLM_MODEL to the name of a model that the server has, or take SPIRE_LLM_URL away."
        return [Error("SPIRE_LLM_URL is set, and SPIRE_LLM_MODEL is not.", hint=hint, id="evidence.E001")]
    return []
