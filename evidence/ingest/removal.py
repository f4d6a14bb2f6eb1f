"""Removing documents, and sources with theirs: in batches, so that many of them hold nobody up."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from evidence.configured import pipeline
from evidence.ingest.jobs import job_defer
from evidence.models import Collection, Document, Job, Source, SourcePage
from evidence.store.repeats import mark_repeats, one_at_a_time

DOCUMENTS_OF_A_BATCH = 50


def documents_remove(documents: QuerySet[Document], report: Callable[[int], object] = lambda removed: None) -> int:
    """Remove documents with all that was derived from them: how many there were. ``report`` is told of each batch.

    Each batch is one transaction. What other documents said as well may have been searched in these only: their collections
    are marked anew at the end.
    """
    found = list(documents.order_by("pk").values_list("pk", "collection"))
    collections = sorted({collection for _, collection in found})
    for start in range(0, len(found), DOCUMENTS_OF_A_BATCH):
        batch = [pk for pk, _ in found[start : start + DOCUMENTS_OF_A_BATCH]]
        with pipeline() as connection:
            for collection in collections:
                one_at_a_time(connection, collection)
            Document.objects.filter(pk__in=batch).delete()
        report(len(batch))
    with pipeline() as connection:
        for collection in collections:
            mark_repeats(connection, collection)
    return len(found)


def documents_only_of(pages: QuerySet[SourcePage]) -> QuerySet[Document]:
    """The documents that come from these pages and from no other page of any source."""
    other = SourcePage.objects.filter(document__isnull=False).exclude(pk__in=pages.values("pk"))
    return Document.objects.filter(pk__in=pages.values("document")).exclude(pk__in=other.values("document"))


def source_remove(source: Source) -> int:
    """Remove a source with the documents that come from it alone, and give their number."""
    number = documents_remove(documents_only_of(source.pages.all()))
    source.delete()
    return number


def collection_leave(*, collection: Collection, asked_by: User | None = None) -> Job:
    """Take a collection from everybody's eyes, and ask for the job that removes it. Its name is free from now on."""
    title = f"Remove the collection {collection.name}"
    with transaction.atomic():
        leaving = {"leaving": True, "name": f"removed {collection.pk}", "slug": f"removed-{collection.pk}"}
        Collection.objects.filter(pk=collection.pk).update(**leaving)
        return job_defer("collection", title=title, asked_by=asked_by, removed=collection.pk)
