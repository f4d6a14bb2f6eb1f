"""``prune``: deletes saved questions and old revisions that the site's policy no longer keeps."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from evidence.ingest.keeping import questions_prune, revisions_prune


class Command(BaseCommand):
    help = (
        "Deletes saved questions that were asked more than SPIRE_QUESTION_DAYS ago, that their asker does not keep, and that"
        " nobody else has opened or marked; then old revisions: those beyond the newest SPIRE_KEEP_REVISIONS of their"
        " document that are older than SPIRE_KEEP_DAYS. The current one stays, and so do those that saved questions cite."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="say how many it would delete, and delete none")

    def handle(self, *, dry_run: bool, **_: Any) -> None:
        questions = questions_prune(dry_run=dry_run)
        pruned = revisions_prune(dry_run=dry_run)
        would = "would be deleted" if dry_run else "deleted"
        self.stdout.write(f"{questions} saved questions {would}.")
        self.stdout.write(f"{pruned.deleted} old revisions {would}, {pruned.cited} kept for saved questions.")
