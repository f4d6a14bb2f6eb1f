"""``manage.py bench quality``: its arguments, and what it prints and writes."""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings

from evidence.bench.judge.examples import held_back
from evidence.bench.quality import report
from evidence.bench.quality.catalogue import JUDGED, systems
from evidence.bench.quality.data import DataError, Set
from evidence.bench.quality.opinion import with_opinions
from evidence.bench.quality.own import read_own
from evidence.bench.quality.readers import read_set, sets_in
from evidence.bench.quality.run import BUDGETS, Run
from evidence.configured import chat, embedder_named


def add_arguments(parser: ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", type=Path, metavar="PATH", help="a folder that holds the public sets")
    source.add_argument(
        "--own",
        nargs=2,
        type=Path,
        metavar=("PAGES", "FILE.jsonl"),
        help="a folder of HTML, and questions with their gold (docs/quality.md)",
    )
    parser.add_argument("--sets", type=_names, default=[], metavar="A,B", help="of the folder's sets only these")
    parser.add_argument(
        "--systems", type=_names, default=["main"], metavar="A,B", help='by name, or "main", "tuning", "all"'
    )
    parser.add_argument("--budgets", type=_numbers, default=list(BUDGETS), metavar="N,M", help="tokens of evidence")
    parser.add_argument(
        "--held-back",
        action="store_true",
        help="only questions that SPIRE's filter has not learnt from, and SPIRE with its filter, too",
    )
    parser.add_argument("--questions", type=int, default=0, metavar="N", help="of each set so many, drawn")
    parser.add_argument("--cache", type=Path, default=settings.SPIRE_DATA / "quality", metavar="FOLDER")
    parser.add_argument("--report", type=Path, metavar="FILE.html", help="else quality.html in the cache's folder")
    parser.add_argument(
        "--llm-judge", action="store_true", help="ask the language model that is set about the drawn questions, too"
    )
    printed = parser.add_mutually_exclusive_group()
    printed.add_argument("--json", action="store_true", help="print the figures for machines")
    printed.add_argument("--markdown", action="store_true", help="print them as tables of Markdown")


def run(options: dict[str, Any]) -> Iterator[str]:
    """Run what is asked, write the report, and give the lines to print. DataError says what is wrong with what is given."""
    sets, wanted = _sets(options), options["systems"]
    if options["held_back"]:
        sets, wanted = [held_back(data) for data in sets], [JUDGED, *wanted]
    embedder = embedder_named(settings.SPIRE_EMBEDDER)
    work = Run(systems(wanted), options["budgets"], max(options["questions"], 0), embedder, options["cache"])
    results = list(work.results(sets))
    if options["llm_judge"]:
        model = chat()
        if model is None:
            raise DataError("--llm-judge needs a language model: set SPIRE_LLM_URL and SPIRE_LLM_MODEL")
        results = with_opinions(results, model, report.examples_each(sets))
    said = {
        "command": shlex.join(["manage.py", *sys.argv[1:]]),
        "model": f"{embedder.name} ({embedder.fingerprint[:12]})",
    }
    page = options["report"] or options["cache"] / "quality.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(report.html(results, sets, **said), encoding="utf-8")
    if options["json"]:
        yield report.as_json(results, **said)
        return
    for budget in sorted(options["budgets"]):
        yield f"\n{budget} tokens"
        yield report.as_markdown(results, budget) if options["markdown"] else report.as_text(results, budget)
    yield f"\nThe report: {page}"


def _sets(options: dict[str, Any]) -> list[Set]:
    if options["own"]:
        return [read_own(*options["own"])]
    names = options["sets"] or sets_in(options["data"])
    if not names:
        raise DataError(f"{options['data']} holds none of the sets; docs/quality.md tells what is expected there")
    return [read_set(name, options["data"]) for name in names]


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _numbers(text: str) -> list[int]:
    try:
        found = sorted({int(number) for number in text.split(",")})
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r}: numbers of tokens are expected, such as 500,1000") from error
    if found[0] < 1:
        raise ArgumentTypeError("a budget below 1 token holds nothing")
    return found
