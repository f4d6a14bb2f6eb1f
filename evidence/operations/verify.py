"""Looks a whole site over: every stored tree against its bytes, and the tables against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import sqlalchemy as sa
from django.db import transaction

from evidence.configured import pipeline
from evidence.models import Collection, Revision
from evidence.operations.finding import REPAIR, Finding
from evidence.operations.tables import pending_migrations, schema_findings, table_findings
from evidence.operations.trees import Trees, usable
from evidence.store import indexes
from evidence.store.repeats import mark_repeats, mark_units, one_at_a_time


def revisions_of(collection: Collection | None, sample: int | None) -> list[int]:
    """The revisions to look at, the oldest first: of a collection or of all, and at most so many of them, by chance."""
    chosen = Revision.objects.all()
    if collection is not None:
        chosen = chosen.filter(document__collection=collection)
    if sample is not None:
        chosen = Revision.objects.filter(pk__in=list(chosen.order_by("?").values_list("pk", flat=True)[:sample]))
    return list(chosen.order_by("pk").values_list("pk", flat=True))


def verify(
    *,
    collection: Collection | None = None,
    sample: int | None = None,
    begin: Callable[[int], object] = lambda revisions: None,
    report: Callable[[], object] = lambda: None,
) -> Iterator[Finding]:
    """What is wrong with a site, as it is found. Nothing is changed, and the site may be in use.

    The tables are always looked at whole; of trees those of a collection, or a sample. ``begin`` is told how many
    revisions there are to parse, ``report`` of each. Memory is that of the largest document.
    """
    if todo := pending_migrations():
        yield Finding("database", f"migrations have not run: {', '.join(todo)}", "manage.py migrate")
        return
    if lacking := list(schema_findings()):
        yield from lacking
        return
    yield from table_findings()
    with pipeline() as connection:
        there = set(sa.inspect(connection).get_table_names(schema="spire"))
        ways = [way for way in indexes.all_indexes(connection) if way.table.name in there]
    ways, findings = usable(ways)
    yield from findings
    revisions = revisions_of(collection, sample)
    begin(len(revisions))
    trees = Trees(ways)
    for revision_id in revisions:
        yield from trees.findings(revision_id)
        report()
    yield from trees.due()
    for one in Collection.objects.all() if collection is None else [collection]:
        if changed := _unmarked(one):
            problem = f"{changed} seeds or vectors are searched, or not, against what other documents repeat"
            yield Finding(one.name, problem, REPAIR, is_damage=False, repair=lambda one=one: _mark(one))  # type: ignore[misc]


def _unmarked(collection: Collection) -> int:
    """How much marking the repeats of a collection anew would change."""
    with transaction.atomic():
        changed = _mark(collection)
        transaction.set_rollback(True)
    return changed


def _mark(collection: Collection) -> int:
    current = list(collection.documents.filter(current__isnull=False).values_list("current_id", flat=True))
    with pipeline() as connection:
        one_at_a_time(connection, collection.pk)
        changed = mark_repeats(connection, collection.pk)
        there = set(sa.inspect(connection).get_table_names(schema="spire"))
        for way in indexes.all_indexes(connection):
            if way.table.name in there:
                changed += mark_units(connection, way, current)
    return changed
