"""A run over a source: which pages it has found, which are done, and which wait for the ingest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from evidence.ingest.documents import Outcome
from evidence.models import Document, Source, SourcePage

PAGES_AT_ONCE = 50
URLS_AT_ONCE = 500
LONGEST_VALIDATOR = 500
"""Characters of an ETag that are kept; who sends a longer one is asked without it."""

Fate = SourcePage.Outcome
IS_GONE = (Fate.GONE, Fate.ALIAS, Fate.PASSED)
"""What tells that the document of a page is gone, in contrast to a page that could not be asked for."""


@dataclass
class Waiting:
    """A page whose bytes were given to the ingest."""

    page: SourcePage
    content_hash: str = ""
    etag: str = ""
    modified: str = ""


@dataclass
class Run:
    """One run, known by the time it began at. Everything is written at once, so that a killed run can be gone on with."""

    source: Source
    at: datetime
    is_complete: bool = True
    """Whether all that the source names was seen; what was not seen is gone only then."""

    waiting: dict[str, Waiting] = field(default_factory=dict)
    count: int = 0
    _settled: set[str] = field(default_factory=set)
    """Pages that were settled since ``next_pages`` gave some, which cannot know it."""

    def __post_init__(self) -> None:
        self.count = self.pages.filter(listed=self.at).count()

    @property
    def pages(self) -> QuerySet[SourcePage]:
        return SourcePage.objects.filter(source=self.source)

    def list_urls(self, urls: Iterable[str], *, depth: int = 0) -> None:
        """Note URLs as found in this run, as long as there is room for them."""
        rest = iter(urls)
        while chunk := list(islice(rest, URLS_AT_ONCE)):
            listed = self.pages.filter(url__in=chunk, listed=self.at).values_list("url", flat=True)
            fresh = list(dict.fromkeys(chunk).keys() - set(listed))
            fresh.sort(key=chunk.index)
            room = max(self.source.most_pages - self.count, 0)
            self.is_complete = self.is_complete and len(fresh) <= room
            made = [SourcePage(source=self.source, url=url, depth=depth, listed=self.at) for url in fresh[:room]]
            SourcePage.objects.bulk_create(
                made, update_conflicts=True, update_fields=["listed", "depth"], unique_fields=["source", "url"]
            )
            self.count += len(made)

    def page_at(self, url: str, *, depth: int = 0) -> SourcePage:
        """The page of this URL, found in this run."""
        page, _ = SourcePage.objects.get_or_create(
            source=self.source, url=url, defaults={"listed": self.at, "depth": depth}
        )
        if page.listed != self.at:
            page.listed, page.depth = self.at, depth
            page.save(update_fields=["listed", "depth"])
            self.count += 1
        return page

    def is_done(self, page: SourcePage) -> bool:
        """Whether the page was asked for in this run."""
        return page.asked == self.at or page.url in self.waiting or page.url in self._settled

    def next_pages(self) -> list[SourcePage]:
        """Pages to ask for, the nearest to the first page before the others. None when all are done."""
        self._settled.clear()
        waiting = [entry.page.pk for entry in self.waiting.values()]
        rest = self.pages.filter(listed=self.at).exclude(asked=self.at).exclude(pk__in=waiting)
        found = rest.select_related("document__current").defer("document__current__content")
        return list(found.order_by("depth", "pk")[:PAGES_AT_ONCE])

    def settle(self, page: SourcePage, outcome: SourcePage.Outcome, reason: str = "") -> None:
        """Write what became of a page in this run."""
        page.asked, page.outcome, page.reason = self.at, outcome, reason
        if outcome in IS_GONE:
            page.missed = (page.missed or self.at) if page.document_id else None
        elif outcome != Fate.FAILED:
            page.missed = None
        if outcome in (Fate.ALIAS, Fate.PASSED, Fate.REFUSED):
            page.etag = page.modified = ""
        page.save()
        self._settled.add(page.url)

    def report(self, outcome: Outcome) -> None:
        """What the ingest says became of a page that waited for it."""
        waiting = self.waiting.pop(outcome.name)
        page = waiting.page
        if outcome.status == "refused":
            self.settle(page, Fate.REFUSED, outcome.reason)
            return
        # None where somebody was quick to delete it again: it comes back with the next run.
        known = Document.objects.filter(collection=self.source.collection_id, address=page.url)
        page.document = known.only("pk").first()
        page.etag, page.modified = waiting.etag, waiting.modified
        self.settle(page, Fate(outcome.status))

    def settle_unlisted(self, reason: str, pages: QuerySet[SourcePage] | None = None) -> None:
        """What this run did not find is gone, if it saw all there is. What never had a document is forgotten."""
        rest = (self.pages if pages is None else pages).exclude(listed=self.at)
        rest.filter(document=None).delete()
        if self.is_complete:
            rest.update(asked=self.at, outcome=Fate.GONE, reason=reason, missed=Coalesce("missed", self.at))
