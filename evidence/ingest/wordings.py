"""What full text knows of a document: its blocks, each with the words of its global context."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import islice

import sqlalchemy as sa

from evidence.store.wording import Wording, replace_wordings
from evidence.tree.context import Policy, global_context
from evidence.tree.document import Document, Node
from evidence.tree.seeds import seeds
from evidence.tree.words import configuration_of, identifiers, plain_words


def block_of(seed: Node) -> Node:
    """The block of a seed: a row itself, the paragraph or the item of a sentence."""
    return seed.parent if seed.is_sentence and seed.parent is not None else seed


def wordings_of(document: Document, policies: Sequence[Policy]) -> list[Wording]:
    """The blocks of a document that hold seeds, in document order."""
    held: dict[int, list[Node]] = {}
    for seed in seeds(document):
        held.setdefault(block_of(seed).position, []).append(seed)
    told: dict[int, tuple[str, list[str]]] = {}
    return [_wording(position, block, told, policies) for position, block in held.items()]


def _wording(
    position: int, block: Sequence[Node], told: dict[int, tuple[str, list[str]]], policies: Sequence[Policy]
) -> Wording:
    own = " ".join(seed.content for seed in block)
    around: dict[int, Node] = {}
    for seed in block:
        around.update((entry.node.position, entry.node) for entry in global_context(seed, policies))
    for place, node in around.items():
        if place not in told:
            told[place] = (plain_words(node.content), identifiers(node.content))
    named = dict.fromkeys(identifiers(own))
    for place in around:
        named.update(dict.fromkeys(told[place][1]))
    return Wording(position, plain_words(own), " ".join(told[place][0] for place in around), tuple(named))


def language_of(document: Document) -> str:
    """PostgreSQL's text search configuration for a document."""
    if document.language:
        return configuration_of(document.language, "")
    return configuration_of("", " ".join(sentence.text for sentence in islice(document.sentences(), 50)))


def write_wordings(
    connection: sa.Connection,
    document: Document,
    wordings: Sequence[Wording],
    *,
    revision_id: int,
    replaced_revision_id: int | None,
    collection_id: int,
) -> None:
    """Write what full text knows of a revision, instead of the one before it."""
    replace_wordings(
        connection,
        revision_id=revision_id,
        replaced_revision_id=replaced_revision_id,
        collection_id=collection_id,
        configuration=language_of(document),
        wordings=wordings,
    )


def blocks_of(document: Document, firsts: Iterable[int]) -> dict[int, int]:
    """For each unit, by the position of its first node, the block whose wording it belongs to: the innermost around it, or
    for units that hold blocks the first one within. Units without one are left out."""
    blocks = sorted({block_of(seed).position for seed in seeds(document)})
    known = frozenset(blocks)
    found: dict[int, int] = {}
    for first in firsts:
        node: Node | None = document.node(first)
        while node is not None and node.position not in known:
            node = node.parent
        after = bisect_left(blocks, first)
        if node is not None:
            found[first] = node.position
        elif after < len(blocks) and blocks[after] <= document.node(first).last:
            found[first] = blocks[after]
    return found
