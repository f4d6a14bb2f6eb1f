"""The definitions of the terms that the evidence uses, from glossaries of the collections that were asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from evidence.retrieve.budget import TOKENS_OF_AN_EXCERPT, Selection
from evidence.store.definitions import Defined, look_up
from evidence.store.revisions import Linked, read_links
from evidence.tree.terms import Terms, phrases_of

SHARE = 0.15
"""The share of a budget that definitions may take."""


def add_definitions(
    connection: sa.Connection,
    selections: list[Selection],
    linked: dict[int, Linked],
    *,
    glossaries: Sequence[int],
    budget: int,
) -> None:
    """Add to what was chosen the definitions of the terms that it uses, those of the best candidates first.

    They take up to ``SHARE`` of the budget, before candidates that no longer fit are cut. What the evidence holds already
    is not added. ``glossaries`` are collections, all of them among those that were asked. Two statements at most.
    """
    chosen = {selection.revision_id: selection for selection in selections}
    held = {revision_id: selection.places() for revision_id, selection in chosen.items()}
    texts = _texts(selections, linked)
    left = SHARE * budget
    changed: set[int] = set()
    for definition in _in_order_of_use(look_up(connection, phrases_of(texts), collections=glossaries), texts):
        revision_id = definition.revision_id
        new = set(definition.positions) - held.get(revision_id, set())
        cost = definition.tokens + (0 if revision_id in chosen else TOKENS_OF_AN_EXCERPT)
        if not new or cost > left:
            continue
        left -= cost
        if revision_id not in chosen:
            chosen[revision_id] = Selection(revision_id)
            selections.append(chosen[revision_id])
        chosen[revision_id].defining |= new
        changed.add(revision_id)
    linked |= read_links(connection, {revision_id: chosen[revision_id].places() for revision_id in sorted(changed)})


def _texts(selections: Sequence[Selection], linked: Mapping[int, Linked]) -> list[str]:
    """What the candidates say, the best first."""
    hits = sorted((hit for selection in selections for hit in selection.hits), key=lambda hit: hit.rank)
    return [linked[hit.revision_id].tree.node(place).content for hit in hits for place in hit.positions]


def _in_order_of_use(found: Sequence[Defined], texts: Sequence[str]) -> list[Defined]:
    """The definitions of the terms that the texts really use: of terms within each other the longest."""
    by_term: dict[str, list[Defined]] = {}
    for definition in found:
        by_term.setdefault(definition.term, []).append(definition)
    terms = Terms(tuple(term.split(" ")) for term in by_term)
    numbered = list(by_term.values())
    used = dict.fromkeys(number for text in texts for number in terms.found_in(text))
    return [definition for number in used for definition in numbered[number]]
