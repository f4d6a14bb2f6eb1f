from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.web.highlight import Words


def found(question: str, text: str) -> list[str]:
    return [text[start:end] for start, end in Words(question).spans(text)]


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("travel allowances", "The allowance for travelling.", ["allowance"]),
        ("expense", "Expenses are expensed; the EXPENSE counts.", ["Expenses", "expensed", "EXPENSE"]),
        ("policy", "All policies.", ["policies"]),
        ("What is the leave for?", "This is what the leave is for.", ["leave"]),
        ("cat", "concatenate the cat", ["cat"]),
        ("resume", "a résumé", []),
        ("cafe\u0301", "the café", ["café"]),
        ("al\u00adlow\u00adance", "the allowance", ["allowance"]),
        ("отпуск", "Ежегодный отпуск.", ["отпуск"]),
        ("on-call", "The on-call phone; on call.", ["on-call"]),
    ],
)
def test_whole_words_of_the_question_are_found_in_any_inflection(question: str, text: str, expected: list[str]) -> None:
    """Marks on stop words, parts of words or other words would say that something matches where nothing does."""
    assert found(question, text) == expected


def test_a_question_without_words_marks_nothing() -> None:
    assert found("? … !", "anything at all") == found("", "anything") == []


@given(st.text(), st.text())
def test_spans_are_in_order_and_within_the_text(question: str, text: str) -> None:
    """A span outside the text, or over another, would cut the markup in the wrong place."""
    end_before = 0
    for start, end in Words(question).spans(text):
        assert end_before <= start < end <= len(text)
        end_before = end
