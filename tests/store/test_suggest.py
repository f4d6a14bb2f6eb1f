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


def read(statement: sa.TextClause, words: list[str], last: str, collection: int) -> set[str]:
    """Which of the tables, in whose indexes the collections are mixed, the statement really reads."""
    explained = sa.text(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) {statement.text}").bindparams(
        sa.bindparam("collections", type_=sa.ARRAY(sa.BigInteger))
    )
    with pipeline() as connection:
        lines = connection.execute(explained, suggest._parameters(words, last, last, [collection])).scalars().all()
    steps = [
        re.search(r"on (wording|evidence_document|wording_words|document_title_words)\b.*actual", line)
        for line in lines
    ]
    return {step[1] for step in steps if step}


@pytest.mark.parametrize("others", ["kestrel", "nine", "months"])
@pytest.mark.parametrize("statement", [suggest.WORDS, suggest.HEADINGS], ids=["words", "headings"])
def test_for_words_that_only_others_have_nothing_of_theirs_is_read(
    db: None, embedder: WordEmbedder, statement: sa.TextClause, others: str
) -> None:
    """Case 50: the time for "kestrel" would tell that somebody writes of it, and the time for "qwertzu" would not."""
    take_in({"gate.html": page("Gate", North="The gate is closed.")})
    take_in({f"{number}.html": SECRET for number in range(20)}, "Severance")
    mine = collection_of().pk
    for said in (others, "qwertzu"):
        assert read(statement, [], said, mine) == set()
    assert "wording" in read(statement, [], "gat", mine)
    # Of the words before the last only headings know.
    if statement is suggest.HEADINGS:
        assert read(statement, [others], "gat", mine) == set()
