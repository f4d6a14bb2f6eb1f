"""The judge that SPIRE brings along, and what it is given to read."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from evidence.configured import judge as configured_judge
from evidence.language.judge import (
    CONTEXT_TOKENS,
    INPUT_TOKENS,
    QUESTION_TOKENS,
    WEIGHTS,
    Busy,
    OnnxJudge,
    Reader,
    load_judge,
)
from evidence.language.weights import default_folder

QUESTION = "When does the museum of Alden open?"
ANSWER = ("Museum of Alden. Visits.", "It opens at ten, on Sundays at noon.")
ASIDE = ("Museum of Alden. History.", "The house was built by a brewer in 1904.")
ELSEWHERE = ("Rivers of the north.", "Pike and perch are common in slow water.")


def reader() -> Reader:
    return Reader(default_folder() / "tokenizer.json")


def test_what_answers_is_likelier_than_what_is_only_about_it_and_that_than_what_is_not() -> None:
    answer, aside, elsewhere = load_judge().probabilities(QUESTION, [ANSWER, ASIDE, ELSEWHERE])
    assert answer > aside > elsewhere
    assert answer >= load_judge().floor > elsewhere


def test_a_passage_is_judged_the_same_whatever_is_judged_beside_it() -> None:
    """A page that shows other passages when a longer one was found, too."""
    judge = load_judge()
    alone = judge.probabilities(QUESTION, [ANSWER])
    beside = judge.probabilities(QUESTION, [(ANSWER[0], "A much longer one. " * 40), ANSWER])
    assert alone[0] == beside[1]
    assert len(judge.probabilities(QUESTION, [])) == 0


def test_who_would_wait_behind_others_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty people who ask, and each answer waits for all the others'; and a page of milliseconds for all their threads."""
    judge = load_judge()
    processors = os.cpu_count() or 1
    together, others_asked = Barrier(processors), Event()

    def one(given: object) -> float:
        together.wait(60)
        others_asked.wait(60)
        return 0.5

    monkeypatch.setattr(judge, "_one", one)
    monkeypatch.setattr("evidence.language.judge.SECONDS_IN_LINE", 0.01)
    with ThreadPoolExecutor(processors) as people:
        first = [people.submit(judge.probabilities, QUESTION, [ANSWER]) for _ in range(processors)]
        while judge._turns._value:
            time.sleep(0.001)
        with pytest.raises(Busy):
            judge.probabilities(QUESTION, [ANSWER])
        others_asked.set()
        assert [float(answer.result()[0]) for answer in first] == [0.5] * processors
    monkeypatch.undo()
    assert len(judge.probabilities(QUESTION, [ANSWER])) == 1


def test_the_weights_are_small_and_come_with_their_card() -> None:
    assert WEIGHTS.stat().st_size < 30_000_000
    assert (WEIGHTS.parent / "judge.md").is_file()


def test_a_long_input_keeps_the_question_and_both_ends_of_the_context() -> None:
    """A title or a nearest heading that a long trail pushes out, a sentence that a long title does."""
    short = Reader.read(reader(), "q", [("first", "last")])[0][0]
    first, last = short[3], short[5]
    ids, asked = reader().read("q " * 300, [("first " + "middle " * 300 + "nearest", "word " * 20 + "last")])[0]
    assert len(ids) == INPUT_TOKENS
    assert asked == QUESTION_TOKENS + 2
    assert ids[asked] == first
    assert ids[-2] == last
    assert ids.count(short[1]) >= QUESTION_TOKENS


def test_a_long_passage_leaves_room_for_its_context() -> None:
    ids, asked = reader().read("q", [("first " * 300, "word " * 300)])[0]
    first, word = ids[asked], ids[-2]
    assert len(ids) == INPUT_TOKENS
    assert ids.count(first) == CONTEXT_TOKENS
    assert ids.count(word) == INPUT_TOKENS - asked - CONTEXT_TOKENS - 2


def test_surrogates_and_nothing_at_all_are_read() -> None:
    """A judge that fails on a page's broken character, and a question without any candidates."""
    found = load_judge().probabilities("\ud800?", [("", ""), ("a\0b", "\udfff")])
    assert ((found >= 0) & (found <= 1)).all()


def test_the_filter_is_on_where_nothing_is_set(settings: object) -> None:
    settings.SPIRE_FILTER = "offline"  # type: ignore[attr-defined]
    configured_judge.cache_clear()
    assert isinstance(configured_judge(), OnnxJudge)
    configured_judge.cache_clear()
