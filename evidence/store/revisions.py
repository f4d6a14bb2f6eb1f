"""Trees in the database: written by COPY, read whole or pruned."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import sqlalchemy as sa

from evidence.store.connection import lender
from evidence.store.operators import at, link_of_positions, ltree
from evidence.store.repeats import digests_of
from evidence.store.schema import SCHEMA, collection, context, document, node, revision
from evidence.tree.document import NO_ATTRIBUTES, SENTENCE, Document, Row
from evidence.tree.path import Path


@dataclass(frozen=True)
class Context:
    """A global context: for each place the policy that found it, its position, and the tokens of what is there."""

    policies: tuple[str, ...]
    positions: tuple[int, ...]
    tokens: tuple[int, ...]


NODE_COLUMNS = ("position", "last", "parent", "child", "path", "tag", "attributes", "text", "markup", "tokens")


def node_rows(revision_id: int, tree: Document, tokens: Sequence[int]) -> Iterator[tuple[int | str | None, ...]]:
    """The nodes of a revision's tree as they are stored: ``NODE_COLUMNS`` of each, in document order."""
    paths: list[str] = []
    for entry in tree.nodes:
        parent = -1 if entry.parent is None else entry.parent.position
        path = f"{revision_id}" if entry.parent is None else f"{paths[parent]}.{entry.index}"
        paths.append(path)
        is_sentence = entry.tag == SENTENCE
        yield (
            entry.position,
            entry.last,
            parent,
            entry.index,
            path,
            entry.tag,
            json.dumps(entry.attributes) if entry.attributes else None,
            entry.text if is_sentence else None,
            entry.markup if is_sentence and entry.markup != escape(entry.text, quote=False) else None,
            tokens[entry.position],
        )


def read_node_rows(connection: sa.Connection, revision_id: int) -> list[tuple[int | str | None, ...]]:
    """The stored nodes of a revision, as ``node_rows`` gives them."""
    columns = [
        sa.cast(node.c[name], sa.Text) if name in ("path", "attributes") else node.c[name] for name in NODE_COLUMNS
    ]
    rows = connection.execute(sa.select(*columns).where(node.c.revision_id == revision_id).order_by(node.c.position))
    return [tuple(row) for row in rows]


def write_tree(
    connection: sa.Connection,
    revision_id: int,
    tree: Document,
    *,
    tokens: Sequence[int],
    contexts: Sequence[Context],
    seeds: Iterable[tuple[int, int]],
) -> None:
    """Write a revision's tree, its distinct contexts, and its seeds as (position, number of the context).

    ``tokens`` are those of each node by position.
    """
    with (
        lender(connection).cursor() as cursor,
        cursor.copy(f"COPY {SCHEMA}.node (revision_id, {', '.join(NODE_COLUMNS)}) FROM STDIN") as copy,
    ):
        for row in node_rows(revision_id, tree, tokens):
            copy.write_row((revision_id, *row))
    add_contexts(connection, revision_id, contexts)
    placed = list(seeds)
    digests = digests_of(tree, [tree.nodes[position] for position, _ in placed])
    with (
        lender(connection).cursor() as cursor,
        cursor.copy(f"COPY {SCHEMA}.seed (revision_id, position, context, digest) FROM STDIN") as copy,
    ):
        for (position, number), digest in zip(placed, digests, strict=True):
            copy.write_row((revision_id, position, number, digest))


def add_contexts(connection: sa.Connection, revision_id: int, contexts: Iterable[Context], *, first: int = 0) -> None:
    """Write distinct contexts of a revision, numbered from ``first`` on."""
    with (
        lender(connection).cursor() as cursor,
        cursor.copy(f"COPY {SCHEMA}.context (revision_id, number, policies, positions, tokens) FROM STDIN") as copy,
    ):
        for number, entry in enumerate(contexts, first):
            copy.write_row((revision_id, number, list(entry.policies), list(entry.positions), list(entry.tokens)))


def replace_contexts(
    connection: sa.Connection, revision_id: int, contexts: Sequence[Context], seeds: Sequence[tuple[int, int]]
) -> None:
    """Let these be the distinct contexts of a revision; of its seeds, by position, the number of each one's context."""
    connection.execute(sa.delete(context).where(context.c.revision_id == revision_id))
    add_contexts(connection, revision_id, contexts)
    statement = sa.text(
        f"UPDATE {SCHEMA}.seed SET context = given.number"  # noqa: S608
        " FROM unnest(CAST(:positions AS integer[]), CAST(:numbers AS integer[])) AS given (position, number)"
        " WHERE revision_id = :revision AND seed.position = given.position"
    )
    positions, numbers = [position for position, _ in seeds], [number for _, number in seeds]
    connection.execute(statement, {"revision": revision_id, "positions": positions, "numbers": numbers})


def read_contexts(connection: sa.Connection, revision_id: int) -> list[Context]:
    """The distinct contexts of a revision, by their number."""
    rows = connection.execute(
        sa.select(context.c.policies, context.c.positions, context.c.tokens)
        .where(context.c.revision_id == revision_id)
        .order_by(context.c.number)
    )
    return [Context(tuple(policies), tuple(positions), tuple(tokens)) for policies, positions, tokens in rows]


def read_tokens(connection: sa.Connection, revision_id: int) -> list[int]:
    """The tokens of each node of a revision, by position."""
    statement = sa.select(node.c.tokens).where(node.c.revision_id == revision_id).order_by(node.c.position)
    return list(connection.execute(statement).scalars())


# Some connections hand out JSON as text, some as objects: asked for as text, it is text on all.
ROW = (
    node.c.position,
    node.c.last,
    node.c.parent,
    node.c.child,
    node.c.tag,
    sa.cast(node.c.attributes, sa.Text).label("attributes"),
    node.c.text,
    node.c.markup,
)


def read_tree(connection: sa.Connection, revision_id: int) -> Document:
    """The whole tree of a revision; KeyError when there is none."""
    about = connection.execute(
        sa.select(revision.c.title, revision.c.language).where(revision.c.id == revision_id)
    ).one_or_none()
    rows = connection.execute(sa.select(*ROW).where(node.c.revision_id == revision_id).order_by(node.c.position)).all()
    if about is None or not rows:
        raise KeyError(revision_id)
    return Document.from_rows(map(_row, rows), title=about.title, language=about.language)


@dataclass(frozen=True)
class Linked:
    """A pruned document, and where it comes from."""

    tree: Document
    document_id: int
    revision: int
    address: str
    collection: str


def read_links(connection: sa.Connection, places: Mapping[int, Iterable[int]]) -> dict[int, Linked]:
    """For each revision, its document pruned to link(P), P being the nodes at the given positions. One statement."""
    wanted = [(revision_id, position) for revision_id, positions in places.items() for position in positions]
    if not wanted:
        return {}
    linked = link_of_positions([r for r, _ in wanted], [p for _, p in wanted]).subquery()
    statement = (
        sa.select(
            *ROW,
            node.c.revision_id,
            revision.c.title,
            revision.c.language,
            revision.c.number,
            document.c.id.label("document_id"),
            document.c.address,
            collection.c.name.label("collection"),
        )
        .join(linked, sa.and_(linked.c.revision_id == node.c.revision_id, linked.c.position == node.c.position))
        .join(revision, revision.c.id == node.c.revision_id)
        .join(document, document.c.id == revision.c.document_id)
        .join(collection, collection.c.id == document.c.collection_id)
        .order_by(node.c.revision_id, node.c.position)
    )
    rows_of: dict[int, list[Any]] = {}
    for row in connection.execute(statement):
        rows_of.setdefault(row.revision_id, []).append(row)
    return {
        revision_id: Linked(
            Document.from_rows((_row(row[: len(ROW)]) for row in rows), title=rows[0].title, language=rows[0].language),
            rows[0].document_id,
            rows[0].number,
            rows[0].address,
            rows[0].collection,
        )
        for revision_id, rows in rows_of.items()
    }


def positions_of(connection: sa.Connection, places: Mapping[int, Iterable[Path]]) -> dict[int, list[int]]:
    """For each revision the positions of its nodes at these paths; none for a path that it does not have."""
    stored = [ltree(revision_id, path) for revision_id, paths in places.items() for path in paths]
    found: dict[int, list[int]] = {}
    for row in connection.execute(at(stored)):
        found.setdefault(row.revision_id, []).append(row.position)
    return found


def _row(row: Any) -> Row:
    position, last, parent, child, tag, attributes, text, markup = row
    text = text or ""
    return (
        position,
        last,
        parent,
        child,
        tag,
        json.loads(attributes) if attributes else NO_ATTRIBUTES,
        text,
        escape(text, quote=False) if markup is None else markup,
    )
