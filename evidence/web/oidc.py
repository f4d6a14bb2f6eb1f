"""Signing in by a service that speaks OpenID Connect, as allauth does it, with the ID token checked in full.

allauth trusts a token that came over TLS from the service itself, as the standard lets it. Services inside a network are
called without TLS as well, and another's token may come through a service that mixes them up: here every token's signature,
issuer, audience, times and nonce are checked (OpenID Connect Core 1.0, section 3.1.3.7).
"""

from __future__ import annotations

import hashlib
import logging
import secrets
from typing import Any

import jwt
import requests
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.urls import path
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET

from evidence.web.sign_in import refused

log = logging.getLogger(__name__)

PROVIDER = "oidc"

# Signatures by a key pair: with a shared secret anybody who holds it could sign.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
LEEWAY = 60
"""Seconds by which two clocks may differ."""

IDENTITY = "spire_identity"
"""Of the claims the one that we add: who a person is, at which service. A number alone is another person elsewhere."""

NOT_REACHED = "The sign-in service cannot be reached. Try again in a minute; if it stays so, tell an administrator."
NOT_TRUSTED = "The sign-in service's answer could not be trusted, or came too late. Start again here."
CANCELLED = "The sign-in was cancelled."
NOT_ACTIVE = "This account is switched off. An administrator can switch it on again."


class SignInService(DefaultSocialAccountAdapter):
    """The one service that the settings name."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        app = SocialApp(
            provider="openid_connect",
            provider_id=PROVIDER,
            name=settings.SPIRE_OIDC_NAME,
            client_id=settings.SPIRE_OIDC_ID,
            secret=settings.SPIRE_OIDC_SECRET,
            settings={"server_url": settings.SPIRE_OIDC_URL, "uid_field": IDENTITY, "oauth_pkce_enabled": True},
        )
        return [app] if settings.SPIRE_OIDC_URL else []

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """What went wrong stands on the sign-in page in words, and in the log as it was."""
        if isinstance(exception, requests.RequestException):
            raise ImmediateHttpResponse(not_reached(request, exception))
        if request.GET.get("error") == "access_denied":
            raise ImmediateHttpResponse(refused(request, CANCELLED, status=401))
        log.warning("a sign-in by OpenID Connect failed: %s", exception or "its state is not known, or was used before")
        raise ImmediateHttpResponse(refused(request, NOT_TRUSTED, status=401))


class Accounts(DefaultAccountAdapter):
    """What becomes of an account when its person signs in by the service."""

    def pre_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse | None:
        refusal: HttpResponse | None = super().pre_login(request, user, **kwargs)
        found: SocialLogin | None = (kwargs.get("signal_kwargs") or {}).get("sociallogin")
        if refusal is None and found is not None and settings.SPIRE_OIDC_GROUPS:
            set_groups(user, found.account.extra_data["userinfo"].get(settings.SPIRE_OIDC_GROUPS))
        return refusal

    def respond_user_inactive(self, request: HttpRequest, user: Any) -> HttpResponse:
        return refused(request, NOT_ACTIVE, status=403)

    def add_message(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Nothing: whoever is in sees it."""


def not_reached(request: HttpRequest, error: requests.RequestException) -> HttpResponse:
    """The sign-in page where the service cannot be asked."""
    log.error("the sign-in service at %s cannot be asked: %s", settings.SPIRE_OIDC_URL, error)
    return refused(request, NOT_REACHED, status=502)


def set_groups(person: User, claimed: Any) -> None:
    """Let a person be in the groups that the service names, as far as there are such groups, and in no others.

    Groups are never made from a claim. Without the claim, or with one that is no list of names, a person is in none.
    """
    names = [claimed] if isinstance(claimed, str) else claimed if isinstance(claimed, list) else []
    person.groups.set(Group.objects.filter(name__in=[name for name in names if isinstance(name, str)]))


def nonce_of(state: str) -> str:
    """The nonce of a sign-in: as its state is used once and by one session, so is this."""
    return salted_hmac("evidence.web.oidc.nonce", state, algorithm="sha256").hexdigest()


class Checked(OpenIDConnectOAuth2Adapter):
    """allauth's steps, with each ID token checked."""

    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> SocialLogin:
        claims = self._claims(app, kwargs["response"].get("id_token", ""))
        if not constant_time_compare(str(claims.get("nonce", "")), nonce_of(request.GET["state"])):
            raise OAuth2Error("the ID token was made for another sign-in")
        if self.openid_config.get("userinfo_endpoint"):
            told = self._fetch_user_info(token.token)
            if told.get("sub") != claims["sub"]:
                raise OAuth2Error("the ID token and the user's data are about two people")
            claims |= told
        identity = f"{self.openid_config['issuer']}\n{claims['sub']}"
        claims[IDENTITY] = hashlib.sha256(identity.encode()).hexdigest()
        return self.get_provider().sociallogin_from_response(request, {"userinfo": claims})

    def _claims(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        """What an ID token says. OAuth2Error when anything about it is wrong."""
        try:
            header = jwt.get_unverified_header(id_token)
            claims: dict[str, Any] = jwt.decode(
                id_token,
                key=self._key(header),
                algorithms=ALGORITHMS,
                audience=app.client_id,
                issuer=self.openid_config["issuer"],
                leeway=LEEWAY,
                options={"require": ["iss", "sub", "aud", "exp", "iat"]},
            )
        except jwt.PyJWTError as error:
            raise OAuth2Error(f"the ID token does not hold: {error}") from error
        if claims.get("azp", app.client_id) != app.client_id:
            raise OAuth2Error("the ID token was made for another program")
        return claims

    def _key(self, header: dict[str, Any]) -> jwt.PyJWK:
        """The service's key that a token says it is signed by; where the service has one key, tokens need not say."""
        with get_adapter().get_requests_session() as session:
            response = session.get(self.openid_config["jwks_uri"])
            response.raise_for_status()
        keys = [key for key in jwt.PyJWKSet.from_dict(response.json()).keys if key.public_key_use in (None, "sig")]
        found = [key for key in keys if key.key_id == header.get("kid")] if "kid" in header else keys
        if len(found) != 1:
            raise OAuth2Error("the ID token is signed by no key of the service")
        return found[0]


@require_GET
def login(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Leads to the service. A link, as the policy of our pages lets no form lead away; what it may ask for is fixed."""
    wanted = request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    going_on = wanted if is_ours else resolve_url(settings.LOGIN_REDIRECT_URL)
    if request.user.is_authenticated:
        return HttpResponseRedirect(going_on)
    provider = get_adapter().get_provider(request, provider_id)
    state = secrets.token_urlsafe(24)
    try:
        found: HttpResponse = provider.redirect(
            request, process="login", next_url=going_on, state_id=state, auth_params={"nonce": nonce_of(state)}
        )
    except requests.RequestException as error:
        return not_reached(request, error)
    return found


@require_GET
def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Where the service leads back to."""
    try:
        found: HttpResponse = OAuth2CallbackView.adapter_view(Checked(request, provider_id))(request)
    except requests.RequestException as error:
        return not_reached(request, error)
    return found


# allauth finds these by their names.
urlpatterns = [
    path("oidc/login/", login, {"provider_id": PROVIDER}, name="openid_connect_login"),
    path("oidc/callback/", callback, {"provider_id": PROVIDER}, name="openid_connect_callback"),
]
