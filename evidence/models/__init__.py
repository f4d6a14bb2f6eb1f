"""What people edit or do, and what cannot be derived. Django owns these tables."""

from evidence.models.documents import (
    Collection,
    CollectionQuerySet,
    Document,
    DocumentQuerySet,
    Revision,
    RevisionQuerySet,
)
from evidence.models.jobs import Job, JobQuerySet, JobState, Received, Worker
from evidence.models.rights import Reader
from evidence.models.saved import (
    Feedback,
    SavedCitation,
    SavedClaim,
    SavedExcerpt,
    SavedQuestion,
    SavedQuestionQuerySet,
    SearchedCollection,
)
from evidence.models.sources import Source, SourcePage, SourceQuerySet

__all__ = ["Collection", "CollectionQuerySet", "Document", "DocumentQuerySet", "Reader", "Revision", "RevisionQuerySet"]
__all__ += ["Job", "JobQuerySet", "JobState", "Received", "Worker"]
__all__ += [
    "Feedback",
    "SavedCitation",
    "SavedClaim",
    "SavedExcerpt",
    "SavedQuestion",
    "SavedQuestionQuerySet",
    "SearchedCollection",
]
__all__ += ["Source", "SourcePage", "SourceQuerySet"]
