"""``tree``: how SPIRE sees a page, without a database."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evidence.ingest.readers import Unreadable, format_of, refused_name, tree_of
from evidence.tree.context import (
    column_header,
    global_context,
    headings,
    label,
    list_number,
    row_header,
    term,
)
from evidence.tree.document import Document, Node
from evidence.tree.main_content import APART, apart_reasons


class Command(BaseCommand):
    help = "Shows how SPIRE sees a document: its sentences, each with its path and its global context."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--address", default="", metavar="URL", help="where the page came from, if not the file")
        parser.add_argument("--json", action="store_true", help="for machines")

    def handle(self, *, file: Path, address: str, **options: Any) -> None:
        try:
            data = file.read_bytes()
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}") from error
        found = format_of(file.name, data)
        if not found:
            raise CommandError(f"{file} {refused_name(file.name) or 'is in no format that is read'}")
        try:
            document = tree_of(data, address or file.name, format_name=found)
        except Unreadable as error:
            raise CommandError(f"{file} {error}") from error
        if options["json"]:
            self.stdout.write(json.dumps(described(document), ensure_ascii=False, indent=2))
            return
        self.stdout.write(f"{document.title}\n")
        for node in document.nodes[1:]:
            depth = "  " * (len(node.path) - 1)
            shown = node.text if node.is_sentence else f"<{node.tag}>"
            apart = f" (not searched: {node.attributes[APART]})" if APART in node.attributes else ""
            self.stdout.write(f"{node.path!s:<14}{depth}{shown}{apart}")


def described(document: Document) -> dict[str, Any]:
    """The document for machines; the words are those of README.md."""
    reasons = apart_reasons(document)
    sentences = [
        describe(sentence) | {"apart": reasons[sentence.position] or None}
        for sentence in document.sentences()
        if sentence.parent is None or sentence.parent.tag != "title"
    ]
    return {"title": document.title, "language": document.language or None, "sentences": sentences}


def describe(sentence: Node) -> dict[str, Any]:
    """A sentence with what its place in the document says of it."""
    introduced = label(sentence)
    return {
        "path": str(sentence.path),
        "text": sentence.text,
        "tag": sentence.parent.tag if sentence.parent is not None else None,
        "headings": _texts(headings(sentence)),
        "label": introduced.content if introduced is not None else None,
        "terms": _texts(term(sentence)),
        "row_headers": _texts(row_header(sentence)),
        "col_headers": _texts(column_header(sentence)),
        "list_number": list_number(sentence),
        "context": [
            {"policy": entry.policy, "path": str(entry.node.path), "text": entry.node.content}
            for entry in global_context(sentence)
        ],
    }


def _texts(nodes: Iterable[Node]) -> list[str]:
    return [node.content for node in nodes]
