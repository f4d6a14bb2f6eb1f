from __future__ import annotations

import pytest

from evidence.tree.context import column_header, global_context, grid_of, row_header
from evidence.tree.document import Document, Node
from evidence.tree.html import parse
from evidence.tree.seeds import seeds
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
    assert both(body, "5") == (["Sweden", "Lund"], ["km"])
    assert both(body, "6") == (["Norway", "Oslo"], ["km"])


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
        ("<table role=table><tr><td>x<tr><td>y</table>", False),
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


def headed(body: str) -> list[str]:
    """Of each row: H for a header row by its tags, g for one by its look; its header rows; the heads of its parts."""
    table = next(node for node in page(body).nodes if node.tag == "table")
    grid = grid_of(table)
    assert grid is not None
    found = []
    for row in grid.rows:
        kind = "H" if row.is_header else "g" if row.is_guessed else "-"
        headers = ",".join(str(header.number) for header in row.headers)
        parts = " > ".join(node.content for node in grid.beside(row)) if row.group else ""
        found.append(" ".join(filter(None, (kind, headers, parts))))
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<tr><td><b>Zone</b><td><b>Fare</b><tr><td>A<td>five<tr><td>B<td>six", ["g", "- 0", "- 0"]),
        ("<tr><td><p><strong>Zone</strong></p><td><b>Fare</b><tr><td>A<td>x<tr><td>B<td>y", ["g", "- 0", "- 0"]),
        ("<tr><td>Zone<td>Name<td>Fare<tr><td>A<td>x<td>5<tr><td>B<td>y<td>6", ["g", "- 0", "- 0"]),
        ("<tr><td>Zone<td>Opens<td>Fare<tr><td>A<td>9:00<td>$5<tr><td>B<td>10:30<td>–", ["g", "- 0", "- 0"]),
        (
            "<tr><td><td>1948<td>1952<td>1956<tr><td>all<td>50<td>45<td>42<tr><td>few<td>1<td>2<td>3",
            ["g", "- 0", "- 0"],
        ),
        (
            "<tr><th>Sport<td>Gold<td>Silver<th>Total<tr><td>Judo<td>5<td>3<td>8<tr><td>Polo<td>1<td>2<td>3",
            ["g", "- 0", "- 0"],
        ),
        ("<tr><td>Depot<th>2025<th>2026<tr><td>Lund<td>1<td>2<tr><td>Umeå<td>3<td>4", ["g", "- 0", "- 0"]),
        ("<tr><td>A<td>x<tr><td>B<td>y<tr><td>C<td>z", ["-", "-", "-"]),
        ("<tr><td>1<td>2<tr><td>3<td>4<tr><td>5<td>6", ["-", "-", "-"]),
        ("<tr><td><b>A</b><td><b>x</b><tr><td><b>B</b><td><b>y</b>", ["-", "-"]),
        ("<tr><td>Name<td>Anna<tr><td>Age<td>5<tr><td>Weight<td>60", ["-", "-", "-"]),
    ],
)
def test_a_header_row_without_header_cells_is_known_by_its_look(body: str, expected: list[str]) -> None:
    """Most pages of companies have tables without th: "5" must be found as a fare."""
    assert headed(f"<table>{body}</table>") == expected


def test_a_row_that_is_taken_for_a_header_row_is_still_found() -> None:
    """The guess may be wrong, and then it would hide what the page says."""
    document = page(
        "<table><tr><td><b>Ann</b><td><b>12</b><td><b>ok</b><tr><td>Bob<td>13<td>no<tr><td>Cy<td>14<td>no</table>"
    )
    assert [seed.content for seed in seeds(document)] == ["Ann 12 ok", "Bob 13 no", "Cy 14 no"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "<tr><th>Town<th>km<tr><td colspan=2><b>Sweden</b><tr><td>Lund<td>5"
            "<tr><td colspan=2><b>Norway</b><tr><td>Oslo<td>6",
            ["H", "g 0", "- 0 Sweden", "g 0", "- 0 Norway"],
        ),
        (
            "<tr><th>Town<th>km<tr><td>Lund<td>5<tr><td colspan=2>Norway<tr><td>Oslo<td>6<tr><td colspan=2>By road",
            ["H", "- 0", "g 0", "- 0 Norway", "- Norway"],
        ),
        (
            "<tr><th>Town<th>km<tr><th colspan=2>Europe<tr><td colspan=2><b>Sweden</b><tr><td>Lund<td>5"
            "<tr><td colspan=2><b>Norway</b><tr><td>Oslo<td>6<tr><th colspan=2>Asia<tr><td>Kobe<td>7",
            ["H", "H 0", "g 0 Europe", "- 0 Europe > Sweden", "g 0 Europe", "- 0 Europe > Norway", "H 0", "- 0 Asia"],
        ),
        (
            "<tr><th>A<th>B<tr><td>1<td>2<tr><th colspan=2>1991<tr><th>A<th>B<tr><td>3<td>4",
            ["H", "- 0", "H 0", "H 1991", "- 3 1991"],
        ),
    ],
)
def test_a_row_across_the_table_heads_the_rows_after_it(body: str, expected: list[str]) -> None:
    assert headed(f"<table>{body}</table>") == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "<thead><tr><th>A<th>B</thead><tfoot><tr><th>Sum<th>9</tfoot><tbody><tr><td>1<td>2</tbody>",
            ["H", "- 0", "- 0"],
        ),
        ("<tr><th>A<th>B<tr><td>1<td>2<tr><th>Sum<th>2", ["H", "- 0", "- 0"]),
        ("<tr><th>A<th>B<tr><td>1<td>2<tr><th>Sum<th>2<tr><td>3<td>4", ["H", "- 0", "- 0", "- 0"]),
        ("<tr><th>A<th>B<tr><td>1<td>2<tr><th>A<th>B", ["H", "- 0", "H"]),
        ("<tr><th>A<th>B<tr><th>1<th>2<tr><th>3<th>4", ["H", "- 0", "- 0"]),
        ("<tr><td>1<td>2<tr><th>A<th>B", ["-", "-"]),
        ("<tbody><tr><td>1<td>2</tbody><thead><tr><th>A<th>B</thead>", ["- 1", "H"]),
        ("<thead><tr><td>A<td>B</thead><tr><td>1<td>2", ["H", "- 0"]),
        ("<tr><th>A<th>B" + "<tr><th>1<th>x" * 9 + "<tr><td>2<td>3", ["H", *["- 0"] * 10]),
    ],
)
def test_rows_of_header_cells_that_head_nothing_are_data(body: str, expected: list[str]) -> None:
    """A row of sums is what people ask for; as a header row it would not be found."""
    assert headed(f"<table>{body}</table>") == expected


def test_a_header_row_of_prose_is_a_row_of_data() -> None:
    """It would be paid for with each of its rows."""
    long = "A long story is told here. " * 10
    assert headed(f"<table><thead><tr><th>{long}<th>B</thead><tr><td>1<td>2</table>") == ["-", "-"]


def test_the_first_cell_names_the_row_where_no_header_cell_does() -> None:
    assert rows("<table><tr><td>Height<td>180<tr><td>Weight<td>60</table>", "60") == ["Weight"]
    ranked = "<table><tr><th>#<th>Name<th>Score<tr><td>1<td>Ann<td>7<tr><td>2<td>Bob<td>8</table>"
    assert rows(ranked, "8") == ["Bob"]
    assert rows(ranked, "Bob") == []
    assert rows("<table><tr><th>a<th>b<tr><td>x<td>1<tr><td>x<td>2<tr><td>x<td>3</table>", "3") == []


def test_pairs_beside_each_other_in_a_row_stay_apart() -> None:
    """An infobox of two pairs a row: the fare is not headed by "Zone"."""
    body = "<table><tr><th>Zone<td>A<th>Fare<td>5<tr><th>Line<td>7<th>Stop<td>Lund</table>"
    assert rows(body, "5") == ["Fare"]
    assert rows(body, "A") == ["Zone"]


def test_a_header_cell_at_the_right_heads_its_row() -> None:
    body = "<table><tr><td>5<td>6<th>Sum<tr><td>7<td>8<th>Mean</table>"
    assert rows(body, "8") == ["Mean"]


def test_the_headers_attribute_may_name_data_cells_and_nothing() -> None:
    body = '<table><tr><td id=a>A<td>B<tr><td>x<td headers="a no a">1</table>'
    assert columns(body, "1") == ["A"]


def test_a_note_across_the_table_has_no_column() -> None:
    """It would be told under "Zone", which it is not about."""
    body = "<table><tr><th>Zone<th>Fare<tr><td>A<td>5<tr><td colspan=2>Fares hold until May.</table>"
    assert columns(body, "Fares hold until May.") == []


def test_long_cells_from_above_come_as_their_first_sentence() -> None:
    """A description beside twenty rows would be told twenty times."""
    body = f"<table><tr><th>A<th>B<tr><td rowspan=2>Start. {'More is said here. ' * 20}<td>1<tr><td>2</table>"
    document = page(body)
    row = next(node for node in document.nodes if node.tag == "tr" and node.content == "2")
    assert [node.content for node in row_header(row)] == ["Start."]


def test_tables_made_to_be_slow_take_linear_time() -> None:
    """Each of these has thousands of cells or spans; quadratic steps would take longer than anyone waits."""
    bombs = [
        "<tr>" + "<th rowspan=0>a" * 4_000 + "<tr><td>b" * 4_000,
        "<tr><td rowspan=0>a<td>b" * 4_000,
        "<tr><td colspan=1000 rowspan=1000>a" * 4_000,
        "<tr><th>a<th>b" * 4_000,
        "<tr>" + "<th>k<td>v" * 4_000 + "<tr><td>1",
        "<tr>"
        + "".join(f"<th id=h{n}>h" for n in range(4000))
        + "<tr>"
        + "".join(f"<td headers=h{n}>v" for n in range(4000)),
    ]
    for bomb in bombs:
        document = page(f"<table>{bomb}</table>")
        for seed in seeds(document):
            assert len(list(column_header(seed)) + list(row_header(seed))) <= 40


def test_every_cell_of_a_very_large_table_has_its_headers() -> None:
    """A table of 100,000 cells that hangs a worker, or comes without its last rows."""
    columns, rows = 100, 1000
    head = "".join(f"<th>column {number}" for number in range(columns))
    body = "".join(f"<tr><th>row {number}" + f"<td>{number}" * (columns - 1) for number in range(rows))
    document = parse(f"<table><tr>{head}{body}</table>".encode())
    last = list(document.sentences())[-1]
    assert len(list(document.sentences())) == columns * (rows + 1)
    assert [entry.node.content for entry in global_context(last)] == ["row 999", "column 99"]
