"""People who ask through the pages, over HTTP, as browsers do: each signs in, asks, reads for a while, and asks again."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urljoin

import httpx2
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from lxml import html

SLOWEST = 30.0
"""Seconds after which a person gives up on a page, which is then an error."""

PASSWORD = "only for this bench"  # noqa: S105
ADMINISTRATOR = "administrator"
LONGEST_READ = 4
"""Times the mean that the longest pause lasts."""

WHO = "string(//span[@class='who'] | //*[@id='user-tools']/strong)"
"""Whose page it is, as the pages and the admin say it."""

TYPES, OPENS, REOPENS = 0.2, 0.3, 0.1
"""How often somebody waits for suggestions while typing, opens a document that is cited, and reopens the question."""


class Visit(NamedTuple):
    """A page that somebody got: when (``time.monotonic()``), how many seconds it took, and what was wrong with it."""

    kind: str
    began: float
    seconds: float
    error: str = ""


class Wrong(Exception):
    """A page that is not what it should be."""


def names_of(count: int) -> list[str]:
    """The names of so many people."""
    return [f"person-{number}" for number in range(1, count + 1)]


def accounts_make(count: int) -> None:
    """So many accounts and an administrator, all with the same password."""
    # Making it is as slow as it should be, and once is enough.
    password = make_password(PASSWORD)
    User.objects.bulk_create(User(username=name, password=password) for name in names_of(count))
    User.objects.create_superuser(ADMINISTRATOR, password=PASSWORD)


@dataclass
class Person:
    """Somebody with a browser; ``visits`` is what they have seen."""

    name: str
    site: str
    rng: random.Random
    visits: list[Visit] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Whoever reads for seconds comes back on a new connection. A proxy's variables are not for this machine.
        once = httpx2.Limits(max_keepalive_connections=0)
        self.browser = httpx2.Client(base_url=self.site, timeout=SLOWEST, limits=once, trust_env=False)

    def sign_in(self) -> None:
        """Through the page. Wrong where it does not let in: nothing else would be of use."""
        self._read("sign-in page", "/login/", lambda page: None)
        token = self.browser.cookies.get("csrftoken", "")
        given = {"username": self.name, "password": PASSWORD, "csrfmiddlewaretoken": token}
        began = time.monotonic()
        answer = self.browser.post("/login/", data=given)
        self.visits.append(Visit("sign-in", began, time.monotonic() - began))
        if answer.status_code != 302:
            raise Wrong(f"{self.name} cannot sign in: {answer.status_code}")

    def ask(self, question: str, holds: str = "") -> html.HtmlElement | None:
        """The page of results, which must be this person's, of this question, cite something, and hold a text."""

        def check(page: html.HtmlElement) -> None:
            if page.xpath("string(//input[@id='question']/@value)") != question:
                raise Wrong("is of another question")
            if not page.xpath("//article[@class='result']//ol[@class='citations']//a"):
                raise Wrong("cites nothing")
            if holds not in page.text_content():
                raise Wrong(f"does not hold {holds!r}")

        return self._read("question", "/", check, q=question)

    def go_on(self, page: html.HtmlElement) -> None:
        """What people do with results: now and then open what is cited, or the link to the same results."""
        if self.rng.random() < OPENS:
            link = self.rng.choice(page.xpath("//article[@class='result']//ol[@class='citations']//a/@href"))
            self._read("document", link, _marked)
        if self.rng.random() < REOPENS:
            self._read("saved question", page.xpath("string(//p[@class='saved']/a/@href)"), _cited)

    def type(self, question: str) -> None:
        """The suggestions for the beginning of a question."""
        self._get("suggestions", "/suggest/", q=question[: max(len(question) // 2, 3)])

    def look_at(self, job: str) -> None:
        """The page of a job."""
        self._read("status", job, lambda page: None)

    def upload(self, collection: int, name: str, data: bytes) -> str:
        """Give a file to a collection, through the admin's form: the address of the job that takes it in."""
        address = f"/admin/evidence/collection/{collection}/upload/"
        self._read("upload page", address, lambda page: None)
        token = self.browser.cookies.get("csrftoken", "")
        began = time.monotonic()
        answer = self.browser.post(address, data={"csrfmiddlewaretoken": token}, files={"documents": (name, data)})
        self.visits.append(Visit("upload", began, time.monotonic() - began))
        if answer.status_code != 302:
            raise Wrong(f"the upload was answered by {answer.status_code}")
        return urljoin(address, answer.headers["location"])

    def live(self, questions: Sequence[str], pause: float, stop: threading.Event) -> None:
        """Ask, go on and read, for ``pause`` seconds on average, until told to stop."""
        # Nobody begins at the same moment.
        wait = self.rng.uniform(0, pause)
        while not stop.wait(wait):
            question = self.rng.choice(questions)
            if self.rng.random() < TYPES:
                self.type(question)
            if (page := self.ask(question)) is not None:
                self.go_on(page)
            wait = min(self.rng.expovariate(1 / pause), LONGEST_READ * pause) if pause else 0.0

    def _read(
        self, kind: str, address: str, check: Callable[[html.HtmlElement], None], **query: str
    ) -> html.HtmlElement | None:
        """A page that is right; None for one that is not, which is noted."""
        visit = self._get(kind, address, **query)
        if visit is None:
            return None
        page = html.document_fromstring(visit.content)
        try:
            if kind != "sign-in page" and page.xpath(WHO) != self.name:
                raise Wrong("is not of who asked")
            check(page)
        except Wrong as wrong:
            self._note(str(wrong))
            return None
        return page

    def _get(self, kind: str, address: str, **query: str) -> httpx2.Response | None:
        began = time.monotonic()
        error, answer = "", None
        try:
            answer = self.browser.get(address, params=query or None)
        except httpx2.HTTPError as failed:
            error = f"{type(failed).__name__}: {failed}"
        else:
            error = "" if answer.status_code == 200 else f"is answered by {answer.status_code}"
        self.visits.append(Visit(kind, began, time.monotonic() - began))
        if error:
            self._note(error)
        return None if error else answer

    def _note(self, error: str) -> None:
        self.visits[-1] = self.visits[-1]._replace(error=f"{self.visits[-1].kind}: {error}")


def _marked(page: html.HtmlElement) -> None:
    if not page.xpath("//nav[@class='cited-here']//li") or page.xpath("//p[contains(., 'not in this revision')]"):
        raise Wrong("does not mark what is cited")


def _cited(page: html.HtmlElement) -> None:
    if not page.xpath("//article[@class='result']"):
        raise Wrong("cites nothing")


def sign_in(count: int, site: str, rng: random.Random) -> list[Person]:
    """So many people, signed in, as many at once as they like. Wrong where one is not let in."""
    people = [Person(name, site, random.Random(rng.random())) for name in names_of(count)]  # noqa: S311
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(Person.sign_in, people))
    return people


@contextmanager
def living(people: Sequence[Person], questions: Sequence[str], pause: float) -> Iterator[None]:
    """All of them go on asking meanwhile, each in a thread."""
    stop = threading.Event()
    with ThreadPoolExecutor(len(people)) as pool:
        lives = [pool.submit(person.live, questions, pause, stop) for person in people]
        try:
            yield
        finally:
            stop.set()
    for life in lives:
        life.result()
