"""Units of a document, and the text of one in its global context, as models are given it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evidence.tree.context import Entry, grid_of
from evidence.tree.document import Document, Node
from evidence.tree.tags import CELLS


@dataclass(frozen=True)
class Unit:
    """Something that is embedded and found: its nodes, and its global context."""

    nodes: tuple[Node, ...]
    context: tuple[Entry, ...]


def unit_at(
    tree: Document, positions: Sequence[int], policies: Sequence[str], context_positions: Sequence[int]
) -> Unit:
    """The unit whose nodes, and those of its context with the policy that found each, are at these positions. The tree may
    be pruned to them."""
    context = zip(policies, context_positions, strict=True)
    return Unit(
        tuple(tree.node(position) for position in positions),
        tuple(Entry(policy, tree.node(position)) for policy, position in context),
    )


def single_text(unit: Unit, *, context: bool) -> str:
    """The text of a unit on its own: its context, then itself. A row names the header of each cell."""
    if not context:
        return _own_text(unit, headers=False)
    return " ".join(filter(None, text_in_context(unit)))


def text_in_context(unit: Unit) -> tuple[str, str]:
    """The text of a unit's context, and that of itself. The header cells of a row stand beside its own cells, where they
    are read."""
    is_row = unit.nodes[0].tag == "tr"
    around = [entry for entry in unit.context if not (is_row and entry.policy == "column header")]
    return context_text(around), _own_text(unit, headers=True)


def context_text(entries: Sequence[Entry]) -> str:
    """The text of a context: each entry a sentence."""
    return " ".join(_sentence(entry.node.content) for entry in entries)


def row_text(row: Node, *, headers: bool = True) -> str:
    """A table row as one line: each cell with the column headers over it."""
    grid = grid_of(row.nearest("table")) if headers else None
    cells = []
    for cell in row.children:
        if cell.tag not in CELLS or not cell.children:
            continue
        over = " ".join(header.content for header in grid.column_headers(cell)) if grid is not None else ""
        cells.append(f"{over}: {cell.content}" if over else cell.content)
    return "; ".join(cells)


def _own_text(unit: Unit, *, headers: bool) -> str:
    first = unit.nodes[0]
    return row_text(first, headers=headers) if first.tag == "tr" else " ".join(node.content for node in unit.nodes)


def _sentence(text: str) -> str:
    return text if text[-1:] in ".!?:;…。！？" else text + "."
