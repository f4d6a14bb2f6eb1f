"""The kinds of jobs that there are, and what is done by the clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils.timezone import now
from procrastinate.contrib.django import app

from evidence.ingest.documents import Outcome, ingest_sources
from evidence.ingest.jobs import JobFailure, Run, TryLater, job_defer, job_kind
from evidence.ingest.keeping import questions_prune, revisions_prune
from evidence.ingest.readers import FORMATS, parser_of
from evidence.ingest.rebuild import build
from evidence.ingest.recontext import collection_recontext
from evidence.ingest.refresh import NotNow, refreshing
from evidence.ingest.removal import documents_remove
from evidence.ingest.sources import Arrival
from evidence.ingest.uploads import upload_take_in
from evidence.models import Collection, Document, Job, Source, Worker
from evidence.models.jobs import UNFINISHED

DAYS_KEPT = 30
"""Jobs that have ended are forgotten after so many days, with the list of what became of each file."""

HOURS_IN_THE_QUEUE = 24
"""What procrastinate remembers of what has ended; nobody reads it."""

OF_A_COLLECTION = "collection {collection}"
"""Jobs that write a collection's documents go one after another: two of one document never run at once."""


@job_kind("upload", lock=OF_A_COLLECTION)
def upload(run: Run) -> str:
    """The files of an upload, into their collection."""
    return upload_take_in(run)


@job_kind("contexts", lock=OF_A_COLLECTION, once=True)
def contexts(run: Run) -> str:
    """A collection's contexts, by the policies that are on now."""
    run.expect(run.collection.documents.filter(current__isnull=False).count())
    count = collection_recontext(collection=run.collection, report=run.advance)
    return f"the contexts of {count} documents are found anew"


@job_kind("reread", lock=OF_A_COLLECTION, once=True)
def reread(run: Run) -> str:
    """The documents of a collection whose tree was made by another parser than today's, from their bytes."""
    todo = list(read_by_another(run.collection).values_list("pk", flat=True))
    run.expect(len(todo))
    refused: list[Outcome] = []

    def report(outcome: Outcome) -> None:
        if outcome.status == "refused":
            refused.append(outcome)
        run.advance()

    ingest_sources(collection=run.collection, sources=_as_received(todo), report=report)
    return f"{len(todo) - len(refused)} documents are read anew" + (
        f"; {len(refused)} cannot be read any more, as said at each" if refused else ""
    )


@job_kind("index", lock="index {name}", once=True)
def index(run: Run, *, name: str, model: str, unit: str, encoding: str, context: bool) -> str:
    """An index, beside the one that answers questions."""
    run.expect(Document.objects.filter(current__isnull=False).count())
    try:
        built = build(name, model=model, unit=unit, encoding=encoding, context=context, report=run.advance)
    except ValueError as error:
        raise JobFailure(str(error)) from error
    return f"{built.name} is complete; manage.py index default {built.name} lets it answer"


@job_kind("documents", lock=OF_A_COLLECTION)
def remove_documents(run: Run, *, documents: list[int]) -> str:
    """Documents of a collection, with all that was derived from them."""
    found = run.collection.documents.filter(pk__in=documents)
    run.expect(len(documents), done=len(documents) - found.count())
    documents_remove(found, run.advance)
    return f"{len(documents)} documents are removed"


@job_kind("collection", lock="collection {removed}")
def remove_collection(run: Run, *, removed: int) -> str:
    """A collection that is leaving, and its documents."""
    collection = Collection.objects.filter(pk=removed, leaving=True).first()
    if collection is not None:
        run.expect(collection.documents.count())
        documents_remove(collection.documents.all(), run.advance)
        collection.delete()
    return "it is removed, with all its documents"


@job_kind("refresh", lock="source {source}", once=True)
def refresh(run: Run, *, source: int) -> str:
    """A source, brought up to date. It may go on for hours, and does not keep its collection from anything else."""
    found = Source.objects.filter(pk=source).first()
    if found is None:
        return "the source is no more"
    try:
        refreshed = refreshing.refresh(found, report=lambda outcome: run.advance())
    except NotNow as error:
        raise TryLater(f"{found} is being refreshed by another process") from error
    if refreshed.error:
        raise JobFailure(refreshed.error)
    counted = ", ".join(f"{number} {outcome}" for outcome, number in sorted(refreshed.counts.items()))
    return f"{counted or 'no page'}; {refreshed.left} documents left"


def refresh_ask(source: Source, asked_by: User | None = None) -> Job:
    """Ask for a source to be refreshed; where that is waiting already, the job that does it."""
    return job_defer(
        "refresh", title=f"Refresh {source}", collection=source.collection, asked_by=asked_by, source=source.pk
    )


@app.periodic(cron="* * * * *")
@app.task(name="evidence.refresh_due", queueing_lock="refresh_due")
def refresh_due(timestamp: int) -> None:
    """Ask for the sources whose time has come."""
    in_hand = set(Job.objects.unfinished().filter(kind="refresh").values_list("arguments__source", flat=True))
    for source in Source.objects.due(now()).exclude(pk__in=in_hand).select_related("collection"):
        refresh_ask(source)


@app.periodic(cron="41 3 * * *")
@app.task(name="evidence.prune", queueing_lock="prune")
def prune(timestamp: int) -> None:
    """Delete the saved questions and the old revisions that are no longer kept."""
    questions_prune()
    revisions_prune()


def read_by_another(collection: Collection) -> QuerySet[Document]:
    """The documents of a collection whose tree was not made by the parser that their format has now."""
    current = Q()
    for name in FORMATS:
        current |= Q(current__format=name, current__parser=parser_of(name))
    return collection.documents.filter(current__isnull=False).exclude(current)


def _as_received(documents: list[int]) -> Iterator[Arrival]:
    for pk in documents:
        document = Document.objects.select_related("current").filter(pk=pk, current__isnull=False).first()
        if document is not None and document.current is not None:
            revision = document.current
            yield Arrival(document.address, bytes(revision.content), revision.charset, revision.format)


@app.periodic(cron="23 * * * *")
@app.task(name="evidence.forget", queueing_lock="forget")
def forget(timestamp: int) -> None:
    """Forget jobs that ended long ago, workers that were not seen since, and what procrastinate keeps of them."""
    long_ago = now() - timedelta(days=DAYS_KEPT)
    Job.objects.exclude(state__in=UNFINISHED).filter(finished__lt=long_ago).delete()
    Worker.objects.filter(seen__lt=long_ago).delete()
    # Not by procrastinate's own task: each time the worker connects, that gets another name, under which nobody finds it.
    async_to_sync(app.job_manager.delete_old_jobs)(
        nb_hours=HOURS_IN_THE_QUEUE, include_failed=True, include_cancelled=True, include_aborted=True
    )
