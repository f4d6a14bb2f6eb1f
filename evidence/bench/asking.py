"""What ``bench kills`` asks a site's worker for. It is called in a process of that site's own."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile

from evidence.ingest.jobs import job_defer
from evidence.ingest.uploads import upload_receive
from evidence.ingest.work import refresh_ask
from evidence.models import Collection, Document, Source

COLLECTION = "Kills"
POLICIES = ["definition", "reference"]
BESIDE = "beside"
"""The name of an index that is built beside the one that answers."""


def ask(folder: str, seed: int, changed: Sequence[str], gone: Sequence[str], *, beside: bool) -> None:
    """Ask for what brings a collection from what it was to what a folder holds, in several ways at once.

    What changed is uploaded; or some of it, and the folder refreshed, which comes upon the same documents. What is gone is
    removed. Contexts may be found anew by other policies, and an index be built beside the one that answers.
    """
    rng = random.Random(seed)  # noqa: S311
    place = Path(folder)
    collection, _ = Collection.objects.get_or_create(name=COLLECTION, slug="kills")
    refreshed = rng.random() < 0.5
    if uploaded := changed[: len(changed) // 2] if refreshed else changed:
        upload_receive(collection=collection, files=_files(place, uploaded))
    if refreshed:
        source, _ = Source.objects.get_or_create(
            collection=collection, kind=Source.Kind.FOLDER, where=folder, defaults={"every_hours": None}
        )
        refresh_ask(source)
    if gone:
        documents = Document.objects.filter(collection=collection, address__in=gone)
        chosen = list(documents.values_list("pk", flat=True))
        job_defer("documents", title=f"Remove {len(chosen)} documents", collection=collection, documents=chosen)
    if rng.random() < 0.3:
        collection.policies = POLICIES if not collection.policies else []
        collection.save()
        job_defer("contexts", title="Find contexts", collection=collection)
    if beside:
        job_defer(
            "index",
            title=f"Build the index {BESIDE}",
            name=BESIDE,
            model=settings.SPIRE_EMBEDDER,
            unit="seed",
            encoding="single",
            context=True,
        )


def _files(place: Path, names: Iterable[str]) -> list[SimpleUploadedFile]:
    return [SimpleUploadedFile(name, (place / name).read_bytes()) for name in names]
