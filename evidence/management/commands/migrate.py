"""``migrate`` for both kinds of tables: Django's first, then those of the pipeline, which refer to them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS, connection

from evidence.configured import pipeline
from evidence.store.upgrade import pending, upgrade


class Command(migrate.Command):
    help = "Brings Django's tables and the pipeline's to their newest schema."

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        # A named app or migration is about Django's tables alone, and so is what only looks at or fakes them.
        is_partial = options["app_label"] or options["fake"] or options["fake_initial"]
        if is_partial or options["database"] != DEFAULT_DB_ALIAS or connection.vendor != "postgresql":
            return
        with pipeline() as borrowed:
            todo = pending(borrowed)
            if options["plan"]:
                for line in todo:
                    self.stdout.write(f"pipeline {line}")
            elif options["check_unapplied"]:
                if todo:
                    raise CommandError(f"the pipeline's migrations have not run: {', '.join(todo)}")
            elif todo:
                upgrade(borrowed)
                if options["verbosity"] >= 1:
                    self.stdout.write(f"  Applied the pipeline's migrations: {', '.join(todo)}")
