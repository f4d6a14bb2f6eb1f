"""Documents: from a source to a revision with its tree, contexts and vectors, in one transaction each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from django.conf import settings

from evidence.configured import embedder_of, pipeline, policies_named
from evidence.ingest.contexts import Contexts, embedded_units
from evidence.ingest.embedding import Plan, embed, plan
from evidence.ingest.readers import Unreadable, parser_of, tree_of
from evidence.ingest.rebuild import NO_INDEX_COMES, build
from evidence.ingest.sources import Arrival, Refusal
from evidence.ingest.wordings import wordings_of, write_wordings
from evidence.language.tokens import count_all
from evidence.models import Collection, Document, Revision
from evidence.store import indexes
from evidence.store.definitions import write_definitions
from evidence.store.indexes import EmbeddedUnit, Index
from evidence.store.repeats import mark_repeats
from evidence.store.revisions import write_tree
from evidence.store.wording import Wording, gather_where_due
from evidence.tree.context import POLICIES, Policy, global_context, glossary_entries
from evidence.tree.document import Document as Tree
from evidence.tree.seeds import seeds
from evidence.tree.text import token_costs

DEFAULT_INDEX = "default"

# Documents are prepared together so that the model gets full batches; each is still written on its own.
BYTES_OF_A_BATCH = 400_000


@dataclass(frozen=True)
class Outcome:
    """What became of one source."""

    name: str
    status: Literal["new", "changed", "unchanged", "refused"]
    reason: str = ""
    sentences: int = 0
    embedded: int = 0


@dataclass
class Prepared:
    """A source as it will be written: its tree, what full text knows of it, and for each index what it embeds of it."""

    source: Arrival
    content_hash: str
    tree: Tree
    tokens: list[int]
    contexts: Contexts
    seeds: list[tuple[int, int]]
    plans: dict[int, Plan]
    wordings: list[Wording]
    policies: Sequence[Policy] = POLICIES
    embedded: int = 0


def ingest_sources(
    *,
    collection: Collection,
    sources: Iterable[Arrival | Refusal],
    report: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Take sources into a collection, in batches. ``report`` is told the outcome of each as soon as it is written.

    A source that the collection holds already, unchanged, costs no more than reading it. Interrupted at any moment, what
    was there before is still there, and running it again completes it.
    """
    outcomes: list[Outcome] = []

    def tell(outcome: Outcome) -> None:
        outcomes.append(outcome)
        report(outcome)

    # Where all indexes were dropped, the pages that are here already come first.
    ways = _begin() if Document.objects.exists() else []
    try:
        for batch in _batches(_fresh(collection, sources, tell)):
            ways = ways or _begin()
            prepared = list(_readable(collection, batch, ways, tell))
            embed_for(prepared, ways)
            for entry in prepared:
                tell(write(collection=collection, prepared=entry))
            with pipeline() as connection:
                gather_where_due(connection, collection.pk)
    finally:
        # Before the indexes are built: a unit that changes later is put into them once more.
        with pipeline() as connection:
            mark_repeats(connection, collection.pk)
        _end(ways or None)
    return outcomes


def _begin() -> list[Index]:
    ways = serving_indexes()
    for way in ways:
        with pipeline() as connection:
            indexes.begin_load(connection, way)
    return ways


def _end(ways: Sequence[Index] | None) -> None:
    """Leave every index quick to search, also one that an earlier, killed ingest left without."""
    with pipeline() as connection:
        for way in indexes.all_indexes(connection):  # one of those that it began with may be gone
            if ways is None or way.id in {begun.id for begun in ways}:
                indexes.end_load(connection, way)


def serving_indexes() -> list[Index]:
    """The indexes that new revisions go into: all there are. Where there is none, the default one is made."""
    with pipeline() as connection:
        found = indexes.all_indexes(connection)
    return found or [build(DEFAULT_INDEX, model=settings.SPIRE_EMBEDDER, unit="seed", encoding="shared", context=True)]


def prepare(
    source: Arrival, content_hash: str, ways: Sequence[Index], policies: Sequence[Policy] = POLICIES
) -> Prepared:
    """The tree of a source, its contexts, and what each index will embed of it. Unreadable when its reader says so."""
    tree = tree_of(source.data, source.address, format_name=source.format, charset=source.charset)
    tokens = token_costs(tree, count_all)
    contexts = Contexts(tokens)
    found = [(seed.position, contexts.number(global_context(seed, policies))) for seed in seeds(tree)]
    plans = {way.id: plan(tree, way, embedder_of(way), policies) for way in ways}
    return Prepared(source, content_hash, tree, tokens, contexts, found, plans, wordings_of(tree, policies), policies)


def embed_for(prepared: Sequence[Prepared], ways: Sequence[Index]) -> None:
    """Embed a batch of documents for each index that is still there."""
    with pipeline() as connection:
        there = {way.id for way in indexes.all_indexes(connection)}
    for way in (way for way in ways if way.id in there):
        for entry, asked in zip(prepared, embed([entry.plans[way.id] for entry in prepared], way), strict=True):
            entry.embedded += asked


def write(*, collection: Collection, prepared: Prepared) -> Outcome:
    """Write a revision with everything derived from it, and make it the current one: all of it, or nothing."""
    source, tree = prepared.source, prepared.tree
    with pipeline() as connection:
        connection.execute(NO_INDEX_COMES)
        ways = indexes.all_indexes(connection)
        document, _ = Document.objects.get_or_create(collection=collection, address=source.address)
        # Another worker may be writing the same document: the second one waits, and finds its work done.
        document = Document.objects.select_for_update().get(pk=document.pk)
        current = document.current
        made_by = (prepared.content_hash, source.format, parser_of(source.format))
        if current is not None and (current.content_hash, current.format, current.parser) == made_by:
            return Outcome(source.address, "unchanged")
        last = document.revisions.order_by("-number").values_list("number", flat=True).first()
        revision = Revision.objects.create(
            document=document,
            number=(last or 0) + 1,
            content=source.data,
            content_hash=prepared.content_hash,
            charset=source.charset,
            format=source.format,
            parser=parser_of(source.format),
            title=tree.title,
            language=tree.language,
            sentences=sum(1 for _ in tree.sentences()),
        )
        units = units_for(prepared, ways)
        write_derived(
            connection,
            prepared,
            units,
            revision_id=revision.pk,
            replaced_revision_id=None if current is None else current.pk,
            collection_id=collection.pk,
        )
        document.current = revision
        document.title = tree.title
        document.error = ""
        document.save()
    return Outcome(source.address, "new" if current is None else "changed", "", revision.sentences, prepared.embedded)


def units_for(prepared: Prepared, ways: Sequence[Index]) -> dict[Index, list[EmbeddedUnit]]:
    """What each index will hold of a document that has been embedded; for an index made since then, it is embedded now."""
    for way in ways:
        if way.id not in prepared.plans:
            prepared.plans[way.id] = plan(prepared.tree, way, embedder_of(way), prepared.policies)
            embed([prepared.plans[way.id]], way)
    return {way: embedded_units(prepared.plans[way.id], prepared.contexts, prepared.tokens) for way in ways}


def write_derived(
    connection: sa.Connection,
    prepared: Prepared,
    units: Mapping[Index, Sequence[EmbeddedUnit]],
    *,
    revision_id: int,
    replaced_revision_id: int | None,
    collection_id: int,
) -> None:
    """Write all that is derived from the bytes of a revision that is, or is about to be, a document's current one."""
    write_tree(
        connection,
        revision_id,
        prepared.tree,
        tokens=prepared.tokens,
        contexts=prepared.contexts.distinct,
        seeds=prepared.seeds,
    )
    write_found(
        connection,
        prepared.tree,
        prepared.policies,
        prepared.wordings,
        units,
        revision_id=revision_id,
        replaced_revision_id=replaced_revision_id,
        collection_id=collection_id,
    )


def write_found(
    connection: sa.Connection,
    tree: Tree,
    policies: Sequence[Policy],
    wordings: Sequence[Wording],
    units: Mapping[Index, Sequence[EmbeddedUnit]],
    *,
    revision_id: int,
    replaced_revision_id: int | None,
    collection_id: int,
) -> None:
    """Write what a document is found by, in place of what a replaced revision was: definitions, words, and vectors."""
    write_definitions(connection, revision_id, glossary_entries(tree, policies))
    write_wordings(
        connection,
        tree,
        wordings,
        revision_id=revision_id,
        replaced_revision_id=replaced_revision_id,
        collection_id=collection_id,
    )
    for way, embedded in units.items():
        indexes.replace_units(
            connection,
            way,
            revision_id=revision_id,
            replaced_revision_id=replaced_revision_id,
            collection_id=collection_id,
            units=embedded,
        )


def _fresh(
    collection: Collection, sources: Iterable[Arrival | Refusal], tell: Callable[[Outcome], None]
) -> Iterator[tuple[Arrival, str]]:
    """The sources that are new or have changed, with the hash of their bytes. A refused one leaves what is there."""
    for source in sources:
        if isinstance(source, Refusal):
            _refuse(collection, source, tell)
            continue
        content_hash = hashlib.sha256(source.data).hexdigest()
        known = Document.objects.filter(
            collection=collection,
            address=source.address,
            current__content_hash=content_hash,
            current__format=source.format,
            current__parser=parser_of(source.format),
        )
        if known.exists():
            known.exclude(error="").update(error="")
            tell(Outcome(source.address, "unchanged"))
        else:
            yield source, content_hash


def _readable(
    collection: Collection,
    batch: Iterable[tuple[Arrival, str]],
    ways: Sequence[Index],
    tell: Callable[[Outcome], None],
) -> Iterator[Prepared]:
    """The sources of a batch that their readers can read, prepared."""
    policies = policies_named(collection.policies)
    for source, content_hash in batch:
        try:
            yield prepare(source, content_hash, ways, policies)
        except Unreadable as error:
            _refuse(collection, Refusal(source.address, str(error), source.address), tell)


def _refuse(collection: Collection, refusal: Refusal, tell: Callable[[Outcome], None]) -> None:
    """Tell of what is not taken in. The document that is there already stays, and says in the admin why."""
    Document.objects.filter(collection=collection, address=refusal.address).update(error=refusal.reason)
    tell(Outcome(refusal.name, "refused", refusal.reason))


def _batches(sources: Iterable[tuple[Arrival, str]]) -> Iterator[list[tuple[Arrival, str]]]:
    batch: list[tuple[Arrival, str]] = []
    size = 0
    for source, content_hash in sources:
        batch.append((source, content_hash))
        size += len(source.data)
        if size >= BYTES_OF_A_BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
