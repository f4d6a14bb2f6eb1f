"""Labels: how a language model names places without knowing them, and how what it replies is read.

The table from labels to places never leaves the process; of what a reply says only a label of it can name a place.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evidence.tree.document import Document
from evidence.tree.subdocument import prune
from evidence.tree.text import to_text

ANSWERS = "answers"
HELPS = "helps"
GRADES = {ANSWERS: 2, HELPS: 1}
"""What a place is worth: it answers the question or a part of it; or it is needed to understand what does."""

# In a document such a thing is a footnote, or somebody who wants to be cited.
LIKE_A_LABEL = re.compile(r"\[(\s*S?\s*\d+(?:\s*,\s*S?\s*\d+)*\s*)\]", re.IGNORECASE)
LABEL = re.compile(r"\[?\s*(S\d{1,6})\s*\]?", re.IGNORECASE)
NOTHING = frozenset(["none", "nothing", "no labels", "n/a", "-", "[]", "{}"])
PLAIN = re.compile(rf"\W*(?:({ANSWERS}|{HELPS})\W*:)?\s*(.*)", re.IGNORECASE)
LONGEST_REPLY = 20_000
LINE = "\n"


@dataclass(frozen=True)
class Labelled:
    """A view of a document as the model sees it, and which position each label stands for."""

    text: str
    table: Mapping[str, int]


def labelled(
    tree: Document, view: Iterable[int], cited: Sequence[int], labels: Iterable[str] | None = None
) -> Labelled:
    """The nodes of a view as text with structure, a label before each sentence or row that can be cited.

    ``cited`` are their positions; all have to be in the view. Labels are S1, S2 … in this order unless they are given.
    """
    names = [f"S{number}" for number in range(1, len(cited) + 1)] if labels is None else list(labels)
    shown = prune(tree, [tree.node(position) for position in view])
    marks: dict[int, str] = {}
    for label, position in zip(names, cited, strict=True):
        node = shown.node(position)
        first = next(node.sentences())
        # On a line of its own: small models take a label within a line for that of the sentence before it.
        is_within = node.is_sentence and node.parent is not None and node.parent.children[0] is not node
        marks[first.position] = f"{LINE if is_within else ''}{marks.get(first.position, '')}[{label}] "
    rows = (
        (position, last, parent, index, tag, attributes, marks.get(position, "") + without_labels(text), "")
        for position, last, parent, index, tag, attributes, text, _ in shown.rows()
    )
    marked = Document.from_rows(rows, title=tree.title, language=tree.language)
    return Labelled(to_text(marked), dict(zip(names, cited, strict=True)))


def without_labels(text: str) -> str:
    """The text with what looks like one of our labels in other brackets."""
    return LIKE_A_LABEL.sub(r"(\1)", text) if "[" in text else text


def schema_of(labels: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of a reply that picks labels: nothing but these can be said."""
    picks = {"type": "array", "items": {"type": "string", "enum": list(labels)}}
    return {
        "type": "object",
        "properties": {ANSWERS: picks, HELPS: picks},
        "required": [ANSWERS, HELPS],
        "additionalProperties": False,
    }


@dataclass
class Reading:
    """What a reply picks: a grade for each label, all of them of the table; and how often what was wrong with it."""

    grades: dict[str, int] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)

    def pick(self, said: object, grade: int, table: Mapping[str, int]) -> None:
        """Take a label, if it is one."""
        found = LABEL.fullmatch(said.strip()) if isinstance(said, str) else None
        if found is None:
            self.faults["malformed"] += 1
            return
        label = found[1].upper()
        if label not in table:
            self.faults["unknown"] += 1
        elif label in self.grades:
            self.faults["repeated"] += 1
        else:
            self.grades[label] = grade


def read_reply(text: str, table: Mapping[str, int]) -> Reading | None:
    """What a reply picks of the table's labels, from JSON or from lines such as "answers: S1, S4"; None where it is neither.

    What is wrong in part is dropped and counted. Prose that mentions labels picks none: it may say what not to take.
    """
    text = text[:LONGEST_REPLY]
    for value in _json_values(text):
        if (reading := _read_json(value, table)) is not None:
            return reading
    return _read_lines(text, table)


def _read_json(value: object, table: Mapping[str, int]) -> Reading | None:
    reading = Reading()
    if isinstance(value, list):
        value = {ANSWERS: value}
    if not isinstance(value, dict) or not (value.keys() & GRADES.keys() or not value):
        return None
    for name, picks in value.items():
        if name not in GRADES or not isinstance(picks, list):
            reading.faults["malformed"] += 1
    for name, grade in GRADES.items():
        picks = value.get(name)
        for said in picks if isinstance(picks, list) else ():
            reading.pick(said, grade, table)
    return reading


def _read_lines(text: str, table: Mapping[str, int]) -> Reading | None:
    reading = Reading()
    is_read = False
    for line in filter(None, map(str.strip, text.splitlines())):
        found = PLAIN.fullmatch(line)
        name, rest = (found[1], found[2]) if found else (None, line)
        said = rest.strip().rstrip(".").casefold()
        if said in NOTHING or (name and not said):
            is_read = True
            continue
        words = re.split(r"[\s,;]+", rest.strip().rstrip("."))
        if words and all(LABEL.fullmatch(word) for word in words if word):
            is_read = True
            for word in filter(None, words):
                reading.pick(word, GRADES[(name or ANSWERS).lower()], table)
        else:
            reading.faults["malformed"] += 1
    return reading if is_read else None


def _json_values(text: str) -> Iterator[object]:
    """The JSON objects and lists in a text, whatever stands around them; the outer ones."""
    decoder = json.JSONDecoder()
    place = 0
    for _ in range(20):
        found = re.compile(r"[\[{]").search(text, place)
        if found is None:
            return
        try:
            value, place = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            place = found.end()
        else:
            yield value
