"""``manage.py bench filter``: what filtering the candidates is worth."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from evidence.bench.judge.examples import held_back
from evidence.bench.quality import report
from evidence.bench.quality.catalogue import FILTERED, JUDGED, SPIRE, VECTORS, systems
from evidence.bench.quality.data import DataError
from evidence.bench.quality.readers import read_set, sets_in
from evidence.bench.quality.run import Result, Run
from evidence.configured import chat, embedder_named


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, metavar="PATH", help="a folder that holds the public sets")
    parser.add_argument("--set", action="append", default=[], metavar="NAME", help="of the folder's sets only this")
    parser.add_argument("--questions", type=int, default=0, metavar="N", help="of each set so many, drawn")
    parser.add_argument("--learnt", action="store_true", help="also questions that the filter has learnt from")
    parser.add_argument("--budget", type=int, default=settings.SPIRE_BUDGET, metavar="N", help="tokens of evidence")
    parser.add_argument("--cache", type=Path, default=settings.SPIRE_DATA / "quality", metavar="FOLDER")


def run(options: dict[str, Any]) -> Iterator[str]:
    """The lines to print: SPIRE by embedding only, without a filter, with its own, and with the language model where one is
    set. Pages are all searched; of the questions those are asked that nothing was learnt from."""
    names = options["set"] or sets_in(options["data"])
    if not names:
        raise DataError(f"{options['data']} holds none of the sets; docs/quality.md tells what is expected there")
    model = chat()
    wanted = [VECTORS, SPIRE, JUDGED, *([FILTERED] if model is not None else [])]
    budget = max(options["budget"], 1)
    embedder = embedder_named(settings.SPIRE_EMBEDDER)
    sets = [read_set(name, options["data"]) for name in names]
    if not options["learnt"]:
        sets = [held_back(data) for data in sets]
    work = Run(systems(wanted), [budget], max(options["questions"], 0), embedder, options["cache"])
    results = list(work.results(sets))
    reader = "none (SPIRE_LLM_URL is not set)" if model is None else model.name
    yield f"{budget} tokens; language model: {reader}"
    yield report.as_text(results, budget)
    yield from filter(None, (unanswerable(result, budget) for result in results))


def unanswerable(result: Result, budget: int) -> str:
    """For how many of the questions that have no answer nothing is cited; "" where all have one."""
    cited = [row["citations"] for row in result.marks[budget] if not row["gold"]]
    if not cited:
        return ""
    nothing = sum(not citations for citations in cited)
    return (
        f"{result.set_name} {result.system}: nothing for {nothing} of {len(cited)} questions without an answer;"
        f" {sum(cited) / len(cited):.1f} citations each"
    )
