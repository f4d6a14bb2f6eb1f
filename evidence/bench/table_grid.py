"""Tables of other parsers' HTML, laid out: which text stands over and beside which."""

from __future__ import annotations

import lxml.html

Grid = tuple[tuple[str, ...], ...]
"""The rows of a table, each cell's text in every place that it spans."""

WIDEST = 1000


def grid_of_html(markup: str) -> Grid:
    """The first table of a markup that holds no other table; () when there is none."""
    if "<table" not in markup:
        return ()
    for table in lxml.html.fromstring(f"<div>{markup}</div>").iter("table"):
        if next(table.iterdescendants("table"), None) is None:
            return _lay_out(table)
    return ()


def _lay_out(table: lxml.html.HtmlElement) -> Grid:
    places: dict[tuple[int, int], str] = {}
    rows = list(table.iter("tr"))
    for y, row in enumerate(rows):
        x = 0
        for cell in row.iterchildren("td", "th"):
            while (y, x) in places:
                x += 1
            text = " ".join(cell.text_content().split())
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            for below in range(y, min(y + height, len(rows))):
                places.update(dict.fromkeys(((below, beside) for beside in range(x, x + width)), text))
            x += width
    width = 1 + max((x for _, x in places), default=-1)
    return tuple(tuple(places.get((y, x), "") for x in range(width)) for y in range(len(rows)))


def _span(cell: lxml.html.HtmlElement, name: str) -> int:
    value = cell.get(name, "1")
    return min(max(int(value), 1), WIDEST) if value.isdecimal() else 1


def tells_apart(grid: Grid, cell: str, *, column_headers: list[str], row_headers: list[str]) -> bool:
    """Whether the table holds this cell under all these headers, the outermost first, and beside those."""
    for y, row in enumerate(grid):
        for x, text in enumerate(row):
            if text != cell:
                continue
            above = [grid[upper][x] for upper in range(y)]
            if _in_order(column_headers, above) and set(row_headers) <= {*row[:x], *row[x + 1 :]}:
                return True
    return False


def _in_order(wanted: list[str], texts: list[str]) -> bool:
    remaining = iter(texts)
    return all(any(text == header for text in remaining) for header in wanted)
