"""Building an index beside the one that serves."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import sqlalchemy as sa

from evidence.configured import embedder_named, pipeline, policies_named
from evidence.ingest.contexts import Contexts, embedded_units
from evidence.ingest.embedding import Plan, embed, plan
from evidence.ingest.wordings import blocks_of, wordings_of, write_wordings
from evidence.models import Document
from evidence.store import indexes
from evidence.store.indexes import Index, UnknownIndex
from evidence.store.repeats import mark_units
from evidence.store.revisions import add_contexts, read_contexts, read_tokens, read_tree
from evidence.store.wording import gather, put_blocks, worded_revisions

DOCUMENTS_OF_A_BATCH = 16

# Two that make their first index at once make one; and a revision is either written into an index that is new, or seen
# by its build.
INDEX_COMES = sa.text("SELECT pg_advisory_xact_lock(hashtext('spire.index'))")
NO_INDEX_COMES = sa.text("SELECT pg_advisory_xact_lock_shared(hashtext('spire.index'))")


def build(
    name: str,
    *,
    model: str,
    unit: str,
    encoding: str,
    context: bool,
    report: Callable[[int], object] = lambda documents: None,
) -> Index:
    """Make the index of this name, or go on with it, until it holds every current revision; then it is complete.

    ``report`` is told the number of documents done. An index of this name that embeds in another way is a ValueError.
    """
    index = _get_or_create(name, model=model, unit=unit, encoding=encoding, context=context)
    with pipeline() as connection:
        done = indexes.indexed_revisions(connection, index)
    current = Document.objects.filter(current__isnull=False).values_list("current_id", flat=True)
    todo = [revision for revision in current if revision not in done]
    for start in range(0, len(todo), DOCUMENTS_OF_A_BATCH):
        batch = todo[start : start + DOCUMENTS_OF_A_BATCH]
        _build_batch(index, batch)
        report(len(batch))
    write_missing_wordings()
    with pipeline() as connection:
        mark_units(connection, index)
    # On its own: what has read the table must not wait for a load that is about to lock it.
    with pipeline() as connection:
        indexes.complete(connection, index)
        return indexes.get(connection, name)


def write_missing_wordings() -> None:
    """Let full text know what was taken in before there was full text."""
    with pipeline() as connection:
        worded = worded_revisions(connection)
    current = Document.objects.filter(current__isnull=False)
    collections = set()
    for revision_id, collection_id, names in current.values_list("current_id", "collection_id", "collection__policies"):
        if revision_id in worded:
            continue
        collections.add(collection_id)
        with pipeline() as connection:
            # Meanwhile a newer revision may have come with its wording; or the document has gone.
            if Document.objects.select_for_update(of=("self",)).filter(current=revision_id).first() is None:
                continue
            tree = read_tree(connection, revision_id)
            wordings = wordings_of(tree, policies_named(names))
            write_wordings(
                connection,
                tree,
                wordings,
                revision_id=revision_id,
                replaced_revision_id=None,
                collection_id=collection_id,
            )
            for index in indexes.all_indexes(connection):
                firsts = indexes.first_positions(connection, index, revision_id)
                put_blocks(connection, index, revision_id, blocks_of(tree, firsts))
    with pipeline() as connection:
        gather(connection, collections)


def _get_or_create(name: str, *, model: str, unit: str, encoding: str, context: bool) -> Index:
    embedder = embedder_named(model)
    with pipeline() as connection:
        connection.execute(INDEX_COMES)
        others = indexes.all_indexes(connection)
        for other in others:
            identity = (other.fingerprint, other.unit, other.encoding, other.context)
            is_same = identity == (embedder.fingerprint, unit, encoding, context)
            if other.name == name and not is_same:
                raise ValueError(
                    f"index {name!r} exists and embeds in another way (model {other.model}, unit {other.unit}, encoding"
                    f" {other.encoding}, context {other.context}); choose another name, or drop it first"
                )
            if is_same and other.name != name:
                raise ValueError(f"index {other.name!r} embeds in the same way already")
        try:
            return indexes.get(connection, name)
        except UnknownIndex:
            return indexes.create(
                connection,
                name=name,
                model=model,
                fingerprint=embedder.fingerprint,
                dimensions=embedder.dimensions,
                unit=unit,
                encoding=encoding,
                context=context,
            )


def _build_batch(index: Index, revisions: list[int]) -> None:
    embedder = embedder_named(index.model)
    trees = {}
    with pipeline() as connection:
        for revision in revisions:
            with suppress(KeyError):  # its document has gone meanwhile
                trees[revision] = read_tree(connection, revision)
    current = Document.objects.filter(current__in=revisions)
    names = dict(current.values_list("current_id", "collection__policies"))
    plans = {
        revision: plan(tree, index, embedder, policies_named(names.get(revision, ())))
        for revision, tree in trees.items()
    }
    embed(list(plans.values()), index)
    for revision, made in plans.items():
        _write(index, revision, made)


def _write(index: Index, revision_id: int, made: Plan) -> None:
    with pipeline() as connection:
        # Meanwhile a newer revision may have come, which the index has got from its ingest; or the document has gone.
        document = Document.objects.select_for_update(of=("self",)).filter(current=revision_id).first()
        if document is None:
            return
        tokens = read_tokens(connection, revision_id)
        known = read_contexts(connection, revision_id)
        contexts = Contexts(tokens, known)
        units = embedded_units(made, contexts, tokens)
        add_contexts(connection, revision_id, contexts.distinct[len(known) :], first=len(known))
        indexes.replace_units(
            connection,
            index,
            revision_id=revision_id,
            replaced_revision_id=None,
            collection_id=document.collection_id,
            units=units,
        )
