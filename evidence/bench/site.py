"""A site of its own in a temporary folder, which a bench may fill, serve and break.

The site that the bench was called on is not touched.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psycopg
from django.conf import settings

from evidence.store import embedded

PATIENCE = 600
"""Seconds. What takes longer, on a machine however busy, hangs."""
OF_THE_CALLER = ("DATABASE_URL", "SPIRE_HTTPS")
"""Settings of the site that the bench was called on, which would lead away from this one."""


class Lost(Exception):
    """What a site has lost, doubled or failed to do."""


@dataclass
class Site:
    """A site in a folder, and its web process, if one runs."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict, kw_only=True)
    web: subprocess.Popen[bytes] | None = field(default=None, kw_only=True)
    port: int = field(default=0, kw_only=True)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def pages(self) -> Path:
        return self.folder / "pages"

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """A command of the site, in a process group of its own."""
        environment = {name: value for name, value in os.environ.items() if name not in OF_THE_CALLER}
        environment |= {"SPIRE_DATA": str(self.data), "DJANGO_SETTINGS_MODULE": "spire_site.settings"}
        with self.log(arguments[0]).open("wb") as log:
            return subprocess.Popen(  # noqa: S603
                [sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments],
                env=environment | self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def log(self, command: str) -> Path:
        """The file of what the last such command has said."""
        return self.folder / f"{command}.log"

    def said(self, command: str) -> str:
        """The end of what the last such command has said."""
        return self.log(command).read_text(errors="replace")[-3000:]

    def run(self, *arguments: str) -> None:
        """A command that must end well. Lost says what it has said if not."""
        if self.start(*arguments).wait():
            raise Lost(f"manage.py {' '.join(arguments)} failed:\n{self.said(arguments[0])}")

    def serve(self) -> None:
        """Start the web process where none runs, and wait until it can answer."""
        if self.web is None:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            self.web = self.start("serve", "--port", str(self.port))
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.web.poll() is None:
            with suppress(URLError, ConnectionError, TimeoutError):
                # What is not ready answers 503, which is an error here.
                urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=PATIENCE).close()
                return
            time.sleep(0.2)
        raise Lost(f"the web process cannot answer:\n{self.said('serve')}")

    def kill_web(self) -> None:
        """Kill -9 of the web process and of all that it has begun, where one runs."""
        if self.web is not None:
            for process in [self.web.pid, *(begun for begun, _ in begun_by(self.web.pid))]:
                _kill(process)
            self.web.wait()
            self.web = None

    def kill_part(self, name: str) -> None:
        """Kill -9 of what ``serve`` has begun: "gunicorn", or "work". Lost where none of it runs."""
        assert self.web is not None  # noqa: S101 (it was begun)
        parts = [process for process, command in begun_by(self.web.pid) if name in command.split()]
        if not parts:
            raise Lost(f"serve has no {name}:\n{self.said('serve')}")
        for process in parts:
            _kill(process)

    def wait_for_web(self) -> None:
        """Wait until the web process has ended, of which a part was killed. Lost where it does not."""
        assert self.web is not None  # noqa: S101 (it was begun)
        try:
            self.web.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Lost(f"serve goes on without gunicorn:\n{self.said('serve')}") from None
        self.web = None

    def kill_database(self) -> None:
        """Kill -9 of PostgreSQL's first process; the others notice."""
        _kill(int((self.data / "postgresql/cluster/postmaster.pid").read_text().split()[0]))

    def connect(self) -> psycopg.Connection:
        """A connection to the site's database, which is started where it does not run."""
        return psycopg.connect(embedded.start(self.data / "postgresql"))

    def compare(self) -> None:
        """Every page must be there once, as it is now, and no revision twice in a row. Lost says what is not."""
        files = (path for path in self.pages.rglob("*") if path.is_file())
        wanted = {
            path.relative_to(self.pages).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
        }
        with self.connect() as connection:
            held = connection.execute(
                "SELECT address, content_hash FROM evidence_document AS document"
                " LEFT JOIN evidence_revision AS revision ON revision.id = current_id"
            ).fetchall()
            [twice] = connection.execute(
                "SELECT count(*) FROM evidence_revision AS one JOIN evidence_revision AS next"
                " ON next.document_id = one.document_id AND next.number = one.number + 1"
                " AND next.content_hash = one.content_hash"
            ).fetchone() or [0]
        if dict(held) != wanted or len(held) != len(wanted):
            raise Lost(f"of {len(wanted)} pages, {sum(wanted.get(a) == h for a, h in held)} are there as they are now")
        if twice:
            raise Lost(f"{twice} revisions are there twice")


ENDED = (FileNotFoundError, ProcessLookupError)
"""What /proc says of a process that has just ended, before and while it is read."""


def begun_by(process: int) -> Iterator[tuple[int, str]]:
    """The processes that a process has begun, and those that these have begun, each with its command."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        commands = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    except (FileNotFoundError, ProcessLookupError):
        return  # one has just ended
    for child, command in commands.items():
        yield child, command.replace(b"\0", b" ").decode(errors="replace").strip()
        yield from begun_by(child)


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


@contextmanager
def scratch_folder(name: str) -> Iterator[Path]:
    """A new folder for a site, with the models of the calling one; gone afterwards, unless there was an exception."""
    folder = Path(tempfile.mkdtemp(prefix=f"spire-{name}-"))
    folder.chmod(0o755)  # the database's user enters it
    data = folder / "data"
    data.mkdir()
    models = settings.SPIRE_DATA / "models"
    if models.exists():
        (data / "models").symlink_to(models)
    yield folder
    shutil.rmtree(folder)


@contextmanager
def ended(made: Site) -> Iterator[None]:
    """End the web process and the database of a site afterwards, whatever happens."""
    try:
        yield
    finally:
        made.kill_web()
        embedded.stop(made.data / "postgresql")
