from __future__ import annotations

from pathlib import Path

import pytest

from evidence.bench import kills
from evidence.bench.kills import Site
from evidence.bench.site import Lost


@pytest.mark.parametrize(("work", "victim"), [("jobs", "worker"), ("ingest", "database")])
def test_after_kills_nothing_is_lost(work: str, victim: str) -> None:
    """A power cut in the night, and half a handbook in the morning. (`manage.py bench kills` does it thirty times.)"""
    with kills.site(documents=3) as made:
        does = kills.WORKS[work](made)
        does.victims = (victim,)
        [_, killed, lost] = kills.rounds(made, does, 1, seed=3)
        assert f"{victim} " in killed
        assert lost == "nothing lost, nothing doubled"
        next(made.pages.iterdir()).write_bytes(kills.page(9, 9))
        with pytest.raises(Lost, match="are there as they are now"):
            made.compare()
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
