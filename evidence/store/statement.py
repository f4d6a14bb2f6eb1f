"""The statement of a search, put together from named parts. SQL only; what runs it is ``evidence.store.search``."""

from __future__ import annotations

from evidence.store.schema import SCHEMA

RANK_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""

TEXT_WEIGHT = 0.5
"""What the ranks by words count, to those by vectors: on five sets of questions nothing lost, and multi-hop questions gain.
More of it costs paragraphs and tables at small budgets."""

MOST_EXACT = 200
"""Blocks: an identifier that stands in more of them is a word like others."""

STEP = 40
"""What a step of the scan of an HNSW index costs, to comparing the units of a block: some 45 µs to somewhat above 1."""

SENTENCES_OF_A_BLOCK = 2.5

MOST_PHRASED = 5000
"""Blocks of a phrase that are looked at."""

# The configurations of text search that these collections use; each gives the question's words other lexemes.
MEASURE = f"""
measure AS MATERIALIZED (
    SELECT CAST(configuration AS regconfig) AS configuration, sum(blocks) AS blocks, sum(length) AS length
    FROM {SCHEMA}.wording_count
    WHERE collection_id = ANY(:collections)
    GROUP BY configuration
    HAVING sum(blocks) > 0
)"""  # noqa: S608

# What is a stop word in one language is rare in the texts of the others, and would decide there.
TERM = """
term AS MATERIALIZED (
    SELECT lexeme, min(said) AS said, false AS is_exact
    FROM measure
    CROSS JOIN unnest(CAST(:words AS text[])) AS said
    CROSS JOIN LATERAL unnest(tsvector_to_array(to_tsvector(measure.configuration, said))) AS lexeme
    WHERE to_tsvector('english', said) <> ''
        AND NOT EXISTS (SELECT FROM measure AS other WHERE to_tsvector(other.configuration, said) = '')
    GROUP BY lexeme
    UNION ALL
    SELECT lexeme, said, true
    FROM unnest(CAST(:lexemes AS text[]), CAST(:identifiers AS text[])) AS identifier (lexeme, said)
)"""

QUOTED = r"'''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''''"

WEIGHED = f"""
weighed AS MATERIALIZED (
    SELECT
        lexeme, said, is_exact, counted.blocks, CAST({QUOTED} AS tsquery) AS query,
        ln(1 + (whole.blocks - counted.blocks + 0.5) / (counted.blocks + 0.5))::float8 AS idf,
        sum(counted.blocks) OVER (ORDER BY counted.blocks, lexeme) AS ranked
    FROM (
        SELECT term.*, coalesce((
            SELECT sum(blocks) FROM {SCHEMA}.word_count
            WHERE collection_id = ANY(:collections) AND word_count.lexeme = term.lexeme
        ), 0) AS blocks
        FROM term
    ) AS counted
    CROSS JOIN (SELECT sum(blocks) AS blocks FROM measure) AS whole
    WHERE whole.blocks > 0
), average AS MATERIALIZED (
    SELECT (sum(length) / sum(blocks))::float8 AS length FROM measure
), wanted AS MATERIALIZED (
    SELECT CAST('(' || string_agg({QUOTED}, ' | ') || ') & (' || :within || ')' AS tsquery) AS query
    FROM weighed WHERE blocks > 0 AND ranked <= :most
)"""  # noqa: S608

REFUSED = f"""
refused AS MATERIALIZED (
    SELECT CAST(string_agg({QUOTED}, ' | ') AS tsquery) AS query
    FROM measure
    CROSS JOIN unnest(CAST(:excluded AS text[])) AS said
    CROSS JOIN LATERAL unnest(tsvector_to_array(to_tsvector(measure.configuration, said))) AS lexeme
)"""  # noqa: S608

# By their stems and places first, which the index knows; then letter by letter.
DEMANDED = f"""
demanded AS MATERIALIZED (
    SELECT CAST(concat_ws(' & ', string_agg('(' || query || ')', ' & '), '(' || :within || ')') AS tsquery) AS query
    FROM (
        SELECT string_agg(DISTINCT CAST(phraseto_tsquery(configuration, said) AS text), ' | ') AS query
        FROM unnest(CAST(:plain_phrases AS text[])) AS said
        CROSS JOIN measure
        WHERE numnode(phraseto_tsquery(configuration, said)) > 0
        GROUP BY said
    ) AS phrase
), phrased AS MATERIALIZED (
    SELECT revision_id, position FROM {SCHEMA}.wording
    WHERE words @@ (SELECT query FROM demanded) AND collection_id = ANY(:collections)
    ORDER BY revision_id, position
    LIMIT {MOST_PHRASED}
)"""  # noqa: S608

# A word's weight is its idf; ts_rank of one word grows with its occurrences from 0.6 to 1 times that of its best place.
# Length counts as in BM25 with k1 = 1.2 and b = 0.75 for a word that stands once.
SCORE = """
    (
        SELECT sum(weighed.idf * ts_rank(ARRAY[:context_weight, 0, 0, 1]::real[], wording.words, weighed.query))
        FROM weighed WHERE weighed.blocks > 0
    ) / (1.3 + 0.9 * wording.length / (SELECT length FROM average))"""

SAID = f"""
    SELECT lower(string_agg(regexp_replace(below.text, '\\s+', ' ', 'g'), chr(10)))
    FROM unnest({{positions}}) AS place
    JOIN {SCHEMA}.node AS top ON top.revision_id = unit.revision_id AND top.position = place
    JOIN {SCHEMA}.node AS below ON below.revision_id = unit.revision_id AND below.position BETWEEN top.position AND top.last"""  # noqa: S608, E501

OWN = SAID.format(positions="unit.positions")
WITH_CONTEXT = SAID.format(
    positions=f"""unit.positions || (
        SELECT context.positions FROM {SCHEMA}.context
        WHERE context.revision_id = unit.revision_id AND context.number = unit.context
    )"""  # noqa: S608
)

# The term that a sentence defines, the heading it stands under; a whole page that is named so would be too much.
AROUND = SAID.format(
    positions=f"""ARRAY(
        SELECT place.position
        FROM {SCHEMA}.context, unnest(context.policies, context.positions) AS place (policy, position)
        WHERE context.revision_id = unit.revision_id AND context.number = unit.context AND place.policy <> 'title'
    )"""  # noqa: S608
)

PASSING = """
passing AS MATERIALIZED (
    SELECT revision.id, revision.sentences
    FROM evidence_document AS document
    JOIN evidence_revision AS revision ON revision.id = document.current_id
    WHERE document.collection_id = ANY(:collections)
        AND (cardinality(CAST(:formats AS text[])) = 0 OR revision.format = ANY(CAST(:formats AS text[])))
        AND (CAST(:since AS timestamptz) IS NULL OR revision.received >= :since)
        AND (CAST(:before AS timestamptz) IS NULL OR revision.received < :before)
)"""

# Tested for truth, and subqueries further down, because the planner then leaves them where they are: joined, they would keep
# it from the order of the index.
IS_PASSING = "({of}.revision_id IN (SELECT id FROM passing)) IS TRUE"
IS_NOT_REFUSED = f"""
    NOT coalesce((
        SELECT words @@ (SELECT query FROM refused) FROM {SCHEMA}.wording
        WHERE wording.revision_id = {{of}}.revision_id AND wording.position = {{block}}
    ), false)"""  # noqa: S608

# Of all blocks, those that a question looks at (their number is known for collections, and told by the sentences of what
# passes a filter) are some share. The scan meets one of them among so many, and has to meet as many as are asked for: it is
# worth while where it gets there before all of them would be compared.
SIZE = f"""
size AS MATERIALIZED (
    SELECT CAST(coalesce(sum({{counted}}), 0) AS float8) ^ 2
        > CAST(:limit AS float8) * {STEP} * (SELECT sum(blocks) FROM {SCHEMA}.wording_count) AS is_large
    FROM {{of}}
)"""  # noqa: S608
BLOCKS_PASSING = {"counted": f"sentences / {SENTENCES_OF_A_BLOCK}", "of": "passing"}
BLOCKS_OF_COLLECTIONS = {"counted": "blocks", "of": "measure"}

# Bare and ascending: nothing else lets pgvector use its index. The second is materialized, so that its order is not taken
# from the index that has failed.
SCANNED = """
scanned AS MATERIALIZED (
    SELECT {columns} FROM {table} AS unit
    WHERE (SELECT is_large FROM size) AND {condition}
    ORDER BY embedding <=> :vector
    LIMIT :limit
), compared AS MATERIALIZED (
    {compared} AND NOT (SELECT count(*) FROM scanned) >= :limit
), found AS (
    SELECT * FROM scanned WHERE (SELECT count(*) FROM scanned) >= :limit
    UNION ALL
    (SELECT * FROM compared ORDER BY distance, revision_id, ordinal LIMIT :limit)
)"""

ALL_OF_COLLECTIONS = "SELECT {columns} FROM {table} AS unit WHERE {condition}"

# OFFSET 0: document by document, since the planner cannot know how few there are.
ALL_PASSING = """
    SELECT unit.* FROM passing
    CROSS JOIN LATERAL (
        SELECT {columns} FROM {table} AS unit WHERE unit.revision_id = passing.id AND {condition} OFFSET 0
    ) AS unit
    WHERE true"""

PHRASED = """
found AS MATERIALIZED (
    SELECT {columns}
    FROM phrased
    JOIN {table} AS unit ON unit.revision_id = phrased.revision_id AND unit.block = phrased.position
    WHERE {condition} AND NOT EXISTS (
        SELECT FROM unnest(CAST(:phrases AS text[])) AS phrase
        WHERE position(lower(phrase) IN ({said})) = 0
    )
    ORDER BY distance, revision_id, ordinal
    LIMIT :limit
)"""

NEAR = """
near AS MATERIALIZED (
    SELECT *, row_number() OVER (ORDER BY distance, revision_id, ordinal) AS rank FROM found
)"""

# The blocks with the most telling words, of those that hold a rare one, and of those that are near.
MATCHING = f"""
matching AS MATERIALIZED (
    SELECT revision_id, position, score FROM (
        {{by_words}}
        SELECT wording.revision_id, wording.position, {SCORE} AS score
        FROM (SELECT DISTINCT revision_id, block FROM near) AS block
        JOIN {SCHEMA}.wording ON wording.revision_id = block.revision_id AND wording.position = block.block
    ) AS scored
    WHERE score > 0
    ORDER BY score DESC, revision_id, position
    LIMIT :limit
)"""  # noqa: S608

BY_WORDS = f"""
        SELECT wording.revision_id, wording.position, {SCORE} AS score
        FROM {SCHEMA}.wording
        WHERE wording.words @@ (SELECT query FROM wanted) AND wording.collection_id = ANY(:collections){{condition}}
        UNION"""  # noqa: S608

TOLD = """
told AS MATERIALIZED (
    SELECT revision_id, ordinal, distance, row_number() OVER (ORDER BY score DESC, distance, revision_id, ordinal) AS rank
    FROM (
        SELECT unit.revision_id, unit.ordinal, matching.score, embedding <=> :vector AS distance
        FROM matching
        JOIN {table} AS unit ON unit.revision_id = matching.revision_id AND unit.block = matching.position
        WHERE unit.collection_id = ANY(:collections) AND NOT unit.repeats{only}
    ) AS worded
    ORDER BY rank
    LIMIT :limit
)"""

FUSED = f"""
fused AS MATERIALIZED (
    SELECT revision_id, ordinal, distance, vector_rank, text_rank, identifiers, named,
        coalesce(1.0 / ({RANK_CONSTANT} + vector_rank), 0)
        + coalesce(CAST(:text_weight AS float8) / ({RANK_CONSTANT} + text_rank), 0) AS score
    FROM (
        SELECT
            revision_id, ordinal, coalesce(near.distance, told.distance) AS distance,
            near.rank AS vector_rank, told.rank AS text_rank
        FROM near FULL JOIN told USING (revision_id, ordinal)
    ) AS ranking
    CROSS JOIN LATERAL (
        SELECT
            count(*) FILTER (WHERE position(weighed.said IN ({OWN})) > 0) AS identifiers,
            count(*) FILTER (WHERE position(weighed.said IN ({AROUND})) > 0) AS named
        FROM weighed
        JOIN {{table}} AS unit ON unit.revision_id = ranking.revision_id AND unit.ordinal = ranking.ordinal
        WHERE weighed.is_exact AND weighed.blocks BETWEEN 1 AND :most_exact
            AND (
                SELECT words FROM {SCHEMA}.wording
                WHERE wording.revision_id = unit.revision_id AND wording.position = unit.block
            ) @@ weighed.query
    ) AS verbatim
    ORDER BY identifiers DESC, named DESC, score DESC, distance, revision_id, ordinal
    LIMIT :limit
)"""  # noqa: S608

FOUND = f"""
SELECT
    fused.revision_id, fused.distance, fused.vector_rank, fused.text_rank, fused.identifiers,
    unit.positions, unit.tokens,
    context.policies AS context_policies, context.positions AS context_positions, context.tokens AS context_tokens,
    matched.words AS matched, matched.overlap
FROM fused
JOIN {{table}} AS unit ON unit.revision_id = fused.revision_id AND unit.ordinal = fused.ordinal
LEFT JOIN {SCHEMA}.context ON context.revision_id = unit.revision_id AND context.number = unit.context
LEFT JOIN {SCHEMA}.wording ON wording.revision_id = unit.revision_id AND wording.position = unit.block
CROSS JOIN LATERAL (
    SELECT
        array_agg(said ORDER BY said) FILTER (WHERE wording.words @@ query) AS words,
        sum(idf) FILTER (WHERE wording.words @@ query AND NOT is_exact)
        / nullif(sum(idf) FILTER (WHERE NOT is_exact), 0) AS overlap
    FROM weighed
) AS matched
ORDER BY fused.identifiers DESC, fused.named DESC, fused.score DESC, fused.distance, fused.revision_id, fused.ordinal
"""  # noqa: S608


def statement(table: str, *, has_phrases: bool, has_excluded: bool, is_filtered: bool) -> str:
    """The statement for an index's table, with only those conditions that the question has."""
    table = f"{SCHEMA}.{table}"
    of_unit = ["unit.collection_id = ANY(:collections)", "NOT unit.repeats"]
    of_block = []
    if has_excluded:
        of_unit.append(IS_NOT_REFUSED.format(of="unit", block="unit.block"))
        of_block.append("NOT coalesce(wording.words @@ (SELECT query FROM refused), false)")
    given = {
        "table": table,
        "columns": "unit.revision_id, unit.ordinal, unit.block, embedding <=> :vector AS distance",
    }
    compared = (ALL_PASSING if is_filtered else ALL_OF_COLLECTIONS).format(**given, condition=" AND ".join(of_unit))
    if is_filtered:
        of_unit.append(IS_PASSING.format(of="unit"))
        of_block.append(IS_PASSING.format(of="wording"))
    given["condition"] = " AND ".join(of_unit)
    near = PHRASED.format(**given, said=WITH_CONTEXT) if has_phrases else SCANNED.format(**given, compared=compared)
    by_words = BY_WORDS.format(condition="".join(f" AND {part}" for part in of_block))
    # What holds a phrase is known already: words only rank it.
    only = " AND (unit.revision_id, unit.ordinal) IN (SELECT revision_id, ordinal FROM near)" if has_phrases else ""
    parts = [
        MEASURE,
        TERM,
        WEIGHED,
        *([PASSING] if is_filtered else []),
        *([REFUSED] if has_excluded else []),
        DEMANDED if has_phrases else SIZE.format(**(BLOCKS_PASSING if is_filtered else BLOCKS_OF_COLLECTIONS)),
        near,
        NEAR,
        MATCHING.format(by_words="" if has_phrases else by_words),
        TOLD.format(table=table, only=only),
        FUSED.format(table=table),
    ]
    return f"WITH {','.join(parts)}{FOUND.format(table=table)}"
