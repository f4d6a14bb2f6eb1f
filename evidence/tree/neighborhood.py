"""Local context: the nearest neighbours of a node in the tree, found when a question is asked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from evidence.tree.context import contexts_of
from evidence.tree.document import Document, Node
from evidence.tree.path import PathSet
from evidence.tree.seeds import seeds
from evidence.tree.structure import structure_of


def local_context(node: Node, costs: Sequence[int], budget: int) -> PathSet:
    """The node and its neighbours, nearest first, as far as ``budget`` tokens reach.

    Neighbours are seeds: sentences of running text, and rows of tables. Each brings its global context along (the label of
    its list, the headers of its row), which is paid once. Nearer is who shares a deeper ancestor, then who stands fewer
    seeds away. Nothing is taken from beyond a heading unless the whole section is; the first that does not fit ends it.
    The node and its global context are there even where they cost more. ``costs``: tokens of each node by position.
    """
    document = node.document
    return PathSet(document.node(position).path for position in local_positions(node, costs, budget))


def local_positions(node: Node, costs: Sequence[int], budget: int) -> set[int]:
    """The local context of a node as positions."""
    view = _View(node.document, costs, budget)
    view.take(node)
    found, headings = seeds(node.document), structure_of(node.document).headings
    start = bisect_left(found, node.position, key=_position)
    # The next seed on each side, by its place among the seeds; of two that are as near, the one before goes first.
    sides = {"before": start - 1, "after": bisect_right(found, node.last, key=_position)}
    steps = {"before": -1, "after": 1}
    section = headings[node.position]
    depths = {ancestor.position: depth for depth, ancestor in enumerate(node.ancestors())}
    while True:
        near = [
            (-_common_depth(found[place], depths), abs(place - start), side == "after", side)
            for side, place in sides.items()
            if 0 <= place < len(found) and headings[found[place].position][: len(section)] == section
        ]
        if near:
            side = min(near)[-1]
            if not view.take(found[sides[side]]):
                break
            sides[side] += steps[side]
        elif section:
            section = section[:-1]
        else:
            break
    return view.positions


def _position(node: Node) -> int:
    return node.position


def _common_depth(node: Node, depths: dict[int, int]) -> int:
    """How deep the innermost ancestor is that a node shares with the one whose ancestors these are."""
    above = node.parent
    while above is not None and above.position not in depths:
        above = above.parent
    return -1 if above is None else depths[above.position]


class _View:
    """Positions that are taken, and what is left of the budget."""

    def __init__(self, document: Document, costs: Sequence[int], budget: int) -> None:
        self.positions: set[int] = set()
        self._contexts = contexts_of(document)
        self._costs = costs
        self._left = budget

    def take(self, node: Node) -> bool:
        """Take a node with its global context, if that fits or is the first."""
        wanted = {node.position, *(entry.node.position for entry in self._contexts.of(node))} - self.positions
        cost = sum(self._costs[position] for position in wanted)
        if self.positions and cost > self._left:
            return False
        self._left -= cost
        self.positions |= wanted
        return True
