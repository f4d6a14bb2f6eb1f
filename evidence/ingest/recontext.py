"""Contexts found anew, when a collection switches policies: for what is there, without taking it in again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from evidence.configured import embedder_of, pipeline, policies_named
from evidence.ingest.contexts import Contexts, embedded_units
from evidence.ingest.documents import write_found
from evidence.ingest.embedding import Plan, embed, plan
from evidence.ingest.rebuild import DOCUMENTS_OF_A_BATCH, NO_INDEX_COMES
from evidence.ingest.wordings import wordings_of
from evidence.models import Collection, Document
from evidence.store import indexes
from evidence.store.indexes import Index
from evidence.store.repeats import mark_units
from evidence.store.revisions import read_tokens, read_tree, replace_contexts
from evidence.store.wording import gather_where_due
from evidence.tree.context import Policy, global_context
from evidence.tree.document import Document as Tree
from evidence.tree.seeds import seeds


def collection_recontext(*, collection: Collection, report: Callable[[int], object] = lambda documents: None) -> int:
    """Find the contexts of a collection's current revisions anew, by the policies that are on now: how many documents.

    Each document is one transaction. Only what has another context than before is embedded; the model is not asked for
    what an index knows. ``report`` is told the number of documents done. Interrupted, it is run again from the start.
    """
    policies = policies_named(collection.policies)
    with pipeline() as connection:
        ways = indexes.all_indexes(connection)
    current = list(
        Document.objects.filter(collection=collection, current__isnull=False).values_list("current_id", flat=True)
    )
    for start in range(0, len(current), DOCUMENTS_OF_A_BATCH):
        batch = current[start : start + DOCUMENTS_OF_A_BATCH]
        _recontext_batch(batch, ways, policies)
        with pipeline() as connection:
            gather_where_due(connection, collection.pk)
        report(len(batch))
    return len(current)


def _recontext_batch(revisions: Sequence[int], ways: Sequence[Index], policies: Sequence[Policy]) -> None:
    trees: dict[int, Tree] = {}
    with pipeline() as connection:
        for revision_id in revisions:
            with suppress(KeyError):  # its document has gone meanwhile
                trees[revision_id] = read_tree(connection, revision_id)
    plans = {
        way.id: {revision_id: plan(tree, way, embedder_of(way), policies) for revision_id, tree in trees.items()}
        for way in ways
    }
    for way in ways:
        embed(list(plans[way.id].values()), way)
    for revision_id, tree in trees.items():
        _write(revision_id, tree, {way: plans[way.id][revision_id] for way in ways}, policies)


def _write(revision_id: int, tree: Tree, plans: dict[Index, Plan], policies: Sequence[Policy]) -> None:
    with pipeline() as connection:
        connection.execute(NO_INDEX_COMES)
        document = Document.objects.select_for_update(of=("self",)).filter(current=revision_id).first()
        if document is None:  # a newer revision has come, with its contexts, or the document has gone
            return
        tokens = read_tokens(connection, revision_id)
        contexts = Contexts(tokens)
        placed = [(seed.position, contexts.number(global_context(seed, policies))) for seed in seeds(tree)]
        there = {way.id for way in indexes.all_indexes(connection)}
        units = {way: embedded_units(made, contexts, tokens) for way, made in plans.items() if way.id in there}
        replace_contexts(connection, revision_id, contexts.distinct, placed)
        write_found(
            connection,
            tree,
            policies,
            wordings_of(tree, policies),
            units,
            revision_id=revision_id,
            replaced_revision_id=None,
            collection_id=document.collection_id,
        )
        for way in units:
            mark_units(connection, way, [revision_id])
