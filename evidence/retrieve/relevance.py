"""The contextual filter without a language model: a judge reads the candidates in their global context, offline."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evidence.language.chat import Usage
from evidence.language.judge import Judge
from evidence.retrieve.evidence import Filtered
from evidence.store.revisions import Linked
from evidence.store.search import Hit
from evidence.tree.units import text_in_context, unit_at

FEWEST_READ = 50
TOKENS_FOR_EACH = 20
"""Candidates that are judged, the first ones: so many at least, and one for so many tokens of the budget. The others are
left out, as search thinks less of them than of these."""

TRUST = 0.45
PRIOR = 0.6
"""The odds of a candidate are PRIOR x (the judge's odds to the power of TRUST) / rank. The judge reads what search cannot;
search has counted what the judge does not see: how rare a word is, and what else there is. Fitted by logistic regression
where the judge's floor was chosen."""

ROWS = 0.25
"""The share of the floor that a table's row has to reach: alone it says little, and a table often answers by several."""

BESIDE = 0.3
"""What a sentence is worth beside one that helps, to that one: it may say what "this" is, or go on."""

LIKELY = 0.05
"""Below it, nothing that was found seems to answer. Of CLAP NQ's questions without an answer 18 % have no better candidate,
of those with one 2 %; of the other sets' at most 4 %."""

ENGLISH = frozenset("a an and are as at be by for from in is it not of on or that the this to was were with".split())
"""Words that hardly an English text of some length is without."""

ENOUGH_WORDS = 40
"""Words of a document's candidates from which on their language can be told."""

FEWEST_ENGLISH = 0.08
"""The share of those words in English; of running text they are a quarter to a third, of tables far less, and of other
languages next to nothing."""

Place = tuple[int, tuple[int, ...], int]

WORD = re.compile(r"[^\W\d_]+")


def judged(
    judge: Judge, question: str, hits: Sequence[Hit], linked: Mapping[int, Linked], *, keeps_all: bool = False
) -> tuple[list[Hit], Filtered]:
    """Of candidates, those that are likely enough to help, the likeliest first.

    ``linked`` holds their documents pruned to them; candidates of one that is missing are left out. Whatever holds an
    identifier of the question verbatim stays, and stays in front. With ``keeps_all`` nothing is left out: the judge orders.
    Candidates in another language than English, which the judge cannot read, stay where they are.
    """
    there = [hit for hit in hits if hit.revision_id in linked]
    foreign = {revision_id for revision_id in linked if not _is_english(linked[revision_id], there, revision_id)}
    read = [hit for hit in there if hit.revision_id not in foreign]
    found = judge.probabilities(question, [_text(hit, linked[hit.revision_id]) for hit in read])
    places = [_place(hit, linked[hit.revision_id]) for hit in read]
    alone = {place: _relevance(float(p), hit.rank) for place, hit, p in zip(places, read, found, strict=True)}
    worth = _with_neighbours(alone)
    known = [replace(hit, relevance=worth[place]) for place, hit in zip(places, read, strict=True)]
    ordered = iter(sorted(known, key=lambda hit: (-min(hit.identifiers, 1), -(hit.relevance or 0.0), hit.rank)))
    kept = [hit if hit.revision_id in foreign else next(ordered) for hit in there]
    if not keeps_all:
        kept = [hit for hit in kept if hit.identifiers or _reaches(judge.floor, hit, linked[hit.revision_id])]
    filtered = Filtered(
        model=judge.name, read=len(read), kept=len(kept), grades={}, failures={}, faults={}, usage=Usage()
    )
    return [replace(hit, rank=rank) for rank, hit in enumerate(kept, 1)], filtered


def read_of(budget: int) -> int:
    """How many candidates are judged for a budget of tokens."""
    return max(FEWEST_READ, budget // TOKENS_FOR_EACH)


def seems_to_answer(kept: Sequence[Hit]) -> bool:
    """Whether of the candidates that a judge kept one is likely enough to be what was looked for."""
    return any(hit.identifiers or hit.relevance is None or hit.relevance >= LIKELY for hit in kept)


def _relevance(probability: float, rank: int) -> float:
    certain = min(max(probability, 1e-5), 1 - 1e-5)
    odds = PRIOR * (certain / (1 - certain)) ** TRUST / rank
    return odds / (1 + odds)


def _reaches(floor: float, hit: Hit, source: Linked) -> bool:
    is_row = source.tree.node(hit.positions[0]).tag == "tr"
    return hit.relevance is None or hit.relevance >= floor * (ROWS if is_row else 1)


def _with_neighbours(worth: Mapping[Place, float]) -> dict[Place, float]:
    """What each candidate is worth: by itself, or as the one before or after a better one in the same block."""
    found = {}
    for (revision_id, block, index), own in worth.items():
        beside = (worth.get((revision_id, block, index + step), 0.0) for step in (-1, 1))
        found[revision_id, block, index] = round(max(own, BESIDE * max(beside)), 4)
    return found


def _place(hit: Hit, source: Linked) -> Place:
    """The block that a candidate stands in, and its place in it; a row is a block of its own."""
    node = source.tree.node(hit.positions[0])
    if not node.is_sentence:
        return hit.revision_id, node.path, 0
    return hit.revision_id, node.path.parent, node.path[-1]


def _text(hit: Hit, source: Linked) -> tuple[str, str]:
    return text_in_context(unit_at(source.tree, hit.positions, hit.context_policies, hit.context_positions))


def _is_english(source: Linked, hits: Sequence[Hit], revision_id: int) -> bool:
    """Whether a document is in English: as it says itself, or, where it says nothing, by the words of its candidates."""
    if source.tree.language:
        return source.tree.language.lower().startswith("en")
    own = [source.tree.node(place).content for hit in hits if hit.revision_id == revision_id for place in hit.positions]
    words = WORD.findall(" ".join(own).lower())
    return len(words) < ENOUGH_WORDS or sum(word in ENGLISH for word in words) >= FEWEST_ENGLISH * len(words)
