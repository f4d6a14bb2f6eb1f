from __future__ import annotations

import pytest

from evidence.retrieve.question import read_question


def test_quoted_words_are_demanded_and_asked_too() -> None:
    """A phrase that the model never gets to see."""
    asked = read_question('Where is the "brass  key" kept?')
    assert (asked.text, asked.phrases, asked.excluded) == ("Where is the brass key kept?", ("brass key",), ())
    assert asked.words == ("where", "is", "the", "brass", "key", "kept")


def test_words_after_a_minus_are_excluded_and_not_asked() -> None:
    """What is not wanted, and comes first because the model read it."""
    asked = read_question("gate -North on-call -South?")
    assert (asked.text, asked.excluded) == ("gate on-call", ("north", "south"))


@pytest.mark.parametrize("question", ['5" disk', 'an "unclosed', "git --no-verify", "ps -ef", "5 - 3", '""', "a -1 b"])
def test_other_signs_demand_and_exclude_nothing(question: str) -> None:
    """An option of a program that is asked for, and left out."""
    asked = read_question(question)
    assert (asked.phrases, asked.excluded) == ((), ())
