"""``manage.py bench tree`` as people call it."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evidence.bench import linear, parsers_others
from tests.bench.stand_ins import Missing, Raises


def bench(*arguments: object) -> str:
    written = StringIO()
    call_command("bench", "tree", *map(str, arguments), stdout=written)
    return written.getvalue()


def test_pages_cases_and_growth_in_one_run(
    pages: Path, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsers_others, "OTHERS", (Raises(), Missing()))
    monkeypatch.setattr(linear, "SIZES", (1000,))
    record = tmp_path / "figures.json"
    shown = bench(
        pages, "--compare", "--cases", cases, "--linear", pages / "desk.html", "--json", record, "--seconds", 5
    )
    assert "3 pages, 0.0 MB, 0 refused" in shown
    assert "missing is not installed; the extra brings it: pip install 'spire[bench]'" in shown
    assert "stand-in failed on desk.html" in shown
    assert "row alone, with all that it needs" in shown
    figures = json.loads(record.read_text())
    assert [parser["pages"] for parser in figures["speed"][0]["parsers"]] == [3, 3]
    assert set(figures) == {"speed", "losses", "linear"}


def test_without_compare_only_ours_is_measured(pages: Path) -> None:
    shown = bench(pages)
    assert "SPIRE" in shown
    assert "lxml" not in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to measure: give a PATH, --cases or --linear FILE"),
        (["/no/such/folder"], "there is no such file or folder"),
        (
            ["/no/such/folder", "--compare", "beautiful"],
            "'beautiful' is no parser that is known here: choose from lxml,",
        ),
        (["--linear", "/no/such/page.html"], "No such file"),
        (["--cases", "/no/such/folder"], "there are no cases"),
    ],
)
def test_what_cannot_be_measured_is_said(arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        bench(*arguments)
