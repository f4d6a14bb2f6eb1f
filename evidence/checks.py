"""What a site's settings get wrong, said before it serves anybody."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from evidence.ingest.refresh.places import allowed


@register()
def language_model_is_named(**_: Any) -> list[CheckMessage]:
    """A server of language models without the name of one answers nothing."""
    if settings.SPIRE_LLM_URL and not settings.SPIRE_LLM_MODEL:
        hint = "Set SPIRE_LLM_MODEL to the name of a model that the server has, or take SPIRE_LLM_URL away."
        return [Error("SPIRE_LLM_URL is set, and SPIRE_LLM_MODEL is not.", hint=hint, id="evidence.E001")]
    return []


@register()
def what_may_be_fetched_is_understood(**_: Any) -> list[CheckMessage]:
    """A network with a slip of the pen would be found out by the first source that fails."""
    try:
        allowed()
    except ValueError as error:
        hint = "Give host names, domains with a dot before them (.intra.example), or networks, joined by commas."
        return [Error(f"SPIRE_FETCH_ALLOW: {error}.", hint=hint, id="evidence.E002")]
    return []


@register()
def somebody_can_sign_in(**_: Any) -> list[CheckMessage]:
    """A sign-in service without what it knows the site by, or no way to sign in at all."""
    found: list[CheckMessage] = []
    if settings.SPIRE_OIDC_URL and not (settings.SPIRE_OIDC_ID and settings.SPIRE_OIDC_SECRET):
        hint = "Set both as the sign-in service gave them for this site, or take SPIRE_OIDC_URL away."
        found.append(
            Error("SPIRE_OIDC_URL is set without SPIRE_OIDC_ID or SPIRE_OIDC_SECRET.", hint=hint, id="evidence.E003")
        )
    if not settings.SPIRE_PASSWORDS and not settings.SPIRE_OIDC_URL:
        hint = "Set SPIRE_OIDC_URL, or take SPIRE_PASSWORDS away."
        found.append(Error("Passwords are off, and there is no sign-in service.", hint=hint, id="evidence.E004"))
    return found
