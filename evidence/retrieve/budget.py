"""Filling a token budget: excerpts of one document are united, and what they share is paid once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from evidence.store.search import Hit

TOKENS_OF_AN_EXCERPT = 2
"""Set aside for the break between the excerpts of two documents."""


@dataclass
class Selection:
    """What is chosen of one revision: the candidates, and the positions that their excerpt will hold."""

    revision_id: int
    hits: list[Hit] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)
    """What each hit added to the evidence, in tokens, when it was taken: rather too much than too little."""
    positions: set[int] = field(default_factory=set)
    defining: set[int] = field(default_factory=set)
    """Positions that define terms which the evidence uses, here or in other documents; they are not cited."""

    def places(self) -> set[int]:
        """The positions of all nodes chosen, of their contexts, and of the definitions."""
        return {place for hit in self.hits for place in (*hit.positions, *hit.context_positions)} | self.defining


def fill(hits: Sequence[Hit], budget: int) -> list[Selection]:
    """The candidates that fit, taken greedily from the best on; one that does not fit is passed over for smaller ones.

    A candidate costs its own tokens and those of the parts of its context that its document has not paid for yet.
    Selections come in the order of their best candidate.
    """
    chosen: dict[int, Selection] = {}
    spent = 0
    for hit in hits:
        selection = chosen.get(hit.revision_id)
        held = selection.positions if selection is not None else set()
        cost = 0 if set(hit.positions) <= held else hit.tokens
        cost += sum(
            tokens
            for position, tokens in zip(hit.context_positions, hit.context_tokens, strict=True)
            if position not in held
        )
        if selection is None:
            cost += TOKENS_OF_AN_EXCERPT
        if spent + cost > budget:
            continue
        spent += cost
        selection = chosen.setdefault(hit.revision_id, Selection(hit.revision_id))
        selection.hits.append(hit)
        selection.costs.append(cost)
        selection.positions.update(hit.positions, hit.context_positions)
    return list(chosen.values())
