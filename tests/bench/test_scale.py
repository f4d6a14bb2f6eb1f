from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evidence.bench import scale
from evidence.bench.scale import DEPTHS, Built, Exact, Scope, measure
from evidence.configured import embedder_of, pipeline
from evidence.ingest.documents import ingest_sources
from evidence.ingest.sources import Arrival
from evidence.models import Collection, Revision
from evidence.store import indexes
from evidence.store.search import nearest
from tests.conftest import WordEmbedder

WORDS = "lamp key desk door bay hour tea noon lunch rule page limit price name part list".split()
QUESTIONS = ["lamp at the desk", "tea at noon", "price of a part"]


def page(number: int) -> Arrival:
    """A page of four sentences, each of other words."""
    drawn = np.random.default_rng(number)
    sentences = "".join(f"<p>The {' '.join(drawn.choice(WORDS, 5))} is {number}.</p>" for _ in range(4))
    return Arrival(f"{number}.html", f"<title>Page {number}</title><h2>Part {number}</h2>{sentences}".encode())


@pytest.fixture
def collection(embedder: WordEmbedder, db: None) -> Collection:
    """A collection of forty pages beside one of two."""
    for name, numbers in (("Large", range(40)), ("Small", range(40, 42))):
        made = Collection.objects.create(name=name, slug=name.lower())
        ingest_sources(collection=made, sources=[page(number) for number in numbers])
    return Collection.objects.get(name="Large")


def test_a_measurement_leaves_everything_as_it_was(collection: Collection) -> None:
    """Documents that are all of the year 2000, or an index that is gone, once somebody has measured."""
    before = list(Revision.objects.order_by("pk").values_list("pk", "received"))
    lines = list(measure(QUESTIONS, collection, [Built(8, 32)]))
    assert list(Revision.objects.order_by("pk").values_list("pk", "received")) == before
    with pipeline() as connection:
        way = indexes.get(connection)
        definition = connection.exec_driver_sql(
            "SELECT indexdef FROM pg_indexes WHERE indexname = %s", (way.nearest,)
        ).scalar_one()
    assert "m='16'" in definition
    assert any(line.startswith("HNSW with m 8, ef_construction 32: built") for line in lines)


def test_the_lines_tell_what_was_searched_and_what_was_found(collection: Collection) -> None:
    """Figures of another share than the one they are said to be of."""
    lines = list(measure(QUESTIONS, collection))
    assert lines[0].startswith("Large: ")
    assert "of 40 documents, beside 1 other collections" in lines[0]
    rows = {line[:20].strip(): line.split() for line in lines}
    with pipeline() as connection:
        units = indexes.count(connection, indexes.get(connection))
    assert rows["all collections"][2] == str(units)
    assert int(rows["10.0%, by chance"][3]) == pytest.approx(units / 10, rel=0.3)
    # Few units are compared one by one, whatever the filter.
    assert {row[-1] for name, row in rows.items() if name.startswith(("all", "10.0%", "the smallest"))} == {"1.0000"}


def test_what_is_not_found_is_missing_from_the_recall(collection: Collection) -> None:
    """A recall that is 1 whatever was found."""
    with pipeline() as connection:
        way = indexes.get(connection)
        vectors = np.asarray(embedder_of(way).embed_queries(QUESTIONS))
        scope = Scope("Large", (collection.pk,))
        exact = Exact(connection, way, vectors, [scope])
        found = [nearest(connection, way, vector, collections=[collection.pk], limit=max(DEPTHS)) for vector in vectors]
    assert exact.units[scope] == len(found[0])
    assert [exact.recall(scope, found, depth) for depth in DEPTHS] == [1, 1, 1]
    assert exact.recall(scope, [hits[1:] for hits in found], 10) == pytest.approx(0.9, abs=0.1)
    assert exact.recall(scope, [hits[10:] for hits in found], 10) < 0.7
    assert exact.recall(scope, [[] for _ in found], 10) == 0
    worse = [[replace(hit, score=-1) for hit in hits] for hits in found]
    assert exact.recall(scope, worse, 10) == 0


def test_vectors_come_part_by_part_and_none_twice(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recall against the last twenty thousand units only."""
    with pipeline() as connection:
        way = indexes.get(connection)
        whole = [len(rows) for *_, rows in scale._rows(connection, way)]
        monkeypatch.setattr(scale, "ROWS_AT_ONCE", 7)
        parts = [len(rows) for *_, rows in scale._rows(connection, way)]
    assert len(whole) == 1
    assert sum(parts) == whole[0]
    assert max(parts) == 7


@pytest.mark.parametrize("text", ["16", "16,64,2", "a,b", ""])
def test_a_way_to_build_is_two_numbers(text: str) -> None:
    """A wrong way that is found out after an hour of measuring."""
    assert Built.read("16,64") == Built(16, 64)
    with pytest.raises(ValueError, match=r".+"):
        Built.read(text)
