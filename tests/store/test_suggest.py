"""How suggestions are looked up: what they read, and what they must not."""

from __future__ import annotations

import re

import pytest
import sqlalchemy as sa

from evidence.configured import pipeline
from evidence.store import suggest
from tests.conftest import WordEmbedder
from tests.handbook import collection_of, page, take_in
from tests.web.test_rights import SECRET


def plan(statement: sa.TextClause, words: list[str], last: str, collection: int) -> list[str]:
    """The steps of the database, with the number of rows that each has read."""
    explained = sa.text(
        f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) {statement.text}"
    ).bindparams(sa.bindparam("collections", type_=sa.ARRAY(sa.BigInteger)))
    with pipeline() as connection:
        lines = connection.execute(explained, suggest._parameters(words, last, last, [collection])).scalars().all()
    return [line.strip() for line in lines if re.search("actual rows|never executed|Rows Removed", line)]


@pytest.mark.parametrize("others", ["kestrel", "nine", "months"])
@pytest.mark.parametrize("statement", [suggest.WORDS, suggest.HEADINGS], ids=["words", "headings"])
def test_words_of_others_cost_what_words_of_nobody_cost(
    db: None, embedder: WordEmbedder, statement: sa.TextClause, others: str
) -> None:
    """Case 50: the time for "kestrel" would tell that somebody writes of it."""
    take_in({"gate.html": page("Gate", North="The gate is closed.")})
    take_in({f"{number}.html": SECRET for number in range(20)}, "Severance")
    mine = collection_of().pk
    nobody = "qwertzu"[: len(others)]
    assert plan(statement, [], others, mine) == plan(statement, [], nobody, mine)
    assert plan(statement, [others], "gat", mine) == plan(statement, [nobody], "gat", mine)
    # The words of one's own are found by the same statements.
    assert plan(statement, [], "gat", mine) != plan(statement, [], nobody, mine)
