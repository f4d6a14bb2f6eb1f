"""The words of a question, found again in the texts that answer it."""

from __future__ import annotations

import re

from evidence.tree.sentences import visible

WORD = re.compile(r"\w+(?:[-'’]\w+)*")
SHORTEST_WORD = 3
STOP_WORDS = frozenset(
    """
    about after all and any are been before being but can could did does doing for from get had has have her
    here him his how into its just more most much must nor not now off once one only other our out over own same
    she should some such than that the their them then there these they this those through too under until very
    was were what when where which while who whom whose why will with would you your
    """.split()
)
ENDINGS = ("ing", "ies", "ed", "es", "s")


class Words:
    """The words of a question that are worth marking; inflected forms of one word count as the same."""

    def __init__(self, question: str) -> None:
        found = {word.casefold() for word in WORD.findall(visible(question))}
        self._stems = {stem(word) for word in found - STOP_WORDS if len(word) >= SHORTEST_WORD}

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the words stand in a text: whole words, as code points (start, end)."""
        if not self._stems:
            return []
        return [found.span() for found in WORD.finditer(text) if stem(found[0].casefold()) in self._stems]


def stem(word: str) -> str:
    """The word without a usual English ending, as long as something that names it is left."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_WORD:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word[:-1] if word.endswith("e") and len(word) > SHORTEST_WORD else word
