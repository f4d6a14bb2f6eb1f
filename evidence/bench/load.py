"""People who ask while documents are taken in again and the worker is killed: how long they wait, and what is lost.

On a site of its own in a temporary folder, as ``manage.py serve`` serves it; the site that the bench was called on is not
touched.
"""

from __future__ import annotations

import io
import os
import random
import signal
import time
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

import psycopg

from evidence.bench import people as crowd
from evidence.bench.children import peak_of
from evidence.bench.journal import Answered, faults_of, read_journal
from evidence.bench.people import Person, Visit
from evidence.bench.questions import headings
from evidence.bench.report import Table
from evidence.bench.site import Lost, Site, begun_by, ended, scratch_folder
from evidence.ingest.sources import Arrival, read_paths
from evidence.store.connection import borrow

COLLECTION = "Load"
MOST_QUESTIONS = 100_000
WARM_UP = 5
SEARCHED = 20
"""So many of the changed pages are looked for by what was added to them."""

LONGEST_JOB = 900.0
SECONDS_BETWEEN_LOOKS = 0.2
SECONDS_BETWEEN_GLANCES = 3.0
"""The page of a job looks so often whether it has changed."""

MOST_ERRORS = 10


@dataclass(frozen=True)
class Plan:
    """What is done to the site."""

    documents: int = 1000
    changed: int = 200
    users: int = 50
    seconds: float = 60.0
    pause: float = 10.0
    kills: int = 2
    seed: int = 1


@dataclass
class Phase:
    """A time in which people asked, and who saw what."""

    name: str
    began: float
    ended: float = 0.0
    visits: list[Visit] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return self.ended - self.began

    def waits(self, *, questions: bool) -> list[float]:
        """Milliseconds that people waited, for answers or for all other pages, the shortest first."""
        return sorted(1000 * visit.seconds for visit in self.visits if (visit.kind == "question") is questions)

    def stage(self, name: str) -> list[float]:
        """Milliseconds of a stage of the questions, as the site has logged them, the shortest first."""
        return sorted(entry.stages.get(name, entry.milliseconds) for entry in self.answered)


def measure(paths: Sequence[Path], plan: Plan) -> Iterator[str]:
    """The account of a run. Lost when anything was, or when any page was an error; the site's folder is then left."""
    with scratch_folder("load") as folder:
        made = Site(folder, environment={"SPIRE_LOG": "json"})
        with ended(made):
            yield from run(made, paths, plan)


def run(made: Site, paths: Sequence[Path], plan: Plan) -> Iterator[str]:
    """The same on a site that is there and empty, whose database goes on afterwards."""
    rng = random.Random(plan.seed)  # noqa: S311
    began = time.monotonic()
    fill(made, paths, plan)
    yield f"{plan.documents} pages taken in within {time.monotonic() - began:.0f} s; the seed is {plan.seed}; {made.folder}"
    made.serve()
    with made.connect() as connection:
        [pk] = connection.execute("SELECT id FROM evidence_collection").fetchone() or [0]
        with borrow(connection) as borrowed:
            questions = list(dict.fromkeys(headings(borrowed, [pk], MOST_QUESTIONS)))
    if not questions:
        raise Lost("no page has a heading of the second or third level to ask for")
    site = f"http://127.0.0.1:{made.port}"
    people = crowd.sign_in(plan.users, site, rng)
    administrator = Person(crowd.ADMINISTRATOR, site, rng)
    administrator.sign_in()
    for question in rng.choices(questions, k=WARM_UP):
        administrator.ask(question)
    signing = sorted(visit.seconds for person in people for visit in person.visits if visit.kind == "sign-in")
    yield f"{plan.users} people sign in at once: p50 {_at(signing, 0.5):.1f} s, slowest {signing[-1]:.1f} s"
    yield f"then each asks one of {len(questions)} headings, and reads for {plan.pause:g} s on average"
    alone, beside = Phase("alone", 0.0), Phase("beside an ingest", 0.0)
    with _memory(made) as memory, crowd.living(people, questions, plan.pause):
        alone.began = time.monotonic()
        time.sleep(plan.seconds)
        alone.ended = beside.began = time.monotonic()
        added = change(made, plan.changed, rng)
        job = administrator.upload(pk, "changed.zip", _zipped(made, added))
        yield from see_through(made, administrator, job, plan, rng)
        done = time.monotonic()
        time.sleep(max(beside.began + plan.seconds - done, 0.0))
        beside.ended = time.monotonic()
    yield f"{plan.changed} pages taken in again within {done - beside.began:.0f} s"
    seen = [visit for person in (*people, administrator) for visit in person.visits]
    answered = list(read_journal(made.log("serve")))
    for phase in (alone, beside):
        phase.visits = [visit for visit in seen if phase.began <= visit.began < phase.ended]
        phase.answered = [entry for entry in answered if entry.stages and phase.began <= entry.ended < phase.ended]
    yield from table_of(alone, beside).lines()
    yield "memory at most: " + ", ".join(f"{name} {peak:.0f} MB" for name, peak in memory.items())
    for address in list(added)[:SEARCHED]:
        administrator.ask(added[address], holds=added[address])
    _end(made)
    check(made, [*seen, *administrator.visits])
    yield f"no error in {len(seen)} pages; nothing lost, nothing doubled; verify clean"


def fill(made: Site, paths: Sequence[Path], plan: Plan) -> None:
    """Set the site up with accounts and with a seeded choice of the pages in these folders. Lost where there are too few."""
    found = [source for source in read_paths(paths) if isinstance(source, Arrival) and source.format == "html"]
    found = list({source.address: source for source in found}.values())
    if len(found) < max(plan.documents, plan.changed):
        raise Lost(f"there are {len(found)} pages of HTML: give more folders, or --documents {len(found)}")
    for source in random.Random(plan.seed).sample(found, plan.documents):  # noqa: S311
        path = made.pages / source.address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.data)
    made.run("setup", "--no-sample")
    made.run("shell", "--command", f"from evidence.bench.people import accounts_make; accounts_make({plan.users})")
    made.run("ingest", str(made.pages), "--collection", COLLECTION, "--everyone", "--verbosity", "0")


def change(made: Site, count: int, rng: random.Random) -> dict[str, str]:
    """Change so many of the pages by a sentence in one paragraph: the name in that sentence, by the page's address."""
    pages = sorted(path for path in made.pages.rglob("*") if path.is_file())
    added = {}
    for number, path in enumerate(rng.sample(pages, count)):
        name = f"spare_key_{number:03}x"
        data = path.read_bytes()
        ends = [place for place in range(len(data)) if data.startswith(b"</p>", place)] or [len(data)]
        place = ends[len(ends) // 2]
        path.write_bytes(data[:place] + f" The drawer of {name} is open.".encode() + data[place:])
        added[path.relative_to(made.pages).as_posix()] = name
    return added


def see_through(made: Site, person: Person, job: str, plan: Plan, rng: random.Random) -> Iterator[str]:
    """Watch a job on its page until it is done, and kill its worker on the way. Lost where it does not get there."""
    pk = int(job.rstrip("/").rpartition("/")[2])
    shares = [(number + rng.uniform(0, 0.8)) / plan.kills for number in range(plan.kills)]
    until, next_glance = time.monotonic() + LONGEST_JOB, 0.0
    with made.connect() as connection:
        connection.autocommit = True
        while time.monotonic() < until:
            state, done, total, error = _job(connection, pk)
            if state == "done" and not shares:
                return
            if state in ("failed", "cancelled", "done"):
                raise Lost(f"the job has {state} with {len(shares)} kills to come: {error or 'give more --changed'}")
            if shares and done >= int(shares[0] * total):
                # So that it does not always die right after it has said how far it is.
                time.sleep(rng.uniform(0, 1))
                del shares[0]
                os.kill(worker_of(made), signal.SIGKILL)
                yield f"worker killed at {done} of {total}"
            if time.monotonic() > next_glance:
                person.look_at(job)
                next_glance = time.monotonic() + SECONDS_BETWEEN_GLANCES
            time.sleep(SECONDS_BETWEEN_LOOKS)
    raise Lost(f"the job has not ended after {LONGEST_JOB:.0f} s: {done} of {total}")


def check(made: Site, visits: Sequence[Visit]) -> None:
    """Every page right, no fault in the site's log, and everything there once, as sent last. Lost says what is not."""
    wrong = Counter(visit.error for visit in visits if visit.error)
    if wrong:
        named = "\n".join(f"  {count} × {error}" for error, count in wrong.most_common(MOST_ERRORS))
        raise Lost(f"{wrong.total()} of {len(visits)} pages were errors:\n{named}")
    if faults := faults_of(made.log("serve")):
        raise Lost(f"the site's log has {len(faults)} faults, the first:\n{faults[0][-3000:]}")
    made.compare()
    made.run("verify", "--verbosity", "0")


def table_of(*phases: Phase) -> Table:
    """What people waited, in each phase."""
    table = Table(["", *(phase.name for phase in phases)])
    table.add("seconds", *(f"{phase.seconds:.0f}" for phase in phases))
    for questions, name in ((True, "questions"), (False, "other pages")):
        waits = [phase.waits(questions=questions) for phase in phases]
        table.add(name, *(str(len(some)) for some in waits))
        if questions:
            rates = (len(some) / phase.seconds for some, phase in zip(waits, phases, strict=True))
            table.add("  a second", *(f"{rate:.1f}" for rate in rates))
        for share in (0.5, 0.95):
            table.add(f"  p{share * 100:.0f}, ms", *(f"{_at(some, share):.0f}" for some in waits))
        table.add("  slowest, ms", *(f"{_at(some, 1):.0f}" for some in waits))
    stages = dict.fromkeys(stage for phase in phases for entry in phase.answered for stage in entry.stages)
    table.add("in the site, p50, ms", *(f"{_at(phase.stage(''), 0.5):.0f}" for phase in phases))
    for stage in stages:
        table.add(f"  {stage}", *(f"{_at(phase.stage(stage), 0.5):.0f}" for phase in phases))
    return table


def worker_of(made: Site) -> int:
    """The process of the worker beside the web process, which begins it again when it has died."""
    until = time.monotonic() + LONGEST_JOB
    while time.monotonic() < until:
        for process, command in begun_by(_web(made)):
            if command.endswith("work"):
                return process
        time.sleep(SECONDS_BETWEEN_LOOKS)
    raise Lost(f"the site has no worker:\n{made.said('serve')}")


def _job(connection: psycopg.Connection, pk: int) -> tuple[str, int, int, str]:
    found = connection.execute("SELECT state, done, total, error FROM evidence_job WHERE id = %s", [pk]).fetchone()
    if found is None:
        raise Lost("the job is no more")
    return found


def _zipped(made: Site, addresses: Iterable[str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for address in addresses:
            archive.write(made.pages / address, address)
    return file.getvalue()


def _web(made: Site) -> int:
    if made.web is None:
        raise Lost("the site is not served")
    return made.web.pid


def _end(made: Site) -> None:
    """End the site as an administrator would: all of it must be there afterwards."""
    if made.web is not None:
        made.web.terminate()
        made.web.wait()
        made.web = None


@contextmanager
def _memory(made: Site) -> Iterator[dict[str, float]]:
    """Megabytes that the web process and the worker use at most meanwhile, each with all below it."""
    peaks = {"web": 0.0, "worker": 0.0}
    stop = Event()

    def look() -> None:
        while not stop.wait(SECONDS_BETWEEN_LOOKS * 5):
            now = dict.fromkeys(peaks, 0.0)
            for process, command in begun_by(_web(made)):
                now["worker" if command.endswith("work") else "web"] += peak_of(process)
            peaks.update({name: max(peak, now[name]) for name, peak in peaks.items()})

    watching = Thread(target=look)
    watching.start()
    try:
        yield peaks
    finally:
        stop.set()
        watching.join()


def _at(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0
