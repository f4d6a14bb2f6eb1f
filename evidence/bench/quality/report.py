"""The report: one HTML file that a person can look at, and the same for machines."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from django.template.loader import render_to_string

from evidence.bench.quality import gold
from evidence.bench.quality.catalogue import SPIRE
from evidence.bench.quality.data import Set
from evidence.bench.quality.opinion import PROMPT, agreement
from evidence.bench.quality.plots import plot
from evidence.bench.quality.run import EXAMPLE_BUDGET, EXAMPLES, Result
from evidence.bench.quality.summary import Line, lines

PLOTTED = ("passages-100", "passages-256", "passages-context", "sections", "bm25-passages", "full-text")
SIGNIFICANT = 0.05

PARTS = ("django", "lxml", "numpy", "onnxruntime", "tiktoken")

PAPER = (
    ("passages, filled budget", 336, 1514),
    ("SPIRE, filled budget", 479, 2225),
    ("SPIRE, contextual filter", 538, 822),
)
"""The paper's useful citations and citations: HotpotQA, 400 questions, BGE-large, 1000 tokens."""


def html(results: Sequence[Result], sets: Sequence[Set], *, command: str, model: str) -> str:
    """The whole report as one page, without script, that needs nothing else."""
    found = lines(results)
    return render_to_string(
        "bench/quality.html",
        {
            "command": command,
            "model": model,
            "versions": _versions(),
            "rules": (gold.__doc__ or "").partition("\n\n")[2].strip(),
            "paper": _paper() if any(data.name == "hotpotqa" for data in sets) else [],
            "sets": [_section(data, found, results, examples_each(sets)) for data in sets],
            "example_budget": EXAMPLE_BUDGET,
            "prompt": PROMPT,
        },
    )


def examples_each(sets: Sequence[Set]) -> int:
    """The drawn questions that the report shows of each set."""
    return math.ceil(EXAMPLES / len(sets))


def as_json(results: Sequence[Result], *, command: str, model: str) -> str:
    """The figures of the report."""
    given = {"command": command, "model": model, "versions": _versions()}
    return json.dumps({**given, "lines": [asdict(line) for line in lines(results)]}, ensure_ascii=False, indent=1)


def as_text(results: Sequence[Result], budget: int) -> str:
    """The figures of one budget as a table for the terminal."""
    rows = [f"{'':24}{'useful':>8}{'of':>7}{'share':>7}{'recall':>8}{'all gold':>9}{'tokens':>8}{'p':>7}"]
    for line in lines(results):
        if line.budget == budget:
            p = line.against.get("all gold")
            rows.append(
                f"{line.set_name[:10] + ' ' + line.system:<24.24}{line.useful:>8}{line.citations:>7}{line.share.value:>7.3f}"
                f"{line.recall.value:>8.3f}{line.all_gold.value:>9.3f}{line.tokens.value:>8.0f}"
                + (f"{p.p:>7.3f}" if p is not None else "")
            )
    return "\n".join(rows)


def as_markdown(results: Sequence[Result], budget: int) -> str:
    """The figures of one budget as a table of Markdown: for each set the useful citations, of all, and the share of
    questions with all gold found; after it − where that is less than SPIRE's by p < .05, + where it is more."""
    found = [line for line in lines(results) if line.budget == budget]
    sets = list(dict.fromkeys(line.set_name for line in found))
    by_place = {(line.system, line.set_name): line for line in found}
    rows = [f"| | {' | '.join(sets)} |", "| --- |" + " --- |" * len(sets)]
    for system in dict.fromkeys(line.system for line in found):
        cells = [_cell(by_place.get((system, name))) for name in sets]
        rows.append(f"| {system} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _cell(line: Line | None) -> str:
    if line is None:
        return "–"
    against = line.against.get("all gold")
    mark = "" if against is None or against.p >= SIGNIFICANT else " −" if against.value > 0 else " +"
    return f"{line.useful} of {line.citations}, {line.all_gold.value:.3f}{mark}"


def _section(data: Set, found: Sequence[Line], results: Sequence[Result], examples: int) -> dict[str, Any]:
    own = [line for line in found if line.set_name == data.name]
    of_set = [result for result in results if result.set_name == data.name]
    names = [result.system for result in of_set]
    curves = [name for name in PLOTTED if name in names] or [name for name in names if name != SPIRE]
    budgets = sorted({line.budget for line in own})
    return {
        "data": data,
        "unplaced": of_set[0].unplaced,
        "plot": plot(own, curves),
        "tables": [(budget, [line for line in own if line.budget == budget]) for budget in budgets],
        "has_cells": any(line.complete is not None for line in own),
        "has_empty": any(line.empty_citations is not None for line in own),
        "agreements": [found for found in map(agreement, of_set) if found is not None],
        "examples": _side_by_side(of_set, examples),
    }


def _side_by_side(results: Sequence[Result], count: int) -> list[dict[str, Any]]:
    """For each drawn question, the evidence of every system."""
    first = results[0].examples[:count]
    return [
        {
            "question": example["question"],
            "gold": example["gold"],
            "answers": [(result.system, _marked(result.examples[number])) for result in results],
        }
        for number, example in enumerate(first)
    ]


def _paper() -> list[tuple[str, int, int, float]]:
    return [(name, useful, citations, useful / citations) for name, useful, citations in PAPER]


def _marked(example: dict[str, Any]) -> dict[str, Any]:
    cited = [one for part in example["parts"] for one in part["cited"]]
    return {**example, "citations": len(cited), "useful": sum(one["useful"] for one in cited)}


def _versions() -> str:
    return ", ".join([f"Python {platform.python_version()}", *(f"{part} {version(part)}" for part in PARTS)])
