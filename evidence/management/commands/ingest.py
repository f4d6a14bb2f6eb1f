"""``ingest``: files, folders and archives into a collection."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.text import slugify
from tqdm import tqdm

from evidence.configured import OtherModel
from evidence.ingest.documents import Outcome, ingest_sources
from evidence.ingest.sources import KINDS, read_paths
from evidence.language.embedder import ModelError
from evidence.models import Collection


class Command(BaseCommand):
    help = "Takes documents, folders of them, or .zip archives into a collection; what is unchanged costs nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "paths", nargs="+", type=Path, metavar="PATH", help=f"a file ({KINDS}), a folder, or a .zip"
        )
        parser.add_argument("--collection", required=True, metavar="NAME", help="made if there is none of this name")
        parser.add_argument("--everyone", action="store_true", help="open a new collection to everyone who signs in")

    def handle(self, *, paths: list[Path], collection: str, everyone: bool, **options: Any) -> None:
        into = collection_named(collection, everyone=everyone)
        progress = tqdm(unit=" pages", disable=None if options["verbosity"] else True, file=sys.stderr)

        def report(outcome: Outcome) -> None:
            progress.update()
            if outcome.status == "refused":
                progress.write(f"refused: {outcome.name}: {outcome.reason}", file=sys.stderr)

        try:
            with progress:
                outcomes = ingest_sources(collection=into, sources=read_paths(paths), report=report)
        except (ModelError, OtherModel) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(summary(outcomes, into.name))
        refused = sum(outcome.status == "refused" for outcome in outcomes)
        if refused:
            raise CommandError(f"{refused} refused, as listed above; the rest was taken in", returncode=1)
        if not outcomes:
            raise CommandError(f"found no documents there: names ending in {KINDS} or .zip are read")


def collection_named(name: str, *, everyone: bool = False) -> Collection:
    """The collection of this name (or slug), made if there is none."""
    name = " ".join(name.split())
    slug = slugify(name, allow_unicode=False)
    if not name or len(name) > 200 or not slug:
        raise CommandError(f"{name[:80]!r} is no name for a collection: use letters or digits, at most 200")
    found = Collection.objects.filter(name=name).first() or Collection.objects.filter(slug=name).first()
    if found is not None:
        return found
    if Collection.objects.filter(slug=slug).exists():
        raise CommandError(f"another collection has the slug {slug!r}; choose a name that differs in its letters")
    return Collection.objects.create(name=name, slug=slug, everyone=everyone)


def summary(outcomes: list[Outcome], collection: str) -> str:
    """One line for a person: what was done, or that nothing was to do."""
    counts = Counter(outcome.status for outcome in outcomes)
    if outcomes and set(counts) == {"unchanged"}:
        return f"Nothing to do: all {counts['unchanged']} documents are in {collection!r} already, unchanged."
    sentences = sum(outcome.sentences for outcome in outcomes)
    embedded = sum(outcome.embedded for outcome in outcomes)
    parts = [f"{counts[status]} {status}" for status in ("new", "changed", "unchanged", "refused") if counts[status]]
    return f"{collection}: {', '.join(parts) or 'nothing'}; {sentences} sentences, {embedded} embedded."
