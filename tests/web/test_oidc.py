"""Signing in by OpenID Connect, against a service on loopback: the whole way, and what must not lead in."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
import requests
from django.contrib.auth.models import Group, User
from django.test import Client

from evidence.models import Collection
from tests.stub_oidc import CLIENT, SECRET, Service, private_key, service
from tests.web.addresses import ADDRESSES
from tests.web.conftest import seen, select, text_of
from tests.web.test_addresses import routes

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def provider(db: None, settings: Any) -> Iterator[Service]:
    """The sign-in service that the site is set to."""
    with service() as running:
        settings.ROOT_URLCONF = "tests.web.urls_with_oidc"
        settings.SPIRE_OIDC_URL, settings.SPIRE_OIDC_ID, settings.SPIRE_OIDC_SECRET = running.url, CLIENT, SECRET
        settings.SPIRE_OIDC_NAME = "Example Login"
        yield running


def begin(client: Client, address: str = "/oidc/login/") -> str:
    """The address at the service that the site leads to."""
    response = client.get(address)
    assert response.status_code == 302
    return str(response["Location"])


def at_the_service(address: str) -> str:
    """The address that the service leads back to."""
    response = requests.get(address, allow_redirects=False, timeout=5)
    assert response.status_code == 302
    return response.headers["Location"]


def sign_in(client: Client, address: str = "/oidc/login/") -> Any:
    return client.get(at_the_service(begin(client, address)))


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def why_not(response: Any) -> str:
    return text_of(select(seen(response), ".sign-in .notice")[0])


def test_a_new_person_gets_an_account_without_groups(client: Client, provider: Service, handbook: Collection) -> None:
    """The first sign-in opens what is open to everyone, and nothing else."""
    Collection.objects.create(name="Severance", slug="severance")
    provider.person |= {"email": "anna@example.org", "given_name": "Anna", "family_name": "Ames", "groups": ["HR"]}
    Group.objects.create(name="HR")
    response = sign_in(client, "/oidc/login/?next=/%3Fq%3Dgate")
    assert response["Location"] == "/?q=gate"
    (person,) = User.objects.all()
    assert (person.username, person.email, person.get_full_name()) == ("anna", "anna@example.org", "Anna Ames")
    assert not person.has_usable_password()
    assert not person.is_staff
    assert not person.is_superuser
    assert not person.groups.exists()
    page = client.get("/").content.decode()
    assert "anna" in page
    assert "Severance" not in page
    client.post("/logout/")
    assert sign_in(client).status_code == 302
    assert User.objects.count() == 1


def test_the_sign_in_page_leads_there(client: Client, provider: Service, settings: Any) -> None:
    page = seen(client.get("/login/", {"next": "/documents/1/"}))
    (link,) = select(page, ".service a")
    assert text_of(link) == "Sign in with Example Login"
    assert link.get("href") == "/oidc/login/?next=%2Fdocuments%2F1%2F"
    assert select(page, "input[name=password]")
    settings.SPIRE_PASSWORDS = False
    assert not select(seen(client.get("/login/")), "input[name=password]")


def test_an_account_is_not_taken_over_by_its_name_or_its_mail(client: Client, provider: Service) -> None:
    """Whoever may choose a name or an address at the service would become the administrator here."""
    admin = User.objects.create_superuser("anna", "anna@example.org", "anna")
    provider.person |= {"email": "anna@example.org", "email_verified": True}
    assert sign_in(client).status_code == 302
    assert int(client.session["_auth_user_id"]) != admin.pk
    person = User.objects.exclude(pk=admin.pk).get()
    assert person.username.startswith("anna")
    assert not person.is_superuser


def test_two_services_number_their_people_apart(client: Client, provider: Service, settings: Any) -> None:
    """A site that moves to another service, where 1 is somebody else."""
    sign_in(client)
    with service() as other:
        settings.SPIRE_OIDC_URL = other.url
        other.person = {"sub": "1", "preferred_username": "berta"}
        sign_in(Client())
    assert sorted(User.objects.values_list("username", flat=True)) == ["anna", "berta"]


def test_groups_are_what_the_service_says_at_each_sign_in(client: Client, provider: Service, settings: Any) -> None:
    """Whoever leaves a group there loses it here; a group that is not here is not made by a claim."""
    settings.SPIRE_OIDC_GROUPS = "teams"
    for name in ("HR", "Garden"):
        Group.objects.create(name=name)
    told: list[tuple[Any, list[str]]] = [
        (["HR", "Wheel"], ["HR"]),
        ("Garden", ["Garden"]),
        ([{"name": "HR"}, 7, "Garden"], ["Garden"]),
        ({"HR": True}, []),
        (["HR"], ["HR"]),
        (None, []),
    ]
    for claimed, expected in told:
        provider.person["teams"] = claimed
        assert sign_in(Client()).status_code == 302
        assert [group.name for group in User.objects.get().groups.all()] == expected
    assert Group.objects.count() == 2


def test_what_only_the_users_data_says_counts_too(client: Client, provider: Service, settings: Any) -> None:
    settings.SPIRE_OIDC_GROUPS = "teams"
    Group.objects.create(name="HR")
    provider.person = {"sub": "1"}
    provider.userinfo = {"sub": "1", "preferred_username": "anna", "teams": ["HR"]}
    assert sign_in(client).status_code == 302
    assert [group.name for group in User.objects.get(username="anna").groups.all()] == ["HR"]


def test_an_account_that_is_switched_off_stays_out(client: Client, provider: Service) -> None:
    sign_in(client)
    User.objects.update(is_active=False)
    other = Client()
    response = sign_in(other)
    assert response.status_code == 403
    assert "switched off" in why_not(response)
    assert not is_in(other)


def spoil(provider: Service, how: str) -> None:
    """Let the service's next ID token be wrong in one way."""
    changes: dict[str, dict[str, Any]] = {
        "expired": {"iat": 1_000_000_000, "exp": 1_000_000_060},
        "not yet valid": {"nbf": 9_000_000_000},
        "another nonce": {"nonce": "another"},
        "another audience": {"aud": "another"},
        "another issuer": {"iss": "https://elsewhere.example"},
        "another party": {"aud": [CLIENT, "other"], "azp": "other"},
    }
    left_out = {"no nonce": "nonce", "no expiry": "exp", "no subject": "sub"}
    if how in changes:
        provider.change = lambda claims: claims | changes[how]
    elif how in left_out:
        provider.change = lambda claims: {name: value for name, value in claims.items() if name != left_out[how]}
    elif how == "another key":
        provider.signed_by = private_key("another")
    elif how == "an unknown key":
        provider.signed_by, provider.headers = private_key("another"), {"kid": "key-2"}
    elif how == "a shared secret":
        provider.signed_by, provider.algorithm = SECRET * 3, "HS256"
    elif how == "no token":
        provider.id_token = "rubbish"
    elif how == "no signature":
        provider.id_token = jwt.encode({"sub": "1", "iss": provider.url, "aud": CLIENT}, "", algorithm="none")
    elif how == "another person's data":
        provider.userinfo = {"sub": "2"}


WRONG = (
    "expired, not yet valid, another nonce, another audience, another issuer, another party, no nonce, no expiry,"
    " no subject, another key, an unknown key, a shared secret, no token, no signature, another person's data"
)


@pytest.mark.parametrize("how", WRONG.split(", "))
def test_a_token_that_is_wrong_in_one_thing_lets_nobody_in(client: Client, provider: Service, how: str) -> None:
    spoil(provider, how)
    response = sign_in(client)
    assert response.status_code == 401
    assert "could not be trusted" in why_not(response)
    assert not is_in(client)
    assert not User.objects.exists()


def test_a_token_of_an_earlier_sign_in_is_refused(client: Client, provider: Service) -> None:
    """Replay: a token that was good once, given in answer to another sign-in."""
    sign_in(client)
    provider.id_token = provider.tokens[0]
    other = Client()
    assert sign_in(other).status_code == 401
    assert not is_in(other)


def test_an_answer_is_taken_once_and_by_the_session_that_asked(client: Client, provider: Service) -> None:
    """State: an address that leads back is worth nothing to anybody else, nor a second time."""
    answer = at_the_service(begin(client))
    stranger = Client()
    assert stranger.get(answer).status_code == 401
    assert not is_in(stranger)
    assert client.get(answer).status_code == 302
    client.post("/logout/")
    again = client.get(answer)
    assert again.status_code == 401
    assert not is_in(client)


@pytest.mark.parametrize("query", ["", "?code=1", "?state=1", "?code=1&state=1", "?state=%00&code=%F0%9F"])
def test_rubbish_that_leads_back_lets_nobody_in(client: Client, provider: Service, query: str) -> None:
    response = client.get(f"/oidc/callback/{query}")
    assert response.status_code == 401
    assert not is_in(client)


def test_a_code_of_another_sign_in_is_refused(client: Client, provider: Service) -> None:
    """PKCE: a code that was caught on its way to somebody else."""
    caught = parse_qs(urlsplit(at_the_service(begin(Client()))).query)["code"][0]
    own = parse_qs(urlsplit(at_the_service(begin(client))).query)["state"][0]
    response = client.get("/oidc/callback/", {"code": caught, "state": own})
    assert response.status_code == 401
    assert not is_in(client)


def test_who_turns_back_is_told_so(client: Client, provider: Service) -> None:
    provider.denied = True
    assert "cancelled" in why_not(sign_in(client))


def test_a_service_that_is_down_is_told(client: Client, provider: Service, settings: Any) -> None:
    """A trace in place of a page, and nobody knows whom to call."""
    answer = at_the_service(begin(client))
    settings.SPIRE_OIDC_URL = "http://127.0.0.1:9"
    for address in ("/oidc/login/", answer):
        response = client.get(address)
        assert response.status_code == 502
        assert "cannot be reached" in why_not(response)


def test_what_is_asked_of_the_service_is_fixed(client: Client, provider: Service) -> None:
    """An address that somebody was sent can make it ask for nothing else, and lead nowhere else."""
    address = "/oidc/login/?next=https://evil.example/&process=connect&scope=everything&auth_params=prompt%3Dnone"
    asked = parse_qs(urlsplit(begin(client, address)).query)
    assert sorted(asked["scope"][0].split()) == ["email", "openid", "profile"]
    assert "prompt" not in asked
    assert asked["code_challenge_method"] == ["S256"]
    assert len(asked["nonce"][0]) == 64
    assert sign_in(client, address)["Location"] == "/"


def test_who_is_signed_in_already_stays_who_they_are(client: Client, provider: Service, reader: User) -> None:
    client.force_login(reader)
    assert client.get("/oidc/login/")["Location"] == "/"


@pytest.mark.parametrize("url", ["", "https://id.example"])
def test_only_the_addresses_that_are_needed_are_there(settings: Any, url: str) -> None:
    """Off by default; on, no page of the library's own for accounts, mails or links."""
    settings.SPIRE_OIDC_URL = url
    patterns = runpy.run_path(str(ROOT / "spire_site" / "urls.py"))["urlpatterns"]
    found = {route for route, _ in routes(patterns) if not route.startswith("admin/")}
    assert found - set(ADDRESSES) == ({"oidc/login/", "oidc/callback/"} if url else set())
