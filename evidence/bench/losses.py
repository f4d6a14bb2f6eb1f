"""What parsers lose of pages whose right reading is known: cases, a folder each with ``input.html`` and ``case.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evidence.bench.checks import CHARSET, KINDS, READ, checks_of
from evidence.bench.children import Child
from evidence.bench.parsers import Page, Parser
from evidence.bench.report import Table

KEPT, LOST, FAILED, LEFT_TO_CALLER = "kept", "lost", "failed", "left to the caller"

DEEP = 10_000


@dataclass(frozen=True)
class Case:
    """A page, and what is known of it: the ``checks`` of its ``case.json``."""

    name: str
    page: Page
    known: dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """Of one check: what became of it, and what was looked for."""

    case: str
    kind: str
    wanted: str
    result: str


def read_cases(folder: Path) -> list[Case]:
    """The cases of a folder, and one page of our own that nests 10,000 deep. ValueError when there are none."""
    cases = []
    for path in sorted(folder.glob("*/case.json")):
        known = json.loads(path.read_text(encoding="utf-8")).get("checks") or {}
        data = (path.parent / "input.html").read_bytes()
        if made := known.get("generate"):
            data = data.replace(made["replace"].encode(), made["with"].encode() * made["times"])
            # What follows the filling is what must come through.
            known = {**known, "large": [data.rpartition(b"<p>")[2].partition(b"</p>")[0].decode()]}
        cases.append(Case(path.parent.name, Page(known.get("source_url", "input.html"), data), known))
    if not cases:
        raise ValueError(f"{folder}: there are no cases; a case is a folder with input.html and case.json")
    deep = "<div>" * DEEP + "<p>At the bottom.</p>" + "</div>" * DEEP + "<p>After it.</p>"
    page = Page("deep.html", f"<!doctype html><title>Deep</title>{deep}".encode())
    return [*cases, Case("10,000 levels", page, {"large": ["At the bottom.", "After it."]})]


def measure(cases: Sequence[Case], parsers: Sequence[Parser]) -> dict[str, list[Outcome]]:
    """The outcome of each check for each parser, by the parser's label."""
    found: dict[str, list[Outcome]] = {}
    for parser in parsers:
        with Child(parser) as child:
            found[parser.label] = [outcome for case in cases for outcome in _outcomes(case, child)]
    return found


def _outcomes(case: Case, child: Child) -> Iterator[Outcome]:
    answer = child.pieces(case.page)
    yield Outcome(case.name, READ, answer.error, FAILED if answer.error else KEPT)
    for kind, wanted, check in checks_of(case.page, case.known):
        if kind == CHARSET and not child.parser.decodes:
            result = LEFT_TO_CALLER
        elif answer.error:
            result = FAILED
        else:
            result = KEPT if check(answer.pieces) else LOST
        yield Outcome(case.name, kind, wanted, result)


def table_of(results: dict[str, list[Outcome]]) -> Table:
    """What each parser keeps of each kind: "3 of 4"; "-" where it leaves this to its caller."""
    table = Table(["kept", *results])
    for kind in KINDS:
        by_parser = [[outcome for outcome in outcomes if outcome.kind == kind] for outcomes in results.values()]
        if any(by_parser):
            table.add(kind, *map(_cell, by_parser))
    return table


def _cell(outcomes: Sequence[Outcome]) -> str:
    asked = [outcome for outcome in outcomes if outcome.result != LEFT_TO_CALLER]
    if not asked:
        return "-"
    failed = sum(outcome.result == FAILED for outcome in asked)
    kept = sum(outcome.result == KEPT for outcome in asked)
    return f"{kept} of {len(asked)}" + (f", {failed} failed" if failed else "")
