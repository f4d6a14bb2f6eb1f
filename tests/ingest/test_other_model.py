"""Another model is built beside the one that serves: case 58, with everything else going on meanwhile."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections

from evidence import configured
from evidence.configured import pipeline
from evidence.ingest import documents, rebuild
from evidence.models import Document
from evidence.operations.verify import verify
from evidence.retrieve.pipeline import ask
from evidence.store import indexes
from evidence.store.indexes import Index
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, NEW_GATE, TABLE, collection_of, indexes_dropped_afterwards, take_in

QUESTION = "When does Team South open the gate?"


class OtherEmbedder(WordEmbedder):
    name = "other"
    fingerprint = "other-1"
    dimensions = 128


@pytest.fixture
def two_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two models that can be had by their names."""
    models = {"other": OtherEmbedder()}
    words = WordEmbedder()
    for module in (configured, rebuild):
        monkeypatch.setattr(module, "embedder_named", lambda name: models.get(name, words))


@pytest.fixture
def site(transactional_db: None, two_models: None) -> Iterator[None]:
    with indexes_dropped_afterwards():
        take_in({"gate.html": GATE, "kitchen.html": KITCHEN, "tins.html": TABLE})
        yield


def index(*arguments: str) -> None:
    call_command("index", *arguments, verbosity=0, stdout=io.StringIO())


def addresses(name: str | None = None) -> list[str]:
    found = ask(QUESTION, collections=[collection_of().pk], index=name)
    return [excerpt.address for excerpt in found.excerpts]


def test_questions_are_answered_while_models_are_built_switched_and_dropped(site: None) -> None:
    """An upgrade of the model for which a site must be closed."""
    failures: list[BaseException] = []
    models: set[str] = set()
    stop = threading.Event()

    def ask_on() -> None:
        try:
            while not stop.is_set():
                found = ask(QUESTION, collections=[collection_of().pk])
                models.add(found.index)
                assert found.excerpts[0].address == "gate.html"
        except BaseException as error:
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=ask_on) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        index("build", "new", "--model", "other")
        for name in ("new", "default", "new"):
            index("default", name)
        index("drop", "default")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert failures == []
    assert addresses()[0] == "gate.html"
    assert list(verify()) == []


def test_a_killed_build_goes_on_and_what_came_meanwhile_is_in_both(site: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build of a night that begins anew, or ends without the pages of that night."""
    monkeypatch.setattr(rebuild, "DOCUMENTS_OF_A_BATCH", 1)
    write = rebuild._write

    def killed(way: Index, revision_id: int, made: Any) -> None:
        write(way, revision_id, made)
        raise KeyboardInterrupt

    monkeypatch.setattr(rebuild, "_write", killed)
    with pytest.raises(KeyboardInterrupt):
        index("build", "new", "--model", "other")
    assert ask(QUESTION, collections=[collection_of().pk]).index == "default"
    take_in({"gate.html": NEW_GATE, "more.html": KITCHEN})
    assert list(verify()) == []
    monkeypatch.setattr(rebuild, "_write", write)
    index("build", "new", "--model", "other")
    with pipeline() as connection:
        held = [indexes.indexed_revisions(connection, way) for way in indexes.all_indexes(connection)]
    current = set(Document.objects.values_list("current_id", flat=True))
    assert held == [current, current]
    assert list(verify()) == []


def test_an_index_that_is_dropped_during_an_ingest_does_not_end_it(site: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A night's ingest that dies because somebody tidied up."""
    index("build", "new", "--model", "other")
    index("default", "new")
    embed_for = documents.embed_for

    def drop_before(prepared: Sequence[Any], ways: Sequence[Index]) -> None:
        assert len(ways) == 2
        index("drop", "default")
        embed_for(prepared, ways)

    monkeypatch.setattr(documents, "embed_for", drop_before)
    assert [outcome.status for outcome in take_in({"gate.html": NEW_GATE})] == ["changed"]

    def drop_after(prepared: Sequence[Any], ways: Sequence[Index]) -> None:
        embed_for(prepared, ways)
        index("drop", "again")

    monkeypatch.setattr(documents, "embed_for", embed_for)
    index("build", "again")
    monkeypatch.setattr(documents, "embed_for", drop_after)
    assert [outcome.status for outcome in take_in({"gate.html": GATE})] == ["changed"]
    assert list(verify()) == []


def test_two_that_switch_at_once_leave_one_default(site: None) -> None:
    """No index that answers, or an error for one of two administrators."""
    index("build", "new", "--model", "other")
    errors: list[BaseException] = []
    together = threading.Barrier(2)

    def switch(name: str) -> None:
        try:
            together.wait()
            index("default", name)
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=switch, args=[name]) for name in ("default", "new")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with pipeline() as connection:
        assert sum(way.is_default for way in indexes.all_indexes(connection)) == 1
