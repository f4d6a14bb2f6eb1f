"""A source refreshed, from its beginning to its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.metadata import version

from django.conf import settings
from django.db.models import Count
from django.utils import timezone

from evidence.configured import OtherModel
from evidence.ingest.documents import Outcome, ingest_sources
from evidence.ingest.fetch.client import Client, NotFetched
from evidence.ingest.fetch.polite import Fetcher
from evidence.ingest.fetch.robots import PRODUCT
from evidence.ingest.refresh.folder import folder_pages
from evidence.ingest.refresh.places import PlaceError, allowed
from evidence.ingest.refresh.run import IS_GONE, Fate, Run
from evidence.ingest.refresh.web import Visit
from evidence.ingest.removal import documents_only_of, documents_remove
from evidence.ingest.turns import turn
from evidence.language.embedder import ModelError
from evidence.models import Source, SourcePage

GONE_ON_WITH = timedelta(days=1)
"""A run that was killed is gone on with until then; later, a new one is begun."""


@dataclass(frozen=True)
class Refreshed:
    """What a run did: how many pages by what became of them, documents that left, requests and bytes of this process."""

    source: Source
    counts: Counter[str] = field(default_factory=Counter)
    left: int = 0
    requests: int = 0
    received: int = 0
    error: str = ""


def agent() -> str:
    """How we call ourselves to the sites that we ask."""
    contact = f" (+{settings.SPIRE_FETCH_CONTACT})" if settings.SPIRE_FETCH_CONTACT else ""
    return f"{PRODUCT}/{version('spire')}{contact}"


def new_client() -> Client:
    """A client as the settings have it."""
    return Client(agent=agent(), allowed=allowed())


def refresh(
    source: Source,
    *,
    now: datetime | None = None,
    client: Callable[[], Client] = new_client,
    report: Callable[[Outcome], None] = lambda outcome: None,
) -> Refreshed:
    """Bring what a collection has from a source up to date; ``report`` is told of each page that the ingest was given.

    NotNow when another process does that at this moment. What goes wrong with a page is kept with the page, what stops the
    run with the source; both leave the documents as they are.
    """
    with turn(f"source.{source.pk}", wait=False):
        source.refresh_from_db()
        now = now or timezone.now()
        if not (source.started is not None and source.is_running and now - source.started < GONE_ON_WITH):
            source.started = now
            Source.objects.filter(pk=source.pk).update(started=now, finished=None)
        run = Run(source, source.started)
        opened = client()
        fetcher = Fetcher(opened, pause=source.pause)
        try:
            error = _run(run, fetcher, report)
            left = _let_go(run)
        finally:
            opened.close()
        return _finish(run, fetcher, now=now, error=error, left=left)


def _run(run: Run, fetcher: Fetcher, report: Callable[[Outcome], None]) -> str:
    """Go through the source; why that came to no end, or ""."""

    def tell(outcome: Outcome) -> None:
        run.report(outcome)
        report(outcome)

    is_folder = run.source.kind == Source.Kind.FOLDER
    try:
        pages = folder_pages(run) if is_folder else Visit(run, fetcher).pages()
        ingest_sources(collection=run.source.collection, sources=pages, report=tell)
    except (PlaceError, NotFetched, ModelError, OtherModel) as error:
        return str(error)
    return "; ".join(fetcher.left_alone())


def _let_go(run: Run) -> int:
    """Delete the documents whose pages this run found gone once more, and that are gone for longer than the grace."""
    since = run.at - timedelta(days=run.source.grace_days)
    gone = run.pages.filter(asked=run.at, outcome__in=IS_GONE, missed__lte=since, document__isnull=False)
    pages = SourcePage.objects.filter(pk__in=list(gone.values_list("pk", flat=True)))
    left = documents_remove(documents_only_of(pages))
    pages.update(document=None, missed=None, etag="", modified="")
    pages.exclude(listed=run.at).delete()
    return left


def _finish(run: Run, fetcher: Fetcher, *, now: datetime, error: str, left: int) -> Refreshed:
    source = run.source
    counted = run.pages.filter(asked=run.at).values_list("outcome").annotate(number=Count("pk"))
    counts = Counter(dict(counted.order_by()))
    if not error and counts and set(counts) == {Fate.FAILED}:
        failed = run.pages.filter(asked=run.at).order_by("depth", "pk")[0]
        error = f"no page could be fetched. {failed.url}: {failed.reason}"
    source.finished = max(timezone.now(), run.at)
    source.error, source.left = error, left
    source.note = (
        "" if run.is_complete else "Not all of it was seen: there is more than may be asked for, or a part is closed."
    )
    source.next_run = next_run(source, now)
    if fetcher.come_back and source.next_run is not None:
        source.next_run = max(source.next_run, now + timedelta(seconds=fetcher.come_back))
    source.save(update_fields=["finished", "error", "left", "note", "next_run"])
    return Refreshed(source, counts, left, fetcher.requests, fetcher.received, error)


def next_run(source: Source, now: datetime) -> datetime | None:
    """When a source is due again; None for one that is refreshed only when asked for."""
    return None if source.every_hours is None else now + timedelta(hours=source.every_hours)
