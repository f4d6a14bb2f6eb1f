"""What changed between two revisions of a document, as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from evidence.configured import pipeline
from evidence.models import Document, Revision
from evidence.store.revisions import read_tree
from evidence.tree.changes import Change, Piece, changes, word_changes
from evidence.tree.following import MOST_SENTENCES, Alignment, words_of
from evidence.tree.structure import structure_of
from evidence.tree.tags import HEADINGS
from evidence.web.results import place_url
from evidence.web.views import readable, revision_numbered

AROUND = 2
"""Unchanged lines that are shown before and after a change."""
FEWEST_FOLDED = 4
MOST_FOLDED = 100
"""Of more unchanged lines only the number is told."""
CHANGES_OF_A_PAGE = 100


@dataclass(frozen=True)
class Line:
    """A line of the page: the words before and after in pieces; of a change, where it stands in the revision that has it."""

    kind: str
    is_heading: bool
    before: list[Piece]
    after: list[Piece]
    url: str


@dataclass(frozen=True)
class Stretch:
    """Lines that follow each other, and the headings that the first stands under. Where none of them changed they are
    folded, so many; of very many there are no lines."""

    lines: list[Line]
    folded: int
    trail: list[str]


@login_required
@require_safe
def changed(request: HttpRequest, pk: int) -> HttpResponse:
    """What changed from one revision to another; if none is named, from the one before the current to the current one."""
    found = get_object_or_404(readable(request), pk=pk)
    later = revision_numbered(found, request.GET.get("to", ""))
    earlier = _earlier(found, later, request.GET.get("from", ""))
    is_too_large = earlier.sentences + later.sentences > MOST_SENTENCES
    told = [] if is_too_large else _told(earlier, later)
    places = [number for number, change in enumerate(told) if change.kind != "same"]
    page = Paginator(places, CHANGES_OF_A_PAGE).get_page(request.GET.get("page"))
    counts = Counter(change.kind for change in told)
    return render(
        request,
        "changes.html",
        {
            "document": found,
            "earlier": earlier,
            "later": later,
            "revisions": found.revisions.defer("content"),
            "is_too_large": is_too_large,
            "page": page,
            "stretches": list(_stretches(told, page, found, earlier, later)),
            "counts": [(kind, counts[kind]) for kind in ("added", "removed", "changed", "moved") if counts[kind]],
            "language": later.language,
        },
    )


def _earlier(found: Document, later: Revision, number: str) -> Revision:
    if number:
        return revision_numbered(found, number)
    before = found.revisions.defer("content").filter(number__lt=later.number).first()
    return before or later


def _told(earlier: Revision, later: Revision) -> list[Change]:
    with pipeline() as connection:
        trees = [read_tree(connection, revision.pk) for revision in (earlier, later)]
    return changes(Alignment(*trees))


def _stretches(
    told: Sequence[Change], page: Page[int], found: Document, earlier: Revision, later: Revision
) -> Iterator[Stretch]:
    """The lines from the first change of a page to its last, with long runs of unchanged ones folded. Those after the last
    change of the page before come with it, those after the last of all at the end."""
    places = page.paginator.object_list
    start = places[page.start_index() - 2] + 1 if page.has_previous() else 0
    end = places[page.end_index() - 1] + 1 if page.has_next() else len(told)
    near = {number + beside for number in page for beside in range(-AROUND, AROUND + 1)}
    headings_are_out_of_sight = start > 0
    for is_near, numbers in groupby(range(start, end), near.__contains__):
        run = list(numbers)
        folded = 0 if is_near or len(run) < FEWEST_FOLDED else len(run)
        lines = [] if folded > MOST_FOLDED else [_line(told[number], found, earlier, later) for number in run]
        yield Stretch(lines, folded, _trail(told[run[0]]) if headings_are_out_of_sight and not folded else [])
        headings_are_out_of_sight = bool(folded)


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
    url = "" if change.kind == "same" else place_url(found.pk, revision.number, change.line.path)
    return Line(change.kind, is_heading, before, after, url)


def _trail(change: Change) -> list[str]:
    return [heading.content for heading in structure_of(change.line.document).headings[change.line.position]]
