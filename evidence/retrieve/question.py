"""A question as it is typed: its words, what must stand in the answer, and what must not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evidence.tree.sentences import visible
from evidence.tree.words import identifiers, plain_words

PHRASE = re.compile(r'(?<!\w)["“„«]\s*([^"“”„«»]*?)\s*["”“»](?!\w)')
# A minus sign before a word after a space; "--no-verify" and "-v" are options of programs, and may be asked for.
EXCLUDED = re.compile(r"(?:^|(?<=\s))-(?=[^\W\d_]{3})([^\s\"]+)")
MOST_WORDS = 64


@dataclass(frozen=True)
class Question:
    """A question, read. ``text`` is what the model is given: without quotation marks and excluded words.

    ``phrases`` must stand in what is found, or in its context; ``excluded`` words must not. ``words`` and ``identifiers``
    are those that full text looks for.
    """

    text: str
    words: tuple[str, ...]
    identifiers: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()


def read_question(typed: str) -> Question:
    """The parts of a question."""
    shown = " ".join(visible(typed).split())
    phrases: dict[str, None] = {}

    def unquoted(found: re.Match[str]) -> str:
        phrase = " ".join(found[1].split())
        if plain_words(phrase):
            phrases[phrase] = None
        return phrase

    text = PHRASE.sub(unquoted, shown)
    outside = PHRASE.sub(" ", shown)
    excluded = [found[1] for found in EXCLUDED.finditer(outside)]
    if excluded:
        text = EXCLUDED.sub("", text)
    text = " ".join(text.split())
    return Question(
        text,
        tuple(dict.fromkeys(plain_words(text).split()))[:MOST_WORDS],
        tuple(identifiers(text))[:MOST_WORDS],
        tuple(phrases)[:MOST_WORDS],
        tuple(dict.fromkeys(" ".join(map(plain_words, excluded)).split()))[:MOST_WORDS],
    )
