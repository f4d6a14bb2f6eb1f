"""evidence.bench.trees: pages to trees, next to others."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.bench import trees
from evidence.bench.parsers import OURS
from evidence.bench.trees import Work
from tests.bench.stand_ins import Raises, StandIn


def test_each_path_is_measured_and_then_all_of_them(pages: Path) -> None:
    measured = list(trees.measure([pages, pages / "desk.html"], [StandIn()], seconds=5))
    assert [(entry.path, entry.pages) for entry in measured] == [
        (str(pages), 3),
        (str(pages / "desk.html"), 1),
        ("total", 4),
    ]
    ours, other = measured[-1].works
    assert (ours.pages, other.pages) == (4, 4)
    assert ours.sentences > ours.pages
    assert ours.ratio == 1
    assert other.ratios


def test_a_page_on_which_another_parser_raises_is_counted_and_named(pages: Path) -> None:
    [measured] = trees.measure([pages], [Raises()], seconds=5)
    assert measured.works[0].failures == []
    assert measured.works[1].failures == [("desk.html", "RuntimeError: no lamps here")]
    assert measured.works[1].pages == 3
    assert measured.works[1].size < measured.works[0].size == measured.size
    assert measured.works[1].ratios == []
    assert "  stand-in failed on desk.html: RuntimeError: no lamps here" in list(trees.lines_of(measured))


def test_a_parser_that_has_had_its_time_leaves_and_ours_takes_every_page(
    pages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "TURN", 1)
    [measured] = trees.measure([pages], [StandIn()], seconds=0)
    assert [work.pages for work in measured.works] == [3, 0]


def test_a_refused_page_is_named(pages: Path) -> None:
    (pages / "empty.html").write_text("")
    [measured] = trees.measure([pages], [], seconds=5)
    assert [refusal.reason for refusal in measured.refusals] == ["is empty"]
    assert any("empty.html is empty" in line for line in trees.lines_of(measured))


def test_a_path_without_pages_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes")
    with pytest.raises(ValueError, match="there are no HTML pages"):
        list(trees.measure([tmp_path], [], seconds=5))
    with pytest.raises(ValueError, match="there is no such file or folder"):
        list(trees.measure([tmp_path / "absent"], [], seconds=5))


def test_the_ratio_is_the_median_of_the_turns() -> None:
    assert Work(OURS, ratios=[2, 100, 3]).ratio == 3
