"""``refresh``: what collections have from their sources, brought up to date."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q
from django.utils import timezone
from django.utils.timezone import localtime
from tqdm import tqdm

from evidence.ingest.documents import Outcome
from evidence.ingest.refresh import NotNow, Refreshed, refresh
from evidence.models import Source


class Command(BaseCommand):
    help = "Refreshes sources: asks for their pages, takes in what is new or changed. Without arguments it lists them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "names", nargs="*", metavar="NAME", help="a collection, whose sources are all meant, or a source's number"
        )
        parser.add_argument(
            "--due", action="store_true", help="those whose time has come, of all collections or of these"
        )

    def handle(self, *, names: list[str], due: bool, **options: Any) -> None:
        sources = chosen(names)
        if not names and not due:
            for source in sources:
                self.stdout.write(line_of(source))
            return
        wanted = sources.due(timezone.now()) if due else sources
        failed = 0
        for source in wanted:
            found = self._refresh(source, options["verbosity"])
            failed += bool(found and found.error)
        if failed:
            raise CommandError(f"{failed} of the sources did not get to the end, as said above", returncode=1)

    def _refresh(self, source: Source, verbosity: int) -> Refreshed | None:
        progress = tqdm(unit=" pages", disable=None if verbosity else True, file=sys.stderr)

        def report(outcome: Outcome) -> None:
            progress.update()

        try:
            with progress:
                found = refresh(source, report=report)
        except NotNow:
            self.stdout.write(f"{source.pk} {source}: another process refreshes it at this moment.")
            return None
        self.stdout.write(f"{source.pk} {source}: {summary(found)}")
        if verbosity:
            for line in troubles(found):
                self.stderr.write(line)
        return found


def chosen(names: list[str]) -> Any:
    """The sources of these collections, or of these numbers; all where none is named."""
    sources = Source.objects.select_related("collection").order_by("collection__name", "pk")
    wanted = Q()
    for name in names:
        this = (
            Q(pk=int(name))
            if name.isascii() and name.isdigit()
            else Q(collection__name=name) | Q(collection__slug=name)
        )
        if not sources.filter(this).exists():
            raise CommandError(f"there is no source {name!r}, and no collection of this name that has one")
        wanted |= this
    return sources.filter(wanted)


def line_of(source: Source) -> str:
    """A source for a person: its number, collection, place and when it is due."""
    due = f"due {localtime(source.next_run):%Y-%m-%d %H:%M}" if source.next_run else "only when asked for"
    return f"{source.pk}  {source.collection}  {source}  {due}"


def summary(found: Refreshed) -> str:
    """One line: what became of the pages."""
    parts = [f"{number} {outcome}" for outcome, number in sorted(found.counts.items())]
    counted = ", ".join([*parts, *([f"{found.left} documents left"] if found.left else [])]) or "nothing"
    error = f" Stopped: {found.error}." if found.error else ""
    return f"{counted}; {found.requests} requests, {found.received} bytes.{error}"


def troubles(found: Refreshed) -> Iterator[str]:
    """The pages that were not taken in, with the reason of each."""
    pages = found.source.pages.filter(asked=found.source.started, outcome__in=("failed", "refused")).order_by("url")
    for page in pages.iterator():
        yield f"{page.outcome}: {page.url}: {page.reason}"
