"""What changed between two revisions of a document, as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from evidence.configured import pipeline
from evidence.models import Document, Revision
from evidence.store.revisions import read_tree
from evidence.tree.changes import Change, Piece, changes, word_changes
from evidence.tree.following import Alignment, words_of
from evidence.tree.structure import structure_of
from evidence.tree.tags import HEADINGS
from evidence.web.results import place_url
from evidence.web.views import readable, revision_numbered

AROUND = 2
"""Unchanged lines that are shown before and after a change."""
FEWEST_FOLDED = 4


@dataclass(frozen=True)
class Line:
    """A line of the page: the words before and after in pieces, and where it stands in the revision that has it."""

    kind: str
    is_heading: bool
    before: list[Piece]
    after: list[Piece]
    url: str


@dataclass(frozen=True)
class Stretch:
    """Lines that follow each other, folded where none of them changed; and the headings that the first stands under."""

    lines: list[Line]
    is_folded: bool
    trail: list[str]


@login_required
@require_safe
def changed(request: HttpRequest, pk: int) -> HttpResponse:
    """What changed from one revision to another; if none is named, from the one before the current to the current one."""
    found = get_object_or_404(readable(request), pk=pk)
    later = revision_numbered(found, request.GET.get("to", ""))
    earlier = _earlier(found, later, request.GET.get("from", ""))
    with pipeline() as connection:
        trees = [read_tree(connection, revision.pk) for revision in (earlier, later)]
    told = changes(Alignment(*trees))
    counts = Counter(change.kind for change in told)
    return render(
        request,
        "changes.html",
        {
            "document": found,
            "earlier": earlier,
            "later": later,
            "revisions": found.revisions.defer("content"),
            "stretches": _stretches(told, found, earlier, later),
            "counts": [(kind, counts[kind]) for kind in ("added", "removed", "changed", "moved") if counts[kind]],
            "language": trees[1].language,
        },
    )


def _earlier(found: Document, later: Revision, number: str) -> Revision:
    if number:
        return revision_numbered(found, number)
    before = found.revisions.defer("content").filter(number__lt=later.number).first()
    return before or later


def _stretches(told: Sequence[Change], found: Document, earlier: Revision, later: Revision) -> list[Stretch]:
    """The lines, with long runs of unchanged ones folded."""
    changed = [number for number, change in enumerate(told) if change.kind != "same"]
    near = {number + beside for number in changed for beside in range(-AROUND, AROUND + 1)}
    runs: list[tuple[int, int, bool]] = []
    start = 0
    for number in range(1, len(told) + 1):
        if number == len(told) or (number in near) != (start in near):
            runs.append((start, number, start not in near and number - start >= FEWEST_FOLDED))
            start = number
    return [
        Stretch(
            [_line(change, found, earlier, later) for change in told[start:end]],
            is_folded,
            [] if is_folded or not start or not runs[place - 1][2] else _trail(told[start]),
        )
        for place, (start, end, is_folded) in enumerate(runs)
    ]


def _line(change: Change, found: Document, earlier: Revision, later: Revision) -> Line:
    old = words_of(change.earlier) if change.earlier else ""
    new = words_of(change.later) if change.later else ""
    if change.kind == "changed":
        before, after = word_changes(old, new)
    elif change.kind == "removed":
        before, after = [Piece(old, False)], []
    else:
        before, after = [], [Piece(new, False)]
    revision = earlier if change.kind == "removed" else later
    is_heading = change.line.parent is not None and change.line.parent.tag in HEADINGS
    return Line(change.kind, is_heading, before, after, place_url(found.pk, revision.number, change.line.path))


def _trail(change: Change) -> list[str]:
    return [heading.content for heading in structure_of(change.line.document).headings[change.line.position]]
