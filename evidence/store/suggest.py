"""What documents say that begins as somebody types: words, identifiers, titles and headings, within given collections.

Which words there are is looked up by collection. Only then is the index of all texts asked, for words that these collections
have: what others hold is not read, whatever is typed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from evidence.store.schema import SCHEMA
from evidence.store.statement import MEASURE, QUOTED
from evidence.store.wording import named, within

MOST_LEXEMES = 12
"""Words with one beginning that are looked for in headings, the most frequent first; of the first few examples are read."""

MOST_EXEMPLIFIED = 5
EXAMPLES = 3

MOST_RANKED = 6000
"""Blocks in which those words may stand together: of words with one beginning the rarer ones, as far as that goes."""

MOST_BLOCKS = 200
"""Blocks whose headings are looked at."""

MOST_TITLES = 50


@dataclass(frozen=True)
class Found:
    """A word as full text keeps it, in how many blocks it stands, and texts of some of them."""

    lexeme: str
    blocks: int
    examples: tuple[str, ...]


# The beginning of a word, as it stands or as its stem does: "policie" is no beginning of "polici".
LEXEME = f"""
lexeme AS MATERIALIZED (
    SELECT lexeme, sum(blocks) AS blocks
    FROM {SCHEMA}.word_count
    WHERE collection_id = ANY(:collections) AND (
        lexeme LIKE :beginning OR lexeme LIKE :identifier OR lexeme = ANY(ARRAY(
            SELECT unnest(tsvector_to_array(to_tsvector(configuration, :last))) FROM measure
        ))
    )
    GROUP BY lexeme
    HAVING sum(blocks) > 0
    ORDER BY sum(blocks) DESC, lexeme
    LIMIT {MOST_LEXEMES}
)"""  # noqa: S608

BELOW = f"""
    SELECT string_agg(below.text, ' ' ORDER BY below.position)
    FROM {SCHEMA}.node AS top
    JOIN {SCHEMA}.node AS below ON below.revision_id = top.revision_id AND below.position BETWEEN top.position AND top.last
    WHERE top.revision_id = {{place}}.revision_id AND top.position = {{place}}.position"""  # noqa: S608

WORDS = sa.text(
    f"""
WITH {MEASURE}, {LEXEME}
SELECT lexeme, blocks, array_agg(({BELOW.format(place="block")})) AS examples
FROM (SELECT * FROM lexeme ORDER BY blocks DESC, lexeme LIMIT {MOST_EXEMPLIFIED}) AS frequent
CROSS JOIN LATERAL (
    SELECT revision_id, position FROM {SCHEMA}.wording
    WHERE words @@ CAST({QUOTED} || ' & (' || :within || ')' AS tsquery) AND collection_id = ANY(:collections)
    LIMIT {EXAMPLES}
) AS block
GROUP BY lexeme, blocks
ORDER BY blocks DESC, lexeme
"""  # noqa: S608
).bindparams(sa.bindparam("collections", type_=sa.ARRAY(sa.BigInteger)))

# Every word typed before, and one that begins as the last: in the context of a block, where its title and headings are. A
# word that these collections do not have makes the rest idle.
HEADINGS = sa.text(
    f"""
WITH {MEASURE}, {LEXEME}, wanted AS MATERIALIZED (
    SELECT
        CAST(string_agg('(' || query || ')', ' & ') || ' & (' || :within || ')' AS tsquery) AS query,
        bool_and(query IS NOT NULL) AS is_known
    FROM (
        SELECT string_agg(DISTINCT {QUOTED} || '\\:D', ' | ') FILTER (WHERE EXISTS (
            SELECT FROM {SCHEMA}.word_count
            WHERE collection_id = ANY(:collections) AND word_count.lexeme = said.lexeme
        )) AS query
        FROM (
            SELECT word, lexeme
            FROM measure
            CROSS JOIN unnest(CAST(:words AS text[])) AS word
            CROSS JOIN LATERAL unnest(tsvector_to_array(to_tsvector(configuration, word))) AS lexeme
        ) AS said
        GROUP BY word
        UNION ALL
        SELECT string_agg({QUOTED} || '\\:D', ' | ')
        FROM (SELECT lexeme, sum(blocks) OVER (ORDER BY blocks, lexeme) AS ranked FROM lexeme) AS rare
        WHERE ranked <= greatest({MOST_RANKED}, (SELECT min(blocks) FROM lexeme))
    ) AS part
), block AS MATERIALIZED (
    SELECT revision_id, position FROM {SCHEMA}.wording
    WHERE (SELECT is_known FROM wanted) AND words @@ (SELECT query FROM wanted) AND collection_id = ANY(:collections)
    LIMIT {MOST_BLOCKS}
), heading AS MATERIALIZED (
    SELECT DISTINCT context.revision_id, place.position
    FROM block
    CROSS JOIN LATERAL (
        SELECT seed.context FROM {SCHEMA}.seed
        WHERE seed.revision_id = block.revision_id AND seed.position >= block.position
        ORDER BY seed.position LIMIT 1
    ) AS seed
    JOIN {SCHEMA}.context ON context.revision_id = block.revision_id AND context.number = seed.context
    CROSS JOIN LATERAL unnest(context.policies, context.positions) AS place (policy, position)
    WHERE place.policy = 'heading'
), titled AS MATERIALIZED (
    SELECT title FROM evidence_document
    WHERE (SELECT is_known FROM wanted) AND collection_id = ANY(:collections) AND current_id IS NOT NULL
        AND to_tsvector(CAST('simple' AS regconfig), coalesce(title, '')) @@ CAST(:title AS tsquery)
    LIMIT {MOST_TITLES}
)
SELECT title AS text FROM titled
UNION ALL
SELECT ({BELOW.format(place="heading")}) FROM heading
"""  # noqa: S608
).bindparams(sa.bindparam("collections", type_=sa.ARRAY(sa.BigInteger)))


def beginning_with(connection: sa.Connection, last: str, identifier: str, *, collections: Sequence[int]) -> list[Found]:
    """The words of these collections that begin so, or as identifiers so, the most frequent first. One statement."""
    parameters = _parameters([], last, identifier, collections)
    return [
        Found(row.lexeme, row.blocks, tuple(text for text in row.examples if text))
        for row in connection.execute(WORDS, parameters)
    ]


def headings_with(
    connection: sa.Connection, words: Sequence[str], last: str, *, collections: Sequence[int]
) -> list[str]:
    """Titles and headings of these collections that hold these words and one that begins with the last. One statement.

    Not all of them where they are many, and in no order.
    """
    return [text for text in connection.execute(HEADINGS, _parameters(words, last, "", collections)).scalars() if text]


def _parameters(words: Sequence[str], last: str, identifier: str, collections: Sequence[int]) -> dict[str, object]:
    return {
        "collections": list(collections),
        "within": " | ".join(f"'{within(collection)}'" for collection in collections),
        "words": list(words),
        "last": last,
        "beginning": f"{_literal(last)}%" if last else "",
        "identifier": f"{_literal(named(identifier))}%" if identifier else "",
        "title": " & ".join([*map(_quoted, words), f"{_quoted(last)}:*"]) if last else "",
    }


def _quoted(word: str) -> str:
    """A word within a query of text search."""
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def _literal(text: str) -> str:
    """A text within a pattern of LIKE."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
