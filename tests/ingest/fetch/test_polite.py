from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evidence.ingest.fetch.client import NotFetched, Unreachable
from evidence.ingest.fetch.polite import FAILURES_IN_A_ROW, Disallowed, Fetcher
from tests.ingest.site import Reply, Site, client

pytestmark = pytest.mark.django_db


class Watch:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def fetcher(watch: Watch) -> Fetcher:
    """One that pauses two seconds, by a clock of the test's own."""
    return Fetcher(client(), pause=2, sleep=watch.sleep, clock=watch)


def status(fetcher: Fetcher, url: str) -> int:
    with fetcher.get(url) as answer:
        answer.body(10_000)
        return answer.status


def robots(site: Site, *lines: str) -> None:
    site.put("/robots.txt", "\n".join(lines).encode(), "text/plain")


def test_between_two_requests_there_is_a_pause(site: Site, fetcher: Fetcher, watch: Watch) -> None:
    """A small site that is asked as fast as it can answer."""
    site.page("/")
    for _ in range(3):
        status(fetcher, site.url())
    assert watch.slept == [2, 2, 2]
    watch.now += 1.5
    status(fetcher, site.url())
    assert watch.slept[-1] == 0.5


def test_robots_txt_may_ask_for_a_longer_pause(site: Site, fetcher: Fetcher, watch: Watch) -> None:
    robots(site, "User-agent: *", "Crawl-delay: 7")
    site.page("/")
    status(fetcher, site.url())
    assert watch.slept == [7]
    robots(site, "User-agent: *", "Crawl-delay: 86400")
    status(Fetcher(client(), sleep=watch.sleep, clock=watch), site.url())
    assert watch.slept[-1] == 60


def test_robots_txt_is_asked_for_once_and_kept_to(site: Site, fetcher: Fetcher) -> None:
    robots(
        site,
        "\ufeffUser-agent: *",
        "Disallow: /",
        "",
        "User-agent: spire",
        "Disallow: /private",
        "Allow: /private/ours",
    )
    site.page("/")
    site.page("/private/ours")
    assert status(fetcher, site.url()) == status(fetcher, site.url("/private/ours")) == 200
    with pytest.raises(Disallowed, match="robots.txt"):
        status(fetcher, site.url("/private/x"))
    assert [asked.target for asked in site.asked] == ["/robots.txt", "/", "/private/ours"]


@pytest.mark.parametrize("code", [401, 403, 404, 410])
def test_without_a_robots_txt_all_is_allowed(site: Site, fetcher: Fetcher, code: int) -> None:
    """RFC 9309, 2.3.1.3."""
    site.answer("/robots.txt", code)
    site.page("/")
    assert status(fetcher, site.url()) == 200


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_robots_txt_that_cannot_be_had_allows_nothing(site: Site, fetcher: Fetcher, code: int) -> None:
    """RFC 9309, 2.3.1.4."""
    site.answer("/robots.txt", code)
    site.page("/")
    for _ in range(2):
        with pytest.raises(Unreachable, match="robots.txt"):
            status(fetcher, site.url())
    assert [asked.target for asked in site.asked] == ["/robots.txt"]
    assert fetcher.left_alone()


def test_a_robots_txt_is_found_behind_redirects_and_read_to_its_limit(site: Site, fetcher: Fetcher) -> None:
    site.redirect("/robots.txt", "/robots2.txt")
    rules = b"User-agent: *\nDisallow: /a\n" + b"#" * 600_000 + b"\nDisallow: /b\n"
    site.put("/robots2.txt", rules, "text/plain")
    site.page("/b")
    assert status(fetcher, site.url("/b")) == 200
    with pytest.raises(Disallowed):
        status(fetcher, site.url("/a"))


def test_a_robots_txt_that_leads_in_a_circle_is_none(site: Site, fetcher: Fetcher) -> None:
    site.redirect("/robots.txt", "/robots.txt")
    site.page("/")
    assert status(fetcher, site.url()) == 200


def test_a_robots_txt_of_a_page_for_people_forbids_nothing(site: Site, fetcher: Fetcher) -> None:
    """Servers that answer everything by their start page, with a 200."""
    site.page("/robots.txt")
    site.page("/")
    assert status(fetcher, site.url()) == 200


def test_a_retry_after_that_is_short_is_waited_for(site: Site, fetcher: Fetcher, watch: Watch) -> None:
    replies = iter([Reply(b"", 503, {"Retry-After": "9"}), Reply(b"", 429), Reply(b"ok")])
    site.replies["/"] = lambda: next(replies)
    assert status(fetcher, site.url()) == 200
    assert watch.slept == [2, 9, 30], "which is longer than the pause"


@pytest.mark.parametrize("said", ["3600", "Fri, 01 Jan 2100 00:00:00 GMT"])
def test_a_retry_after_that_is_long_ends_the_run(site: Site, fetcher: Fetcher, said: str) -> None:
    site.answer("/", 429, Retry_After=said)
    for _ in range(2):
        with pytest.raises(Unreachable, match="come back later"):
            status(fetcher, site.url())
    assert len(site.targets()) == 1
    assert fetcher.come_back in (3600, 86_400)


def test_a_retry_after_of_rubbish_is_some_seconds(site: Site, fetcher: Fetcher, watch: Watch) -> None:
    replies = iter([Reply(b"", 429, {"Retry-After": "soon"}), Reply(b"", 503, {"Retry-After": "-5"}), Reply(b"ok")])
    site.replies["/"] = lambda: next(replies)
    assert status(fetcher, site.url()) == 200
    assert all(seconds > 0 for seconds in watch.slept)


def test_a_site_that_fails_again_and_again_is_left_alone(site: Site, fetcher: Fetcher) -> None:
    """Ten thousand pages asked of a site that is down, each with its time limit."""
    site.answer("/", 500)
    for _ in range(FAILURES_IN_A_ROW):
        assert status(fetcher, site.url()) == 500
    with pytest.raises(Unreachable, match="left alone"):
        status(fetcher, site.url())
    assert len(site.targets()) == FAILURES_IN_A_ROW


def test_one_failure_among_others_leaves_nobody_alone(site: Site, fetcher: Fetcher) -> None:
    site.answer("/bad", 500)
    site.page("/")
    for _ in range(FAILURES_IN_A_ROW * 2):
        status(fetcher, site.url("/bad"))
        status(fetcher, site.url())


def test_a_body_that_breaks_off_counts_as_a_failure(site: Site, fetcher: Fetcher) -> None:
    site.replies["/"] = Reply([b"half"], headers={"Content-Length": "5000"})
    for _ in range(FAILURES_IN_A_ROW):
        with pytest.raises(Unreachable, match="broke off"):
            status(fetcher, site.url())
    with pytest.raises(Unreachable, match="left alone"):
        status(fetcher, site.url())


def test_another_site_is_asked_while_one_is_left_alone(site: Site, fetcher: Fetcher) -> None:
    """A list of pages on many sites, of which one is down."""
    site.answer("/bad", 500)
    for _ in range(FAILURES_IN_A_ROW):
        status(fetcher, site.url("/bad"))
    site.page("/")
    assert status(fetcher, site.url(host="other.example")) == 200


@pytest.mark.parametrize(
    ("arrange", "why"),
    [
        (lambda site: site.redirect("/", "/"), "leads on more than 5 times"),
        (lambda site: site.redirect("/", "ftp://x.example/"), "only http"),
        (lambda site: site.redirect("/", "http://127.1/"), "four decimal numbers"),
    ],
)
def test_redirects_are_followed_to_an_end(
    site: Site, fetcher: Fetcher, arrange: Callable[[Site], Any], why: str
) -> None:
    arrange(site)
    with pytest.raises(NotFetched, match=why), fetcher.follow(site.url()):
        pass
