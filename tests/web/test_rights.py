from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

import evidence.web
from evidence.models import Collection
from tests.handbook import GATE, collection_of, take_in
from tests.web.conftest import document_at

CASES = Path(__file__).parent.parent / "cases"
TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]*"')
SECRET = next(CASES.glob("50-*")).joinpath("input.html").read_bytes()
VIEWS = ["/documents/{}/", "/documents/{}/original", "/documents/{}/to/gate.html", "/documents/{}/?revision=1"]


@pytest.fixture
def restricted(handbook: Collection) -> int:
    """A document for the group HR only, beside one for everybody; its id."""
    take_in({"gate.html": GATE})
    collection_of("Severance").groups.add(Group.objects.create(name="HR"))
    take_in({"kestrel.html": SECRET}, "Severance")
    return document_at("kestrel.html").pk


def asked(client: Client, **query: str) -> str:
    response = client.get("/", {"q": "How many months are paid?", **query})
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize("query", [{}, {"collection": "severance"}, {"budget": "20000", "all": "1"}])
def test_a_restricted_collection_leaks_nothing_to_a_question(
    signed_in: Client, restricted: int, query: dict[str, str]
) -> None:
    """Case 50: neither results nor counts nor the choice of collections tell that it exists."""
    content = asked(signed_in, **query)
    for absent in ("Kestrel", "nine months", "Severance", 'value="severance"'):
        assert absent not in content


@pytest.mark.parametrize("view", VIEWS)
def test_a_restricted_document_is_as_unknown_as_one_that_is_not_there(
    signed_in: Client, restricted: int, view: str
) -> None:
    """Case 50: a 403, or another text, would tell that there is something."""
    one = {"x-request-id": "one-request"}
    hidden, unknown = (signed_in.get(view.format(pk), headers=one) for pk in (restricted, 999_999))
    assert hidden.status_code == unknown.status_code == 404
    assert TOKEN.sub(b"", hidden.content) == TOKEN.sub(b"", unknown.content)
    assert dict(hidden.headers) == dict(unknown.headers)


def test_a_link_does_not_lead_into_another_collection(signed_in: Client, restricted: int) -> None:
    response = signed_in.get(f"/documents/{document_at('gate.html').pk}/to/kestrel.html")
    assert response.status_code == 404


def test_membership_counts_from_the_next_request(signed_in: Client, reader: User, restricted: int) -> None:
    reader.groups.add(Group.objects.get(name="HR"))
    assert "nine months" in asked(signed_in)
    assert signed_in.get(f"/documents/{restricted}/").status_code == 200
    reader.groups.clear()
    assert "nine months" not in asked(signed_in)
    assert signed_in.get(f"/documents/{restricted}/").status_code == 404


def test_who_is_not_signed_in_is_asked_to_for_any_id(client: Client, restricted: int) -> None:
    """The answer must not depend on whether the document exists."""
    for pk in (restricted, 999_999):
        for view in VIEWS:
            response = client.get(view.format(pk))
            assert response.status_code == 302
            assert response["Location"].startswith("/login/")


def test_signing_out_takes_a_form(signed_in: Client) -> None:
    """A link on another site must not sign anybody out."""
    assert signed_in.get("/logout/").status_code == 405
    assert signed_in.post("/logout/").status_code == 302
    assert signed_in.get("/").status_code == 302


def test_signing_in_leads_only_to_this_site(client: Client, reader: User) -> None:
    form = {"username": "reader", "password": "reader", "next": "https://evil.example/"}
    response = client.post("/login/", form)
    assert response["Location"] == "/"


def test_pages_ask_for_nothing_but_what_is_visible() -> None:
    """A query in a view that goes past the one function that knows the rights."""
    sources = {path: path.read_text(encoding="utf-8") for path in Path(evidence.web.__path__[0]).glob("*.py")}
    past = re.compile(r"\b(\w+\.objects)\b(?!\.(visible_to|managed_by)\()")
    found = [f"{path.name}: {match[0]}" for path, source in sources.items() for match in past.finditer(source)]
    # What is asked there is only whether there is any; and groups are named by the sign-in service.
    assert sorted(found) == ["health.py: Document.objects", "oidc.py: Group.objects"]
