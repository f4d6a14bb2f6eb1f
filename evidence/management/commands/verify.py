"""``verify``: what is stored against the bytes it was made from, and the tables against each other."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from evidence.management.commands.ask import collection_ids
from evidence.models import Collection
from evidence.operations.finding import Finding
from evidence.operations.verify import verify


class Command(BaseCommand):
    help = "Parses every stored revision again and compares; counts vectors; looks for orphans. Changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("collection", nargs="?", metavar="COLLECTION", help="trees of this one only: name or slug")
        parser.add_argument("--sample", type=int, metavar="N", help="parse only N revisions, chosen by chance")
        parser.add_argument("--repair", action="store_true", help="make what is derived again where it is wrong")

    def handle(self, *, collection: str | None, sample: int | None, repair: bool, **options: Any) -> None:
        if sample is not None and sample < 1:
            raise CommandError("--sample wants a number of revisions, 1 or more")
        chosen = Collection.objects.get(pk=collection_ids([collection])[0]) if collection else None
        silent = None if options["verbosity"] else True
        found: list[Finding] = []
        with tqdm(unit=" revisions", disable=silent, file=sys.stderr) as progress:
            for finding in verify(collection=chosen, sample=sample, begin=progress.reset, report=progress.update):
                found.append(finding)
                progress.clear()
                self.stdout.write(str(finding))
        damage = sum(finding.is_damage for finding in found)
        mending = [finding.repair for finding in found if finding.repair is not None]
        if repair and mending:
            for mend in mending:
                mend()
            self.stdout.write(f"{len(mending)} repairs are done; look again with: manage.py verify")
        if damage:
            raise CommandError(f"{damage} faults, as listed above", returncode=1)
        self.stdout.write("Nothing is wrong." if not found else "Nothing is wrong; what is listed above is left to do.")
