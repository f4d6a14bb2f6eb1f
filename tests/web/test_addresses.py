"""Every address of the site is asked for as each kind of person; what is expected is declared in ``addresses.py``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern
from django.utils.timezone import now

from evidence.models import Collection, Document, Job, Source, SourcePage
from evidence.retrieve.pipeline import ask as retrieved
from evidence.retrieve.saving import question_save
from tests.handbook import GATE, collection_of, take_in
from tests.web.addresses import ADDRESSES, KINDS, OUTSIDE, READERS, Address, World
from tests.web.conftest import document_at
from tests.web.test_rights import SECRET, TOKEN

NEVER_TOLD = ("Kestrel", "kestrel", "nine months", "Severance", "severance")
NOT_THERE = 999_999


def routes(patterns: Iterable[URLPattern | URLResolver], before: str = "") -> Iterator[tuple[str, bool]]:
    """The route of each view, and whether its pattern is a regular expression."""
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        else:
            yield route, not isinstance(pattern.pattern, RoutePattern)


ROUTES = dict(routes(get_resolver().url_patterns))


def url_of(route: str, parameters: dict[str, str]) -> str:
    """An address of this route."""
    route = route.replace("^", "").replace("$", "")
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>[^)]*\)", lambda found: parameters[found[1] or found[2]], route)


@pytest.fixture
def world(handbook: Collection) -> World:
    """A collection for the group HR with a manager, one of other people, and one for everybody."""
    collection, other = collection_of("Severance"), collection_of("Recipes")
    hr, cooks = Group.objects.create(name="People"), Group.objects.create(name="Cooks")
    collection.groups.add(hr)
    other.groups.add(cooks)
    people = {
        kind: User.objects.create_user(
            kind.replace(" ", "-"),
            password=kind,
            is_active=kind != "inactive",
            is_staff=kind in ("staff", "superuser"),
            is_superuser=kind == "superuser",
        )
        for kind in KINDS
        if kind != "anonymous"
    }
    for kind in ("member", "inactive"):
        people[kind].groups.add(hr)
    people["other member"].groups.add(cooks)
    collection.managers.add(people["manager"])
    other.managers.add(people["other manager"])
    take_in({"gate.html": GATE})
    take_in({"soup.html": GATE}, "Recipes")
    take_in({"kestrel.html": SECRET}, "Severance")
    job = Job.objects.create(kind="contexts", title="Contexts of Severance", collection=collection, state="failed")
    source = Source.objects.create(collection=collection, kind="list", where="https://kestrel.example/")
    page = SourcePage.objects.create(source=source, url="https://kestrel.example/", listed=now())
    evidence = retrieved("How many months are paid?", collections=[collection.pk])
    saved = question_save(asker=people["member"], evidence=evidence, collections=[collection.pk], filters={})
    assert saved is not None
    return World(
        people,
        collection.pk,
        document_at("kestrel.html").pk,
        hr.pk,
        people["reader"].pk,
        AccessAttempt.objects.create(username="nobody", failures_since_start=1).pk,
        ContentType.objects.get_for_model(Document).pk,
        job.pk,
        source.pk,
        page.pk,
        str(saved.pk),
    )


def ask(world: World, kind: str, address: Address, method: str, *, is_there: bool = True) -> Any:
    """The response to one kind of person, and nothing changed by it. Not there: all that the address names is gone."""
    parameters = world.parameters(address.parameters)
    if not is_there:
        parameters = {key: _elsewhere(value) for key, value in parameters.items()}
    client = Client()
    with transaction.atomic():
        if kind in world.people:
            client.force_login(world.people[kind])
        url = url_of(address.route, parameters)
        if method == "GET":
            response = client.get(url, address.query)
        else:
            response = client.post(url, address.form, query_params=address.query)
        response.told = b"".join(response) if response.streaming else response.content
        transaction.set_rollback(True)
    return response


def _elsewhere(value: str) -> str:
    """An id of the same kind that nothing has."""
    if value.isdigit():
        return str(NOT_THERE)
    return str(uuid4()) if len(value) == len(str(uuid4())) else value


def test_every_address_is_declared() -> None:
    """A new view whose rights nobody has thought of."""
    missing, gone = set(ROUTES) - set(ADDRESSES), set(ADDRESSES) - set(ROUTES)
    assert not missing, f"declare in tests/web/addresses.py who finds what there: {sorted(missing)}"
    assert not gone, f"these addresses are no more: {sorted(gone)}"


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("kind", KINDS)
def test_everybody_finds_what_is_theirs_and_no_more(world: World, kind: str, method: str) -> None:
    """Case 50, for each address and each kind of person: the status, and no word of what they may not see."""
    wrong = []
    for address in ADDRESSES.values():
        response = ask(world, kind, address, method)
        expected = (address.get if method == "GET" else address.post)[kind]
        if response.status_code != expected:
            wrong.append(f"{address.route}: {response.status_code}, not {expected}")
        if response.status_code == 302 and kind in OUTSIDE and "logout" not in address.route:
            assert response["Location"].startswith(("/login/?next=", "/admin/login/?next=")), address.route
        if kind not in READERS:
            wrong += [f"{address.route}: tells {word!r}" for word in NEVER_TOLD if word.encode() in response.told]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(READERS)))
def test_what_is_hidden_is_as_what_is_not_there(world: World, kind: str, method: str) -> None:
    """Case 50: another status, text, header or place that is led to would tell that there is something."""
    for address in ADDRESSES.values():
        if not {"collection", "document"} & set(address.parameters.values()):
            continue
        hidden, unknown = (ask(world, kind, address, method, is_there=there) for there in (True, False))
        parameters = world.parameters(address.parameters)
        was = {value for value in parameters.values() if value.isdigit()}

        def told(response: Any, was: set[str] = was) -> tuple[int, bytes, dict[str, str]]:
            """What is told, less the number that was asked for."""
            numbers = re.compile(
                "|".join(rf"(?<=/){number}(?=/|$|%2F)|(?<=%2F){number}" for number in (*was, NOT_THERE))
            )
            headers = {
                name: numbers.sub("N", value)
                for name, value in response.headers.items()
                if name not in ("Expires", "X-Request-ID")
            }
            return response.status_code, TOKEN.sub(b"", numbers.sub("N", response.told.decode()).encode()), headers

        assert told(hidden) == told(unknown), address.route


@pytest.mark.parametrize("kind", ["reader", "superuser"])
def test_no_address_takes_a_forged_form(world: World, kind: str) -> None:
    """A view that is exempt from the check, and acts for whoever has a page open elsewhere."""
    before = Document.objects.count()
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.people[kind])
    for address in ADDRESSES.values():
        response = client.post(url_of(address.route, world.parameters(address.parameters)), address.form)
        is_led_to_sign_in = response.status_code == 302 and "/login/?next=" in response["Location"]
        assert response.status_code in (403, 404) or is_led_to_sign_in, address.route
    assert Document.objects.count() == before
