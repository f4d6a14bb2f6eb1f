"""The rows of a pruned table, as they are shown: cells that span rows come with the first of them that is left."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from evidence.tree.document import Node
from evidence.tree.tables import CELLS, ROW_GROUPS


@dataclass(slots=True)
class DisplayedRow:
    """A row with the cells to show in it, and for how many of the rows that are left each goes on."""

    node: Node
    cells: list[Node] = field(default_factory=list)
    heights: dict[int, int] = field(default_factory=dict)

    def height(self, cell: Node) -> int:
        return self.heights.get(cell.position, 1)

    def width(self, cell: Node) -> int:
        span = cell.attributes.get("colspan", "1").strip()
        return max(int(span), 1) if span.isascii() and span.isdigit() and len(span) < 5 else 1


def displayed_rows(table: Node) -> Iterator[DisplayedRow]:
    """The rows to show of a table that may be pruned, in order."""
    for group in groups(table):
        yield from rows_of_group(group)


def groups(table: Node) -> Iterator[list[Node]]:
    """The rows of each row group of a table."""
    loose = [child for child in table.children if child.tag == "tr"]
    if loose:
        yield loose
    for child in table.children:
        if child.tag in ROW_GROUPS:
            yield [row for row in child.children if row.tag == "tr"]


def rows_of_group(rows: list[Node]) -> list[DisplayedRow]:
    """The rows to show of a group. A row of which only spanning cells are left is shown within the rows they span."""
    shown = [DisplayedRow(row) for row in rows if not _is_carrier(row, rows)]
    indices = [displayed.node.index for displayed in shown]
    for row in rows:
        for cell in row.children:
            if cell.tag in CELLS:
                start, stop = bisect_left(indices, row.index), bisect_left(indices, row.index + _height(cell))
                if start < stop:
                    shown[start].cells.append(cell)
                    shown[start].heights[cell.position] = stop - start
    return shown


def _is_carrier(row: Node, rows: list[Node]) -> bool:
    cells = [cell for cell in row.children if cell.tag in CELLS]
    if not cells or _is_complete(row):
        return False
    return all(
        any(row.index < other.index < row.index + _height(cell) for other in rows if other is not row) for cell in cells
    )


def _is_complete(row: Node) -> bool:
    return row.last - row.position == sum(1 for _ in row.descendants())


def _height(cell: Node) -> int:
    """Rows that a cell spans; 0 in the page means "to the end of its group"."""
    span = cell.attributes.get("rowspan", "1").strip()
    if not (span.isascii() and span.isdigit()) or len(span) > 6:
        return 1
    return int(span) or 65534
