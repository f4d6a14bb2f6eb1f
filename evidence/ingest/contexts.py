"""Global contexts as they are stored: each distinct one once per revision, numbered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evidence.ingest.embedding import Plan
from evidence.ingest.wordings import blocks_of
from evidence.store.indexes import EmbeddedUnit
from evidence.store.revisions import Context
from evidence.tree.context import Entry


class Contexts:
    """The distinct global contexts of a document, numbered, after those that are known already."""

    def __init__(self, tokens: Sequence[int], known: Iterable[Context] = ()) -> None:
        self._tokens = tokens
        self.distinct: list[Context] = list(known)
        self._numbers = {
            tuple(zip(context.policies, context.positions, strict=True)): number
            for number, context in enumerate(self.distinct)
        }

    def number(self, context: Sequence[Entry]) -> int:
        """The number of this context."""
        key = tuple((entry.policy, entry.node.position) for entry in context)
        if key not in self._numbers:
            self._numbers[key] = len(self.distinct)
            policies = tuple(policy for policy, _ in key)
            positions = tuple(position for _, position in key)
            tokens = tuple(self._tokens[position] for position in positions)
            self.distinct.append(Context(policies, positions, tokens))
        return self._numbers[key]


def embedded_units(made: Plan, contexts: Contexts, tokens: Sequence[int]) -> list[EmbeddedUnit]:
    """The units of a plan that has been embedded, as they are stored. ValueError when one has no vector yet."""
    units = []
    firsts = [unit.nodes[0] for unit in made.units]
    blocks = blocks_of(firsts[0].document, [node.position for node in firsts]) if firsts else {}
    for unit, digest, vector in zip(made.units, made.hashes, made.vectors, strict=True):
        if vector is None:
            raise ValueError("a plan must be embedded before it is stored")
        positions = tuple(node.position for node in unit.nodes)
        own = sum(tokens[position] for position in positions)
        units.append(
            EmbeddedUnit(positions, contexts.number(unit.context), own, digest, vector, blocks.get(positions[0]))
        )
    return units
