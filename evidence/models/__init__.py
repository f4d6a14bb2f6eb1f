"""What people edit or do, and what cannot be derived. Django owns these tables."""

from evidence.models.documents import Collection, CollectionQuerySet, Document, DocumentQuerySet, Reader, Revision
from evidence.models.sources import Source, SourcePage, SourceQuerySet

__all__ = [
    "Collection",
    "CollectionQuerySet",
    "Document",
    "DocumentQuerySet",
    "Reader",
    "Revision",
    "Source",
    "SourcePage",
    "SourceQuerySet",
]
