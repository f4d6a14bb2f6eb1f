"""The five public sets, read from a folder that holds them; what each file holds is told in docs/quality.md."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import lxml.html
from lxml import etree

from evidence.bench.quality.data import DataError, Gold, Page, Question, Set

NO_CONTEXT = "No context provided"
GOLD_CELL = "gold-cell-"


def read_set(name: str, folder: Path) -> Set:
    """The set of this name from ``folder / name``; DataError names what is missing or cannot be read."""
    if name not in READERS:
        raise DataError(f"there is no set {name!r}; there are {', '.join(READERS)}")
    if not (folder / name).is_dir():
        raise DataError(f"{folder} holds no folder {name!r}; see docs/quality.md for what is expected there")
    return READERS[name](folder / name)


def sets_in(folder: Path) -> list[str]:
    """The names of the sets that a folder holds."""
    return [name for name in READERS if (folder / name).is_dir()]


def json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """The values of a file of JSON lines with the number of each line; DataError names the line that is none."""
    for number, line in enumerate(_text(path).splitlines(), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as error:
                raise DataError(f"{path}, line {number}: no JSON ({error})") from error


def _hotpotqa(folder: Path) -> Set:
    paragraphs: dict[str, list[str]] = {}
    questions = []
    entries = _json(folder / "train100.json")
    for entry in entries:
        for title, sentences in entry["context"]:
            paragraphs.setdefault(title, sentences)
    for entry in entries:
        gold = [
            Gold(title, (paragraphs[title][number],))
            for title, number in entry["supporting_facts"]
            if number < len(paragraphs.get(title, []))
        ]
        questions.append(Question(entry["question"], tuple(gold), entry["_id"]))
    pages = tuple(_page(title, title, [("", sentences)]) for title, sentences in paragraphs.items())
    return Set("hotpotqa", "HotpotQA: two-hop questions, a page of each paragraph", pages, tuple(questions))


def _clapnq(folder: Path) -> Set:
    pages: dict[tuple[str, str], Page] = {}
    questions = []
    for name in ("clapnq-answerable.jsonl", "clapnq-unanswerable.jsonl"):
        for _, entry in json_lines(folder / name):
            passage = entry["passages"][0]
            key = (passage["title"], passage["text"])
            page = pages.setdefault(key, _page(f"{len(pages)}", passage["title"], [("", passage["sentences"])]))
            chosen = entry["output"][0]["selected_sentences"]
            gold = tuple(Gold(page.address, (sentence,)) for sentence in dict.fromkeys(chosen))
            questions.append(Question(entry["input"], gold, entry["id"]))
    return Set(
        "clapnq", "CLAP NQ: gold sentences; half the questions have no answer", tuple(pages.values()), tuple(questions)
    )


def _selqa(folder: Path) -> Set:
    articles: dict[str, dict[tuple[str, tuple[str, ...]], None]] = {}
    questions = []
    for entry in _json(folder / "selqa-1590.json"):
        sentences = tuple(entry["candidates"])
        articles.setdefault(entry["article"], {})[entry["section"], sentences] = None
        gold = tuple(Gold(entry["article"], (sentences[number],)) for number in entry["answers"])
        questions.append(Question(entry["question"], gold))
    pages = tuple(_page(article, article, list(sections)) for article, sections in articles.items())
    return Set("selqa", "SelQA: answer sentences in the sections of articles", pages, tuple(questions))


def _asqa(folder: Path) -> Set:
    contexts: dict[str, dict[str, None]] = {}
    questions = []
    for _, entry in json_lines(folder / "asqa.jsonl"):
        gold: dict[Gold, None] = {}
        for pair in entry["qa_pairs"]:
            page, context = pair.get("wikipage"), pair["context"]
            if page and context != NO_CONTEXT:
                contexts.setdefault(page, {})[context] = None
                gold[Gold(page, tuple(pair["short_answers"]), is_phrase=True)] = None
        if gold:
            questions.append(Question(entry["question"], tuple(gold), entry["id"]))
    pages = tuple(
        _page(title, title, [("", [context]) for context in paragraphs]) for title, paragraphs in contexts.items()
    )
    return Set("asqa", "ASQA: ambiguous questions, a short answer for each reading", pages, tuple(questions))


def _wikitables(folder: Path) -> Set:
    asked = [entry for _, entry in json_lines(folder / "questions.jsonl")]
    cells: dict[str, dict[str, str]] = {}
    for entry in asked:
        of_page = cells.setdefault(entry["page"], {})
        for cell in entry["answer_cells"]:
            of_page.setdefault(cell["xpath"], f"{GOLD_CELL}{len(of_page)}")
    titles = {entry["page"]: entry["title"] for entry in asked}
    pages = tuple(
        Page(address, _with_anchors(data, titles.get(address, ""), cells.get(address, {})))
        for address, data in _archived(folder / "pages.tar.xz")
    )
    questions = tuple(
        Question(
            f"{entry['title']}: {entry['question']}",
            tuple(Gold(entry["page"], anchor=cells[entry["page"]][cell["xpath"]]) for cell in entry["answer_cells"]),
            entry["id"],
        )
        for entry in asked
    )
    return Set("wikitables", "WikiTableQuestions: whole Wikipedia articles, gold cells", pages, questions)


def _archived(path: Path) -> list[tuple[str, bytes]]:
    """Address and bytes of each page of an archive, in the order of their addresses."""
    found: dict[str, bytes] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            if member.name.endswith(".html") and (opened := archive.extractfile(member)) is not None:
                found[member.name] = opened.read()
    return sorted(found.items())


def _with_anchors(data: bytes, title: str, cells: dict[str, str]) -> bytes:
    """The page with the title that it lacks, and an id on each gold cell, so that it can be found in any tree of it."""
    root = lxml.html.fromstring(data, parser=lxml.html.HTMLParser(encoding="utf-8")).getroottree()
    for xpath, anchor in cells.items():
        found: Any = root.xpath(xpath)
        for cell in found:
            cell.set("id", anchor)
    body = root.find("body")
    inside = root.getroot() if body is None else body
    content = b"".join(etree.tostring(child, encoding="utf-8", method="html") for child in inside)
    return b"".join((*_head(title), content, b"</body></html>"))


def _page(address: str, title: str, sections: Sequence[tuple[str, Iterable[str]]]) -> Page:
    """A page of sections, each a heading (or none) and the sentences of one paragraph."""
    parts = list(_head(title))
    for heading, sentences in sections:
        if heading:
            parts.append(f"<h2>{escape(heading)}</h2>".encode())
        text = " ".join(sentence.strip() for sentence in sentences)
        parts.append(f"<p>{escape(text, quote=False)}</p>".encode())
    return Page(address, b"".join((*parts, b"</body></html>")))


def _head(title: str) -> tuple[bytes, bytes]:
    shown = escape(title, quote=False)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{shown}</title></head>'.encode(),
        f"<body><h1>{shown}</h1>".encode(),
    )


def _json(path: Path) -> Any:
    try:
        return json.loads(_text(path))
    except ValueError as error:
        raise DataError(f"{path}: no JSON ({error})") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read: {error}") from error


READERS: dict[str, Callable[[Path], Set]] = {
    "wikitables": _wikitables,
    "hotpotqa": _hotpotqa,
    "asqa": _asqa,
    "selqa": _selqa,
    "clapnq": _clapnq,
}
