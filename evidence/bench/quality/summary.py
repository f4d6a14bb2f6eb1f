"""A run's results as figures: a line per set, budget and system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evidence.bench.quality.catalogue import SPIRE
from evidence.bench.quality.run import Result
from evidence.bench.quality.statistics import Difference, Estimate, mean, paired, ratio, separation

Rows = Sequence[dict[str, float]]


@dataclass(frozen=True)
class Line:
    """One system on one set with one budget.

    Of the questions that have gold, except ``empty_citations`` (of those that have none) and ``separation``: how often
    the best score of a question with gold is above that of one without; None where all have gold. ``against``: paired
    differences of SPIRE minus this system, for useful citations and for questions with all gold found.
    """

    set_name: str
    budget: int
    system: str
    about: str
    questions: int
    citations: int
    useful: int
    useful_each: Estimate
    share: Estimate
    recall: Estimate
    all_gold: Estimate
    documents: Estimate
    tokens: Estimate
    repeated: Estimate
    complete: Estimate | None
    empty_citations: Estimate | None
    separation: float | None
    against: dict[str, Difference]


def lines(results: Sequence[Result]) -> list[Line]:
    """The lines of all results, in their order; budgets outside systems."""
    reference = {result.set_name: result for result in results if result.system == SPIRE}
    sets = dict.fromkeys(result.set_name for result in results)
    return [
        _line(result, budget, reference.get(name))
        for name in sets
        for budget in next(result.budgets for result in results if result.set_name == name)
        for result in results
        if result.set_name == name
    ]


def _line(result: Result, budget: int, spire: Result | None) -> Line:
    rows = result.marks[budget]
    known = [row for row in rows if row["gold"]]
    unknown = [row for row in rows if not row["gold"]]
    return Line(
        set_name=result.set_name,
        budget=budget,
        system=result.system,
        about=result.about,
        questions=len(known),
        citations=int(sum(_of(known, "citations"))),
        useful=int(sum(_of(known, "useful"))),
        useful_each=mean(_of(known, "useful")),
        share=ratio(_of(known, "useful"), _of(known, "citations")),
        recall=ratio(_of(known, "found"), _of(known, "gold")),
        all_gold=mean(_all_gold(known)),
        documents=mean(_of(known, "documents")),
        tokens=mean(_of(known, "tokens")),
        repeated=mean(_of(known, "repeated")),
        complete=ratio(_of(known, "complete"), _of(known, "cells")) if sum(_of(known, "cells")) else None,
        empty_citations=mean(_of(unknown, "citations")) if unknown else None,
        separation=separation(_of(known, "score"), _of(unknown, "score")) if unknown else None,
        against=_against(known, spire, budget) if spire is not None and spire is not result else {},
    )


def _against(known: Rows, spire: Result, budget: int) -> dict[str, Difference]:
    best = [row for row in spire.marks[budget] if row["gold"]]
    return {
        "useful": paired(_of(best, "useful"), _of(known, "useful")),
        "all gold": paired(_all_gold(best), _all_gold(known)),
    }


def _of(rows: Rows, name: str) -> list[float]:
    return [row[name] for row in rows]


def _all_gold(rows: Rows) -> list[float]:
    return [float(row["found"] == row["gold"]) for row in rows]
