"""Which rows of a table head the others: as its tags say, else as a reader sees it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise

from evidence.tree.cells import Cell, Row

LONGEST_HEADER = 200
"""Characters. A row with a longer cell is a row of prose, whatever its tags say."""

MOST_HEADER_ROWS = 5
"""Rows. Where more follow each other, ``th`` is the page's word for a cell, and only the first of them is a header row."""

LONGEST_GUESSED = 60
LONGEST_GROUP = 80
"""Characters of a cell that is taken for a header, or for the head of a part of the table, by its look."""

ROWS_LOOKED_AT = 30
ENOUGH = 0.8
"""The share of a column's cells that must be numbers for the column to be one of numbers."""

BOLD = re.compile(r"(?:<a [^>]*>)?<(b|strong)>.*</\1>(?:</a>)?", re.DOTALL)
NUMBER = re.compile(r"[^\w(]*\(?[^\w]*\d[\d\s.,:/×x^+−–-]*[^\W\d]{0,3}[^\w]*")
SAYS_NOTHING = re.compile(r"\W*|n/?a|none|tba|tbd", re.IGNORECASE)
YEAR = re.compile(r"(?:1[0-9]|20|21)\d\d(?:\s?[/–-]\s?\d{2,4})?")
ENDS_A_SENTENCE = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")


def assign_headers(rows: Sequence[Row]) -> None:
    """Say of each row whether it is a header row, which header rows hold for it, and which row heads its part.

    Header rows hold for the rows after them; those in the middle of a table take over from the ones before, and so does
    the head of a part from the one before that looks like it (as headings do).
    """
    width = _width(rows)
    _mark_declared(rows, width)
    _mark_guessed(rows, width)
    headers: list[Row] = []
    parts: list[Row] = []
    before: Row | None = None
    for row in rows:
        if row.is_header and row.is_in_foot:
            continue
        if parts and _says_rowgroup(parts[-1]) and row.node.parent is not parts[-1].node.parent:
            parts.pop()
        heads = row.is_header or row.is_guessed
        if heads and _is_alone(row, width) and (headers or row.is_guessed or _says_rowgroup(row)):
            looks = [_look(part) for part in parts]
            if _look(row) in looks:
                del parts[looks.index(_look(row)) :]
            row.headers, row.group = tuple(headers), parts[-1] if parts else None
            parts.append(row)
        elif heads:
            if before is None or not (before.is_header or before.is_guessed) or before in parts:
                said = [_texts(header) for header in headers]
                is_again = _texts(row) in said
                if not is_again and before not in parts:
                    parts = []
                del headers[said.index(_texts(row)) if is_again else 0 :]
            row.headers, row.group = tuple(headers), parts[-1] if parts else None
            headers.append(row)
        else:
            row.headers = () if _is_note(row, width) else tuple(headers)
            row.group = parts[-1] if parts else None
        if row.cells:
            before = row
    _let_a_late_head_serve(rows)


def key_column(rows: Sequence[Row]) -> int | None:
    """The column whose cells name these rows of data, where no header cell does: the first with a text or a date of its own
    in each row. None where there is none, or too few rows to see one."""
    body = [row for row in rows if len(row.filled) > 1][:ROWS_LOOKED_AT]
    if len(body) < 2:
        return None
    for column in range(3):
        cells = [cell for row in body if (cell := cell_at(row, column)) is not None and cell.is_filled]
        texts = [cell.node.content for cell in {cell.node.position: cell for cell in cells}.values()]
        if len(cells) < 0.9 * len(body) or len(set(texts)) < max(ENOUGH * len(body), 2):
            continue
        if any(len(text) > LONGEST_GUESSED for text in texts):
            continue
        is_date = sum(1 for text in texts if YEAR.search(text)) >= ENOUGH * len(texts)
        if is_date or sum(1 for text in texts if not _is_number(text)) >= ENOUGH * len(texts):
            return column
    return None


def cell_at(row: Row, column: int) -> Cell | None:
    """The cell of a row that covers one of the first columns, be it from a row above."""
    for cells in (row.cells, row.from_above):
        for cell in cells:
            if cell.column > column:
                break
            if column < cell.column_end:
                return cell
    return None


def _mark_declared(rows: Sequence[Row], width: int) -> None:
    body = [row for row in rows if row.cells and not row.is_in_foot]
    runs = [(declares, list(run)) for declares, run in groupby(body, _declares_header)]
    top: list[list[str]] = []
    for number, (declares, run) in enumerate(runs):
        if not declares:
            continue
        kept = run[:1] if len(run) > MOST_HEADER_ROWS else run
        if number == len(runs) - 1:
            # Nothing comes after these rows that they could head. A repeated header row is one all the same.
            is_first = number == 0
            kept = [row for row in kept if row.is_in_head or (is_first and row is run[0]) or _texts(row) in top]
        elif number > 0:
            # A row of sums in header cells is none.
            kept = [
                row for row in kept if row.is_in_head or _is_alone(row, width) or not _is_mostly_numbers(row.filled)
            ]
        for row in kept:
            row.is_header = True
        top = top or [_texts(row) for row in kept]
    for row in rows:
        if row.is_in_foot and row.filled:
            row.is_header = _texts(row) in top


def _declares_header(row: Row) -> bool:
    """Rows of the head, and rows without a data cell of content. A ``th`` that says ``scope=row`` begins a data row; one
    that says ``scope=rowgroup`` and has no data beside it heads the rows after it."""
    headers = [cell for cell in row.cells if cell.is_header]
    if not row.is_in_head:
        if not headers or any(cell.scope == "row" for cell in headers):
            return False
        # One header cell beside empty data cells heads a row that has no data yet.
        if len(headers) == 1 and len(row.cells) > 1 and not _says_rowgroup(row):
            return False
        if not all(cell.is_header for cell in row.filled):
            return False
    filled = row.filled
    return bool(filled) and not any(_is_prose(cell) for cell in filled)


def _mark_guessed(rows: Sequence[Row], width: int) -> None:
    for row, following in pairwise(rows):
        if not row.is_header and _looks_like_part(row, width, following, is_first=row is rows[0]):
            row.is_guessed = True
    heads = [row for row in rows if row.is_header and not _is_alone(row, width)]
    if heads:
        return
    top = [row for row in rows if row.filled and not (row.is_header or row.is_guessed)][: ROWS_LOOKED_AT + 1]
    for number, row in enumerate(top[:3]):
        if not _looks_like_header(row, top[number + 1 :], width, is_first=number == 0):
            break
        row.is_guessed = True
        if not any(cell.column_end > cell.column + 1 or cell.row_end > cell.row + 1 for cell in row.cells):
            break


def _looks_like_header(row: Row, body: Sequence[Row], width: int, *, is_first: bool) -> bool:
    cells = row.filled
    if len(cells) < 2 or not body or any(_is_prose(cell, LONGEST_GUESSED) for cell in cells):
        return False
    if any(cell.scope == "row" for cell in cells):
        return False
    marked = [cell for cell in cells if cell.is_header or _is_bold(cell)]
    if len(marked) == len(cells) and not all(_is_marked(other) for other in body):
        return not _is_mostly_numbers(cells)
    if not is_first:
        return False
    plain = [cell for cell in cells if not cell.is_header]
    if len(cells) > len(plain) + 1 and not any(_is_data(cell) for cell in plain):
        # Header cells, with data cells among them. A table of two header columns has as many in each row.
        return sum(1 for other in body if sum(cell.is_header for cell in other.filled) < 2) >= ENOUGH * len(body)
    if any(_is_data(cell) for cell in cells):
        return _are_years(plain) and not any(_are_years(other.filled) for other in body)
    # In a table with header cells at the left, these say nothing about the first row.
    return len(cells) >= width - 1 and len(plain) > 1 and _differs(plain, body, width)


def _differs(cells: Sequence[Cell], body: Sequence[Row], width: int) -> bool:
    """Whether these cells are words over a column of numbers, or short names over a column of prose."""
    few = 4 if width < 3 else 2
    for cell in cells:
        below = [other.node.content for row in body for other in row.filled if other.column == cell.column]
        said = [text for text in below if not SAYS_NOTHING.fullmatch(text)]
        if len(said) < few:
            continue
        numbers = sum(1 for text in said if _is_number(text) or YEAR.search(text))
        if numbers >= (ENOUGH if width > 2 else 1) * len(said):
            return True
        is_name = len(cell.node.content) <= 25 and not ENDS_A_SENTENCE.search(cell.node.content)
        if is_name and len(said) > few and all(len(text) >= 60 for text in said):
            return True
    return False


def _looks_like_part(row: Row, width: int, following: Row, *, is_first: bool) -> bool:
    """Whether a row of one cell heads the rows after it."""
    filled = row.filled
    if len(filled) != 1 or width < 2 or len(following.filled) < 2 or following.is_in_head:
        return False
    cell = filled[0]
    text = cell.node.content
    if len(text) > LONGEST_GROUP or cell.scope == "row":
        return False
    spans_all = cell.column == 0 and cell.column_end >= width
    if _is_bold(cell):
        return spans_all or (len(row.cells) > 1 and cell is row.cells[0] and not row.from_above)
    return spans_all and not is_first and not cell.is_header and not ENDS_A_SENTENCE.search(text)


def _let_a_late_head_serve(rows: Sequence[Row]) -> None:
    """A ``thead`` that comes after its rows is shown above them all the same."""
    head = tuple(row for row in rows if row.is_header and row.is_in_head)[:MOST_HEADER_ROWS]
    if head and head[0] is not rows[0]:
        for row in rows[: head[0].number]:
            if not row.headers and not row.is_header and len(row.filled) > 1:
                row.headers = head


def _width(rows: Sequence[Row]) -> int:
    """The columns of a table, by its rows of several cells: a cell that spans all often says more than there are."""
    several = [row.cells[-1].column_end for row in rows if len(row.cells) > 1]
    return max(several or [row.cells[-1].column_end for row in rows if row.cells], default=0)


def _is_alone(row: Row, width: int) -> bool:
    return len(row.filled) <= 1 and width > 1 and not row.is_in_head


def _is_note(row: Row, width: int) -> bool:
    """A row of one cell under all columns, which no column's header is about."""
    return width > 1 and len(row.cells) == 1 and row.cells[0].column == 0 and row.cells[0].column_end >= width


def _says_rowgroup(row: Row) -> bool:
    """Whether a row's header cell says that it heads its row group (https://html.spec.whatwg.org, "row group header")."""
    return any(cell.is_header and cell.scope == "rowgroup" for cell in row.cells)


def _look(row: Row) -> tuple[str, bool]:
    cell = row.filled[0]
    return cell.node.tag, _is_bold(cell)


def _texts(row: Row) -> list[str]:
    return [cell.node.content for cell in row.cells]


def _is_prose(cell: Cell, longest: int = LONGEST_HEADER) -> bool:
    return sum(len(sentence.text) for sentence in cell.node.sentences()) > longest


def _is_bold(cell: Cell) -> bool:
    return all(BOLD.fullmatch(sentence.markup) for sentence in cell.node.sentences())


def _is_marked(row: Row) -> bool:
    return all(cell.is_header or _is_bold(cell) for cell in row.filled)


def _is_data(cell: Cell) -> bool:
    text = cell.node.content
    return _is_number(text) or bool(SAYS_NOTHING.fullmatch(text)) or bool(ENDS_A_SENTENCE.search(text))


def _is_number(text: str) -> bool:
    return len(text) < LONGEST_GUESSED and NUMBER.fullmatch(text) is not None


def _is_mostly_numbers(cells: Sequence[Cell]) -> bool:
    said = [cell.node.content for cell in cells if not cell.scope.startswith("col")]
    numbers = sum(1 for text in said if _is_number(text))
    return numbers > 0 and 2 * numbers > len(said) - 1 and not _are_years(cells)


def _are_years(cells: Sequence[Cell]) -> bool:
    """Whether these cells, the first perhaps left out, are years in order."""
    texts = [cell.node.content for cell in cells]
    years = [text for text in texts if YEAR.fullmatch(text)]
    return len(years) >= max(3, len(texts) - 1) and (years == sorted(set(years)) or years == sorted(set(years))[::-1])
