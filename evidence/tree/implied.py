"""Rows and cells that a page leaves out: in a tree a table holds rows, and a row holds cells."""

from __future__ import annotations

from collections.abc import Callable

from evidence.tree.document import Node
from evidence.tree.tags import CELLS, ROW_GROUPS

MAY_HOLD = {
    "table": frozenset(("caption", *ROW_GROUPS, "tr")),
    **dict.fromkeys(ROW_GROUPS, frozenset(("tr",))),
    "tr": frozenset(CELLS),
}
"""What may stand directly in each part of a table."""

SEEN_THROUGH = frozenset("form fieldset section article main hr".split())
"""Blocks that mean nothing between a table and its rows: ``<table><form><tr>`` was the way to send a row."""


class ImpliedCells:
    """Gives everything in a table its row and its cell; ``append`` adds a new child to a node."""

    def __init__(self, append: Callable[[Node, str], Node]) -> None:
        self._append = append
        self._made: set[int] = set()

    def holder(self, parent: Node, tag: str) -> Node:
        """The node that a block of this tag belongs into, where it cannot stand in its parent: the row or cell that was
        made for what stands before it, or a new one."""
        if parent.tag != "tr":
            parent = self._last_or_new(parent, "tr")
        return parent if tag in CELLS else self._last_or_new(parent, "td")

    def _last_or_new(self, parent: Node, tag: str) -> Node:
        last = parent.children[-1] if parent.children else None
        if last is not None and id(last) in self._made:
            return last
        made = self._append(parent, tag)
        self._made.add(id(made))
        return made


def has_headers(cell: Node) -> bool:
    """Whether the table of a cell begins with a header cell, and so is one of data."""
    table = cell.nearest("table")
    for part in table.children if table is not None else ():
        row = part if part.tag == "tr" else (part.children[0] if part.children else None)
        if row is not None and row.tag == "tr":
            return any(child.tag == "th" for child in row.children)
    return False
