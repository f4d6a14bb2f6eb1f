"""The sets as they are read: a miniature of each, in its own format."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from evidence.bench.quality.corpus import Corpus
from evidence.bench.quality.data import DataError, Set
from evidence.bench.quality.own import read_own
from evidence.bench.quality.readers import read_set, sets_in
from tests.conftest import WordEmbedder

TABLE = "<div><table><tr><th>Tin</th><th>Holds</th></tr><tr><td>Blue</td><td>Tea</td></tr></table></div>"
OWN = [
    {"question": "When is lunch?", "document": "day.html", "gold": ["Lunch is at noon."]},
    {"question": "Who sells it?", "gold": []},
]


def json_lines(*entries: Any) -> str:
    return "\n".join(json.dumps(entry) for entry in entries)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of all five sets, with a question or two each."""
    paragraph = ["Anna likes tea.", " She lives in Rome."]
    fact = {"question": "Where does Anna live?", "_id": "1", "supporting_facts": [["Anna", 1], ["Anna", 9]]}
    passage = {"title": "Anna", "text": "Anna likes tea .", "sentences": ["Anna likes tea ."]}
    pair = {"short_answers": ["Rome"], "context": "She lives in Rome.", "wikipage": "Anna"}
    asked = {"id": "1", "question": "what is in the blue tin?", "title": "Tins", "page": "a/1.html"}
    files = {
        "hotpotqa/train100.json": json.dumps([{**fact, "context": [["Anna", paragraph]]}]),
        "clapnq/clapnq-answerable.jsonl": json_lines(
            {
                "id": "1",
                "input": "who likes tea",
                "passages": [passage],
                "output": [{"selected_sentences": ["Anna likes tea ."]}],
            }
        ),
        "clapnq/clapnq-unanswerable.jsonl": json_lines(
            {"id": "2", "input": "who likes milk", "passages": [passage], "output": [{"selected_sentences": []}]}
        ),
        "selqa/selqa-1590.json": json.dumps(
            [
                {
                    "article": "Anna",
                    "section": "Life",
                    "question": "Where?",
                    "candidates": ["", *paragraph],
                    "answers": [2],
                }
            ]
        ),
        "asqa/asqa.jsonl": json_lines(
            {"id": "1", "question": "Where?", "qa_pairs": [pair, {**pair, "wikipage": None}]},
            {"id": "2", "question": "Who?", "qa_pairs": [{**pair, "context": "No context provided"}]},
        ),
        "wikitables/questions.jsonl": json_lines(
            {**asked, "answer_cells": [{"row": 1, "col": 1, "xpath": "/html/body/div/table/tr[2]/td[2]"}]}
        ),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with tarfile.open(tmp_path / "wikitables/pages.tar.xz", "w:xz") as archive:
        member = tarfile.TarInfo("a/1.html")
        member.size = len(TABLE)
        archive.addfile(member, io.BytesIO(TABLE.encode()))
    return tmp_path


def said(data: Set) -> list[str]:
    """What is gold, each text as it stands in the page."""
    corpus = Corpus(data, data.questions, WordEmbedder())
    assert corpus.unplaced == 0
    return [
        corpus.trees[gold.document].node(place).text
        for asked in corpus.asked
        for gold in asked.gold
        for place in gold.places[0]
    ]


@pytest.mark.parametrize(
    ("name", "gold"),
    [
        ("wikitables", ["Tea"]),
        ("hotpotqa", ["She lives in Rome."]),
        ("asqa", ["She lives in Rome."]),
        ("selqa", ["She lives in Rome."]),
        ("clapnq", ["Anna likes tea ."]),
    ],
)
def test_the_gold_of_each_set_is_found_in_its_pages(folder: Path, name: str, gold: list[str]) -> None:
    """A set whose questions look as if nothing answered them."""
    assert said(read_set(name, folder)) == gold


def test_the_sets_are_found_by_their_folders(folder: Path) -> None:
    assert set(sets_in(folder)) == {"wikitables", "hotpotqa", "asqa", "selqa", "clapnq"}
    with pytest.raises(DataError, match="no set 'x'"):
        read_set("x", folder)


def own(folder: Path, *lines: Any) -> Set:
    (folder / "pages").mkdir()
    (folder / "pages/day.html").write_text("<title>Day</title><p>Lunch is at noon. Tea is at ten.</p>")
    (folder / "asked.jsonl").write_text(json_lines(*lines))
    return read_own(folder / "pages", folder / "asked.jsonl")


def test_a_teams_own_questions_find_their_gold(tmp_path: Path) -> None:
    """The format of docs/quality.md."""
    data = own(tmp_path, *OWN, {"question": "Tea?", "document": "day.html", "gold": [{"path": "1.1"}]})
    assert said(data) == ["Lunch is at noon.", "Tea is at ten."]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"gold": []}, '"question"'),
        ({"question": "When?", "gold": "noon"}, "list"),
        ({"question": "When?", "gold": ["noon"]}, '"document"'),
        ({"question": "When?", "document": "night.html", "gold": ["noon"]}, "no page has"),
        ({"question": "When?", "document": "day.html", "gold": [7]}, "neither a text"),
        ({"question": "When?", "document": "day.html", "gold": [{"path": "x"}]}, "not a path"),
    ],
)
def test_an_error_names_the_line_and_what_is_wrong(tmp_path: Path, line: Any, problem: str) -> None:
    """A file of 400 questions, and a message that says only that one is bad."""
    with pytest.raises(DataError, match=f"line 2: .*{problem}"):
        own(tmp_path, OWN[0], line)
