"""Evidence as the page shows it: a result for each document, its citations numbered in reading order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.safestring import SafeString

from evidence.retrieve.evidence import Citation, Evidence, Excerpt
from evidence.tree.context import HEADING_SCOPES
from evidence.tree.document import Document, Node
from evidence.tree.markup import Rendering, anchor
from evidence.tree.path import Path, PathSet
from evidence.tree.tags import HEADINGS
from evidence.web.highlight import Words
from evidence.web.links import at_source, inside

MOST_MARKED = 100
"""Citations of an excerpt, the best ones, that each of its links marks in the document."""


@dataclass(frozen=True)
class CitationLink:
    """A citation, its number within the result, where it opens, and its place at the source ("" if there is none)."""

    number: int
    citation: Citation
    url: str
    source_url: str


@dataclass(frozen=True)
class Result:
    """The evidence of one document: the headings that all of it stands under, and the rest of the excerpt as HTML."""

    excerpt: Excerpt
    html: SafeString
    url: str
    trail: list[str]
    citations: list[CitationLink]


def place_url(document: int, revision: int | None, path: Path) -> str:
    """Where a place of a revision opens, marked."""
    marks = urlencode({"revision": revision, "cite": str(path)})
    return f"{reverse('document', args=[document])}?{marks}#{anchor(path)}"


def nearest_of(evidence: Evidence, documents: int) -> Evidence:
    """The evidence less all but the first excerpts."""
    kept = evidence.excerpts[:documents]
    tokens = sum(excerpt.tokens for excerpt in (*kept, *evidence.definitions))
    return replace(evidence, excerpts=kept, tokens=tokens)


def results_of(evidence: Evidence) -> list[Result]:
    """A result for each excerpt, in their order."""
    words = Words(evidence.question)
    return [_result(excerpt, words) for excerpt in evidence.excerpts]


def definitions_of(evidence: Evidence) -> list[Result]:
    """What glossaries say of the terms that the results use: as results are, but nothing in it is cited."""
    return [
        Result(
            excerpt=excerpt,
            html=SafeString(Rendering(is_excerpt=True, link=partial(inside, excerpt.document_id)).html(excerpt.tree)),
            url=f"{reverse('document', args=[excerpt.document_id])}?{urlencode({'revision': excerpt.revision})}",
            trail=[],
            citations=[],
        )
        for excerpt in evidence.definitions
    ]


def _result(excerpt: Excerpt, words: Words) -> Result:
    shared = shared_headings(excerpt.tree, [excerpt.tree.at(path) for path in excerpt.cited])
    rendering = Rendering(
        cited=excerpt.cited,
        is_excerpt=True,
        link=lambda target: inside(excerpt.document_id, target),
        highlight=words.spans,
    )
    citations = _citation_links(excerpt)
    return Result(
        excerpt=excerpt,
        # Rendering writes kept tags and escaped text only.
        html=SafeString(rendering.html(_without(excerpt.tree, shared))),
        url=citations[0].url,
        trail=[heading.content for heading in shared if heading.content != excerpt.title],
        citations=citations,
    )


def _citation_links(excerpt: Excerpt) -> list[CitationLink]:
    """The citations in reading order: the style sheet numbers the marked places in the excerpt the same way."""
    best = {citation.path for citation in excerpt.citations[:MOST_MARKED]}
    return [
        CitationLink(
            number,
            citation,
            f"{_opened(excerpt, PathSet([*best, citation.path]))}#{anchor(citation.path)}",
            at_source(excerpt.address, citation.text),
        )
        for number, citation in enumerate(sorted(excerpt.citations, key=lambda citation: citation.path), 1)
    ]


def _opened(excerpt: Excerpt, marked: PathSet) -> str:
    marks = [("revision", str(excerpt.revision)), *(("cite", str(path)) for path in marked)]
    return f"{reverse('document', args=[excerpt.document_id])}?{urlencode(marks)}"


def shared_headings(tree: Document, nodes: Iterable[Node]) -> list[Node]:
    """The headings, outermost first, that all of these nodes stand under."""
    positions = sorted(node.position for node in nodes)
    first, last = positions[0], positions[-1]
    headings = [node for node in tree.nodes if node.tag in HEADINGS and node.position < last]
    return [heading for heading in headings if heading.last < first and not _ends_before(heading, last, headings)]


def _ends_before(heading: Node, position: int, headings: list[Node]) -> bool:
    scope = heading.nearest(*HEADING_SCOPES)
    if scope is not None and scope.last < position:
        return True
    return any(other.position > heading.position and other.tag <= heading.tag for other in headings)


def _without(tree: Document, headings: list[Node]) -> Document:
    """The tree less some headings, which the page shows above it."""
    left_out = {node.position for heading in headings for node in (heading, *heading.descendants())}
    rows = (row for row in tree.rows() if row[0] not in left_out)
    return Document.from_rows(rows, title=tree.title, language=tree.language)
