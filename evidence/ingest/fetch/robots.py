"""robots.txt, as RFC 9309 has it; ``Crawl-delay``, which it has not, is kept to as well."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from protego import Protego

from evidence.ingest.fetch.client import Answer, Client, Unreachable
from evidence.ingest.fetch.urls import BadUrl, normal

PRODUCT = "SPIRE"
"""What robots.txt calls us."""

MOST_REDIRECTS = 5
MOST_BYTES = 500 * 1024
"""What stands after them is not read (RFC 9309, 2.5)."""

LONGEST_DELAY = 60.0
"""Seconds. A longer Crawl-delay is kept to so far."""


@dataclass(frozen=True)
class Rules:
    """What a site lets us ask for."""

    parsed: Protego

    def may_ask(self, url: str) -> bool:
        return self.parsed.can_fetch(url, PRODUCT)

    @property
    def delay(self) -> float:
        """Seconds between two requests."""
        return min(self.parsed.crawl_delay(PRODUCT) or 0.0, LONGEST_DELAY)


def rules_of(client: Client, url: str) -> Rules:
    """The rules of the site of this URL. Without a robots.txt (4xx) all is allowed. Unreachable where it cannot be had
    (5xx, no answer): then nothing may be asked for."""
    parts = urlsplit(url)
    place = f"{parts.scheme}://{parts.netloc}/robots.txt"
    for _ in range(MOST_REDIRECTS + 1):
        with client.get(place) as answer:
            if not answer.leads_to:
                return _rules(answer)
            try:
                place = normal(answer.leads_to, place)
            except BadUrl:
                break
    # More than five redirects, or one that leads nowhere: as if there were none (RFC 9309, 2.3.1.2).
    return Rules(Protego.parse(""))


def _rules(answer: Answer) -> Rules:
    if answer.status == 429 or answer.status >= 500:
        raise Unreachable(
            f"its robots.txt cannot be read (answered by {answer.status}), so that nothing may be asked for"
        )
    text = answer.body(MOST_BYTES, rest_is_left=True).decode("utf-8", "replace") if answer.status == 200 else ""
    return Rules(Protego.parse(text.removeprefix("\ufeff")))
