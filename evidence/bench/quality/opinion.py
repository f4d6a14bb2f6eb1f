"""A language model's opinion on the citations of the drawn questions, beside the rules. It decides no other figure."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evidence.bench.quality.data import DataError
from evidence.bench.quality.run import Result
from evidence.language.chat import Chat, ChatError
from evidence.retrieve.labels import read_reply, schema_of, without_labels
from evidence.retrieve.prompts import PICK, to_pick

PROMPT = PICK
AT_ONCE = 15
"""Citations that a request asks about."""
SECONDS = 120.0
MOST_REPLY_TOKENS = 400


@dataclass(frozen=True)
class Agreement:
    """Of one system on one set: the citations of the drawn questions, those useful by the rules, by the model, by both."""

    system: str
    citations: int
    by_rules: int
    by_model: int
    by_both: int


def with_opinions(results: Sequence[Result], model: Chat, examples: int) -> list[Result]:
    """The results; of each set's first drawn questions each citation also says what the model thinks ("opinion")."""
    said: dict[tuple[str, str], bool] = {}
    judged = []
    for result in results:
        shown = [_judged(example, model, said) for example in result.examples[:examples]]
        judged.append(replace(result, examples=[*shown, *result.examples[examples:]]))
    return judged


def agreement(result: Result) -> Agreement | None:
    """How the model's opinion and the rules compare; None where no model was asked."""
    cited = [one for example in result.examples for one in _cited(example) if "opinion" in one]
    if not cited:
        return None
    return Agreement(
        result.system,
        len(cited),
        sum(one["useful"] for one in cited),
        sum(one["opinion"] for one in cited),
        sum(one["useful"] and one["opinion"] for one in cited),
    )


def _judged(example: dict[str, Any], model: Chat, said: dict[tuple[str, str], bool]) -> dict[str, Any]:
    question = example["question"]
    texts = dict.fromkeys(f"{part['title']}: {cited['text']}" for part in example["parts"] for cited in part["cited"])
    new = [text for text in texts if (question, text) not in said]
    for start in range(0, len(new), AT_ONCE):
        some = new[start : start + AT_ONCE]
        helpful = set(_helpful(question, some, model))
        said |= {(question, text): text in helpful for text in some}
    parts = [
        {
            **part,
            "cited": [
                {**cited, "opinion": said[question, f"{part['title']}: {cited['text']}"]} for cited in part["cited"]
            ],
        }
        for part in example["parts"]
    ]
    return {**example, "parts": parts}


def _helpful(question: str, texts: Sequence[str], model: Chat) -> Iterator[str]:
    """Those that the model takes for the answer, a part of it, or needed for it."""
    table = {f"S{number}": number for number in range(1, len(texts) + 1)}
    shown = "\n".join(f"[{label}] {without_labels(text)}" for label, text in zip(table, texts, strict=True))
    until = time.monotonic() + SECONDS
    try:
        reply = model.complete(
            to_pick(question, shown), most_tokens=MOST_REPLY_TOKENS, until=until, schema=schema_of(list(table))
        )
    except ChatError as error:
        raise DataError(f"{model.name} could not be asked about {question!r}: {error}") from error
    reading = read_reply(reply.text, table)
    if reading is None:
        raise DataError(
            f"{model.name} was asked about {question!r}, and its reply cannot be read: {reply.text[:200]!r}"
        )
    return (texts[table[label] - 1] for label in reading.grades)


def _cited(example: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (cited for part in example["parts"] for cited in part["cited"])
