"""Tables as grids: which header cells say what a cell, or a row, means."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice

from evidence.tree.cells import Cell, Row, lay_out, row_groups, rows_of
from evidence.tree.document import Document, Node
from evidence.tree.header_rows import LONGEST_HEADER, assign_headers, cell_at, key_column
from evidence.tree.tags import HEADINGS

__all__ = ["Cell", "Grid", "Row", "is_layout", "mark_layout", "row_groups", "rows_of"]

LAYOUT_ROLES = frozenset(("presentation", "none"))
DATA_ROLES = frozenset(("table", "grid", "treegrid"))
ARRANGED = frozenset(("table", "section", "article", "nav", "form", *HEADINGS))

MOST_HEADERS = 12
"""Header cells of one row, or rows beside one cell, that a cell may have; bounds the context of a cell that spans many."""


def is_layout(table: Node) -> bool:
    """Whether a table only arranges a page, and says nothing by its rows and columns."""
    return table.attributes.get("role") in LAYOUT_ROLES


def mark_layout(document: Document) -> None:
    """Give ``role=presentation`` to the tables that only arrange the page.

    A table with headers or a caption of its own is data, and so is one that says it. One without is layout when its
    cells hold headings, tables or other structure of a page, or when it has a single column.
    """
    for table in document.nodes:
        if table.tag != "table" or is_layout(table) or table.attributes.get("role") in DATA_ROLES:
            continue
        rows = list(rows_of(table))
        if any(child.tag in ("caption", "thead") for child in table.children):
            continue
        if any(cell.tag == "th" for row in rows for cell in row.children):
            continue
        if all(len(row.children) <= 1 for row in rows) or any(_arranges(cell) for row in rows for cell in row.children):
            table.attributes = {**table.attributes, "role": "presentation"}


def _arranges(cell: Node) -> bool:
    return any(node.tag in ARRANGED for node in cell.descendants())


class Grid:
    """A data table laid out on its grid, with the header rows of each row.

    Every lookup takes a time that does not grow with the table.
    """

    def __init__(self, table: Node) -> None:
        self.rows = lay_out(table)
        self._row_at = {row.node.position: row for row in self.rows}
        self._cell_at = {cell.node.position: cell for row in self.rows for cell in row.cells}
        self._heads: dict[int, tuple[list[Cell], list[Cell]]] = {}
        self._lengths: dict[int, int] = {}
        assign_headers(self.rows)

    def row(self, node: Node) -> Row | None:
        """The grid's row of this ``tr``."""
        return self._row_at.get(node.position)

    def length_of_headers(self, row: Row) -> int:
        """The characters that the header rows of a row add to its context."""
        return sum(self._length(header) for header in row.headers)

    def beside(self, row: Row) -> list[Node]:
        """What a row needs beside its own cells: the heads of its parts, outermost first, and the cells that reach into
        it from above; of a long one its first sentence."""
        return [*_heads_of_parts(row), *(_brief(cell.node) for cell in _first(row.from_above))]

    def column_headers(self, cell: Node) -> list[Node]:
        """The header cells over a cell, the outermost first."""
        placed = self._cell_at.get(cell.position)
        if placed is None:
            return []
        if named := self._named_headers(cell, placed, column=True):
            return named
        found: list[Node] = []
        for row in self.rows[placed.row].headers:
            start = bisect_right(row.cells, placed.column, key=lambda header: header.column_end)
            end = bisect_left(row.cells, placed.column_end, lo=start, key=lambda header: header.column)
            over = row.cells[start : min(end, start + MOST_HEADERS)]
            found.extend(header.node for header in over if header.is_filled)
        return found

    def row_headers(self, cell: Node) -> list[Node]:
        """The header cells beside a cell, the outermost first: the heads of its parts, and those of its rows. In a table
        without header cells in its rows it is the cell that names the row."""
        placed = self._cell_at.get(cell.position)
        if placed is None:
            return []
        if named := self._named_headers(cell, placed, column=False):
            return named
        first = self.rows[placed.row]
        if first.is_header:
            return []
        found = _heads_of_parts(first)
        # A cell that spans rows belongs to all of them.
        for row in self.rows[placed.row : min(placed.row_end, placed.row + MOST_HEADERS)]:
            found.extend(header.node for header in self._beside(placed, row))
        return list(dict.fromkeys(found))

    def _beside(self, placed: Cell, row: Row) -> list[Cell]:
        """The header cells of one row for a cell in it: those that span rows, and the nearest run of others. The run is
        looked for at the left, as the HTML standard has it; a header at the right heads what has none at its left."""
        spanning, single = self._row_heads(row)
        if not spanning and not single:
            key = None if self._key is None or row.is_guessed else cell_at(row, self._key)
            return [key] if key is not None and key is not placed and key.is_filled else []
        stop = bisect_left(single, placed.column, key=lambda head: head.column)
        if placed.is_header and placed.scope not in ("col", "colgroup"):
            # A header cell is headed by those before it.
            left = [head for head in spanning if head.column < placed.column]
            return sorted((*left, *single[max(stop - MOST_HEADERS, 0) : stop]), key=lambda head: head.column)
        start = stop
        while (
            start and stop - start < MOST_HEADERS and (start == stop or _are_neighbors(single[start - 1 : start + 1]))
        ):
            start -= 1
        nearest = single[start:stop]
        if not nearest and not any(head.column < placed.column for head in spanning):
            nearest = single[stop : stop + 1]
        others = [head for head in spanning if head is not placed]
        return sorted((*others, *nearest), key=lambda head: head.column)

    def _row_heads(self, row: Row) -> tuple[list[Cell], list[Cell]]:
        """The header cells of a row in two lists, each in order of columns: those of several rows, or that say that they
        are of the row; and those of this row alone."""
        if row.number not in self._heads:
            heads = [cell for cell in row.cells if _heads_rows(cell)]
            spanning = [cell for cell in heads if cell.row_end > cell.row + 1 or cell.scope in ("row", "rowgroup")]
            spanning = spanning[:MOST_HEADERS]
            apart = {id(cell) for cell in spanning}
            above = islice((cell for cell in row.from_above if _heads_rows(cell)), MOST_HEADERS)
            self._heads[row.number] = (
                sorted((*above, *spanning), key=lambda head: head.column),
                [cell for cell in heads if id(cell) not in apart],
            )
        return self._heads[row.number]

    def _named_headers(self, cell: Node, placed: Cell, *, column: bool) -> list[Node]:
        """The cells that the ``headers`` attribute names; it goes before what the grid says."""
        names = cell.attributes.get("headers")
        if not names:
            return []
        named = [self._by_name[name] for name in dict.fromkeys(names.split()) if name in self._by_name][:MOST_HEADERS]
        named.sort(key=lambda other: other.node.position)
        return [other.node for other in named if (other.row < placed.row) == column and other.node is not cell]

    @cached_property
    def _by_name(self) -> dict[str, Cell]:
        """The cells that may be named as headers, the first of each id: any that hold no prose, as the standard has it."""
        found: dict[str, Cell] = {}
        for cell in self._cell_at.values():
            if cell.is_filled and (name := cell.node.attributes.get("id")) and len(cell.node.content) <= LONGEST_HEADER:
                found.setdefault(name, cell)
        return found

    @cached_property
    def _key(self) -> int | None:
        body = [row for row in self.rows if not (row.is_header or row.is_guessed)]
        return None if any(_heads_rows(cell) for row in body for cell in row.cells) else key_column(body)

    def _length(self, header: Row) -> int:
        if header.number not in self._lengths:
            self._lengths[header.number] = len(header.node.content)
        return self._lengths[header.number]


def _heads_of_parts(row: Row) -> list[Node]:
    parts: list[Row] = []
    part = row.group
    while part is not None:
        parts.append(part)
        part = part.group
    return [cell.node for part in reversed(parts) for cell in part.filled]


def _heads_rows(cell: Cell) -> bool:
    return cell.is_header and cell.is_filled and cell.scope not in ("col", "colgroup")


def _are_neighbors(pair: Sequence[Cell]) -> bool:
    left, right = pair
    return left.column_end == right.column


def _first(cells: Iterable[Cell]) -> list[Cell]:
    return list(islice((cell for cell in cells if cell.is_filled), MOST_HEADERS))


def _brief(node: Node) -> Node:
    """A node, or its first sentence where it is long."""
    return node if len(node.content) <= LONGEST_HEADER else next(node.sentences())
