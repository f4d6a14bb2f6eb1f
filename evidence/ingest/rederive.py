"""What is derived from the bytes of a revision, made again: the same bytes and parser give the same tree and paths."""

from __future__ import annotations

import sqlalchemy as sa

from evidence.configured import pipeline, policies_named
from evidence.ingest.documents import embed_for, prepare, units_for, write_derived
from evidence.ingest.readers import parser_of
from evidence.ingest.rebuild import NO_INDEX_COMES
from evidence.ingest.sources import Arrival
from evidence.models import Document, Revision
from evidence.store import indexes
from evidence.store.revisions import write_tree
from evidence.store.schema import context, node, seed
from evidence.store.wording import gather


def revision_rederive(*, revision_id: int) -> bool:
    """Make a revision's tree again and, for a document's current one, all that search knows of it: whether it was done.

    It is not where the revision has gone, or was read by another parser, whose paths may differ. One transaction.
    Unreadable when its reader says so.
    """
    revision = Revision.objects.select_related("document__collection").filter(pk=revision_id).first()
    if revision is None or revision.parser != parser_of(revision.format):
        return False
    document = revision.document
    source = Arrival(document.address, bytes(revision.content), revision.charset, revision.format)
    is_current = document.current_id == revision_id
    with pipeline() as connection:
        ways = indexes.all_indexes(connection) if is_current else []
    made = prepare(source, revision.content_hash, ways, policies_named(document.collection.policies))
    embed_for([made], ways)
    with pipeline() as connection:
        connection.execute(NO_INDEX_COMES)
        locked = Document.objects.select_for_update(of=("self",)).filter(pk=document.pk).first()
        if locked is None or (locked.current_id == revision_id) != is_current:
            return False
        for table in (node, context, seed):
            connection.execute(sa.delete(table).where(table.c.revision_id == revision_id))
        if is_current:
            units = units_for(made, indexes.all_indexes(connection))
            write_derived(
                connection,
                made,
                units,
                revision_id=revision_id,
                replaced_revision_id=None,
                collection_id=locked.collection_id,
            )
        else:
            contexts = made.contexts.distinct
            write_tree(connection, revision_id, made.tree, tokens=made.tokens, contexts=contexts, seeds=made.seeds)
        gather(connection, [locked.collection_id])
    return True
