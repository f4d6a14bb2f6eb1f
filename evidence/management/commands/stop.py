"""``stop``: ends the embedded database server, which otherwise goes on between commands."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from evidence.store import embedded


class Command(BaseCommand):
    help = "Stops the embedded PostgreSQL; the next command that needs it starts it again."

    def handle(self, **options: Any) -> None:
        settings = connection.settings_dict.get("EMBEDDED")
        if settings is None:
            self.stdout.write("The database is a server of your own (DATABASE_URL): it is left running.")
            return
        connection.close()
        embedded.stop(settings["data"])
        self.stdout.write("The embedded database has stopped.")
