"""Seeds: the units of retrieval of a document."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evidence.tree.context import Contexts, Entry, contexts_of
from evidence.tree.document import Document, Node
from evidence.tree.main_content import apart_reasons
from evidence.tree.structure import grid_of, structure_of
from evidence.tree.tags import HEADINGS

WORD = re.compile(r"[^\W_]")
SERVING = frozenset([*HEADINGS, "title", "caption", "figcaption", "dt", "summary", "legend"])


def seeds(document: Document) -> list[Node]:
    """The units of retrieval in document order: sentences of running text, and rows of data tables.

    What only serves others as context (headings, captions, terms, header rows …) is no seed, except where it serves
    nobody: then it is all that the page says there. What stands apart from the main content is not searched, unless the
    page has nothing else. Found once per document.
    """
    found = document.findings.get("seeds")
    if not isinstance(found, tuple):
        found = document.findings["seeds"] = tuple(_find_seeds(document))
    return list(found)


def seed_of(sentence: Node) -> Node:
    """The seed that a sentence is found by: its row, where it stands in a data table; else itself."""
    return structure_of(sentence.document).outside(sentence).row or sentence


def _find_seeds(document: Document) -> Sequence[Node]:
    main: list[Node] = []
    apart: list[Node] = []
    around = structure_of(document).around
    reasons = apart_reasons(document)
    last_row: Node | None = None
    for sentence in document.sentences():
        row = around[sentence.parent.position].row if sentence.parent is not None else None
        if row is None:
            if WORD.search(sentence.text):
                (apart if reasons[sentence.position] else main).append(sentence)
        # The sentences of a row follow each other.
        elif row is not last_row:
            last_row = row
            if any(WORD.search(part.text) for part in row.sentences()):
                (apart if reasons[row.position] else main).append(row)
    return _without_what_serves(main or apart, contexts_of(document))


def _without_what_serves(found: Sequence[Node], contexts: Contexts) -> Sequence[Node]:
    """The seeds less those that only serve others as context, if they do."""
    serving = {seed.position for seed in found if _only_serves(seed)}
    if not serving:
        return found
    used: set[int] = set()
    before: list[Entry] = []
    for seed in found:
        if seed.position not in serving:
            entries = contexts.of(seed)
            if entries is not before:
                before = entries
                for entry in entries:
                    used.update(range(entry.node.position, entry.node.last + 1))
    return [
        seed
        for seed in found
        if seed.position not in serving
        or not (_is_never_searched(seed) or any(part.position in used for part in seed.sentences()))
    ]


def _is_never_searched(seed: Node) -> bool:
    """Whether a seed says what is searched elsewhere: the title, and headers repeated below a table."""
    place = seed if seed.tag == "tr" else seed.parent
    return place is not None and (place.tag == "title" or (place.tag == "tr" and place.parent.tag == "tfoot"))  # type: ignore[union-attr]


def _only_serves(seed: Node) -> bool:
    if seed.tag == "tr":
        grid = grid_of(seed.nearest("table"))
        row = None if grid is None else grid.row(seed)
        return row is not None and row.is_header
    return seed.parent is not None and seed.parent.tag in SERVING
