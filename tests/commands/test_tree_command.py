from __future__ import annotations

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

ROOT = Path(__file__).parent.parent.parent
PAGE = """<!doctype html><html lang=en><title>Leave</title><h1>Leave</h1><h2>Short</h2>
<p>Bring <a href=form.html>the form</a>:<ol start=3><li>bank card</ol>
<dl><dt>RTO<dd>Measured in hours.</dl>
<table><caption>Fares</caption><tr><th>Zone<th>Fare<tr><th>A<td>5</table>"""

KEYS = {
    "path",
    "text",
    "tag",
    "headings",
    "label",
    "terms",
    "row_headers",
    "col_headers",
    "list_number",
    "context",
    "apart",
}


def tree(path: Path, **options: Any) -> str:
    out = StringIO()
    call_command("tree", str(path), stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def leave(tmp_path: Path) -> Path:
    path = tmp_path / "leave.html"
    path.write_text(PAGE, "utf-8")
    return path


def described(path: Path, **options: Any) -> dict[str, dict[str, Any]]:
    return {sentence["text"]: sentence for sentence in json.loads(tree(path, json=True, **options))["sentences"]}


def test_a_page_is_shown_as_a_tree_without_a_database(leave: Path) -> None:
    """No ``db`` mark: pytest-django would refuse a query."""
    lines = tree(leave).splitlines()
    assert lines[0] == "Leave"
    assert "1             <h1>" in lines
    assert "1.0             Leave" in lines


def test_the_json_says_all_that_the_context_knows(leave: Path) -> None:
    found = json.loads(tree(leave, json=True))
    assert (found["title"], found["language"]) == ("Leave", "en")
    assert all(set(sentence) == KEYS for sentence in found["sentences"])
    assert [sentence["text"] for sentence in found["sentences"]] == [
        "Leave",
        "Short",
        "Bring the form:",
        "bank card",
        "RTO",
        "Measured in hours.",
        "Fares",
        "Zone",
        "Fare",
        "A",
        "5",
    ]


def test_a_leaf_comes_with_the_words_of_the_cases(leave: Path) -> None:
    sentences = described(leave)
    item = sentences["bank card"]
    assert item == {
        "path": item["path"],
        "text": "bank card",
        "tag": "li",
        "headings": ["Leave", "Short"],
        "label": "Bring the form:",
        "terms": [],
        "row_headers": [],
        "col_headers": [],
        "list_number": 3,
        "context": item["context"],
        "apart": None,
    }
    assert [(entry["policy"], entry["text"]) for entry in item["context"]] == [
        ("heading", "Leave"),
        ("heading", "Short"),
        ("list label", "Bring the form:"),
    ]
    cell = sentences["5"]
    assert (cell["row_headers"], cell["col_headers"], cell["label"]) == (["A"], ["Fare"], "Fares")
    assert sentences["Measured in hours."]["terms"] == ["RTO"]


def test_what_is_not_there_is_null(tmp_path: Path) -> None:
    path = tmp_path / "bins.html"
    path.write_text("<p>Bins go out on Tuesday.</p>", "utf-8")
    found = json.loads(tree(path, json=True))
    assert (found["title"], found["language"]) == ("bins", None)
    (sentence,) = found["sentences"]
    assert (sentence["label"], sentence["list_number"], sentence["context"]) == (None, None, [])


def test_the_address_gives_the_title_of_a_page_without_one(tmp_path: Path) -> None:
    path = tmp_path / "download.html"
    path.write_text("<p>x</p>", "utf-8")
    assert json.loads(tree(path, json=True, address="https://h.example/leave-rules.html"))["title"] == "leave-rules"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"missing\.html cannot be read: No such file or directory"):
        tree(tmp_path / "missing.html")
    with pytest.raises(CommandError, match=r"cannot be read: Is a directory"):
        tree(tmp_path)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"\0" * 100, bytes(range(256))])
def test_any_bytes_are_shown(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "odd.html"
    path.write_bytes(data)
    assert json.loads(tree(path, json=True))["title"] == "odd"
    assert tree(path).startswith("odd\n")


def test_a_document_of_another_format_is_shown_as_its_tree(tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.write_text("# Leave\n\nBring the form.")
    assert [line.split(None, 1)[1] for line in tree(path).splitlines()[1:]] == [
        "<h1>",
        "Leave",
        "<p>",
        "Bring the form.",
    ]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("plan.docx", "is damaged"), ("plan.pdf", "is a PDF, which"), ("plan.xyz", "is in no format that is read")],
)
def test_a_file_that_is_not_read_is_refused_with_the_reason(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(CommandError, match=reason):
        tree(tmp_path / name)


def test_what_is_not_searched_is_said_with_the_reason(tmp_path: Path) -> None:
    """Somebody who wonders why a sentence is never found."""
    page = tmp_path / "page.html"
    page.write_text("<body><nav><a href=/>Home</a></nav><main><h1>Parking</h1><p>Everybody may park.</p></main></body>")
    assert "<nav> (not searched: navigation)" in tree(page)
    sentences = json.loads(tree(page, json=True))["sentences"]
    assert [sentence["apart"] for sentence in sentences] == ["navigation", None, None], sentences


def test_output_that_is_cut_off_is_no_error(tmp_path: Path) -> None:
    """`manage.py tree FILE | head` that ends in a traceback."""
    page = tmp_path / "page.html"
    page.write_text("<p>x</p>" * 20_000)
    command = [sys.executable, str(ROOT / "manage.py"), "tree", str(page)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
