"""Tables as grids: which header cells say what a cell, or a row, means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from evidence.tree.document import Document, Node

WIDEST_SPAN = 1000
"""The HTML standard's limit for colspan; its limit for rowspan is 65534."""

LAYOUT_ROLES = frozenset(("presentation", "none"))
ROW_GROUPS = ("thead", "tbody", "tfoot")
CELLS = ("td", "th")


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


@dataclass(slots=True)
class Row:
    """A row of the grid: its node, the cells that begin in it, and those that reach into it from above."""

    node: Node
    cells: list[Cell] = field(default_factory=list)
    from_above: list[Cell] = field(default_factory=list)
    is_header: bool = False
    headers: tuple[Row, ...] = ()
    """The header rows that hold for this row."""

    group: Row | None = None
    """The row that heads this row's part of the table ("Sweden" over the rows of its towns)."""


def rows_of(table: Node) -> Iterator[Node]:
    """The rows of a table, not those of tables within it."""
    for child in table.children:
        if child.tag == "tr":
            yield child
        elif child.tag in ROW_GROUPS:
            yield from (row for row in child.children if row.tag == "tr")


def is_layout(table: Node) -> bool:
    """Whether a table only arranges a page, and says nothing by its rows and columns."""
    return table.attributes.get("role") in LAYOUT_ROLES


def mark_layout(document: Document) -> None:
    """Give ``role=presentation`` to the tables that only arrange the page.

    A table with headers or a caption of its own is data. One without is layout when its cells hold headings, tables or
    other structure of a page, or when it has a single column.
    """
    for table in document.nodes:
        if table.tag != "table" or is_layout(table):
            continue
        rows = list(rows_of(table))
        if any(child.tag in ("caption", "thead") for child in table.children):
            continue
        if any(cell.tag == "th" for row in rows for cell in row.children):
            continue
        if all(len(row.children) <= 1 for row in rows) or any(_arranges(cell) for row in rows for cell in row.children):
            table.attributes = {**table.attributes, "role": "presentation"}


def _arranges(cell: Node) -> bool:
    return any(
        node.tag in ("table", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "nav", "form")
        for node in cell.descendants()
    )


class Grid:
    """A data table laid out on its grid, with the header rows of each row."""

    def __init__(self, table: Node) -> None:
        self.rows: list[Row] = []
        self._row_at: dict[int, Row] = {}
        self._cell_at: dict[int, Cell] = {}
        for group in _groups(table):
            self._lay_out(group)
        self._assign_headers()

    def row(self, node: Node) -> Row | None:
        """The grid's row of this ``tr``."""
        return self._row_at.get(node.position)

    def column_headers(self, cell: Node) -> list[Node]:
        """The header cells over a cell, the outermost first."""
        placed = self._cell_at.get(cell.position)
        if placed is None:
            return []
        if named := self._named_headers(cell, placed, column=True):
            return named
        return [
            header.node
            for row in self.rows[placed.row].headers
            for header in row.cells
            if header.column < placed.column_end and placed.column < header.column_end and header.node.children
        ]

    def row_headers(self, cell: Node) -> list[Node]:
        """The header cells beside a cell, the outermost first: those of its row, those that span it, its group's."""
        placed = self._cell_at.get(cell.position)
        if placed is None:
            return []
        if named := self._named_headers(cell, placed, column=False):
            return named
        first = self.rows[placed.row]
        if first.is_header:
            return []
        found = [] if first.group is None else [cell.node for cell in first.group.cells if cell.node.children]
        # A cell that spans rows belongs to all of them.
        for row in self.rows[placed.row : placed.row_end]:
            for other in sorted((*row.from_above, *row.cells), key=lambda other: other.column):
                if other.node is cell:
                    # A header cell is headed by those before it, a data cell by all of its row.
                    if cell.tag == "th":
                        break
                    continue
                if other.is_header and _scope(other) not in ("col", "colgroup") and other.node.children:
                    found.append(other.node)
        return list(dict.fromkeys(found))

    def _named_headers(self, cell: Node, placed: Cell, *, column: bool) -> list[Node]:
        """The cells that the ``headers`` attribute names; it goes before what the grid says."""
        names = cell.attributes.get("headers")
        if not names:
            return []
        by_name = {other.node.attributes.get("id"): other for other in self._cell_at.values() if other.is_header}
        named = [by_name[name] for name in names.split() if name in by_name]
        named.sort(key=lambda other: other.node.position)
        return [other.node for other in named if (other.row < placed.row) == column and other.node is not cell]

    def _lay_out(self, group: list[Node]) -> None:
        """Place a row group's cells. Spans end with their group."""
        first = len(self.rows)
        spanning: list[Cell] = []
        for offset, node in enumerate(group):
            number = first + offset
            spanning = [cell for cell in spanning if cell.row_end > number]
            row = Row(node, from_above=list(spanning))
            taken = sorted((cell.column, cell.column_end) for cell in spanning)
            column = 0
            for child in node.children:
                if child.tag not in CELLS:
                    continue
                width = min(_span(child, "colspan"), WIDEST_SPAN)
                for start, end in taken:
                    if start <= column < end:
                        column = end
                height = _span(child, "rowspan") or len(group)
                cell = Cell(child, column, column + max(width, 1), number, min(number + height, first + len(group)))
                row.cells.append(cell)
                self._cell_at[child.position] = cell
                if cell.row_end > number + 1:
                    spanning.append(cell)
                column = cell.column_end
            row.is_header = _is_header_row(node, row)
            self.rows.append(row)
            self._row_at[node.position] = row

    def _assign_headers(self) -> None:
        """Header rows hold for the rows after them; those in the middle of a table take over from the ones before."""
        headers: list[Row] = []
        group: Row | None = None
        in_header = False
        width = max((cell.column_end for row in self.rows for cell in row.cells), default=0)
        for row in self.rows:
            if group is not None and _says_rowgroup(group) and row.node.parent is not group.node.parent:
                group = None
            if row.is_header:
                filled = [cell for cell in row.cells if cell.node.children]
                is_in_head = row.node.parent is not None and row.node.parent.tag == "thead"
                is_alone = len(filled) <= 1 and width > 1 and not is_in_head
                if is_alone and (headers or _says_rowgroup(row)):
                    group = row
                else:
                    if not in_header:
                        headers, group = [], None
                    headers.append(row)
                    in_header = True
                    row.headers = tuple(headers[:-1])
                    continue
            in_header = False
            row.headers = tuple(headers)
            row.group = None if row is group else group


def _groups(table: Node) -> Iterator[list[Node]]:
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


def _is_header_row(node: Node, row: Row) -> bool:
    """Rows of the head, and rows without a data cell of content. A ``th`` that says ``scope=row`` begins a data row; one
    that says ``scope=rowgroup`` and has no data beside it heads the rows after it."""
    if node.parent is not None and node.parent.tag == "thead":
        return True
    headers = [cell for cell in row.cells if cell.is_header]
    if any(_scope(cell) == "row" for cell in headers):
        return False
    # One header cell beside empty data cells heads a row that has no data yet.
    is_alone = len(headers) == 1 and len(row.cells) > 1 and not _says_rowgroup(row)
    return bool(headers) and not is_alone and all(cell.is_header or not cell.node.children for cell in row.cells)


def _scope(cell: Cell) -> str:
    return cell.node.attributes.get("scope", "").strip().lower()


def _says_rowgroup(row: Row) -> bool:
    """Whether a row's header cell says that it heads its row group (https://html.spec.whatwg.org, "row group header")."""
    return any(cell.is_header and _scope(cell) == "rowgroup" for cell in row.cells)


def _span(node: Node, name: str) -> int:
    text = node.attributes.get(name, "1").strip()
    return int(text[:6]) if text.isascii() and text.isdigit() else 1
