"""``backup``: everything that a site cannot make again, in one file."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from evidence.operations.archive import BackupError
from evidence.operations.backup import backup
from evidence.store.dump import DumpError


class Command(BaseCommand):
    help = "Writes the database and the secret key into one file, as of one moment, while the site is in use."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="a new file; as confidential as the site")

    def handle(self, *, file: Path, **options: Any) -> None:
        silent = None if options["verbosity"] else True
        try:
            with tqdm(unit="B", unit_scale=True, disable=silent, file=sys.stderr) as progress:
                left_out = backup(file, report=progress.update)
        except (BackupError, DumpError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}") from error
        self.stdout.write(
            f"{file}: {file.stat().st_size / 1e6:,.1f} MB. Check it with: manage.py restore --check {file}"
        )
        if left_out:
            self.stdout.write(f"Not in it, of the data folder: {', '.join(left_out)}.")
