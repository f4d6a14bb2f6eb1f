from __future__ import annotations

import pytest

from evidence.tree.context import column_header, grid_of, row_header
from evidence.tree.document import Document, Node
from evidence.tree.html import parse
from evidence.tree.tables import is_layout, rows_of


def page(body: str) -> Document:
    return parse(body.encode(), "page.html")


def cell(document: Document, text: str) -> Node:
    return next(node for node in document.nodes if node.tag in ("td", "th") and node.content == text)


def columns(body: str, text: str) -> list[str]:
    return [header.content for header in column_header(cell(page(body), text))]


def rows(body: str, text: str) -> list[str]:
    return [header.content for header in row_header(cell(page(body), text))]


def both(body: str, text: str) -> tuple[list[str], list[str]]:
    return rows(body, text), columns(body, text)


FARES = "<table><tr><th>Zone<th>Fare<tr><th>A<td>5<tr><th>B<td>7</table>"
TWO_LEVELS = (
    "<table><thead><tr><th rowspan=2>Depot<th colspan=2>2025<th colspan=2>2026<tr><th>Spring<th>Autumn<th>Spring<th>Autumn"
    "</thead><tr><th>Lund<td>11<td>12<td>13<td>14</table>"
)


def test_a_cell_has_the_headers_of_its_row_and_column() -> None:
    assert both(FARES, "7") == (["B"], ["Fare"])
    assert both(FARES, "B") == ([], ["Zone"])
    assert both(FARES, "Fare") == ([], [])


def test_headers_of_two_levels_come_outermost_first() -> None:
    """The header "Autumn" alone does not say of which year."""
    assert both(TWO_LEVELS, "14") == (["Lund"], ["2026", "Autumn"])
    assert both(TWO_LEVELS, "12") == (["Lund"], ["2025", "Autumn"])
    assert both(TWO_LEVELS, "Lund") == ([], ["Depot"])


def test_a_table_without_thead_or_body_has_its_header_row_all_the_same() -> None:
    """Pages written by hand have neither."""
    assert columns("<table><tr><th>A<th>B<tr><td>1<td>2</table>", "2") == ["B"]
    assert columns("<table><tbody><tr><th>A<th>B</tbody><tbody><tr><td>1<td>2</table>", "2") == ["B"]


def test_header_cells_in_the_first_column_only() -> None:
    body = "<table><tr><th>A<td>1<td>2<tr><th>B<td>3<td>4</table>"
    assert both(body, "4") == (["B"], [])
    assert both(body, "A") == ([], [])


def test_a_corner_cell_that_is_empty_is_no_header() -> None:
    body = "<table><tr><td><th>2025<th>2026<tr><th>Lund<td>1<td>2</table>"
    assert both(body, "2") == (["Lund"], ["2026"])


def test_a_header_row_in_the_middle_takes_over() -> None:
    body = "<table><tr><th>A<th>B<tr><td>1<td>2<tr><th>C<th>D<tr><td>3<td>4</table>"
    assert columns(body, "2") == ["B"]
    assert columns(body, "4") == ["D"]


def test_a_data_cell_that_spans_rows_has_the_row_headers_of_all_of_them() -> None:
    """HTML's algorithm assigns a cell the headers of each row it covers."""
    body = (
        "<table><tr><th>Day<th>Shift<tr><th>Mon<td rowspan=2>Early<td>x<tr><th>Tue<td>y<tr><th>Wed<td>Late<td>z</table>"
    )
    assert rows(body, "Early") == ["Mon", "Tue"]
    assert rows(body, "Late") == ["Wed"]
    assert rows(body, "y") == ["Tue"]


def test_a_cell_that_spans_columns_has_the_headers_of_all_of_them() -> None:
    body = "<table><tr><th>A<th>B<th>C<tr><td colspan=2>wide<td>c</table>"
    assert columns(body, "wide") == ["A", "B"]
    assert columns(body, "c") == ["C"]


def test_a_header_that_spans_rows_is_the_header_of_each() -> None:
    body = "<table><tr><th rowspan=2>Sweden<th>Lund<td>5<tr><th>Umeå<td>6<tr><th>Norway<th>Oslo<td>7</table>"
    assert rows(body, "5") == ["Sweden", "Lund"]
    assert rows(body, "6") == ["Sweden", "Umeå"]
    assert rows(body, "7") == ["Norway", "Oslo"]
    assert rows(body, "Umeå") == ["Sweden"]


@pytest.mark.parametrize("scope", ["", " scope=rowgroup", " scope=colgroup"])
def test_a_row_of_one_header_heads_the_rows_after_it(scope: str) -> None:
    """The row "Sweden" stands over those of its towns: without it, a town's row does not say where it is."""
    body = (
        f"<table><tr><th>Town<th>km<tr><th colspan=2{scope}>Sweden<tr><td>Lund<td>5"
        "<tr><th colspan=2>Norway<tr><td>Oslo<td>6</table>"
    )
    assert both(body, "5") == (["Sweden"], ["km"])
    assert both(body, "6") == (["Norway"], ["km"])


def test_a_row_group_header_holds_for_its_group_only() -> None:
    """scope=rowgroup ends with the row group, whether or not the next group has a header."""
    body = (
        "<table><thead><tr><th>Town<th>km</thead>"
        "<tbody><tr><th colspan=2 scope=rowgroup>Sweden<tr><th scope=row>Lund<td>5</tbody>"
        "<tbody><tr><th scope=rowgroup>Norway<td><tr><th scope=row>Oslo<td>6</tbody>"
        "<tbody><tr><td>Sum<td>11</tbody></table>"
    )
    assert both(body, "5") == (["Sweden", "Lund"], ["km"])
    assert both(body, "6") == (["Norway", "Oslo"], ["km"])
    assert both(body, "11") == ([], ["km"])


def test_a_row_group_header_needs_no_column_headers() -> None:
    body = "<table><tr><th colspan=2 scope=rowgroup>Sweden<tr><td>Lund<td>5</table>"
    assert both(body, "5") == (["Sweden"], [])


def test_a_row_group_header_beside_its_rows_is_one_of_its_row() -> None:
    body = (
        "<table><tr><th>Land<th>Town<th>km<tbody><tr><th rowspan=2 scope=rowgroup>Sweden<th scope=row>Lund<td>5"
        "<tr><th scope=row>Umeå<td>6</table>"
    )
    assert both(body, "6") == (["Sweden", "Umeå"], ["km"])
    assert both(body, "5") == (["Sweden", "Lund"], ["km"])


def test_scopes_say_which_way_a_header_works() -> None:
    row = "<table><tr><th scope=row>A<th scope=row>B<tr><td>1<td>2</table>"
    column = "<table><tr><th>Top<th>Right<tr><th scope=col>A<td>1</table>"
    assert columns(row, "2") == []
    assert rows(column, "1") == []


def test_a_scope_that_says_nothing_is_no_scope() -> None:
    assert rows("<table><tr><th>A<th>B<tr><th scope=yes>r<td>1</table>", "1") == ["r"]
    assert rows("<table><tr><th>A<th>B<tr><th scope=ROW>r<td>1</table>", "1") == ["r"]


def test_the_headers_attribute_goes_before_the_grid() -> None:
    body = '<table><tr><th id=a>A<th id=b>B<tr><th id=r>R<td headers="a r">1<td headers="missing">2<td headers="">3</table>'
    assert both(body, "1") == (["R"], ["A"])
    assert both(body, "2") == (["R"], [])


@pytest.mark.parametrize("span", ["0", "-1", "x", "", "1.5", "²", "99999999999999999999", " 1 "])
@pytest.mark.parametrize("name", ["rowspan", "colspan"])
def test_spans_that_make_no_sense_lose_no_cell(name: str, span: str) -> None:
    """Pages say colspan="100%" and rowspan="65535"; no cell may vanish and no number may raise."""
    document = page(f'<table><tr><th {name}="{span}">A<th>B<tr><td>1<td>2<tr><td>3<td>4</table>')
    assert [node.text for node in document.sentences()] == ["A", "B", "1", "2", "3", "4"]
    table = next(node for node in document.nodes if node.tag == "table")
    assert grid_of(table) is not None
    for text in "1234":
        assert len(list(column_header(cell(document, text)))) <= 2


def test_rowspan_zero_goes_on_to_the_end_of_its_group() -> None:
    body = "<table><tbody><tr><th rowspan=0>A<td>1<tr><td>2</tbody><tbody><tr><th>B<td>3</tbody></table>"
    assert rows(body, "2") == ["A"]
    assert rows(body, "3") == ["B"]


def test_a_span_ends_with_its_group() -> None:
    body = "<table><tbody><tr><th rowspan=9>A<td>1</tbody><tbody><tr><td>2<td>3</tbody></table>"
    assert rows(body, "3") == []


def test_rows_of_different_lengths_are_read() -> None:
    body = "<table><tr><th>A<tr><td>1<td>2<td>3<tr></tr><tr><td>4</table>"
    assert columns(body, "3") == []
    assert columns(body, "4") == ["A"]


def test_a_table_in_a_cell_has_its_own_headers_and_those_of_the_cell() -> None:
    document = page("<table><tr><th>A<th>B<tr><th>r<td><table><tr><th>C<th>D<tr><td>8<td>9</table></table>")
    inner = next(node for node in document.sentences() if node.text == "9")
    assert [header.content for header in column_header(inner)] == ["B", "D"]
    assert [header.content for header in row_header(inner)] == ["r"]
    outer = next(node for node in document.nodes if node.tag == "table")
    assert [row.content for row in rows_of(outer)] == ["A B", "r C D 8 9"]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("<table role=presentation><tr><th>A<td>x</table>", True),
        ("<table><tr><td><h2>A</h2><td>x</table>", True),
        ("<table><tr><td><table><tr><th>A<td>b</table><td>x</table>", True),
        ("<table><tr><td>x<tr><td>y</table>", True),
        ("<table><tr><td>x<td>y<tr><td>z<td>w</table>", False),
        ("<table><caption>C</caption><tr><td>x</table>", False),
        ("<table><tr><th>A<th>B<tr><td><h3>x</h3><td>y</table>", False),
        ("<table><tr><td><ul><li>x</ul><td>y</table>", False),
    ],
)
def test_tables_that_only_arrange_the_page(table: str, expected: bool) -> None:
    """Old portals are tables; their cells have nothing to do with each other."""
    document = page(table)
    assert is_layout(next(node for node in document.nodes if node.tag == "table")) is expected


def test_a_table_of_many_rows_takes_linear_time() -> None:
    """5,000 rows, each under a header that spans them all; quadratic steps would not end within the patience of anyone."""
    many = "".join(f"<tr><td>{number}<td>x" for number in range(5000))
    document = page(f"<table><tr><th>N<th>X<th>S<tr><td>0<td>x<th rowspan=0>S{many}</table>")
    assert columns_of(document, "4999") == ["N"]
    assert [header.content for header in row_header(cell(document, "4999"))] == ["S"]


def columns_of(document: Document, text: str) -> list[str]:
    return [header.content for header in column_header(cell(document, text))]
