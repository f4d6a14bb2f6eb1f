"""The pages of a list, a sitemap or a crawl, each asked for once in a run.

How the address of a document is settled: it is that of the page which answered, after redirects; two URLs that lead to one
page are one document. A crawl also believes a page that calls another page of the site its ``rel=canonical``, and takes a
page whose bytes another one had already as that page's alias. Who lists a URL means it: a list and a sitemap do not.
``noindex`` keeps pages of a crawl and a sitemap out, ``nofollow`` their links; robots.txt is kept to by all three.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from evidence.ingest.fetch.client import Answer, NotFetched, TooLarge
from evidence.ingest.fetch.kinds import NotRead, format_of_page, is_worth_asking, media_type_of, name_of
from evidence.ingest.fetch.links import Said, said_by
from evidence.ingest.fetch.polite import Disallowed, Fetcher
from evidence.ingest.fetch.robots import MOST_REDIRECTS
from evidence.ingest.fetch.sitemap import pages_of
from evidence.ingest.fetch.urls import BadUrl, is_below, normal, site_of
from evidence.ingest.limits import largest_file, too_large
from evidence.ingest.readers import refused_name
from evidence.ingest.readers.formats import parser_of
from evidence.ingest.refresh.places import prefix_of, urls_of
from evidence.ingest.refresh.run import LONGEST_VALIDATOR, Fate, Run, Waiting
from evidence.ingest.sources import Arrival, Refusal, checked
from evidence.models import Source, SourcePage

HAS_LINKS = ("html", "xhtml")
NO_ONE_IS_LET_IN = (401, 403, 407)


@dataclass(frozen=True)
class Elsewhere:
    """Where the page really is, and who says so."""

    url: str
    reason: str


@dataclass(frozen=True)
class Settled:
    """What became of a page that gives nothing to take in."""

    outcome: SourcePage.Outcome
    reason: str = ""


class Visit:
    """The way through the pages of one run."""

    def __init__(self, run: Run, fetcher: Fetcher) -> None:
        self.run = run
        self.fetcher = fetcher
        self.source = run.source
        self.urls = urls_of(self.source.kind, self.source.where, self.source.prefix)
        self.prefix = prefix_of(self.source.prefix)
        self.is_crawl = self.source.kind == Source.Kind.CRAWL
        self.is_list = self.source.kind == Source.Kind.LIST

    def pages(self) -> Iterator[Arrival | Refusal]:
        """What is new or may have changed, for the ingest."""
        self._list()
        while (pages := self.run.next_pages()) or self._list_known():
            for page in pages:
                if not self.run.is_done(page) and (received := self._visit(page)):
                    yield received
        self.run.settle_unlisted("is no longer named there")

    def _list(self) -> None:
        """NotFetched when it is not known which pages there are."""
        if self.source.kind == Source.Kind.SITEMAP:
            found = pages_of(self.fetcher, self.urls[0])
            self.run.list_urls(url for url in found if is_below(url, self.prefix))
        else:
            self.run.list_urls(self.urls)

    def _list_known(self) -> bool:
        """Add pages of a crawl that no link leads to any more, as long as there is room: they may be there still."""
        if not self.is_crawl:
            return False
        known = self.run.pages.exclude(listed=self.run.at).filter(document__isnull=False)
        before = self.run.count
        self.run.list_urls([url for url in known.values_list("url", flat=True) if self._is_within(url)])
        return self.run.count > before

    def _visit(self, page: SourcePage) -> Arrival | Refusal | None:
        """Ask for a page, and for the one that it leads to. What is to be taken in, if any of them is."""
        chain: list[str] = []
        while True:
            chain.append(page.url)
            found = self._found(page, is_chosen=len(chain) > 1)
            if isinstance(found, Elsewhere):
                found = self._checked(found, chain)
            if isinstance(found, Settled):
                self.run.settle(page, found.outcome, found.reason)
                return None
            if not isinstance(found, Elsewhere):
                return found
            target = self.run.page_at(found.url, depth=page.depth)
            self.run.settle(page, Fate.ALIAS, found.reason)
            if self.run.is_done(target):
                return None
            page = target

    def _checked(self, found: Elsewhere, chain: list[str]) -> Elsewhere | Settled:
        if len(chain) > MOST_REDIRECTS:
            return Settled(Fate.FAILED, f"leads on more than {MOST_REDIRECTS} times")
        if found.url in chain:
            return Settled(Fate.FAILED, f"leads in a circle, by {found.url}")
        return found

    def _found(self, page: SourcePage, *, is_chosen: bool) -> Arrival | Refusal | Elsewhere | Settled:
        try:
            return self._ask(page, is_chosen=is_chosen)
        except Disallowed as error:
            return Settled(Fate.PASSED, str(error))
        except (NotRead, TooLarge) as error:
            self.run.waiting[page.url] = Waiting(page)
            return Refusal(page.url, str(error), page.url)
        except NotFetched as error:
            return Settled(Fate.FAILED, str(error))

    def _ask(self, page: SourcePage, *, is_chosen: bool) -> Arrival | Refusal | Elsewhere | Settled:
        if self.is_crawl and (reason := refused_name(name_of(page.url), among_others=True)):
            raise NotRead(reason)
        with self.fetcher.get(page.url, _validators(page)) as answer:
            if answer.leads_to:
                return self._led_by(answer)
            if answer.status == 200:
                return self._taken(page, answer, is_chosen=is_chosen)
            if answer.status == 304 and page.document is not None:
                return self._unchanged(page, answer)
            if answer.status in (404, 410):
                return Settled(Fate.GONE, f"answered by {answer.status}")
            if answer.status in NO_ONE_IS_LET_IN:
                return Settled(Fate.FAILED, f"asks for a sign-in (answered by {answer.status})")
            return Settled(Fate.FAILED, f"answered by {answer.status}")

    def _led_by(self, answer: Answer) -> Elsewhere:
        try:
            target = normal(answer.leads_to, answer.url)
        except BadUrl as error:
            raise NotFetched(f"leads to {answer.leads_to[:200]!r}, which {error}") from error
        if not self.is_list and not self._is_within(target):
            raise NotFetched(f"leads out of the source, to {target}: if that is meant, make it a source of its own")
        return Elsewhere(target, f"leads to {target}")

    def _taken(self, page: SourcePage, answer: Answer, *, is_chosen: bool) -> Arrival | Refusal | Elsewhere | Settled:
        media_type, charset = media_type_of(answer.headers.get("content-type", ""))
        format_name = format_of_page(page.url, media_type)
        try:
            data = answer.body(largest_file())
        except TooLarge as error:
            raise TooLarge(too_large()) from error
        content_hash = hashlib.sha256(data).hexdigest()
        if format_name in HAS_LINKS and not self.is_list:
            said = said_by(data, page.url, charset=charset, header=answer.headers.get("x-robots-tag", ""))
            if self.is_crawl:
                if not is_chosen and (elsewhere := self._canonical(page, said)):
                    return elsewhere
                if twin := self._twin(page, content_hash):
                    return Settled(Fate.ALIAS, f"says the same as {twin}")
                self._list_links(page, said)
            if said.noindex:
                return Settled(Fate.PASSED, "asks not to be found (noindex)")
        found = checked(page.url, page.url, data, charset=charset, format_name=format_name)
        self.run.waiting[page.url] = Waiting(
            page, content_hash, _short(answer.headers.get("etag", "")), _short(answer.headers.get("last-modified", ""))
        )
        return found

    def _unchanged(self, page: SourcePage, answer: Answer) -> Settled:
        if self.is_crawl and page.depth < self.source.depth:
            # Where it leads is in its bytes, which we have.
            held = page.document.current if page.document else None
            if held is not None and held.format in HAS_LINKS:
                header = answer.headers.get("x-robots-tag", "")
                self._list_links(page, said_by(bytes(held.content), page.url, charset=held.charset, header=header))
        return Settled(Fate.UNCHANGED)

    def _canonical(self, page: SourcePage, said: Said) -> Elsewhere | None:
        """The page that this one calls its true address, unless that was asked for and is no document itself."""
        target = said.canonical
        if not target or target == page.url or not self._is_within(target):
            return None
        known = self.run.pages.filter(url=target, asked=self.run.at).first()
        if known is not None and (known.document_id is None or known.outcome in (Fate.GONE, Fate.ALIAS, Fate.PASSED)):
            return None
        return Elsewhere(target, f"calls itself {target}")

    def _twin(self, page: SourcePage, content_hash: str) -> str:
        """Another page of this run that has the same bytes; "" where there is none, or this one had them before."""
        if page.document and page.document.current and page.document.current.content_hash == content_hash:
            return ""
        for url, waiting in self.run.waiting.items():
            if waiting.content_hash == content_hash:
                return url
        same = self.run.pages.filter(
            asked=self.run.at, missed__isnull=True, document__current__content_hash=content_hash
        ).exclude(pk=page.pk)
        return same.values_list("url", flat=True).first() or ""

    def _list_links(self, page: SourcePage, said: Said) -> None:
        if page.depth < self.source.depth and not said.nofollow:
            links = [link for link in said.links if self._is_within(link) and is_worth_asking(link)]
            self.run.list_urls(links, depth=page.depth + 1)

    def _is_within(self, url: str) -> bool:
        return site_of(url) == site_of(self.urls[0]) and is_below(url, self.prefix)


def _validators(page: SourcePage) -> dict[str, str]:
    """The headers by which a server may say that nothing changed; none where what is held would be read otherwise today."""
    held = page.document.current if page.document else None
    if held is None or held.parser != parser_of(held.format):
        return {}
    sent = {"If-None-Match": page.etag, "If-Modified-Since": page.modified}
    return {name: value for name, value in sent.items() if value}


def _short(validator: str) -> str:
    return validator if len(validator) <= LONGEST_VALIDATOR else ""
