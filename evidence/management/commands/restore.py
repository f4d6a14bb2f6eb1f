"""``restore``: a site from the file that ``backup`` wrote."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from evidence.operations.archive import BackupError, reading
from evidence.operations.backup import check, restore
from evidence.store.dump import DumpError


class Command(BaseCommand):
    help = "Restores a backup into an empty database; the file is checked whole before anything is changed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--check", action="store_true", help="only check the file; needs no database")

    def handle(self, *, file: Path, **options: Any) -> None:
        silent = None if options["verbosity"] else True
        try:
            with tqdm(unit="B", unit_scale=True, disable=silent, file=sys.stderr) as progress:
                if options["check"]:
                    with reading(file) as archive:
                        check(archive, progress.update)
                else:
                    restore(file, report=progress.update)
        except (BackupError, DumpError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename or file}: {error.strerror}") from error
        if options["check"]:
            self.stdout.write(f"{file} is whole, and this SPIRE can restore it (made {archive.manifest.made}).")
        else:
            self.stdout.write(f"{file} is restored. Look it over with: manage.py verify. Then start the site.")
