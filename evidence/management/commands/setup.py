"""``setup``: everything a site needs before it serves; again, it changes nothing."""

from __future__ import annotations

import secrets
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand
from tqdm import tqdm

from evidence.ingest.documents import ingest_sources
from evidence.ingest.sources import read_paths
from evidence.management.commands.ingest import collection_named, summary
from evidence.models import Collection

SAMPLE = Path(__file__).resolve().parents[2] / "sample"
SAMPLE_COLLECTION = "Staff handbook (sample)"
ADMIN = "admin"


class Command(BaseCommand):
    help = "Migrates, makes an administrator and a sample collection where there are none. Safe to run at any time."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-sample", action="store_true", help="no sample collection")

    def handle(self, *, no_sample: bool, **options: Any) -> None:
        call_command("migrate", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        self._make_administrator()
        if not no_sample and not Collection.objects.exists():
            self._make_sample()

    def _make_administrator(self) -> None:
        users = get_user_model().objects
        if users.filter(is_superuser=True).exists():
            return
        password = secrets.token_urlsafe(12)
        users.create_superuser(ADMIN, password=password)
        self.stdout.write(f"\n  An administrator has been made. Sign in as {ADMIN} with the password {password}")
        self.stdout.write("  It is shown this once; change it under “Change password” in the admin.\n\n")

    def _make_sample(self) -> None:
        collection = collection_named(SAMPLE_COLLECTION, everyone=True)
        sources = list(read_paths([SAMPLE]))
        with tqdm(total=len(sources), desc="Indexing the sample", unit=" pages", disable=None, file=sys.stderr) as bar:
            outcomes = ingest_sources(collection=collection, sources=sources, report=lambda _: bar.update())
        self.stdout.write(summary(outcomes, collection.name))
