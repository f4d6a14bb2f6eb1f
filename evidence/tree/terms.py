"""Terms found in running text by their words: whole words, the longest term first, in time linear in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

WORDS = re.compile(r"\w+")
END = ""
"""The key in a trie under which the number of the term stands that ends there; no word is empty."""

MOST_WORDS = 6
LONGEST_TERM = 60
"""Characters."""

# What is written so is a command, an option, a formula.
NO_TERM = re.compile(r"^[-/\\<>@#$%&*+.]|[=(){}\[\];<>?!|]|\s[^\w\s–]+\s|[.:]$")


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text in the form in which terms are compared: folded, without the s of a plural.

    A word with a capital after its first letter (RTO, PaaS) is an acronym or a name, and keeps its case.
    """
    return tuple(map(_form, WORDS.findall(text)))


def lookup_form(text: str) -> str:
    """A term as it is stored and looked up: its words, compared as in ``words_of``."""
    return " ".join(words_of(text))


def phrases_of(texts: Iterable[str]) -> set[str]:
    """All runs of words in these texts that could be a term, as they are looked up."""
    found: set[str] = set()
    for text in texts:
        words = words_of(text)
        for start in range(len(words)):
            found.update(
                " ".join(words[start:end]) for end in range(start + 1, min(start + MOST_WORDS, len(words)) + 1)
            )
    return found


def is_term(text: str) -> bool:
    """Whether a text can be the name of something that is defined: short, of words."""
    words = words_of(text) if len(text) <= LONGEST_TERM and not NO_TERM.search(text) else ()
    return 0 < len(words) <= MOST_WORDS and sum(len(word) for word in words if not word.isdigit()) > 1


@lru_cache(maxsize=1 << 15)
def _form(word: str) -> str:
    if any(character.isupper() for character in word[1:]):
        return word[:-1] if word[-1] == "s" and word[:-1].isupper() else word
    word = word.casefold()
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


class Terms:
    """Terms by number, each given by its words, to be found in texts."""

    def __init__(self, terms: Iterable[tuple[str, ...]]) -> None:
        self._trie: dict[str, Any] = {}
        for number, words in enumerate(terms):
            level = self._trie
            for word in words:
                level = level.setdefault(word, {})
            level.setdefault(END, number)

    def found_in(self, text: str) -> list[int]:
        """The numbers of the terms that a text uses, each once, in the order of their first use."""
        words = words_of(text)
        found: dict[int, None] = {}
        place = 0
        while place < len(words):
            level, end, number = self._trie, place, -1
            for offset in range(place, len(words)):
                if words[offset] not in level:
                    break
                level = level[words[offset]]
                if END in level:
                    end, number = offset + 1, level[END]
            if number >= 0:
                found[number] = None
            place = max(end, place + 1)
        return list(found)
