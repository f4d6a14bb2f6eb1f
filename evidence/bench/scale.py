"""How search does in a large collection: what it takes, how long a question takes, and how much of what an exact
comparison finds the scan of the HNSW index finds, also where a filter lets little through.

All that it changes (the dates of revisions, the index) is rolled back; until then whoever writes there waits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import sqlalchemy as sa
from django.db import transaction
from numpy.typing import NDArray

from evidence.bench.questions import WARM_UP
from evidence.bench.report import Table
from evidence.bench.stages import Figure, size_of
from evidence.configured import embedder_of, judge, pipeline
from evidence.language.judge import Judge
from evidence.models import Collection
from evidence.retrieve.pipeline import CANDIDATES, ask
from evidence.store import indexes
from evidence.store.indexes import Index
from evidence.store.schema import SCHEMA, revision
from evidence.store.search import NO_FILTERS, Filters, Hit, nearest

SHARES = (0.1, 0.01, 0.001)
DEPTHS = (10, 50, CANDIDATES)
SCAN_WIDTHS = (100, 200, 400, 800)
"""Values of hnsw.ef_search that are compared."""

ROWS_AT_ONCE = 20_000
SAME = 1e-5
"""Two similarities that differ by less are the same: the database computes them in another order."""

BEFORE, AFTER = datetime(2000, 1, 1, tzinfo=UTC), datetime(2000, 1, 3, tzinfo=UTC)
ONLY_CHOSEN = Filters(since=datetime(2000, 1, 2, tzinfo=UTC))

SETTINGS = ("shared_buffers", "maintenance_work_mem", "max_parallel_maintenance_workers", "hnsw.max_scan_tuples")
SIZES = {
    "originals": "public.evidence_revision",
    "trees": f"{SCHEMA}.node",
    "contexts": f"{SCHEMA}.context",
    "seeds": f"{SCHEMA}.seed",
    "words": f"{SCHEMA}.wording",
}

Vectors = NDArray[np.floating]


@dataclass(frozen=True)
class Scope:
    """What is searched: collections, and in them the revisions that a filter lets through."""

    name: str
    collections: tuple[int, ...]
    filters: Filters = NO_FILTERS
    revisions: frozenset[int] | None = None


@dataclass(frozen=True)
class Built:
    """How an HNSW index is built: neighbours of a place, and places that are looked at to find them."""

    m: int
    ef_construction: int

    @classmethod
    def read(cls, text: str) -> Built:
        """From ``16,64``. ValueError for anything else."""
        m, ef_construction = text.split(",")
        return cls(int(m), int(ef_construction))


def measure(questions: Sequence[str], collection: Collection, builds: Sequence[Built] = ()) -> Iterator[str]:
    """Lines: sizes, latency and recall in the scopes, recall by the width of the scan, and for each way to build the index
    how long that takes and what it gives."""
    with transaction.atomic():
        with pipeline() as connection:
            way = indexes.get(connection)
            vectors = np.asarray(embedder_of(way).embed_queries(list(questions)))
            yield from _about(connection, way, collection)
            scopes = list(_scopes(connection, way, collection))
            exact = Exact(connection, way, vectors, scopes)
            yield from _by_scope(connection, way, questions, vectors, scopes, exact)
            yield from _by_width(connection, way, vectors, scopes[0], exact)
            for built in builds:
                yield from _build(connection, way, built)
                yield from _by_width(connection, way, vectors, scopes[0], exact)
        transaction.set_rollback(True)


class Exact:
    """The similarity of the unit at each of DEPTHS, by scope and question, when every unit is compared."""

    def __init__(self, connection: sa.Connection, way: Index, vectors: Vectors, scopes: Sequence[Scope]) -> None:
        best = {scope: np.full((len(vectors), max(DEPTHS)), -np.inf, dtype=np.float32) for scope in scopes}
        self.units = dict.fromkeys(scopes, 0)
        # Rounded as the database rounds them.
        asked = _unit_length(vectors.astype(np.float16))
        for collections, revisions, rows in _rows(connection, way):
            similar = asked @ _unit_length(rows).T
            for scope in scopes:
                passes = np.isin(collections, scope.collections)
                if scope.revisions is not None:
                    passes &= np.isin(revisions, list(scope.revisions))
                self.units[scope] += int(passes.sum())
                best[scope] = _highest(np.concatenate([best[scope], similar[:, passes]], axis=1), max(DEPTHS))
        self._best = {scope: -np.sort(-found, axis=1) for scope, found in best.items()}

    def recall(self, scope: Scope, found: Sequence[Sequence[Hit]], depth: int) -> float:
        """The share of the nearest ``depth`` units that were found, over all questions. Of units that are equally near, one
        is as good as another."""
        held = wanted = 0
        for hits, best in zip(found, self._best[scope], strict=True):
            there = best[:depth][np.isfinite(best[:depth])]
            wanted += len(there)
            held += sum(hit.score >= there[-1] - SAME for hit in hits[: len(there)])
        return held / wanted if wanted else 1.0


def _rows(connection: sa.Connection, way: Index) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Vectors]]:
    """Collections, revisions and vectors of all units, so many at a time."""
    # As bytes: to read numbers that are written out takes longer than everything else here.
    statement = sa.text(
        f"SELECT collection_id, revision_id, halfvec_send(embedding) FROM {SCHEMA}.{way.table.name} WHERE NOT repeats"  # noqa: S608
    )
    with connection.execute(statement, execution_options={"stream_results": True}) as result:
        for part in result.partitions(ROWS_AT_ONCE):
            collections, revisions, written = zip(*part, strict=True)
            # Two numbers of two bytes come before the vector.
            raw = np.frombuffer(b"".join(map(bytes, written)), dtype=">f2").reshape(len(part), -1)[:, 2:]
            yield np.array(collections), np.array(revisions), raw


def _unit_length(rows: NDArray[np.floating]) -> NDArray[np.float32]:
    exact = rows.astype(np.float32)
    return np.asarray(exact / np.linalg.norm(exact, axis=1, keepdims=True))


def _highest(values: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    return np.partition(values, values.shape[1] - count, axis=1)[:, -count:]


def _about(connection: sa.Connection, way: Index, collection: Collection) -> Iterator[str]:
    current = collection.documents.filter(current__isnull=False)
    sentences = sum(current.values_list("current__sentences", flat=True))
    others = Collection.objects.exclude(pk=collection.pk).count()
    yield f"{collection.name}: {sentences:,} sentences of {current.count():,} documents, beside {others} other collections"
    yield ", ".join(f"{name} {_setting(connection, name)}" for name in SETTINGS)
    yield str(Figure("units, in all collections", indexes.count(connection, way), ""))
    nearest_size = size_of(connection, f"{SCHEMA}.{way.nearest}")
    sizes = {name: size_of(connection, table) for name, table in SIZES.items()}
    sizes |= {"vectors": size_of(connection, f"{SCHEMA}.{way.table.name}") - nearest_size, "HNSW": nearest_size}
    for name, size in sizes.items():
        yield str(Figure(f"  {name}", size / 1e6, "MB"))


def _scopes(connection: sa.Connection, way: Index, collection: Collection) -> Iterator[Scope]:
    """The collection, shares of its units, its smallest neighbour, and all collections.

    A share is what some documents hold: drawn by chance, so that there is some of it near each question, or taken in one
    after the other, so that it is of one kind and far from most questions.
    """
    yield Scope("all of it", (collection.pk,))
    counted = connection.execute(
        sa.text(
            f"SELECT collection_id, revision_id, count(*) AS units FROM {SCHEMA}.{way.table.name} WHERE NOT repeats"  # noqa: S608
            " GROUP BY collection_id, revision_id ORDER BY collection_id, revision_id"
        )
    ).all()
    own = [(row.revision_id, row.units) for row in counted if row.collection_id == collection.pk]
    by_chance = [own[place] for place in np.random.default_rng(1).permutation(len(own))]
    for share in SHARES:
        yield Scope(f"{share:.1%}, by chance", (collection.pk,), ONLY_CHOSEN, _first(by_chance, share))
        yield Scope(f"{share:.1%}, of one kind", (collection.pk,), ONLY_CHOSEN, _first(own, share))
    others: dict[int, int] = {}
    for row in counted:
        if row.collection_id != collection.pk:
            others[row.collection_id] = others.get(row.collection_id, 0) + row.units
    if others:
        yield Scope("the smallest other", (min(others, key=others.__getitem__),))
        yield Scope("all collections", (collection.pk, *others))


def _first(counted: Sequence[tuple[int, int]], share: float) -> frozenset[int]:
    """The first revisions, as many as hold this share of the units; those that would be too much are passed by."""
    left = share * sum(units for _, units in counted)
    chosen = []
    for pk, units in counted:
        if units <= left:
            left -= units
            chosen.append(pk)
    return frozenset(chosen)


def _choose(connection: sa.Connection, revisions: frozenset[int]) -> None:
    """Date these revisions so that ONLY_CHOSEN lets them through, and no others."""
    chosen = sa.case((revision.c.id.in_(revisions), AFTER), else_=BEFORE)
    connection.execute(sa.update(revision).values(received=chosen))


def _by_scope(
    connection: sa.Connection,
    way: Index,
    questions: Sequence[str],
    vectors: Vectors,
    scopes: Sequence[Scope],
    exact: Exact,
) -> Iterator[str]:
    """Of each scope: how long a search takes and a whole question, in milliseconds, and how much is found of the nearest."""
    table = Table(["searched", "units", *_percentiles("search"), *_percentiles("question"), *_recalls()])
    for scope in scopes:
        if scope.revisions is not None:
            _choose(connection, scope.revisions)
        taken = _ask(questions, scope)
        table.add(
            scope.name,
            f"{exact.units[scope]:,}",
            *_quantiles([steps["search"] for steps in taken]),
            *_quantiles([sum(steps.values()) for steps in taken]),
            *_recall_of(connection, way, vectors, scope, exact),
        )
    yield from table.lines()
    filtering = judge()
    if filtering is not None:
        taken = _ask(questions, scopes[0], filtering)
        half, most = _quantiles([sum(steps.values()) for steps in taken])
        yield f"{scopes[0].name}, with the filter of candidates: question p50 {half}, p95 {most}"


def _ask(questions: Sequence[str], scope: Scope, filtering: Judge | None = None) -> list[Mapping[str, float]]:
    """What each step of each question took, in milliseconds."""

    def steps(question: str) -> Mapping[str, float]:
        return ask(question, collections=scope.collections, filters=scope.filters, judge=filtering).milliseconds

    for question in questions[:WARM_UP]:
        steps(question)
    return [steps(question) for question in questions]


def _by_width(connection: sa.Connection, way: Index, vectors: Vectors, scope: Scope, exact: Exact) -> Iterator[str]:
    """Of each width of the scan: how long the nearest units take, words left out, and how many of them are found."""
    table = Table(["hnsw.ef_search", *_percentiles("search"), *_recalls()])
    before = _setting(connection, "hnsw.ef_search")
    for width in SCAN_WIDTHS:
        _set(connection, "hnsw.ef_search", str(width))
        _nearest(connection, way, vectors[:WARM_UP], scope)
        taken = []
        for vector in vectors:
            began = time.perf_counter()
            _nearest(connection, way, vector[None], scope)
            taken.append((time.perf_counter() - began) * 1000)
        table.add(str(width), *_quantiles(taken), *_recall_of(connection, way, vectors, scope, exact))
    _set(connection, "hnsw.ef_search", before)
    yield from table.lines()


def _build(connection: sa.Connection, way: Index, built: Built) -> Iterator[str]:
    """Build the HNSW index anew in this way."""
    connection.execute(sa.text(f"DROP INDEX {SCHEMA}.{way.nearest}"))
    began = time.perf_counter()
    indexes.build_nearest(connection, way, built.m, built.ef_construction)
    seconds = time.perf_counter() - began
    size = size_of(connection, f"{SCHEMA}.{way.nearest}") / 1e6
    yield f"HNSW with m {built.m}, ef_construction {built.ef_construction}: built in {seconds:,.0f} s, {size:,.0f} MB"


def _recall_of(connection: sa.Connection, way: Index, vectors: Vectors, scope: Scope, exact: Exact) -> Iterator[str]:
    found = _nearest(connection, way, vectors, scope)
    for depth in DEPTHS:
        yield f"{exact.recall(scope, found, depth):.4f}"


def _nearest(connection: sa.Connection, way: Index, vectors: Vectors, scope: Scope) -> list[list[Hit]]:
    """By vectors alone: where no word is asked for, search has nothing else to rank by."""
    return [
        nearest(connection, way, vector, collections=scope.collections, filters=scope.filters, limit=max(DEPTHS))
        for vector in vectors
    ]


def _recalls() -> list[str]:
    return [f"of {depth}" for depth in DEPTHS]


def _percentiles(name: str) -> list[str]:
    return [f"{name} p50", "p95"]


def _quantiles(values: Sequence[float]) -> tuple[str, str]:
    if not values:
        return "", ""
    return f"{np.quantile(values, 0.5):.1f}", f"{np.quantile(values, 0.95):.1f}"


def _setting(connection: sa.Connection, name: str) -> str:
    return str(connection.execute(sa.text("SELECT current_setting(:name)"), {"name": name}).scalar_one())


def _set(connection: sa.Connection, name: str, value: str) -> None:
    connection.execute(sa.text("SELECT set_config(:name, :value, true)"), {"name": name, "value": value})
