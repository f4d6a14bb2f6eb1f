"""Many requests without being a burden: robots.txt, one request at a time to a host, a pause between two, and a site that
fails or asks us to come back later is left alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from evidence.ingest.fetch.client import Answer, Client, NotFetched, Unreachable
from evidence.ingest.fetch.robots import MOST_REDIRECTS, Rules, rules_of
from evidence.ingest.fetch.urls import BadUrl, host_of, normal, site_of
from evidence.ingest.turns import turn

FAILURES_IN_A_ROW = 5
"""After so many requests that failed for the site's sake, it is not asked again in this run."""

LONGEST_WAIT = 60.0
"""Seconds. Who asks us to come back later than that is asked in another run."""

BACK_LATER = 30.0
"""Seconds, where a 429 does not say how many."""

ATTEMPTS = 3
LATEST = 86_400.0


class Disallowed(NotFetched):
    """robots.txt says no."""


@dataclass
class Site:
    """What is known of a site in this run."""

    rules: Rules | None = None
    last: float | None = None
    failures: int = 0
    left_alone: str = ""


@dataclass
class Fetcher:
    """Asks for pages at a polite rate. ``pause`` is in seconds; robots.txt may ask for more."""

    client: Client
    pause: float = 1.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    requests: int = 0
    received: int = 0
    come_back: float = 0.0
    """Seconds after which a site asked us to come back."""

    _sites: dict[str, Site] = field(default_factory=dict)

    @contextmanager
    def get(self, url: str, headers: Mapping[str, str] | None = None) -> Iterator[Answer]:
        """The answer to a request for a normal URL. NotFetched says why there is none."""
        site = self._sites.setdefault(site_of(url), Site())
        if site.left_alone:
            raise Unreachable(site.left_alone)
        if not self._rules(url, site).may_ask(url):
            raise Disallowed(f"robots.txt of {site_of(url)} disallows it")
        for attempt in range(1, ATTEMPTS + 1):
            with ExitStack() as asked:
                answer = asked.enter_context(self._asked(url, site, headers))
                wait = _seconds_to_wait(answer)
                if wait is None:
                    yield answer
                    return
            if wait > LONGEST_WAIT or attempt == ATTEMPTS:
                self.come_back = max(self.come_back, min(wait, LATEST))
                site.left_alone = f"{host_of(url)} asks us to come back later (answered by {answer.status})"
                raise Unreachable(site.left_alone)
            self.sleep(wait)

    @contextmanager
    def follow(self, url: str) -> Iterator[Answer]:
        """The answer where redirects end. NotFetched also when they do not."""
        place = url
        for _ in range(MOST_REDIRECTS + 1):
            with ExitStack() as asked:
                answer = asked.enter_context(self.get(place))
                if not answer.leads_to:
                    yield answer
                    return
                target = answer.leads_to
            try:
                place = normal(target, place)
            except BadUrl as error:
                raise NotFetched(f"{url} leads to {target[:200]!r}, which {error}") from error
        raise NotFetched(f"{url} leads on more than {MOST_REDIRECTS} times")

    def left_alone(self) -> list[str]:
        """Why sites were not asked any more."""
        return [site.left_alone for site in self._sites.values() if site.left_alone]

    def _rules(self, url: str, site: Site) -> Rules:
        # http and https of one host are one site here: robots.txt of the first that is asked counts for both.
        if site.rules is None:
            self.requests += 1
            try:
                with turn(host_of(url)):
                    site.rules = rules_of(self.client, url)
            except NotFetched as error:
                site.left_alone = str(error)
                raise
            site.last = self.clock()
        return site.rules

    @contextmanager
    def _asked(self, url: str, site: Site, headers: Mapping[str, str] | None) -> Iterator[Answer]:
        delay = max(self.pause, site.rules.delay if site.rules else 0.0)
        with turn(host_of(url)) as had_to_wait:
            # Whoever had the turn before has only just asked.
            since = 0.0 if had_to_wait or site.last is None else self.clock() - site.last
            if since < delay:
                self.sleep(delay - since)
            self.requests += 1
            try:
                with self.client.get(url, headers) as answer:
                    try:
                        yield answer
                    finally:
                        self.received += answer.received
                    self._note(site, url, failed=answer.status >= 500, why=f"answered by {answer.status}")
            except Unreachable as error:
                self._note(site, url, failed=True, why=str(error))
                raise
            finally:
                site.last = self.clock()

    def _note(self, site: Site, url: str, *, failed: bool, why: str) -> None:
        site.failures = site.failures + 1 if failed else 0
        if site.failures >= FAILURES_IN_A_ROW:
            site.left_alone = f"{host_of(url)} failed {site.failures} times in a row and is left alone for now: {why}"


def _seconds_to_wait(answer: Answer) -> float | None:
    """After how many seconds a server that refuses asks us to come back (RFC 9110, 10.2.3); None when it does not."""
    said = answer.headers.get("retry-after", "").strip()
    if answer.status not in (429, 503) or (answer.status == 503 and not said):
        return None
    if said.isdigit():
        return float(said[:9])
    try:
        then = parsedate_to_datetime(said)
    except ValueError:
        return BACK_LATER
    return max((then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)
