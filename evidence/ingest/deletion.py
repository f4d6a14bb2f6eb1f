"""Documents that leave, with everything derived from them."""

from __future__ import annotations

from django.db.models import QuerySet

from evidence.configured import pipeline
from evidence.models import Document, Source, SourcePage
from evidence.store.repeats import mark_repeats, one_at_a_time


def delete_documents(documents: QuerySet[Document]) -> int:
    """Delete documents in one transaction, and give their number.

    What other documents of their collections said as well may have been searched in these only: it is found anew.
    """
    collections = sorted(set(documents.order_by().values_list("collection", flat=True)))
    with pipeline() as connection:
        for collection in collections:
            one_at_a_time(connection, collection)
        _, deleted = documents.delete()
        for collection in collections:
            mark_repeats(connection, collection)
    return deleted.get(Document._meta.label, 0)


def documents_only_of(pages: QuerySet[SourcePage]) -> QuerySet[Document]:
    """The documents that come from these pages and from no other page of any source."""
    other = SourcePage.objects.filter(document__isnull=False).exclude(pk__in=pages.values("pk"))
    return Document.objects.filter(pk__in=pages.values("document")).exclude(pk__in=other.values("document"))


def delete_source(source: Source) -> int:
    """Delete a source with the documents that come from it alone, and give their number."""
    with pipeline():
        number = delete_documents(documents_only_of(source.pages.all()))
        source.delete()
    return number
