"""``manage.py bench judge``: train the filter that SPIRE brings along."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from tqdm import tqdm

from evidence.bench.judge.examples import HELD_BACK, Asking, askings, file_of, part_of, read, write
from evidence.bench.judge.floors import systems_at
from evidence.bench.quality import report
from evidence.bench.quality.cache import CachedEmbedder
from evidence.bench.quality.corpus import Corpus
from evidence.bench.quality.data import DataError, Set
from evidence.bench.quality.readers import read_set
from evidence.bench.quality.run import Run
from evidence.configured import embedder_named
from evidence.language.judge import OnnxJudge, Reader
from evidence.language.weights import DEFAULT_MODEL, default_folder

EPOCHS = 2
FLOOR = 0.002

LEARNT = tuple(name for name, share in HELD_BACK.items() if share < 1)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, metavar="PATH", help="a folder that holds the public sets")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.onnx", help="where to write the filter")
    parser.add_argument("--floor", type=float, default=FLOOR, metavar="P", help="leave out what is less likely to help")
    parser.add_argument("--epochs", type=int, default=EPOCHS, metavar="N")
    parser.add_argument("--cache", type=Path, default=settings.SPIRE_DATA / "quality", metavar="FOLDER")


def run(options: dict[str, Any]) -> Iterator[str]:
    """Train, and write the file; then tell what each floor is worth on the questions that are kept for choosing one. Half
    an hour to an hour on two cores."""
    # PyTorch takes seconds to load, and no other bench needs it.
    from evidence.bench.judge.export import export
    from evidence.bench.judge.training import train

    data = [read_set(name, options["data"]) for name in LEARNT]
    # Known now that it can be written there, and not after an hour.
    options["out"].parent.mkdir(parents=True, exist_ok=True)
    if options["out"].is_dir():
        raise DataError(
            f"{options['out']} is a folder: name the file to write, such as {options['out'] / 'judge.onnx'}"
        )
    learnt = [asking for one in data for asking in _askings(one, options["cache"]) if asking.part == "learn"]
    if not learnt:
        raise DataError(f"{options['data']} holds no question to learn from: of few, all may be held back")
    yield f"{len(learnt)} questions of {', '.join(LEARNT)}"
    weights = default_folder()
    reader = Reader(weights / "tokenizer.json")
    model = train(weights, learnt, reader, epochs=options["epochs"], report=tqdm.write)
    export(model, weights, options["out"], floor=options["floor"])
    choosing = [
        replace(one, questions=tuple(q for q in one.questions if part_of(one.name, q) == "choose")) for one in data
    ]
    judge = OnnxJudge("judge", options["out"], weights / "tokenizer.json")
    work = Run(systems_at(judge), [settings.SPIRE_BUDGET], 0, embedder_named(DEFAULT_MODEL), options["cache"])
    results = list(work.results(choosing))
    yield report.as_text(results, settings.SPIRE_BUDGET)


def _askings(data: Set, cache: Path) -> list[Asking]:
    path = file_of(data, cache)
    if not path.is_file():
        embedder = CachedEmbedder(embedder_named(DEFAULT_MODEL), cache / "vectors.sqlite")
        write(path, askings(Corpus(data, data.questions, embedder), data.questions))
        embedder.close()
    return read(path)
