"""``bench``: the figures that README.md quotes."""

from __future__ import annotations

import dataclasses
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from evidence.bench import crawl, kills, load, operators, questions, scale, stages, tree_command
from evidence.bench.judge import command as judge_command
from evidence.bench.quality import command as quality_command
from evidence.bench.quality import filter_command
from evidence.bench.quality.data import DataError
from evidence.bench.site import Lost
from evidence.configured import pipeline
from evidence.management.commands.ask import collection_ids
from evidence.models import Collection
from evidence.retrieve.pipeline import NoIndex


class Command(BaseCommand):
    help = "Measures speed and quality on this machine."

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = parser.add_subparsers(dest="kind", required=True)
        tree_command.add_arguments(
            kinds.add_parser("tree", help="pages to sentences with contexts, next to other parsers, without a database")
        )
        ingest = kinds.add_parser(
            "ingest", help="every stage of an ingest, into a collection that is deleted afterwards"
        )
        ingest.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        asking = kinds.add_parser("questions", help="latency, and how many questions find their answer")
        asking.add_argument("file", nargs="?", type=Path, metavar="FILE.jsonl")
        asking.add_argument("--collection", action="append", default=[], metavar="NAME")
        asking.add_argument("--count", type=int, default=0, metavar="N", help="fill up with headings to N questions")
        asking.add_argument("--budget", type=int, default=settings.SPIRE_BUDGET, metavar="N")
        asking.add_argument("--index", metavar="NAME")
        quality_command.add_arguments(
            kinds.add_parser(
                "quality", help="is structure worth it: SPIRE, its ablations and baselines on questions with gold"
            )
        )
        filter_command.add_arguments(
            kinds.add_parser(
                "filter",
                help="what filtering the candidates is worth, on questions that the filter has not learnt from",
            )
        )
        judge_command.add_arguments(
            kinds.add_parser("judge", help="train the filter that SPIRE brings along, on the public sets")
        )
        crawling = kinds.add_parser(
            "crawl", help="what a crawl costs, of a site served on loopback, and what its next runs do"
        )
        crawling.add_argument("--pages", type=int, default=300, metavar="N")
        killing = kinds.add_parser(
            "kills", help="kill -9 of a worker, the web process and PostgreSQL, and what is lost"
        )
        killing.add_argument("--rounds", type=int, default=30, metavar="N")
        killing.add_argument("--documents", type=int, default=60, metavar="N")
        killing.add_argument("--seed", type=int, default=1, metavar="N", help="of the moments")
        killing.add_argument(
            "--work", choices=kills.WORKS, default="jobs", help="what works meanwhile: a worker, or manage.py ingest"
        )
        scaling = kinds.add_parser(
            "scale", help="latency and recall of search in a large collection, by filters and by settings of its index"
        )
        scaling.add_argument("--collection", required=True, metavar="NAME")
        scaling.add_argument("--count", type=int, default=500, metavar="N", help="of questions: headings of it")
        scaling.add_argument(
            "--build",
            nargs="*",
            type=scale.Built.read,
            default=[],
            metavar="M,EF_CONSTRUCTION",
            help="also build the index in these ways",
        )
        loading = kinds.add_parser(
            "load", help="people who ask while documents are taken in again and the worker is killed, and what is lost"
        )
        loading.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="folders of HTML")
        plan = load.Plan()
        loading.add_argument("--documents", type=int, default=plan.documents, metavar="N")
        loading.add_argument("--changed", type=int, default=plan.changed, metavar="N", help="documents taken in again")
        loading.add_argument("--users", type=int, default=plan.users, metavar="N")
        loading.add_argument(
            "--seconds", type=float, default=plan.seconds, metavar="N", help="of each of the two parts"
        )
        loading.add_argument(
            "--pause", type=float, default=plan.pause, metavar="N", help="seconds that people read, on average"
        )
        loading.add_argument("--kills", type=int, default=plan.kills, metavar="N", help="of the worker")
        loading.add_argument("--seed", type=int, default=plan.seed, metavar="N")
        kinds.add_parser("operators", help="up and down as SQL, each in several ways, on the trees in the database")

    def handle(self, *, kind: str, **options: Any) -> None:
        try:
            getattr(self, f"_{kind}")(**options)
        except (questions.QuestionFileError, DataError, NoIndex, OSError) as error:
            raise CommandError(str(error)) from error

    def _tree(self, **options: Any) -> None:
        try:
            for line in tree_command.run(options):
                self.stdout.write(line)
                self.stdout.flush()
        except ValueError as error:
            raise CommandError(str(error)) from error

    def _ingest(self, paths: list[Path], **_: Any) -> None:
        self.stdout.write(stages.database_name())
        for figure in stages.measure_ingest(paths):
            self.stdout.write(str(figure))

    def _questions(self, file: Path | None, count: int, budget: int, index: str | None, **options: Any) -> None:
        collections = collection_ids(options["collection"])
        asked = questions.read_questions(file) if file is not None else []
        asked += questions.headings_as_questions(collections, max(count - len(asked), 0))
        if not asked:
            raise CommandError("no question: give a FILE.jsonl, or --count N over a collection that has headings")
        for figure in questions.measure(asked, collections=collections, budget=budget, index=index):
            self.stdout.write(str(figure))

    def _quality(self, **options: Any) -> None:
        for line in quality_command.run(options):
            self.stdout.write(line)

    def _filter(self, **options: Any) -> None:
        for line in filter_command.run(options):
            self.stdout.write(line)

    def _judge(self, **options: Any) -> None:
        for line in judge_command.run(options):
            self.stdout.write(line)
            self.stdout.flush()

    def _crawl(self, pages: int, **_: Any) -> None:
        for line in crawl.measure(pages):
            self.stdout.write(line)

    def _kills(self, rounds: int, documents: int, seed: int, work: str, **_: Any) -> None:
        try:
            with kills.site(documents) as made:
                for line in kills.rounds(made, kills.WORKS[work](made), rounds, seed):
                    self.stdout.write(line)
                    self.stdout.flush()
        except Lost as error:
            raise CommandError(f"{error}\nIts folder is left to look at.") from error

    def _load(self, paths: list[Path], **options: Any) -> None:
        plan = load.Plan(**{field.name: options[field.name] for field in dataclasses.fields(load.Plan)})
        try:
            for line in load.measure(paths, plan):
                self.stdout.write(line)
                self.stdout.flush()
        except Lost as error:
            raise CommandError(f"{error}\nIts folder is left to look at.") from error

    def _scale(self, collection: str, count: int, build: list[scale.Built], **_: Any) -> None:
        [pk] = collection_ids([collection])
        asked = [question.text for question in questions.headings_as_questions([pk], count)]
        if not asked:
            raise CommandError(f"{collection} has no headings to ask for")
        self.stdout.write(stages.database_name())
        for line in scale.measure(asked, Collection.objects.get(pk=pk), build):
            self.stdout.write(line)
            self.stdout.flush()

    def _operators(self, **_: Any) -> None:
        with pipeline() as connection:
            for timing in operators.measure(connection):
                self.stdout.write(str(timing))
