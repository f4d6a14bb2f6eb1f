from __future__ import annotations

import pytest
from hypothesis import given

from evidence.ingest.units import WORDS_OF_A_PASSAGE, Section, sections_of, units_of
from evidence.tree.document import Document
from evidence.tree.html import parse
from evidence.tree.units import Unit, row_text, single_text
from tests.tree.strategies import pages

PAGE = """<title>Handbook</title><h1>Leave</h1><p>Ask early. Sign it.</p>
<h2>Short</h2><p>Bring these:<ul><li>bank card<li>key</ul><dl><dt>RTO<dd>Measured in hours.</dl>
<table><caption>Fares</caption><tr><th>Zone<th colspan=2>Fare<tr><td>A<td>5<td>6<tr><td>B<td>7<td></table>
<h2>Long</h2><p>Wait.</p>"""


def page(body: str) -> Document:
    return parse(body.encode(), "page.html")


def contents(units: list[Unit]) -> list[str]:
    return [" ".join(node.content for node in unit.nodes) for unit in units]


def single(body: str, number: int, *, context: bool = True) -> str:
    return single_text(units_of(page(body), "seed")[number], context=context)


def test_seeds_are_the_sentences_and_rows_that_are_found() -> None:
    assert contents(units_of(page(PAGE), "seed")) == [
        "Ask early.",
        "Sign it.",
        "Bring these:",
        "bank card",
        "key",
        "Measured in hours.",
        "A 5 6",
        "B 7",
        "Wait.",
    ]


def test_other_units_for_the_experiments() -> None:
    """Indexes over sentences, blocks and passages are compared with the one over seeds."""
    document = page(PAGE)
    assert contents(units_of(document, "sentence"))[:4] == ["Ask early.", "Sign it.", "Bring these:", "bank card"]
    assert "7" in contents(units_of(document, "sentence"))
    assert contents(units_of(document, "block"))[0] == "Ask early. Sign it."
    assert contents(units_of(document, "passage")) == [
        "Leave Ask early. Sign it. Short Bring these: bank card key RTO Measured in hours. "
        "Fares Zone Fare A 5 6 B 7 Long Wait."
    ]


def test_passages_are_of_about_a_hundred_words() -> None:
    units = units_of(page("<p>" + "Seven words are in this one sentence. " * 60), "passage")
    lengths = [len(text.split()) for text in contents(units)]
    assert sum(lengths) == 7 * 60
    assert all(WORDS_OF_A_PASSAGE <= length < WORDS_OF_A_PASSAGE + 7 for length in lengths[:-1])


def test_a_unit_that_is_not_known_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"unknown unit 'page'; there are seed, sentence, block and passage"):
        units_of(page(PAGE), "page")


def test_an_empty_page_has_no_units() -> None:
    for unit in ("seed", "sentence", "block", "passage"):
        assert units_of(page(""), unit) == []
    assert list(sections_of(page(""), [], context=True)) == []


def test_a_sentence_on_its_own_is_told_its_context_first() -> None:
    """The model reads what a reader would have to know."""
    assert single(PAGE, 3) == "Handbook. Leave. Short. Bring these: bank card"
    assert single(PAGE, 3, context=False) == "bank card"
    assert single(PAGE, 5) == "Handbook. Leave. Short. RTO. Measured in hours."


def test_a_row_names_the_header_of_each_cell() -> None:
    assert single(PAGE, 6) == "Handbook. Leave. Short. Fares. Zone: A; Fare: 5; Fare: 6"
    assert single(PAGE, 6, context=False) == "A; 5; 6"


def test_the_text_of_a_row_leaves_out_empty_cells_and_takes_all_levels_of_headers() -> None:
    document = page(
        "<table><tr><th rowspan=2>Depot<th colspan=2>2026<tr><th>Spring<th>Autumn<tr><th>Lund<td><td>14</table>"
    )
    row = [node for node in document.nodes if node.tag == "tr"][2]
    assert row_text(row) == "Depot: Lund; 2026 Autumn: 14"
    assert row_text(row, headers=False) == "Lund; 14"


def test_sections_hold_the_running_text_under_the_same_headings() -> None:
    """Sentences that are encoded together must share their context; rows are encoded one by one."""
    document = page(PAGE)
    units = units_of(document, "seed")
    assert list(sections_of(document, units, context=True)) == [
        Section("Handbook. Leave.", ("Ask early.", "Sign it."), (0, 1)),
        Section(
            "Handbook. Leave. Short.",
            ("Bring these:", "bank card", "key", "RTO", "Measured in hours.", "Fares"),
            (2, 3, 4, None, 5, None),
        ),
        Section("Handbook. Leave. Long.", ("Wait.",), (8,)),
    ]


def test_sections_without_context_are_not_told_any() -> None:
    document = page(PAGE)
    units = units_of(document, "seed")
    assert {section.context for section in sections_of(document, units, context=False)} == {""}


@pytest.mark.parametrize("unit", ["seed", "sentence"])
@given(text=pages())
def test_every_unit_is_embedded_once(unit: str, text: str) -> None:
    """A unit without a vector is never found; one with two would be embedded twice."""
    document = parse(text.encode())
    units = units_of(document, unit)
    in_sections = [n for section in sections_of(document, units, context=True) for n in section.units if n is not None]
    alone = [number for number, found in enumerate(units) if found.nodes[0].tag == "tr"]
    assert sorted(in_sections + alone) == list(range(len(units)))
    for section in sections_of(document, units, context=True):
        assert len(section.pieces) == len(section.units)
        assert all(piece.strip() for piece in section.pieces)
    assert all(single_text(found, context=True).strip() for found in units)
