"""What a language model is shown of a document: candidates in their local context, with a label before what can be cited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from evidence.retrieve.labels import Labelled, labelled
from evidence.store.search import Hit
from evidence.tree.context import contexts_of
from evidence.tree.document import Document, Node
from evidence.tree.neighborhood import local_positions
from evidence.tree.seeds import seed_of, seeds

LOCAL_TOKENS = 150
"""The local context of a candidate, with the candidate and its global context."""

LARGEST_VIEW = 1200
"""Tokens of the local contexts that one view unites, what they share counted each time."""


@dataclass(frozen=True)
class Readable:
    """A document that can be read around a candidate: its whole tree, and the tokens of each node by position."""

    tree: Document
    costs: Sequence[int]


@dataclass(frozen=True)
class View:
    """A part of a document, the candidates that it was made for, and for each labelled position the nearest of them."""

    hits: tuple[Hit, ...]
    shown: Labelled
    nearest: Mapping[int, Hit]


def views_of(source: Readable, hits: Sequence[Hit], judged: Set[int]) -> list[View]:
    """The views that hold these candidates of one document; what was judged before is shown without a label.

    Candidates near each other share a view. One without a seed in it (its unit is of another kind) is in none.
    """
    views: list[View] = []
    group: list[Hit] = []
    shown: set[int] = set()
    size = 0
    for hit in sorted(hits, key=lambda hit: hit.positions):
        pieces = seeds_of(source.tree, hit)
        if all(piece.position in judged for piece in pieces):
            continue
        around: set[int] = set().union(*(local_positions(piece, source.costs, LOCAL_TOKENS) for piece in pieces))
        cost = sum(source.costs[position] for position in around - shown)
        if group and size + cost > LARGEST_VIEW:
            views.append(_view(source, group, shown, judged))
            group, shown, size = [], set(), 0
        group.append(hit)
        shown |= around
        size += cost
    if group:
        views.append(_view(source, group, shown, judged))
    return views


def seeds_of(tree: Document, hit: Hit) -> list[Node]:
    """The seeds that a candidate is, or consists of."""
    known = {seed.position for seed in seeds(tree)}
    found = {seed_of(sentence) for position in hit.positions for sentence in tree.node(position).sentences()}
    return sorted((seed for seed in found if seed.position in known), key=lambda seed: seed.position)


def as_hit(source: Readable, position: int, candidate: Hit) -> Hit:
    """The seed at this position as a hit: the candidate itself, or a neighbour, which is worth no more than it."""
    if candidate.positions == (position,):
        return candidate
    context = contexts_of(source.tree).of(source.tree.node(position))
    places = tuple(entry.node.position for entry in context)
    return replace(
        candidate,
        positions=(position,),
        tokens=source.costs[position],
        context_policies=tuple(entry.policy for entry in context),
        context_positions=places,
        context_tokens=tuple(source.costs[place] for place in places),
    )


def _view(source: Readable, hits: Sequence[Hit], shown: Set[int], judged: Set[int]) -> View:
    wanted = sorted(seed.position for seed in seeds(source.tree) if seed.position in shown - judged)
    nearest = {position: min(hits, key=lambda hit: _distance(hit, position)) for position in wanted}
    return View(tuple(hits), labelled(source.tree, shown, wanted), nearest)


def _distance(hit: Hit, position: int) -> int:
    return min(abs(place - position) for place in hit.positions)
