"""What the tests from ingest to the commands share: small pages, a way to take them in, and one to leave nothing behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from evidence.configured import pipeline
from evidence.ingest.documents import Outcome, ingest_sources
from evidence.ingest.jobs import perform
from evidence.ingest.sources import Arrival
from evidence.models import Collection, Document, Job, JobState, Revision
from evidence.retrieve.pipeline import ask
from evidence.store import indexes
from evidence.store.schema import SCHEMA

CASES = Path(__file__).parent / "cases"
DERIVED = ("node", "context", "seed")


def page(title: str, **sections: str) -> bytes:
    """A page with a section of one paragraph for each keyword."""
    body = "".join(f"<h2>{heading}</h2><p>{text}</p>" for heading, text in sections.items())
    return f"<!doctype html><html lang=en><title>{title}</title><h1>{title}</h1>{body}".encode()


NORTH = "Team North closes the gate at six each evening. Ring the bell twice."
SOUTH = "Team South opens the gate at six each morning. Bring the brass key."
GATE = page("Gate", North=NORTH, South=SOUTH)
NEW_SOUTH = "Team South opens the gate at eight each morning. Bring the brass key."
NEW_GATE = page("Gate", North=NORTH, South=NEW_SOUTH)

KITCHEN = page("Kitchen", Tea="Tea is in the blue tin.", Coffee="Coffee is in the red tin.")

TABLE = b"""<!doctype html><title>Tins</title><h1>Tins</h1><table><caption>What is in them</caption>
<tr><th>Tin</th><th>Holds</th></tr><tr><th>Blue</th><td>Tea leaves</td></tr><tr><th>Red</th><td>Coffee beans</td></tr>
</table>"""


def collection_of(name: str = "Handbook") -> Collection:
    """The collection of this name."""
    found, _ = Collection.objects.get_or_create(name=name, defaults={"slug": name.lower()})
    return found


def case(number: int) -> bytes:
    """The input of a case."""
    return next(CASES.glob(f"{number}-*")).joinpath("input.html").read_bytes()


def take_in(pages: dict[str, bytes], collection: str = "Handbook") -> list[Outcome]:
    """Ingest pages by their address."""
    sources = [Arrival(address, data) for address, data in pages.items()]
    return ingest_sources(collection=collection_of(collection), sources=sources)


def current(address: str = "gate.html") -> Revision:
    """The current revision of a document."""
    revision = Document.objects.get(address=address).current
    assert revision is not None
    return revision


def cited(question: str, **asked: Any) -> list[str]:
    """What a question finds in the handbook, the best first."""
    found = ask(question, collections=[collection_of().pk], **asked)
    return [citation.text for excerpt in found.excerpts for citation in excerpt.citations]


def work_off() -> None:
    """Do the jobs that wait, as a worker would, in the order in which they were asked for."""
    for job in Job.objects.filter(state=JobState.WAITING).order_by("pk"):
        perform(job.pk)


def rows_of(revision_id: int) -> dict[str, int]:
    """How many rows each of the pipeline's tables holds of a revision, those of the indexes included."""
    with pipeline() as connection:
        tables = [*DERIVED, *(index.table.name for index in indexes.all_indexes(connection))]
        return {
            table: connection.execute(
                sa.text(f"SELECT count(*) FROM {SCHEMA}.{table} WHERE revision_id = :revision"),
                {"revision": revision_id},
            ).scalar_one()
            for table in tables
        }


@contextmanager
def indexes_dropped_afterwards() -> Iterator[None]:
    """For tests that commit: flushing Django's tables empties the pipeline's, and knows nothing of the indexes."""
    try:
        yield
    finally:
        with pipeline() as connection:
            for index in indexes.all_indexes(connection):
                indexes.drop(connection, index)
