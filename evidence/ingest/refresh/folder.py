"""The documents of a folder on the server."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from evidence.ingest.refresh.places import folder_of
from evidence.ingest.refresh.run import Fate, Run, Waiting
from evidence.ingest.sources import Arrival, Refusal, read_paths
from evidence.models import Document, SourcePage


def folder_pages(run: Run) -> Iterator[Arrival | Refusal]:
    """What the folder of a source holds, each known by its path within it, as ``manage.py ingest`` has it.

    A file whose path another source of the collection has already is refused: they would replace each other for ever.
    """
    folder = folder_of(run.source.where)
    for found in read_paths([folder]):
        path = _within(folder, found.name) if isinstance(found, Refusal) and not found.address else found.address
        page = run.page_at(path)
        if run.is_done(page) and not _has_changed(page, found):
            continue
        if isinstance(found, Refusal):
            # Nobody knows what a folder holds that cannot be read.
            run.is_complete = run.is_complete and not Path(found.name).is_dir()
        elif other := _other(run, path):
            run.settle(page, Fate.REFUSED, f"{other.source} of this collection has a file of this path already")
            continue
        run.waiting[found.name if isinstance(found, Refusal) else path] = Waiting(page)
        yield found
    run.settle_unlisted("is no longer in the folder")


def _has_changed(page: SourcePage, found: Arrival | Refusal) -> bool:
    """Whether a file is no longer what this run has taken in, before it was killed: it may be gone on with a day later."""
    if isinstance(found, Refusal):
        return False
    taken_in = Document.objects.filter(pages=page, current__isnull=False)
    return taken_in.exclude(current__content_hash=sha256(found.data).hexdigest()).exists()


def _within(folder: Path, name: str) -> str:
    path = Path(name)
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else name


def _other(run: Run, path: str) -> SourcePage | None:
    pages = SourcePage.objects.filter(document__collection=run.source.collection_id, document__address=path)
    return pages.exclude(source=run.source).select_related("source").first()
