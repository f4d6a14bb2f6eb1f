"""The cells of a table on its grid: which columns and rows each one covers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from evidence.tree.document import Node
from evidence.tree.tags import CELLS, ROW_GROUPS

WIDEST_SPAN = 1000
"""The HTML standard's limit for colspan; its limit for rowspan is 65534."""

WIDEST_TABLE = 1000
"""Columns up to which a cell reaches into the rows below. Bounds the work for each row of a table made to be slow."""


@dataclass(slots=True)
class Cell:
    """A cell of the grid: its node and the columns and rows it covers (end exclusive)."""

    node: Node
    column: int
    column_end: int
    row: int
    row_end: int

    @property
    def is_header(self) -> bool:
        return self.node.tag == "th"

    @property
    def is_filled(self) -> bool:
        return bool(self.node.children)

    @property
    def scope(self) -> str:
        return self.node.attributes.get("scope", "").strip().lower()


@dataclass(slots=True, eq=False)
class Row:
    """A row of the grid: its node, the cells that begin in it, and those that reach into it from above.

    A header row by its tags (``is_header``) only serves the others. One that is taken for a header row, or for the head
    of a part of the table, by its look (``is_guessed``) may be a row of data after all, and is searched as one.
    """

    node: Node
    number: int
    cells: list[Cell] = field(default_factory=list)
    from_above: tuple[Cell, ...] = ()
    is_header: bool = False
    is_guessed: bool = False
    headers: tuple[Row, ...] = ()
    """The header rows that hold for this row."""

    group: Row | None = None
    """The row that heads this row's part of the table ("Sweden" over the rows of its towns); a part may lie in another."""

    @property
    def filled(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.node.children]

    @property
    def is_in_head(self) -> bool:
        return self.node.parent is not None and self.node.parent.tag == "thead"

    @property
    def is_in_foot(self) -> bool:
        return self.node.parent is not None and self.node.parent.tag == "tfoot"


def row_groups(table: Node) -> Iterator[list[Node]]:
    """The rows of each row group of a table in order, not those of tables within it; loose rows make groups of their own."""
    loose: list[Node] = []
    for child in table.children:
        if child.tag == "tr":
            loose.append(child)
        elif child.tag in ROW_GROUPS:
            if loose:
                yield loose
                loose = []
            yield [row for row in child.children if row.tag == "tr"]
    if loose:
        yield loose


def rows_of(table: Node) -> Iterator[Node]:
    """The rows of a table in order, not those of tables within it."""
    for group in row_groups(table):
        yield from group


def span(node: Node, name: str) -> int:
    """What ``colspan`` or ``rowspan`` says; 1 where it makes no sense, 0 for "to the end of the row group"."""
    text = node.attributes.get(name)
    if text is None:
        return 1
    text = text.strip()
    return int(text[:6]) if text.isascii() and text.isdigit() else 1


def lay_out(table: Node) -> list[Row]:
    """The rows of a table with their cells on the grid. Spans end with their row group."""
    rows: list[Row] = []
    for group in row_groups(table):
        _lay_out_group(group, rows)
    return rows


def _lay_out_group(group: list[Node], rows: list[Row]) -> None:
    end = len(rows) + len(group)
    # Rows under the same spanning cells share one tuple of them.
    spanning: tuple[Cell, ...] = ()
    covered: list[tuple[int, int]] = []
    soonest = end
    for number, node in enumerate(group, len(rows)):
        if number >= soonest:
            spanning = tuple(cell for cell in spanning if cell.row_end > number)
            covered, soonest = _covered(spanning), min((cell.row_end for cell in spanning), default=end)
        row = Row(node, number, from_above=spanning)
        _place_cells(row, covered, end)
        begun = [cell for cell in row.cells if cell.row_end > number + 1 and cell.column < WIDEST_TABLE]
        if begun:
            spanning = tuple(sorted((*spanning, *begun), key=lambda cell: cell.column))
            covered, soonest = _covered(spanning), min(soonest, *(cell.row_end for cell in begun))
        rows.append(row)


def _place_cells(row: Row, covered: list[tuple[int, int]], end: int) -> None:
    column = place = 0
    number = row.number
    for child in row.node.children:
        if child.tag not in CELLS:
            continue
        while place < len(covered) and covered[place][0] <= column:
            column = max(column, covered[place][1])
            place += 1
        width = height = 1
        if child.attributes:
            width = min(max(span(child, "colspan"), 1), WIDEST_SPAN)
            height = span(child, "rowspan") or end
        row.cells.append(Cell(child, column, column + width, number, min(number + height, end)))
        column += width


def _covered(cells: tuple[Cell, ...]) -> list[tuple[int, int]]:
    """The runs of columns that these cells, sorted by column, cover."""
    runs: list[tuple[int, int]] = []
    for cell in cells:
        if runs and cell.column <= runs[-1][1]:
            runs[-1] = (runs[-1][0], max(runs[-1][1], cell.column_end))
        else:
            runs.append((cell.column, cell.column_end))
    return runs
