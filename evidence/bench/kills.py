"""Kills an ingest, the web process or PostgreSQL (kill -9) at random moments of an ingest, and looks for what is lost.

On a site of its own in a temporary folder; the site that the command was given is not touched.
"""

from __future__ import annotations

import os
import random
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from evidence.bench import site as sites

VICTIMS = ("ingest", "web", "database")
COLLECTION = "Kills"
INGEST = f"ingest {{pages}} --collection {COLLECTION} --verbosity 0"
SENTENCES = 40
CHANGED = 3
"""Every third page changes from round to round, and as many are changed back later."""
EARLIEST = 0.3
"""The share of an ingest's time in which it is not killed: Python and the model are being loaded."""


@dataclass
class Site(sites.Site):
    """A site with pages that change, and what works on it while something is killed."""

    documents: int
    killed: str = INGEST
    victims: tuple[str, ...] = VICTIMS
    versions: dict[int, int] = field(default_factory=dict)

    def ingest(self) -> list[str]:
        return shlex.split(INGEST.format(pages=shlex.quote(str(self.pages))))

    def victim(self) -> list[str]:
        """The command that works while something is killed."""
        return shlex.split(self.killed.format(pages=shlex.quote(str(self.pages))))

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
        elif victim == "web":
            self.kill_web()
        elif victim == "ingest":
            with suppress(ProcessLookupError):
                os.killpg(working.pid, signal.SIGKILL)


@contextmanager
def site(documents: int, killed: str = INGEST) -> Iterator[Site]:
    """A new site; gone afterwards, unless something was lost."""
    with sites.scratch_folder("kills") as folder:
        made = Site(folder, documents, killed)
        with sites.ended(made):
            yield made


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
