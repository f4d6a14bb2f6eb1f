"""Kills an ingest, the web process or PostgreSQL (kill -9) at random moments of an ingest, and looks for what is lost.

On a site of its own in a temporary folder; the site that the command was given is not touched.
"""

from __future__ import annotations

import hashlib
import os
import random
import shlex
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

VICTIMS = ("ingest", "web", "database")
COLLECTION = "Kills"
INGEST = f"ingest {{pages}} --collection {COLLECTION} --verbosity 0"
SENTENCES = 40
CHANGED = 3
"""Every third page changes from round to round, and as many are changed back later."""
PATIENCE = 120
EARLIEST = 0.3
"""The share of an ingest's time in which it is not killed: Python and the model are being loaded."""


class Lost(Exception):
    """What a kill has broken."""


@dataclass
class Site:
    """A site in a folder, its pages, and the processes of it that run."""

    folder: Path
    documents: int
    killed: str = INGEST
    victims: tuple[str, ...] = VICTIMS
    web: subprocess.Popen[bytes] | None = None
    port: int = 0
    versions: dict[int, int] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def pages(self) -> Path:
        return self.folder / "pages"

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """A command of the site, in a process group of its own."""
        environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "SPIRE_HTTPS")}
        environment |= {"SPIRE_DATA": str(self.data), "DJANGO_SETTINGS_MODULE": "spire_site.settings"}
        log = (self.folder / f"{arguments[0]}.log").open("wb")
        with log:
            return subprocess.Popen(  # noqa: S603
                [sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def run(self, *arguments: str) -> None:
        """A command that must end well. Lost says what it has said if not."""
        if self.start(*arguments).wait():
            said = (self.folder / f"{arguments[0]}.log").read_text(errors="replace")
            raise Lost(f"manage.py {' '.join(arguments)} failed:\n{said[-3000:]}")

    def ingest(self) -> list[str]:
        return shlex.split(INGEST.format(pages=shlex.quote(str(self.pages))))

    def victim(self) -> list[str]:
        """The command that works while something is killed."""
        return shlex.split(self.killed.format(pages=shlex.quote(str(self.pages))))

    def serve(self) -> None:
        """Start the web process where none runs, and wait until it can answer."""
        if self.web is None:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            self.web = self.start("serve", "--port", str(self.port))
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with suppress(URLError, ConnectionError, TimeoutError):
                # What is not ready answers 503, which is an error here.
                urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=PATIENCE).close()
                return
            time.sleep(0.2)
        raise Lost(f"the web process cannot answer:\n{(self.folder / 'serve.log').read_text(errors='replace')[-3000:]}")

    def write_pages(self, rng: random.Random) -> None:
        """The pages, some of them changed."""
        self.pages.mkdir(exist_ok=True)
        for number in range(self.documents):
            if number not in self.versions or rng.randrange(CHANGED) == 0:
                self.versions[number] = self.versions.get(number, 0) + 1
                (self.pages / f"{number}.html").write_bytes(page(number, self.versions[number]))

    def kill(self, victim: str, working: subprocess.Popen[bytes]) -> None:
        """Kill -9 of one part of the site."""
        if victim == "database":
            process = int((self.data / "postgresql/cluster/postmaster.pid").read_text().split()[0])
            os.kill(process, signal.SIGKILL)
        elif victim == "web" and self.web is not None:
            os.killpg(self.web.pid, signal.SIGKILL)
            self.web.wait()
            self.web = None
        elif victim == "ingest":
            with suppress(ProcessLookupError):
                os.killpg(working.pid, signal.SIGKILL)

    def compare(self) -> None:
        """Every page must be there once, as it is now, and no revision twice in a row. Lost says what is not."""
        wanted = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in self.pages.iterdir()}
        with psycopg.connect(embedded.start(self.data / "postgresql")) as connection:
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


@contextmanager
def site(documents: int, killed: str = INGEST) -> Iterator[Site]:
    """A new site; gone afterwards, unless something was lost."""
    folder = Path(tempfile.mkdtemp(prefix="spire-kills-"))
    folder.chmod(0o755)  # the database's user enters it
    made = Site(folder, documents, killed)
    made.data.mkdir()
    models = settings.SPIRE_DATA / "models"
    if models.exists():
        (made.data / "models").symlink_to(models)
    try:
        yield made
    finally:
        if made.web is not None:
            os.killpg(made.web.pid, signal.SIGKILL)
            made.web.wait()
        embedded.stop(made.data / "postgresql")
    shutil.rmtree(folder)


def rounds(made: Site, count: int, seed: int) -> Iterator[str]:
    """A line for each round: what was killed when. Lost when something was, with the folder to look at."""
    rng = random.Random(seed)  # noqa: S311
    made.run("setup", "--no-sample")
    made.write_pages(rng)
    began = time.monotonic()
    made.run(*made.ingest())
    whole = time.monotonic() - began
    yield f"{made.documents} pages in {whole:.1f} s; the seed is {seed}; {made.folder}"
    for number in range(1, count + 1):
        if "web" in made.victims:
            made.serve()
        made.write_pages(rng)
        victim = made.victims[(number - 1) % len(made.victims)]
        moment = whole * rng.uniform(EARLIEST, 1)
        began = time.monotonic()
        working = made.start(*made.victim())
        with suppress(subprocess.TimeoutExpired):
            working.wait(moment)
        is_done = working.poll() is not None
        # So that the next moment is one at which there is work, whatever else this machine has to do.
        whole = time.monotonic() - began if is_done else whole * 1.1
        made.kill(victim, working)
        if victim != "ingest" and made.killed != INGEST:
            os.killpg(working.pid, signal.SIGKILL)  # a worker would never end by itself
        working.wait()
        made.run("verify", "--verbosity", "0")
        began = time.monotonic()
        made.run(*made.ingest())
        again = time.monotonic() - began
        made.compare()
        state = "done" if is_done else "at work"
        yield f"round {number:>2}: {victim:<8} killed after {moment:4.1f} s ({state}); verify clean; again in {again:.1f} s"
    if "web" in made.victims:
        made.serve()
    made.run("verify", "--verbosity", "0")
    yield "nothing lost, nothing doubled"


def page(number: int, version: int) -> bytes:
    """A page of headings, sentences, a list and a table, of which each version says something else in one section."""
    sections = "".join(
        f"<h2>Part {part}</h2><p>{_sentences(number, part, version if part == number % 4 else 0)}</p>"
        for part in range(4)
    )
    rows = "".join(f"<tr><th>Item {row}</th><td>{number * row + version} euro</td></tr>" for row in range(5))
    text = (
        f"<!doctype html><html lang=en><title>Page {number}</title><h1>Page {number}</h1>{sections}"
        f"<ul><li>First of {number}</li><li>Second of {number}</li></ul>"
        f"<table><tr><th>Name</th><th>Price</th></tr>{rows}</table><p>All rights reserved.</p>"
    )
    return text.encode()


def _sentences(number: int, part: int, version: int) -> str:
    about = f"of page {number}, part {part}, as of version {version}"
    return " ".join(f"Rule {rule} {about} allows {rule * 7 + number} things." for rule in range(SENTENCES // 4))
