"""evidence.bench.losses: what parsers lose of pages whose right reading is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.bench import losses
from evidence.bench.checks import ALONE, APART, CHARSET, HEADERS, HIDDEN, LARGE, READ, ROW, SENTENCE
from evidence.bench.losses import FAILED, KEPT, LEFT_TO_CALLER, LOST
from evidence.bench.parsers import OURS, Parser
from tests.bench.stand_ins import Raises, StandIn, TakesText


def results(cases: Path, parser: Parser) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for outcome in losses.measure(losses.read_cases(cases), [parser])[parser.label]:
        found.setdefault((outcome.case, outcome.kind), []).append(outcome.result)
    return found


def test_ours_keeps_all_of_two_cases_and_of_a_deep_page(cases: Path) -> None:
    found = results(cases, OURS)
    assert {result for kinds in found.values() for result in kinds} == {KEPT}
    assert found["10,000 levels", LARGE] == [KEPT, KEPT]


def test_a_parser_that_gives_a_page_as_one_text_loses_what_a_row_and_hidden_text_need(cases: Path) -> None:
    found = results(cases, StandIn())
    assert found["01-row", HEADERS] == [KEPT]
    assert found["01-row", APART] == [LOST]
    assert found["01-row", ROW] == [LOST]
    assert found["02-hidden", HIDDEN] == [LOST]
    assert found["02-hidden", SENTENCE] == [KEPT, KEPT]
    assert found["02-hidden", ALONE] == [LOST, LOST]


def test_a_parser_that_raises_fails_every_check_of_that_page(cases: Path) -> None:
    found = results(cases, Raises())
    assert found["02-hidden", READ] == [FAILED]
    assert found["02-hidden", SENTENCE] == [FAILED, FAILED]
    assert found["01-row", READ] == [KEPT]


def test_the_table_counts_what_is_kept_and_what_failed(cases: Path) -> None:
    found = losses.measure(losses.read_cases(cases), [OURS, Raises()])
    rows = {row[0]: row[1:] for row in losses.table_of(found).rows}
    assert rows[SENTENCE] == ["2 of 2", "0 of 2, 2 failed"]


def test_decoding_is_not_asked_of_a_parser_that_takes_text(tmp_path: Path) -> None:
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "input.html").write_bytes('<meta charset="latin1"><p>Café.</p>'.encode("latin-1"))
    (tmp_path / "case" / "case.json").write_text('{"checks": {"sentences": ["Café."], "encoding": "latin-1"}}')
    assert results(tmp_path, TakesText())["case", CHARSET] == [LEFT_TO_CALLER]
    assert results(tmp_path, OURS)["case", CHARSET] == [KEPT]


def test_a_folder_without_cases_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there are no cases"):
        losses.read_cases(tmp_path)
