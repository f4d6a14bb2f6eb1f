"""``index``: the ways to embed that live side by side."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from evidence.configured import OtherModel, pipeline
from evidence.ingest.jobs import job_defer
from evidence.ingest.rebuild import INDEX_COMES, build
from evidence.ingest.recontext import collection_recontext
from evidence.language.embedder import ModelError
from evidence.models import Collection
from evidence.store import indexes
from evidence.store.indexes import UnknownIndex


class Command(BaseCommand):
    help = "Lists, builds and drops indexes, chooses the one that answers, and finds contexts anew."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("list", help="the indexes, and which one is the default")
        building = actions.add_parser("build", help="make an index, or complete one that was interrupted")
        building.add_argument("name", metavar="NAME")
        building.add_argument("--model", help="a sentence-transformers model by name or folder (else SPIRE_EMBEDDER)")
        building.add_argument("--unit", choices=("seed", "sentence", "block", "passage"), default="seed")
        building.add_argument("--encoding", choices=("single", "shared"), default="shared")
        building.add_argument("--no-context", action="store_true", help="embed units without their global context")
        building.add_argument(
            "--later", action="store_true", help="leave it to a worker; the status page says how far it is"
        )
        contexts = actions.add_parser("contexts", help="find the contexts of a collection anew, after policies changed")
        contexts.add_argument("collection", metavar="COLLECTION", help="its name or slug")
        for action, text in (("drop", "remove an index"), ("default", "let questions be answered from an index")):
            actions.add_parser(action, help=text).add_argument("name", metavar="NAME")

    def handle(self, *, action: str, **options: Any) -> None:
        try:
            getattr(self, f"_{action}")(**options)
        except (UnknownIndex, OtherModel, ModelError, ValueError) as error:
            raise CommandError(str(error)) from error

    def _list(self, **_: Any) -> None:
        with pipeline() as connection:
            found = [(index, indexes.count(connection, index)) for index in indexes.all_indexes(connection)]
        if not found:
            self.stdout.write("No index yet: the first ingest makes one.")
        for index, units in found:
            state = "default" if index.is_default else "complete" if index.complete else "incomplete"
            context = "with context" if index.context else "without context"
            self.stdout.write(
                f"{index.name:<20} {state:<11} {units:>9} {index.unit}s  {index.model} ({index.fingerprint[:12]}),"
                f" {index.dimensions} dimensions, {index.encoding} encoding, {context}"
            )
            if index.is_default and index.model != settings.SPIRE_EMBEDDER:
                self.stdout.write(
                    f"  SPIRE_EMBEDDER is {settings.SPIRE_EMBEDDER}; questions are answered with {index.model} until"
                    " an index of the new one is built and made the default"
                )

    def _build(
        self, name: str, model: str | None, unit: str, encoding: str, no_context: bool, later: bool, **options: Any
    ) -> None:
        if later:
            way: dict[str, Any] = {
                "model": model or settings.SPIRE_EMBEDDER,
                "unit": unit,
                "encoding": encoding,
                "context": not no_context,
            }
            job_defer("index", title=f"Build the index {name}", name=name, **way)
            self.stdout.write(f"{name} is built by a worker; the status page says how far it is.")
            return
        with tqdm(unit=" pages", disable=None if options["verbosity"] else True, file=sys.stderr) as progress:
            built = build(
                name,
                model=model or settings.SPIRE_EMBEDDER,
                unit=unit,
                encoding=encoding,
                context=not no_context,
                report=progress.update,
            )
        with pipeline() as connection:
            units = indexes.count(connection, built)
        self.stdout.write(f"{built.name} is complete: {units} {built.unit}s.")

    def _contexts(self, collection: str, **options: Any) -> None:
        matching = Collection.objects.filter(name=collection) | Collection.objects.filter(slug=collection)
        found = matching.first()
        if found is None:
            known = ", ".join(Collection.objects.values_list("name", flat=True)) or "none"
            raise CommandError(f"there is no collection {collection!r}; there are: {known}")
        with tqdm(unit=" pages", disable=None if options["verbosity"] else True, file=sys.stderr) as progress:
            count = collection_recontext(collection=found, report=progress.update)
        names = ", ".join(found.policies) or "none"
        self.stdout.write(
            f"{found.name}: the contexts of {count} documents are found anew; optional policies: {names}."
        )

    def _drop(self, name: str, **_: Any) -> None:
        with pipeline() as connection:
            connection.execute(INDEX_COMES)  # or goes: nothing is being written into it
            index = indexes.get(connection, name)
            others = [other for other in indexes.all_indexes(connection) if other.name != name]
            if index.is_default and others:
                raise CommandError(f"{name!r} answers questions; choose another first: manage.py index default NAME")
            indexes.drop(connection, index)
        self.stdout.write(f"{name} is gone.")

    def _default(self, name: str, **_: Any) -> None:
        with pipeline() as connection:
            connection.execute(INDEX_COMES)
            indexes.make_default(connection, indexes.get(connection, name))
        self.stdout.write(f"Questions are answered from {name} now.")
