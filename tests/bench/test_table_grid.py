"""evidence.bench.table_grid: which header stands over and beside a cell, in any parser's HTML."""

from __future__ import annotations

from evidence.bench.table_grid import grid_of_html, tells_apart

STOCK = """<table><tr><th rowspan=2>Depot<th colspan=2>2025<th colspan=2>2026</tr>
<tr><th>Spring<th>Autumn<th>Spring<th>Autumn</tr><tr><th>Lund<td>11<td>12<td>13<td>14</tr></table>"""


def test_a_cell_stands_under_every_header_that_spans_it() -> None:
    grid = grid_of_html(STOCK)
    assert grid[0] == ("Depot", "2025", "2025", "2026", "2026")
    assert grid[1] == ("Depot", "Spring", "Autumn", "Spring", "Autumn")
    assert tells_apart(grid, "14", column_headers=["2026", "Autumn"], row_headers=["Lund"])
    assert not tells_apart(grid, "14", column_headers=["2025", "Autumn"], row_headers=["Lund"])
    assert not tells_apart(grid, "14", column_headers=["Autumn", "2026"], row_headers=[])
    assert not tells_apart(grid, "14", column_headers=[], row_headers=["Malmö"])


def test_of_nested_tables_the_inner_one_is_the_grid() -> None:
    assert grid_of_html("<table><tr><td><table><tr><td>Soup</td></tr></table></td></tr></table>") == (("Soup",),)


def test_what_is_no_table_or_spans_nonsense_is_no_error() -> None:
    assert grid_of_html("<p>No table.</p>") == ()
    assert grid_of_html('<table><tr><td colspan="all">a<td rowspan="99999999">b</table>') == (("a", "b"),)
