"""What people edit or do, and what cannot be derived. Django owns these tables."""

from evidence.models.documents import (
    Collection,
    CollectionQuerySet,
    Document,
    DocumentQuerySet,
    Reader,
    Revision,
    RevisionQuerySet,
)

__all__ = ["Collection", "CollectionQuerySet", "Document", "DocumentQuerySet", "Reader", "Revision", "RevisionQuerySet"]
