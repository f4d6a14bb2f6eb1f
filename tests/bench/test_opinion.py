from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from evidence.bench.quality.data import DataError
from evidence.bench.quality.opinion import Agreement, agreement, with_opinions
from evidence.bench.quality.run import Result
from evidence.language.chat import ChatError, Message, Reply, Usage


class Model:
    """Replies with this, and remembers what it was asked."""

    name = "stub"

    def __init__(self, reply: str | None) -> None:
        self.reply = reply
        self.asked: list[str] = []

    def complete(self, messages: Sequence[Message], **_: Any) -> Reply:
        self.asked.append(messages[-1].text)
        if self.reply is None:
            raise ChatError("it is down")
        return Reply(self.reply, Usage())


def result(*cited: tuple[str, bool]) -> Result:
    parts = [{"title": "Tea", "text": "", "cited": [{"text": text, "useful": useful} for text, useful in cited]}]
    example = {"question": "Is tea green?", "gold": [], "tokens": 1, "parts": parts}
    return Result("set", "spire", "", (1000,), {}, [example, example], 1.0, 0)


def test_the_model_is_asked_once_about_each_citation_and_decides_nothing() -> None:
    model = Model('{"answers": ["S2"], "helps": []}')
    given = result(("Tea is hot.", True), ("Tea is green.", True))
    (found,) = with_opinions([given], model, 2)
    assert len(model.asked) == 1
    assert "[S2] Tea: Tea is green." in model.asked[0]
    assert agreement(found) == Agreement("spire", citations=4, by_rules=4, by_model=2, by_both=2)
    assert agreement(given) is None


def test_only_the_questions_that_the_report_shows_are_asked_about() -> None:
    (found,) = with_opinions([result(("Tea is hot.", False))], Model("none"), 1)
    assert agreement(found) == Agreement("spire", citations=1, by_rules=0, by_model=0, by_both=0)


@pytest.mark.parametrize(("reply", "told"), [("well, tea", "cannot be read"), (None, "it is down")])
def test_a_model_that_fails_is_no_opinion(reply: str | None, told: str) -> None:
    """A table that takes silence for a no."""
    with pytest.raises(DataError, match=told):
        with_opinions([result(("Tea is hot.", True))], Model(reply), 1)
