from __future__ import annotations

from pathlib import Path

import pytest

from evidence.bench import kills
from evidence.bench.kills import Site
from evidence.bench.site import Lost


def test_after_kills_of_the_ingest_and_the_database_nothing_is_lost() -> None:
    """A power cut in the night, and half a handbook in the morning. (`manage.py bench kills` does it thirty times.)"""
    with kills.site(documents=3) as made:
        made.victims = ("ingest", "database")
        lines = list(kills.rounds(made, 2, seed=3))
    assert len(lines) == 4
    assert "ingest" in lines[1]
    assert "database" in lines[2]
    assert lines[-1] == "nothing lost, nothing doubled"
    assert not made.folder.exists()


def test_a_command_that_fails_is_told_with_what_it_said(tmp_path: Path) -> None:
    """A bench that calls everything whole."""
    made = Site(tmp_path, documents=1)
    with pytest.raises(Lost, match=r"(?s)verify --nothing failed:.*unrecognized arguments: --nothing"):
        made.run("verify", "--nothing")


def test_pages_of_two_versions_differ_in_a_part_only() -> None:
    """Rounds in which nothing is to be done, or all is embedded anew."""
    first, second = kills.page(1, 1).decode(), kills.page(1, 2).decode()
    assert first != second
    assert first.count("version 0") == second.count("version 0") > 0
