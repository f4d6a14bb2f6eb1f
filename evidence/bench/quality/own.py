"""A team's own pages and questions: a folder of HTML, and JSON lines of ``{question, document, gold}``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evidence.bench.quality.data import DataError, Gold, Page, Question, Set
from evidence.bench.quality.readers import json_lines
from evidence.ingest.sources import Arrival, read_paths
from evidence.tree.path import Path as TreePath


def read_own(folder: Path, questions: Path) -> Set:
    """The set of a folder (or archive) of HTML and a file of questions; docs/quality.md has the format.

    DataError for a folder without pages, and for a line that cannot be understood, which it names.
    """
    pages = tuple(Page(found.address, found.data) for found in read_paths([folder]) if isinstance(found, Arrival))
    if not pages:
        raise DataError(f"{folder} holds no HTML page that can be read")
    addresses = [page.address for page in pages]
    asked = tuple(_question(entry, addresses, f"{questions}, line {n}") for n, entry in json_lines(questions))
    if not asked:
        raise DataError(f"{questions} holds no question")
    return Set(folder.stem or "own", f"{folder.name}: {len(pages)} pages of your own", pages, asked)


def _question(entry: Any, addresses: list[str], place: str) -> Question:
    if not isinstance(entry, dict) or not isinstance(entry.get("question"), str) or not entry["question"].strip():
        raise DataError(f'{place}: expected an object with a "question" that is text')
    gold = entry.get("gold", [])
    if not isinstance(gold, list):
        raise DataError(f'{place}: "gold" is {gold!r}; give a list of texts and {{"path": …}}')
    if not gold:
        return Question(entry["question"], (), place)
    document = _document(entry.get("document"), addresses, place)
    return Question(entry["question"], tuple(_gold(item, document, place) for item in gold), place)


def _document(named: Any, addresses: list[str], place: str) -> str:
    if not isinstance(named, str) or not named:
        raise DataError(f'{place}: gold needs a "document": the address of its page, or the end of it')
    found = [address for address in addresses if address == named] or [
        address for address in addresses if address.endswith(named)
    ]
    if len(found) != 1:
        problem = "no page has" if not found else f"{len(found)} pages have"
        raise DataError(f"{place}: {problem} an address that ends in {named!r}")
    return found[0]


def _gold(item: Any, document: str, place: str) -> Gold:
    if isinstance(item, str) and item.strip():
        return Gold(document, (item,))
    if isinstance(item, dict) and isinstance(item.get("path"), str):
        try:
            TreePath.parse(item["path"])
        except ValueError as error:
            raise DataError(f"{place}: {error}") from error
        return Gold(document, path=item["path"])
    raise DataError(f'{place}: gold {item!r} is neither a text nor {{"path": "0.3.1"}}')
