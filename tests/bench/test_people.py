from __future__ import annotations

import random
from collections.abc import Callable

import httpx2
import pytest

from evidence.bench.people import Person, Wrong

RESULTS = (
    "<title>x</title><span class=who>{who}</span><input id=question value='{question}'>"
    "<article class=result>Tea is at ten.<ol class=citations><li><a href='/documents/1/'>1</a></ol></article>"
)


def person(answer: Callable[[httpx2.Request], httpx2.Response]) -> Person:
    """Ada, whose browser gets these answers."""
    ada = Person("ada", "http://127.0.0.1", random.Random(1))
    ada.browser = httpx2.Client(base_url=ada.site, transport=httpx2.MockTransport(answer))
    return ada


def page(who: str = "ada", question: str = "tea", status: int = 200, html: str = RESULTS) -> Person:
    return person(lambda request: httpx2.Response(status, text=html.format(who=who, question=question)))


def test_a_good_page_is_no_error() -> None:
    """A run that cannot pass."""
    ada = page()
    assert ada.ask("tea", holds="at ten") is not None
    assert [(visit.kind, visit.error) for visit in ada.visits] == [("question", "")]


@pytest.mark.parametrize(
    ("ada", "error"),
    [
        (page(who="bob"), "question: is not of who asked"),
        (page(question="coffee"), "question: is of another question"),
        (page(html="<span class=who>{who}</span><input id=question value={question}>"), "question: cites nothing"),
        (page(status=500), "question: is answered by 500"),
        (page(status=302), "question: is answered by 302"),
    ],
    ids=["of another person", "of another question", "without a citation", "an error", "signed out"],
)
def test_a_page_that_is_not_what_was_asked_for_is_an_error(ada: Person, error: str) -> None:
    """Threads that mix up their requests, and pages that look well from afar."""
    assert ada.ask("tea") is None
    assert [visit.error for visit in ada.visits] == [error]


def test_what_was_added_must_be_on_the_page() -> None:
    """A page that was taken in again, and is found as it was before."""
    ada = page()
    assert ada.ask("tea", holds="spare_key") is None
    assert ada.visits[-1].error == "question: does not hold 'spare_key'"


def test_a_server_that_does_not_answer_is_an_error() -> None:
    """A person who waits, and is not counted."""

    def nobody(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadTimeout("timed out", request=request)

    ada = person(nobody)
    assert ada.ask("tea") is None
    assert ada.visits[-1].error == "question: ReadTimeout: timed out"


def test_who_is_not_let_in_is_told() -> None:
    """Fifty people who ask the sign-in page."""
    ada = page()
    with pytest.raises(Wrong, match="ada cannot sign in: 200"):
        ada.sign_in()
