"""``serve``: the site, on a server that can be left running."""

from __future__ import annotations

import socket
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from evidence.management.supervise import supervise


class Command(BaseCommand):
    help = "Serves the site with gunicorn, and a worker beside it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *, host: str, port: int, **options: Any) -> None:
        address = f"{host}:{port}"
        if _is_taken(host, port):
            raise CommandError(f"another program listens on {address} already; choose another port: make run PORT=8001")
        connections.close_all()
        self.stdout.write(f"SPIRE is at http://{address}/ (the admin at http://{address}/admin/). Ctrl-C stops it.")
        self.stdout.flush()
        status = supervise(
            [
                sys.executable,
                "-m",
                "gunicorn",
                "spire_site.wsgi:application",
                "--config=python:spire_site.gunicorn",
                f"--bind={address}",
                # Threads, since a request waits for the database and the model; one process, since each holds a model.
                "--worker-class=gthread",
                "--workers=1",
                "--threads=8",
                # An upload of a large archive is received while its request lasts.
                "--timeout=0",
                "--graceful-timeout=10",
                "--log-level=warning",
                "--no-control-socket",
                # A long question in a script of many bytes is a long address; the pages cut it, not the server.
                "--limit-request-line=0",
            ],
            [sys.executable, sys.argv[0], "work"],
        )
        sys.exit(status)


def _is_taken(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0
