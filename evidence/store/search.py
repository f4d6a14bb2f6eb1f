"""The candidates for a question: by vectors and by words, fused, within the collections that the reader may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from numpy.typing import NDArray

from evidence.store.indexes import Index
from evidence.store.statement import MOST_EXACT, TEXT_WEIGHT, statement
from evidence.store.wording import named, within
from evidence.tree.words import plain_words

MOST_RANKED = 4000
"""Blocks that full text ranks: of the question's words the rarest decide which."""

CONTEXT_WEIGHT = 0.3
"""What a word is worth in a block's global context, to one in the block itself."""


@dataclass(frozen=True)
class Hit:
    """A unit that search found: its nodes, its tokens, its similarity to the question (cosine, at most 1), and for each
    node of its global context the policy that found it, its position and its tokens.

    ``rank`` is its place among the hits, from 1. ``vector_rank`` and ``text_rank`` are those it was fused from, None where
    it was not found that way. ``words`` of the question stand in its block; ``overlap`` is their share of the question's
    words, rare ones counting for more. ``identifiers`` of the question stand in the unit itself, verbatim. ``relevance`` is
    what a judge made of it, from 0 to 1; None where none has read it.
    """

    revision_id: int
    positions: tuple[int, ...]
    tokens: int
    score: float
    context_policies: tuple[str, ...]
    context_positions: tuple[int, ...]
    context_tokens: tuple[int, ...]
    rank: int = 0
    vector_rank: int | None = None
    text_rank: int | None = None
    words: tuple[str, ...] = ()
    overlap: float = 0.0
    identifiers: int = 0
    relevance: float | None = None


@dataclass(frozen=True)
class Asked:
    """What full text looks for: plain words and identifiers; phrases that must stand in a unit or its global context, as
    they are but for case; plain words that must not stand in its block, nor in the block's context."""

    words: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Filters:
    """Which documents are searched: those of these formats, and received from ``since`` on and before ``before``."""

    formats: tuple[str, ...] = ()
    since: datetime | None = None
    before: datetime | None = None


NOTHING_ASKED = Asked()
NO_FILTERS = Filters()


def nearest(
    connection: sa.Connection,
    index: Index,
    vector: NDArray[Any],
    *,
    collections: Sequence[int],
    limit: int,
    asked: Asked = NOTHING_ASKED,
    filters: Filters = NO_FILTERS,
) -> list[Hit]:
    """The units nearest to a vector and to the words asked, the best first, in these collections only. One statement.

    Two rankings are fused by reciprocal ranks: the units by their similarity, and by the words of their blocks (idf of
    each word, saturation, length: as BM25 has them), within a block by similarity. Units that hold an identifier of the
    question come before all others, then those whose term, heading or header does.

    Where few units come into question, all of them are compared. Else the HNSW index is scanned, which gives up after
    ``hnsw.max_scan_tuples`` units: where it has not met ``limit`` units of these collections by then, the same statement
    compares all of theirs. So what lies in other collections hides nothing.
    """
    if not collections:
        return []
    made = _statement(index.table, bool(asked.phrases), bool(asked.excluded), filters != NO_FILTERS)
    parameters = _parameters(vector, collections, limit, asked, filters)
    return [
        Hit(
            row.revision_id,
            tuple(row.positions),
            row.tokens,
            1 - row.distance,
            tuple(row.context_policies or ()),
            tuple(row.context_positions or ()),
            tuple(row.context_tokens or ()),
            rank,
            row.vector_rank,
            row.text_rank,
            tuple(row.matched or ()),
            row.overlap or 0.0,
            row.identifiers,
        )
        for rank, row in enumerate(connection.execute(made, parameters), 1)
    ]


def _parameters(
    vector: NDArray[Any], collections: Sequence[int], limit: int, asked: Asked, filters: Filters
) -> dict[str, Any]:
    return {
        "vector": vector,
        "collections": list(collections),
        "limit": limit,
        "words": list(asked.words),
        "identifiers": list(asked.identifiers),
        "lexemes": [named(identifier) for identifier in asked.identifiers],
        "phrases": list(asked.phrases),
        "plain_phrases": [plain_words(phrase) for phrase in asked.phrases],
        "excluded": list(asked.excluded),
        "within": " | ".join(f"'{within(collection)}'" for collection in collections),
        "most": MOST_RANKED,
        "most_exact": MOST_EXACT,
        "context_weight": CONTEXT_WEIGHT,
        "text_weight": TEXT_WEIGHT,
        "formats": list(filters.formats),
        "since": filters.since,
        "before": filters.before,
    }


# Once per index and kind, because making the statement takes longer than running it on a small index.
@lru_cache(maxsize=64)
def _statement(table: sa.Table, has_phrases: bool, has_excluded: bool, is_filtered: bool) -> sa.TextClause:
    made = statement(table.name, has_phrases=has_phrases, has_excluded=has_excluded, is_filtered=is_filtered)
    return sa.text(made).bindparams(
        sa.bindparam("vector", type_=table.c.embedding.type),
        sa.bindparam("collections", type_=sa.ARRAY(sa.BigInteger)),
    )
