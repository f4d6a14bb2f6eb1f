"""How fast documents are taken in, stage by stage, and what they take in the database."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from django.db import connection as database

from evidence.configured import embedder_of, pipeline
from evidence.ingest.documents import embed_for, prepare, serving_indexes, write
from evidence.ingest.sources import Arrival, read_paths
from evidence.language.tokens import count_all
from evidence.models import Collection
from evidence.store import indexes
from evidence.store.schema import SCHEMA
from evidence.tree.context import global_context
from evidence.tree.html import parse
from evidence.tree.seeds import seeds
from evidence.tree.text import token_costs

BATCH = 20
NAME = "bench (may be deleted)"


@dataclass(frozen=True)
class Figure:
    """A measured value, and what it is of."""

    name: str
    value: float
    unit: str

    def __str__(self) -> str:
        return f"{self.name:<44}{self.value:>12,.1f} {self.unit}"


def measure_ingest(paths: Sequence[Path]) -> Iterator[Figure]:
    """Every stage of an ingest on its own, into a collection that is deleted afterwards."""
    sources = [source for source in read_paths(paths) if isinstance(source, Arrival)]
    Collection.objects.filter(name=NAME).delete()
    ways = serving_indexes()
    for way in ways:
        embedder_of(way)
    collection = Collection.objects.create(name=NAME, slug="bench")
    with pipeline() as connection:
        for way in ways:
            indexes.begin_load(connection, way)
    try:
        yield from _stages(collection, sources, ways)
    finally:
        collection.delete()


def _stages(collection: Collection, sources: Sequence[Arrival], ways: Sequence[indexes.Index]) -> Iterator[Figure]:
    seconds = dict.fromkeys(("parse", "context", "tokens", "plan", "embed", "write", "HNSW"), 0.0)
    nodes = units = embedded = sentences = 0
    sizes_before = _sizes(ways)
    for start in range(0, len(sources), BATCH):
        batch = sources[start : start + BATCH]
        clock = time.perf_counter()
        trees = [parse(source.data, source.address) for source in batch]
        clock = _lap(seconds, "parse", clock)
        for tree in trees:
            for seed in seeds(tree):
                global_context(seed)
        clock = _lap(seconds, "context", clock)
        for tree in trees:
            token_costs(tree, count_all)
        clock = _lap(seconds, "tokens", clock)
        # Preparing parses again: what it takes beyond that is the planning of what to embed.
        prepared = [prepare(source, hashlib.sha256(source.data).hexdigest(), ways) for source in batch]
        clock = _lap(seconds, "plan", clock)
        embed_for(prepared, ways)
        clock = _lap(seconds, "embed", clock)
        for entry in prepared:
            write(collection=collection, prepared=entry)
        _lap(seconds, "write", clock)
        nodes += sum(len(tree) for tree in trees)
        sentences += sum(1 for tree in trees for _ in tree.sentences())
        units += sum(len(made.units) for entry in prepared for made in entry.plans.values())
        embedded += sum(entry.embedded for entry in prepared)
    clock = time.perf_counter()
    with pipeline() as connection:
        for way in ways:
            indexes.end_load(connection, way)
    _lap(seconds, "HNSW", clock)
    seconds["plan"] = max(seconds["plan"] - seconds["parse"] - seconds["context"] - seconds["tokens"], 0.0)
    size = sum(len(source.data) for source in sources) / 1e6
    yield Figure("pages", len(sources), "")
    yield Figure("HTML", size, "MB")
    yield Figure("sentences", sentences, "")
    yield Figure("nodes", nodes, "")
    yield Figure("units embedded", embedded, f"of {units:,}")
    for stage, taken in seconds.items():
        yield Figure(f"  {stage}", taken, "s")
    yield Figure("parsed", size / seconds["parse"], "MB/s")
    yield Figure("embedded", embedded / max(seconds["embed"], 1e-9), "units/s")
    yield Figure("stored, vectors and all", nodes / seconds["write"], "nodes/s")
    others = sum(taken for stage, taken in seconds.items() if stage != "embed")
    yield Figure("everything else, of embedding", 100 * others / max(seconds["embed"], 1e-9), "%")
    for name, grown in _sizes(ways).items():
        yield Figure(f"{name}, per sentence", (grown - sizes_before[name]) / max(sentences, 1), "bytes")


def _lap(seconds: dict[str, float], stage: str, since: float) -> float:
    now = time.perf_counter()
    seconds[stage] += now - since
    return now


def _sizes(ways: Sequence[indexes.Index]) -> dict[str, int]:
    tables = {"trees": f"{SCHEMA}.node", "contexts": f"{SCHEMA}.context", "seeds": f"{SCHEMA}.seed"}
    tables |= {f"index {way.name}": f"{SCHEMA}.{way.table.name}" for way in ways}
    tables["originals"] = "public.evidence_revision"
    with pipeline() as connection:
        return {name: size_of(connection, table) for name, table in tables.items()}


def size_of(connection: sa.Connection, table: str) -> int:
    """Bytes that a table takes with all its indexes, or an index alone."""
    return int(connection.execute(sa.text("SELECT pg_total_relation_size(:name)"), {"name": table}).scalar_one())


def database_name() -> str:
    """The server that was measured."""
    with database.cursor() as cursor:
        cursor.execute("SELECT version()")
        return str(cursor.fetchone()[0]).split(",")[0]
