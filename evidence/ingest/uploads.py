"""Uploads: files are put aside in the database, in one transaction with the job that takes them in.

There rather than in a folder: nothing is lost when a worker dies or never comes, a backup holds them, and a worker may run
on another machine. Archives are unpacked on the way, so that each document of one is a row with an outcome of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO, cast

from django.contrib.auth.models import User
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import F
from procrastinate.exceptions import JobAborted

from evidence.ingest.documents import Outcome, ingest_sources
from evidence.ingest.jobs import Run, job_defer
from evidence.ingest.limits import largest_file
from evidence.ingest.sources import Arrival, Refusal, read_upload
from evidence.models import Collection, Job, Received

MOST_TOGETHER = 64
"""All documents of one upload may be so many times as large as one file may. A small archive can unpack to anything."""

TOGETHER = (20_000, 8, 1, 1)
"""A worker that dies takes along all that it had begun to read. It is read again in ever smaller company, until it is known
over which file they die."""


def upload_receive(*, collection: Collection, files: Iterable[UploadedFile], asked_by: User | None = None) -> Job:
    """Put uploaded files aside, and ask for the job that takes them in."""
    given = list(files)
    title = f"Upload to {collection.name}: " + (f"{len(given)} files" if len(given) > 1 else str(given[0].name))
    found = chain.from_iterable(read_upload(file.name or "", cast(BinaryIO, file)) for file in given)
    with transaction.atomic():
        job = job_defer("upload", title=title, collection=collection, asked_by=asked_by)
        # One by one: each may be as large as a file may be.
        for entry in _bounded(found):
            _put_aside(job, entry)
        job.total = job.received.count()
        job.save(update_fields=["total"])
    return job


def upload_take_in(run: Run) -> str:
    """Take in the files of an upload that wait still."""
    collection = run.collection
    waiting = run.job.received.filter(status="")
    total = run.job.received.count()
    run.expect(total, done=total - waiting.count())
    for starts, most in enumerate(TOGETHER):
        pks = list(waiting.filter(starts=starts).values_list("pk", flat=True))
        for first in range(0, len(pks), most):
            _take_in(run, collection, pks[first : first + most])
    fatal = list(waiting.values_list("pk", flat=True))
    _take_in(run, collection, fatal, refused=f"{len(TOGETHER)} workers died over it: is it too large for the memory?")
    return "; ".join(_summary(run.job))


def _bounded(found: Iterable[Arrival | Refusal]) -> Iterator[Arrival | Refusal]:
    left = MOST_TOGETHER * largest_file()
    for entry in found:
        if isinstance(entry, Arrival):
            left -= len(entry.data)
            if left < 0:
                yield Refusal(entry.address, "and what follows is too much for one upload: send it on its own")
                return
        yield entry


def _put_aside(job: Job, entry: Arrival | Refusal) -> None:
    if isinstance(entry, Refusal):
        Received.objects.create(job=job, name=entry.name, address=entry.address, reason=entry.reason)
    else:
        Received.objects.create(
            job=job,
            name=entry.address,
            address=entry.address,
            content=entry.data,
            charset=entry.charset,
            format=entry.format,
        )


def _take_in(run: Run, collection: Collection, pks: list[int], refused: str = "") -> None:
    """Take in received files. Of two with the same name, the outcomes come in their order."""
    rows: dict[str, list[int]] = {}

    def sources() -> Iterator[Arrival | Refusal]:
        for pk in pks:
            Received.objects.filter(pk=pk).update(starts=F("starts") + 1)
            row = Received.objects.get(pk=pk)
            rows.setdefault(row.name, []).append(pk)
            if refused or row.content is None:
                yield Refusal(row.name, refused or row.reason, row.address)
            else:
                yield Arrival(row.address, bytes(row.content), row.charset, row.format)

    def report(outcome: Outcome) -> None:
        Received.objects.filter(pk=rows[outcome.name].pop(0)).update(
            status=outcome.status,
            reason=outcome.reason,
            sentences=outcome.sentences,
            embedded=outcome.embedded,
            content=None,
        )
        run.advance()

    try:
        ingest_sources(collection=collection, sources=sources(), report=report)
    except JobAborted:
        begun = [pk for some in rows.values() for pk in some]
        Received.objects.filter(pk__in=begun).update(starts=F("starts") - 1)
        raise


def _summary(job: Job) -> Iterator[str]:
    for status in ("new", "changed", "unchanged", "refused"):
        if count := job.received.filter(status=status).count():
            yield f"{count} {status}"
