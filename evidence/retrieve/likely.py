"""Whether what was found is likely to answer."""

from __future__ import annotations

from collections.abc import Sequence

from evidence.store.search import Hit

FIRST = 5
"""Hits whose words are compared with the question's."""

WORDS = 0.4
ENOUGH = 0.64
"""Chosen on half of 580 questions, asked of the collection that answers them or of one on something else. Cosines are a
model's own: another model may want another number."""


def is_likely(hits: Sequence[Hit]) -> bool:
    """Whether an answer is likely to be among the hits: by the best similarity, and the words shared with the first.

    A collection that is about something else is told apart; a page that is about the matter, and lacks the answer, is not.
    """
    if not hits:
        return False
    if any(hit.identifiers for hit in hits):
        return True
    nearest = max(hit.score for hit in hits)
    return nearest + WORDS * max(hit.overlap for hit in hits[:FIRST]) >= ENOUGH
