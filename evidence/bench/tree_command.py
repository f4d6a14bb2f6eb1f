"""``manage.py bench tree``: its arguments, and the lines that it writes."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evidence.bench import linear, losses, trees
from evidence.bench.parsers import OURS, Page, Parser
from evidence.bench.parsers_others import chosen, installed

CASES = Path("tests/cases")
SECONDS = 10.0


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of ``bench tree``."""
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="a page, a folder or a .zip of pages")
    parser.add_argument(
        "--compare",
        nargs="*",
        metavar="NAME",
        help="next to these other parsers; without a name, to all that are installed",
    )
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, metavar="N", help="of each other parser, for each path (%(default)s)"
    )
    parser.add_argument(
        "--cases",
        nargs="?",
        type=Path,
        const=CASES,
        metavar="FOLDER",
        help=f"what each parser loses of these ({CASES})",
    )
    parser.add_argument("--linear", type=Path, metavar="FILE", help="a page whose body is repeated, to 1, 10 and 50 MB")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")


def run(options: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a run. ValueError or OSError when what it was given cannot be measured."""
    if not (options["paths"] or options["cases"] or options["linear"]):
        raise ValueError("nothing to measure: give a PATH, --cases or --linear FILE")
    others, missing = ([], []) if options["compare"] is None else installed(chosen(options["compare"]))
    yield from missing
    record: dict[str, Any] = {}
    if options["paths"]:
        yield from _speed(options["paths"], others, options["seconds"], record)
    if options["cases"]:
        yield from _losses(options["cases"], others, record)
    if options["linear"]:
        yield from _growth(options["linear"], record)
    if options["json"]:
        options["json"].write_text(json.dumps(record, ensure_ascii=False, indent=1), encoding="utf-8")


def _speed(paths: list[Path], others: list[Parser], seconds: float, record: dict[str, Any]) -> Iterator[str]:
    record["speed"] = []
    for measured in trees.measure(paths, others, seconds=seconds):
        yield from trees.lines_of(measured)
        yield ""
        record["speed"].append(trees.as_json(measured))


def _losses(folder: Path, others: list[Parser], record: dict[str, Any]) -> Iterator[str]:
    cases = losses.read_cases(folder)
    results = losses.measure(cases, [OURS, *(parser for parser in others if parser.gives_pieces)])
    yield f"{folder}: {len(cases)} cases"
    yield from losses.table_of(results).lines()
    ours = results[OURS.label]
    yield from (f"  ours {o.result}: {o.case}: {o.kind}: {o.wanted}" for o in ours if o.result != losses.KEPT)
    yield ""
    record["losses"] = {label: [asdict(outcome) for outcome in outcomes] for label, outcomes in results.items()}


def _growth(file: Path, record: dict[str, Any]) -> Iterator[str]:
    results = list(linear.measure(Page(file.name, file.read_bytes()), linear.SIZES))
    yield f"{file}, its body repeated:"
    yield from linear.lines_of(results)
    record["linear"] = [asdict(result) | {"parser": result.parser.label} for result in results]
