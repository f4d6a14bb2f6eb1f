"""``ask``: the evidence for a question, in the terminal."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from evidence.configured import OtherModel, judge
from evidence.ingest.readers.formats import FORMATS
from evidence.language.embedder import ModelError
from evidence.models import Collection
from evidence.retrieve.evidence import Citation, Evidence, Excerpt
from evidence.retrieve.filters import filters_of
from evidence.retrieve.pipeline import NoIndex, ask
from evidence.tree.context import DEFINITION
from evidence.tree.markup import Rendering


class Command(BaseCommand):
    help = "Finds the evidence for a question, within a token budget."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question", nargs="?", metavar="QUESTION")
        parser.add_argument("--from", dest="file", type=Path, metavar="FILE.jsonl", help="ask each line's question")
        parser.add_argument("--collection", action="append", default=[], metavar="NAME", help="these only; else all")
        parser.add_argument("--budget", type=int, default=settings.SPIRE_BUDGET, metavar="N", help="tokens of evidence")
        parser.add_argument("--index", metavar="NAME", help="another index than the default one")
        parser.add_argument(
            "--format", action="append", default=[], choices=FORMATS, help="documents of this type only"
        )
        parser.add_argument("--since", type=_day, metavar="YYYY-MM-DD", help="documents received from this day on only")
        parser.add_argument("--until", type=_day, metavar="YYYY-MM-DD", help="documents received up to this day only")
        parser.add_argument("--unfiltered", action="store_true", help="all that search found, and fits")
        parser.add_argument("--json", action="store_true", help="a JSON line for each question")

    def handle(self, *, question: str | None, file: Path | None, **options: Any) -> None:
        if (question is None) == (file is None):
            raise CommandError("give a QUESTION, or --from FILE.jsonl")
        collections = collection_ids(options["collection"])
        defining = Collection.objects.filter(pk__in=collections, policies__contains=[DEFINITION.name])
        glossaries = list(defining.values_list("pk", flat=True))
        filters = filters_of(formats=options["format"], since=options["since"], until=options["until"])
        for asked in [question] if question is not None else questions_of(file):
            try:
                found = ask(
                    asked,
                    collections=collections,
                    budget=options["budget"],
                    index=options["index"],
                    glossaries=glossaries,
                    filters=filters,
                    judge=None if options["unfiltered"] else judge(),
                )
            except (NoIndex, OtherModel, ModelError, ValueError) as error:
                raise CommandError(str(error)) from error
            self.stdout.write(json.dumps(described(found), ensure_ascii=False) if options["json"] else shown(found))


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no day; write it like 2026-01-31") from error


def collection_ids(names: list[str]) -> list[int]:
    """The ids of collections by name or slug; of all without names. Whoever runs commands may see them all."""
    if not names:
        return list(Collection.objects.values_list("pk", flat=True))
    found = []
    for name in names:
        matching = Collection.objects.filter(name=name) | Collection.objects.filter(slug=name)
        collection = matching.first()
        if collection is None:
            known = ", ".join(Collection.objects.values_list("name", flat=True)) or "none"
            raise CommandError(f"there is no collection {name!r}; there are: {known}")
        found.append(collection.pk)
    return found


def questions_of(file: Path | None) -> Iterator[str]:
    """The ``question`` of each line of a file of JSON lines; an error names the line."""
    try:
        lines = sys.stdin if str(file) == "-" else Path(str(file)).open(encoding="utf-8")  # noqa: SIM115
        with lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _question(file, number, line)
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{file} is not UTF-8: {error.reason}") from error


def _question(file: Path | None, number: int, line: str) -> str:
    try:
        question = json.loads(line)["question"]
    except (ValueError, KeyError, TypeError) as error:
        raise CommandError(f'{file}, line {number}: expected a JSON object with a "question"') from error
    if not isinstance(question, str):
        raise CommandError(f'{file}, line {number}: the "question" is no text')
    return question


def described(found: Evidence) -> dict[str, Any]:
    """The evidence for machines; the words are those of README.md."""
    return {
        "question": found.question,
        "budget": found.budget,
        "tokens": found.tokens,
        "likely": found.likely,
        "documents": [_document(excerpt) for excerpt in found.excerpts],
        "definitions": [_document(excerpt) for excerpt in found.definitions],
        "milliseconds": found.milliseconds,
    }


def _document(excerpt: Excerpt) -> dict[str, Any]:
    return {
        "document": excerpt.document_id,
        "revision": excerpt.revision,
        "title": excerpt.title,
        "address": excerpt.address,
        "text": excerpt.text,
        "html": Rendering(cited=excerpt.cited, is_excerpt=True).html(excerpt.tree),
        "tokens": excerpt.tokens,
        "citations": [_citation(citation) for citation in excerpt.citations],
    }


def _citation(citation: Citation) -> dict[str, Any]:
    why = citation.why
    return {
        "path": str(citation.path),
        "text": citation.text,
        "score": round(citation.score, 4),
        "rank": citation.rank,
        "why": {
            "vector_rank": why.vector_rank,
            "text_rank": why.text_rank,
            "words": list(why.words),
            "identifiers": why.identifiers,
            "relevance": why.relevance,
            "context": [{"policy": policy, "text": text} for policy, text in why.context],
        },
    }


def shown(found: Evidence) -> str:
    """The evidence for a person at a terminal."""
    if not found.excerpts:
        return (
            "Nothing was found: the collections hold no document, or the question no word,"
            f" or nothing fits a budget of {found.budget} tokens."
        )
    parts = [] if found.likely else ["Nothing here seems to answer this; the nearest is:\n"]
    parts += [
        f"{excerpt.address}  (revision {excerpt.revision}, {excerpt.collection})\n{excerpt.text}\n"
        for excerpt in (*found.excerpts, *found.definitions)
    ]
    total = sum(found.milliseconds.values())
    cited = sum(len(excerpt.citations) for excerpt in found.excerpts)
    return "\n".join(
        [
            *parts,
            f"{cited} citations in {len(found.excerpts)} documents, {found.tokens} of {found.budget} tokens, {total:.0f} ms",
        ]
    )
