"""The rows of a pruned table, as they are shown: cells that span rows come with the first of them that is left."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from evidence.tree.cells import WIDEST_SPAN, row_groups, span
from evidence.tree.document import Node
from evidence.tree.tags import CELLS


@dataclass(slots=True)
class DisplayedRow:
    """A row with the cells to show in it, and for how many of the rows that are left each goes on."""

    node: Node
    cells: list[Node] = field(default_factory=list)
    heights: dict[int, int] = field(default_factory=dict)

    def height(self, cell: Node) -> int:
        return self.heights.get(cell.position, 1)

    def width(self, cell: Node) -> int:
        return min(max(span(cell, "colspan"), 1), WIDEST_SPAN)


def displayed_rows(table: Node) -> Iterator[DisplayedRow]:
    """The rows to show of a table that may be pruned, in order."""
    for group in row_groups(table):
        yield from rows_of_group(group)


def rows_with_columns(table: Node) -> Iterator[dict[int, Node]]:
    """The cells of each row to show by their columns, counted as if cells that are left out were one column wide."""
    for group in row_groups(table):
        # Columns that a cell of a row above still covers, with the number of rows that it goes on.
        covered: dict[int, int] = {}
        for row in rows_of_group(group):
            found: dict[int, Node] = {}
            below = {column: rows - 1 for column, rows in covered.items() if rows > 1}
            column, before = 0, None
            for cell in row.cells:
                is_same_row = before is not None and before.parent is cell.parent
                left_out = cell.index - (before.index + 1 if before is not None and is_same_row else 0)
                column = _free(column, left_out, covered)
                found[column] = cell
                width = row.width(cell)
                if row.height(cell) > 1:
                    below |= dict.fromkeys(range(column, column + width), row.height(cell) - 1)
                column, before = column + width, cell
            covered = below
            yield found


def _free(column: int, left_out: int, covered: dict[int, int]) -> int:
    """The next column that no cell from above covers, after as many free ones as were left out."""
    while left_out or column in covered:
        left_out -= column not in covered
        column += 1
    return column


def rows_of_group(rows: list[Node]) -> list[DisplayedRow]:
    """The rows to show of a group. A row of which only spanning cells are left is shown within the rows they span."""
    shown = [DisplayedRow(row) for row, follower in pairwise([*rows, None]) if row and not _is_carrier(row, follower)]
    indices = [displayed.node.index for displayed in shown]
    for row in rows:
        for cell in row.children:
            if cell.tag in CELLS:
                start, stop = bisect_left(indices, row.index), bisect_left(indices, row.index + _height(cell))
                if start < stop:
                    shown[start].cells.append(cell)
                    shown[start].heights[cell.position] = stop - start
    return shown


def _is_carrier(row: Node, follower: Node | None) -> bool:
    """Whether all that is left of a row are cells that reach into the row that is left after it."""
    if follower is None or row.last - row.position == sum(1 for _ in row.descendants()):
        return False
    cells = [cell for cell in row.children if cell.tag in CELLS]
    return bool(cells) and all(follower.index < row.index + _height(cell) for cell in cells)


def _height(cell: Node) -> int:
    """Rows that a cell spans; 0 in the page means "to the end of its group"."""
    return span(cell, "rowspan") or 65534
