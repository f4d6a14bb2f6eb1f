"""Kills what works (kill -9) at random moments, or the web process, PostgreSQL, or everything, and looks for what is lost.

On a site of its own in a temporary folder; the site that the command was given is not touched.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol

from evidence.bench import site as sites
from evidence.bench.asking import BESIDE, COLLECTION
from evidence.bench.site import PATIENCE, Lost

SENTENCES = 40
CHANGED = 3
"""Every third page changes from round to round."""
REMOVED = 10
"""And every tenth goes, and comes back when it changes next."""
BESIDES = 4
"""Every fourth round, an index is built beside the one that answers."""


@dataclass
class Site(sites.Site):
    """A site with pages that change."""

    documents: int
    versions: dict[int, int] = field(default_factory=dict)

    def write_pages(self, rng: random.Random) -> list[str]:
        """The pages, some of them changed: the names of these."""
        self.pages.mkdir(exist_ok=True)
        changed = [
            number for number in range(self.documents) if number not in self.versions or rng.randrange(CHANGED) == 0
        ]
        for number in changed:
            self.versions[number] = self.versions.get(number, 0) + 1
            (self.pages / _name(number)).write_bytes(page(number, self.versions[number]))
        return [_name(number) for number in changed]

    def remove_pages(self, rng: random.Random, changed: list[str]) -> list[str]:
        """Some of the other pages are removed: the names of these."""
        others = sorted(path.name for path in self.pages.iterdir() if path.name not in changed)
        gone = [name for name in others if rng.randrange(REMOVED) == 0]
        for name in gone:
            (self.pages / name).unlink()
        return gone


class Work(Protocol):
    """What is done in each round while something is killed."""

    victims: tuple[str, ...]

    def begin(self, rng: random.Random, round_: int) -> None:
        """Change the pages, and have something begin to take them in."""

    def is_done(self, seconds: float) -> bool:
        """Whether that came to its end within so many seconds."""

    def kill(self) -> None:
        """Kill -9 of what does it."""

    def complete(self) -> None:
        """See to it that it is done, whatever was killed. Lost when that cannot be."""


@dataclass
class Jobs:
    """A worker does jobs: uploads, refreshes of a folder, removals, contexts, an index. Whoever dies is begun again by
    ``serve``, or with it; nothing else is done to complete them."""

    made: Site
    victims: tuple[str, ...] = ("worker", "web", "database", "everything")

    def begin(self, rng: random.Random, round_: int) -> None:
        changed = self.made.write_pages(rng)
        gone = self.made.remove_pages(rng, changed) if round_ else []
        beside = round_ % BESIDES == 1
        asked = f"{str(self.made.pages)!r}, {rng.randrange(1 << 30)}, {changed!r}, {gone!r}, beside={beside}"
        self.made.run("shell", "--no-imports", "--command", f"from evidence.bench import asking; asking.ask({asked})")

    def is_done(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        with self.made.connect() as connection:
            connection.autocommit = True
            while left := connection.execute(UNFINISHED).fetchall():
                if time.monotonic() > until:
                    break
                time.sleep(0.1)
        return not left

    def kill(self) -> None:
        self.made.kill_part("work")

    def complete(self) -> None:
        self.made.serve()
        if not self.is_done(PATIENCE):
            raise Lost(f"jobs are not done:\n{self._jobs()}\n{self.made.said('serve')}")
        with self.made.connect() as connection:
            if connection.execute(ENDED_OTHERWISE).fetchall():
                raise Lost(f"jobs have failed:\n{self._jobs()}")
            [built] = connection.execute(BUILT, [BESIDE]).fetchone() or [False]
        if built:
            self.made.run("index", "drop", BESIDE)

    def _jobs(self) -> str:
        with self.made.connect() as connection:
            return "\n".join(" | ".join(map(str, row)) for row in connection.execute(LAST))


UNFINISHED = "SELECT id FROM evidence_job WHERE state IN ('waiting', 'running')"
ENDED_OTHERWISE = "SELECT id FROM evidence_job WHERE state <> 'done'"
BUILT = "SELECT complete FROM spire.index WHERE name = %s"
LAST = "SELECT id, kind, state, done, total, losses, error FROM evidence_job ORDER BY id DESC LIMIT 10"


@dataclass
class Ingest:
    """The command ``ingest``, which is run again after each kill."""

    made: Site
    victims: tuple[str, ...] = ("ingest", "web", "database")
    working: subprocess.Popen[bytes] | None = None

    @property
    def command(self) -> tuple[str, ...]:
        return ("ingest", str(self.made.pages), "--collection", COLLECTION, "--verbosity", "0")

    def begin(self, rng: random.Random, round_: int) -> None:
        self.made.write_pages(rng)
        self.working = self.made.start(*self.command)

    def is_done(self, seconds: float) -> bool:
        assert self.working is not None  # noqa: S101 (it was begun)
        with suppress(subprocess.TimeoutExpired):
            self.working.wait(seconds)
        return self.working.poll() is not None

    def kill(self) -> None:
        assert self.working is not None  # noqa: S101 (it was begun)
        with suppress(ProcessLookupError):
            os.killpg(self.working.pid, signal.SIGKILL)

    def complete(self) -> None:
        assert self.working is not None  # noqa: S101 (it was begun)
        self.working.wait()
        self.made.run(*self.command)


WORKS = {"jobs": Jobs, "ingest": Ingest}


@contextmanager
def site(documents: int) -> Iterator[Site]:
    """A new site; gone afterwards, unless something was lost."""
    with sites.scratch_folder("kills") as folder:
        made = Site(folder, documents, environment={"SPIRE_FOLDERS": str(folder)})
        with sites.ended(made):
            yield made


def rounds(made: Site, work: Work, count: int, seed: int) -> Iterator[str]:
    """A line for each round: what was killed when. Lost when something was, with the folder to look at."""
    rng = random.Random(seed)  # noqa: S311
    made.run("setup", "--no-sample")
    made.serve()
    work.begin(rng, 0)
    began = time.monotonic()
    work.is_done(PATIENCE)
    work.complete()
    whole = time.monotonic() - began
    yield f"{made.documents} pages in {whole:.1f} s; the seed is {seed}; {made.folder}"
    for number in range(1, count + 1):
        made.serve()
        victim = work.victims[(number - 1) % len(work.victims)]
        work.begin(rng, number)
        began = time.monotonic()
        moment = whole * rng.random()
        is_done = work.is_done(moment)
        # So that the next moment is one at which there is work, whatever else this machine has to do.
        whole = time.monotonic() - began if is_done else whole * 1.1
        kill(made, work, victim)
        made.run("verify", "--verbosity", "0")
        began = time.monotonic()
        work.complete()
        again = time.monotonic() - began
        made.compare()
        state = "done" if is_done else "at work"
        killed = f"{victim:<10} killed after {moment:4.1f} s ({state})"
        yield f"round {number:>2}: {killed}; verify clean; whole after {again:.1f} s"
    made.serve()
    made.run("verify", "--verbosity", "0")
    yield "nothing lost, nothing doubled"


def kill(made: Site, work: Work, victim: str) -> None:
    """Kill -9 of one part of the site, or of all of it."""
    if victim == "everything":
        made.kill_web()
    if victim in ("database", "everything"):
        made.kill_database()
    elif victim == "web":
        made.kill_part("gunicorn")
        made.wait_for_web()
    else:
        work.kill()


def _name(number: int) -> str:
    return f"{number}.html"


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
