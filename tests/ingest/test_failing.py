"""What an ingest leaves when something goes wrong: a refused file, an interruption, a kill, another ingest beside it."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import sqlalchemy as sa
from django.db import connection as django_connection
from django.db import connections

from evidence.configured import pipeline
from evidence.ingest import documents
from evidence.ingest.documents import Outcome, ingest_sources
from evidence.ingest.sources import Arrival, Refusal, read_paths
from evidence.models import Document, Revision
from evidence.store import indexes
from evidence.store.schema import SCHEMA
from tests.conftest import WordEmbedder
from tests.handbook import (
    GATE,
    KITCHEN,
    NEW_GATE,
    TABLE,
    case,
    cited,
    collection_of,
    current,
    indexes_dropped_afterwards,
    rows_of,
    take_in,
)


@pytest.fixture
def committed(transactional_db: None) -> Iterator[None]:
    """What the test writes is written, and is gone after it."""
    with indexes_dropped_afterwards():
        yield


@pytest.fixture
def fail_on(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """A function after which the ingest of a page with these bytes dies between its tree and its vectors."""
    replace_units = indexes.replace_units

    def arm(content: bytes) -> None:
        def replace(connection: sa.Connection, index: indexes.Index, *, revision_id: int, **rest: Any) -> None:
            if bytes(Revision.objects.get(pk=revision_id).content) == content:
                raise KeyboardInterrupt
            replace_units(connection, index, revision_id=revision_id, **rest)

        monkeypatch.setattr(indexes, "replace_units", replace)

    return arm


@pytest.mark.django_db
def test_a_refused_file_is_refused_alone(embedder: WordEmbedder) -> None:
    """One broken file that keeps a thousand good ones out."""
    sources = [Arrival("gate.html", GATE), Refusal("broken.html", "is a PDF, not HTML"), Arrival("tins.html", TABLE)]
    outcomes = ingest_sources(collection=collection_of(), sources=sources)
    assert sorted((outcome.name, outcome.status, outcome.reason) for outcome in outcomes) == [
        ("broken.html", "refused", "is a PDF, not HTML"),
        ("gate.html", "new", ""),
        ("tins.html", "new", ""),
    ]
    assert set(Document.objects.values_list("address", flat=True)) == {"gate.html", "tins.html"}


@pytest.mark.django_db
@pytest.mark.parametrize("next_state", [GATE, NEW_GATE], ids=["unchanged", "changed"])
def test_a_refused_file_leaves_the_old_revision_and_says_why(
    embedder: WordEmbedder, tmp_path: Path, next_state: bytes
) -> None:
    """A page that vanishes from the search, or stays out of date in silence, because its newest state is broken."""
    file = tmp_path / "gates" / "gate.html"
    file.parent.mkdir()
    file.write_bytes(GATE)
    ingest_sources(collection=collection_of(), sources=read_paths([file.parent]))
    file.write_bytes(b"%PDF-1.7")
    ingest_sources(collection=collection_of(), sources=read_paths([file.parent]))
    document = Document.objects.get()
    assert document.error == "is a PDF, not HTML"
    assert bytes(current().content) == GATE
    assert cited("Where is the gate?")
    file.write_bytes(next_state)
    ingest_sources(collection=collection_of(), sources=read_paths([file.parent]))
    document.refresh_from_db()
    assert document.error == ""


@pytest.mark.django_db
def test_a_page_with_a_name_too_long_for_the_database_is_refused_alone(embedder: WordEmbedder, tmp_path: Path) -> None:
    """A member of an archive with a name of 8 KB, on which the whole upload fails."""
    long = hashlib.shake_256(b"name").hexdigest(4000)
    with zipfile.ZipFile(tmp_path / "pages.zip", "w") as archive:
        for name, content in (("gate.html", GATE), (f"{long}.html", KITCHEN), ("tins.html", TABLE)):
            archive.writestr(name, content)
    outcomes = ingest_sources(collection=collection_of(), sources=read_paths([tmp_path / "pages.zip"]))
    assert sorted(outcome.status for outcome in outcomes) == ["new", "new", "refused"]


@pytest.mark.django_db
def test_an_interrupted_ingest_leaves_what_was_there(
    embedder: WordEmbedder, fail_on: Callable[[bytes], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a page in the search after Ctrl-C, or a page that is gone until somebody notices."""
    take_in({"gate.html": GATE})
    old, rows = current(), rows_of(current().pk)
    fail_on(NEW_GATE)
    with pytest.raises(KeyboardInterrupt):
        take_in({"kitchen.html": KITCHEN, "gate.html": NEW_GATE, "tins.html": TABLE})
    assert current() == old
    assert rows_of(old.pk) == rows
    assert Revision.objects.filter(document__address="gate.html").count() == 1
    assert cited("When does Team South open the gate?")[0] == "Team South opens the gate at six each morning."
    monkeypatch.undo()
    monkeypatch.setattr("evidence.configured.embedder_named", lambda name: embedder)
    outcomes = take_in({"kitchen.html": KITCHEN, "gate.html": NEW_GATE, "tins.html": TABLE})
    assert {outcome.name: outcome.status for outcome in outcomes} == {
        "kitchen.html": "unchanged",
        "gate.html": "changed",
        "tins.html": "new",
    }


@pytest.mark.django_db
def test_an_interrupted_first_ingest_leaves_an_index_that_is_quick_to_search(
    embedder: WordEmbedder, fail_on: Callable[[bytes], None]
) -> None:
    """A site that compares every sentence with each question, because its first load ended early."""
    fail_on(KITCHEN)
    with pytest.raises(KeyboardInterrupt):
        take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    with pipeline() as connection:
        nearest = indexes.get(connection).nearest
        assert connection.execute(sa.text(f"SELECT to_regclass('{SCHEMA}.{nearest}')")).scalar()


KILLED = """
import os, signal, sys
import django
django.setup()
from django.core.management import call_command
from evidence import configured
from evidence.ingest import rebuild
from evidence.models import Revision
from evidence.store import indexes
from tests.conftest import WordEmbedder

words = WordEmbedder()
configured.embedder_named = rebuild.embedder_named = lambda name: words
replace_units = indexes.replace_units

def replace(connection, index, *, revision_id, **rest):
    replace_units(connection, index, revision_id=revision_id, **rest)
    if Revision.objects.get(pk=revision_id).document.address == "kitchen.html":
        os.kill(os.getpid(), signal.SIGKILL)

indexes.replace_units = replace
call_command("ingest", sys.argv[1], collection="Handbook", verbosity=0)
"""


@pytest.mark.usefixtures("committed")
def test_a_killed_ingest_is_completed_by_the_next_one(embedder: WordEmbedder, tmp_path: Path) -> None:
    """A machine that loses power while it indexes, and a site that must be indexed from nothing because of it."""
    for name, content in (("gate.html", GATE), ("kitchen.html", KITCHEN), ("tins.html", TABLE)):
        (tmp_path / name).write_bytes(content)
    parameters = django_connection.get_connection_params()
    host, port = quote(str(parameters.get("host", "")), safe=""), parameters.get("port", "")
    user = quote(
        f"{parameters['user']}:{parameters['password']}" if parameters.get("password") else parameters["user"], safe=":"
    )
    environment = {
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": f"postgresql://{user}@/{parameters['dbname']}?host={host}&port={port}",
    }
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert list(Document.objects.values_list("address", flat=True)) == ["gate.html"]
    assert Revision.objects.count() == 1
    outcomes = ingest_sources(collection=collection_of(), sources=read_paths([tmp_path]))
    assert [outcome.status for outcome in outcomes] == ["unchanged", "new", "new"]
    assert "Tea is in the blue tin." in cited("Where is the tea?")


@pytest.mark.usefixtures("committed")
def test_two_that_ingest_one_page_at_once_make_one_revision(
    embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 56: two workers that take the same upload, and each sentence found twice ever after."""
    collection = collection_of()
    both_have_prepared = threading.Barrier(2)
    embed_for = documents.embed_for

    def embed_and_wait(*arguments: Any) -> None:
        embed_for(*arguments)
        both_have_prepared.wait(timeout=30)

    monkeypatch.setattr(documents, "embed_for", embed_and_wait)
    outcomes: list[Outcome] = []

    def work() -> None:
        try:
            outcomes.extend(ingest_sources(collection=collection, sources=[Arrival("once.html", case(56))]))
        finally:
            connections.close_all()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(outcome.status for outcome in outcomes) == ["new", "unchanged"]
    assert Revision.objects.count() == Document.objects.count() == 1
    assert cited("What comes only once?") == ["Only once, please."]
    with pipeline() as connection:
        (index,) = indexes.all_indexes(connection)
        assert indexes.count(connection, index) == 1
