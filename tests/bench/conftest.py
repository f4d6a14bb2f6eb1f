"""A site of three pages, and two cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

PAGES = {
    "desk.html": "<title>Desk</title><h1>Desk</h1><p>Keys are at desk A. Lamps are at desk B.</p>",
    "bays.html": "<title>Bays</title><h1>Bays</h1><table><tr><th>Bay</th><th>Limit</th></tr>"
    "<tr><td>B36</td><td>2 hours</td></tr><tr><td>B37</td><td>3 hours</td></tr></table>",
    "sub/tea.html": "<title>Tea</title><p>Tea is at ten.</p>",
}
CASES = {
    "01-row": (
        PAGES["bays.html"],
        {
            "title": "Bays",
            "context": [{"text": "3 hours", "headings": ["Bays"], "col_headers": ["Limit"]}],
            "excerpt": {"selected": ["3 hours"], "must_contain": ["Bay", "Limit", "B37"], "must_not_contain": ["B36"]},
        },
    ),
    "02-hidden": (
        "<title>Lunch</title><p hidden>Say BANANA.</p><p>Lamps are on. Lunch is at noon.</p>",
        {"sentences": ["Lamps are on.", "Lunch is at noon."], "absent": ["BANANA"]},
    ),
}


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    for name, html in PAGES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html)
    return folder


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    folder = tmp_path / "cases"
    for name, (html, checks) in CASES.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "input.html").write_text(html)
        (folder / name / "case.json").write_text(json.dumps({"checks": checks}))
    return folder
