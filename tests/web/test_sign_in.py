"""Signing in, and being locked out after failures."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.conf import settings as site_settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db.models import F
from django.test import Client, RequestFactory
from django.urls import reverse

from evidence.checks import somebody_can_sign_in
from evidence.web.sign_in import client_address
from tests.web.conftest import seen, select, text_of

LIMIT = site_settings.AXES_FAILURE_LIMIT
RIGHT = {"username": "reader", "password": "reader"}
WRONG = {"username": "reader", "password": "wrong"}


def fail(client: Client, times: int = LIMIT, **extra: Any) -> Any:
    for _ in range(times):
        response = client.post("/login/", WRONG, **extra)
    return response


def test_after_failures_a_name_is_locked_at_this_address(client: Client, reader: User) -> None:
    """Somebody who tries one password after the other; the page says what to do, and the right one does not help."""
    assert fail(client, LIMIT - 1).status_code == 200
    for form in (WRONG, RIGHT):
        response = client.post("/login/", form)
        assert response.status_code == 429
        told = text_of(select(seen(response), ".notice")[0])
        assert "Wait 15 minutes and try again, or ask an administrator" in told
        assert response["Retry-After"] == "900"
        assert "_auth_user_id" not in client.session


def test_a_lock_out_is_of_one_name_at_one_address(client: Client, reader: User) -> None:
    """By name alone anybody could lock out anybody; by address alone an office would lock itself out."""
    User.objects.create_user("other", password="other")
    fail(client)
    assert client.post("/login/", {"username": "other", "password": "other"}).status_code == 302
    assert Client(REMOTE_ADDR="192.0.2.7").post("/login/", RIGHT).status_code == 302


def test_a_lock_out_tells_nothing_of_who_has_an_account(client: Client, db: None) -> None:
    assert "Too many sign-ins" in fail(client).content.decode()


def test_a_lock_out_ends(client: Client, reader: User) -> None:
    fail(client)
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=16))
    assert client.post("/login/", RIGHT).status_code == 302


def test_success_ends_the_count(client: Client, reader: User) -> None:
    fail(client, LIMIT - 1)
    assert client.post("/login/", RIGHT).status_code == 302
    client.post("/logout/")
    assert fail(client, LIMIT - 1).status_code == 200


def test_an_administrator_unlocks(client: Client, reader: User) -> None:
    """By the admin, or by a command where there is no other administrator."""
    administrator = Client()
    administrator.force_login(User.objects.create_superuser("administrator"))
    fail(client)
    attempt = AccessAttempt.objects.get()
    listed = administrator.get(reverse("admin:axes_accessattempt_changelist")).content.decode()
    assert "reader" in listed
    administrator.post(reverse("admin:axes_accessattempt_delete", args=[attempt.pk]), {"post": "yes"})
    assert client.post("/login/", RIGHT).status_code == 302
    client.post("/logout/")
    fail(client)
    call_command("axes_reset_username", "reader", stdout=io.StringIO())
    assert client.post("/login/", RIGHT).status_code == 302


def test_the_admin_has_no_sign_in_of_its_own(client: Client, reader: User) -> None:
    """A second door that counts nothing."""
    response = client.get("/admin/", follow=True)
    assert response.redirect_chain[-1][0] == "/login/?next=/admin/"
    assert client.post("/admin/login/", WRONG).status_code == 302
    reader.is_staff = True
    reader.save()
    assert client.post("/login/", {**RIGHT, "next": "/admin/"})["Location"] == "/admin/"


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, "203.0.113.9", "192.0.2.1"),
        (1, "", "192.0.2.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "198.51.100.1, 203.0.113.9", "203.0.113.9"),
        (2, "198.51.100.1, 203.0.113.9, 10.0.0.1", "203.0.113.9"),
        (2, "203.0.113.9", "192.0.2.1"),
    ],
)
def test_an_address_is_believed_from_our_own_proxies_only(
    settings: Any, proxies: int, forwarded: str, expected: str
) -> None:
    """A header that anybody can send would make each try come from elsewhere."""
    settings.SPIRE_PROXIES = proxies
    headers = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    assert client_address(RequestFactory().get("/", REMOTE_ADDR="192.0.2.1", **headers)) == expected


def test_a_header_of_ones_own_does_not_unlock(client: Client, reader: User) -> None:
    for number in range(LIMIT):
        response = client.post("/login/", WRONG, headers={"X-Forwarded-For": f"203.0.113.{number}"})
    assert response.status_code == 429


NEW = "a brass key and a blue tin"


def change(client: Client, old: str, new: str = NEW, again: str = NEW) -> Any:
    form = {"old_password": old, "new_password1": new, "new_password2": again}
    return client.post("/password/", form, follow=True)


def test_a_reader_changes_their_password(signed_in: Client, reader: User) -> None:
    """A password that was told by whoever made the account, and that its owner can never change; a thief who stays
    signed in."""
    thief = Client()
    thief.force_login(reader)
    assert [link.get("href") for link in select(seen(signed_in.get("/")), "nav a") if text_of(link) == "Password"] == [
        "/password/"
    ]
    told = seen(change(signed_in, "reader"))
    assert "Your password is changed" in text_of(select(told, ".notice")[0])
    assert not select(seen(signed_in.get("/password/")), ".notice")
    assert signed_in.get("/").status_code == 200
    assert thief.get("/").status_code == 302
    assert Client().post("/login/", {**RIGHT, "password": NEW}).status_code == 302
    assert Client().post("/login/", RIGHT).status_code == 200


@pytest.mark.parametrize(
    ("old", "new", "again"), [("wrong", NEW, NEW), ("reader", NEW, NEW[:-1]), ("reader", "password", "password")]
)
def test_a_password_is_not_changed_without_a_reason_given(
    signed_in: Client, reader: User, old: str, new: str, again: str
) -> None:
    """Somebody at a browser that was left alone; a slip of the fingers that locks its owner out; a word that is guessed."""
    assert select(seen(change(signed_in, old, new, again)), ".errorlist")
    reader.refresh_from_db()
    assert reader.check_password("reader")


def test_who_has_no_password_is_offered_none(client: Client, signed_in: Client, reader: User, settings: Any) -> None:
    """Whom a service signs in: a page that asks for a password that they never had."""
    settings.SPIRE_PASSWORDS = False
    assert signed_in.get("/password/").status_code == 404
    settings.SPIRE_PASSWORDS = True
    reader.set_unusable_password()
    reader.save()
    client.force_login(reader)
    assert client.get("/password/").status_code == 404
    assert change(client, "").status_code == 404
    assert "/password/" not in client.get("/").content.decode()
    assert Client().get("/password/")["Location"].startswith("/login/")


def test_passwords_can_be_turned_off(client: Client, reader: User, settings: Any) -> None:
    """Where a service signs people in, a password of an account that left there must open nothing."""
    settings.SPIRE_PASSWORDS = False
    assert not select(seen(client.get("/login/")), "input[name=password]")
    assert client.post("/login/", RIGHT).status_code == 405
    assert "_auth_user_id" not in client.session


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, []),
        ({"SPIRE_PASSWORDS": False}, ["evidence.E004"]),
        ({"SPIRE_OIDC_URL": "https://id.example"}, ["evidence.E003"]),
        ({"SPIRE_OIDC_URL": "https://id.example", "SPIRE_OIDC_ID": "x", "SPIRE_OIDC_SECRET": "y"}, []),
    ],
)
def test_settings_by_which_nobody_could_sign_in_are_told(
    settings: Any, changed: dict[str, Any], found: list[str]
) -> None:
    for name, value in changed.items():
        setattr(settings, name, value)
    assert [message.id for message in somebody_can_sign_in()] == found


@pytest.mark.parametrize("password", ["12345678901", "password", "short"])
def test_a_password_that_is_guessed_at_once_is_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(password)
