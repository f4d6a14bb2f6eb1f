"""An excerpt as text: what a language model reads, and what a token budget counts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from evidence.tree.document import SENTENCE, Document, Node
from evidence.tree.lists import item_mark
from evidence.tree.rows import rows_with_columns
from evidence.tree.tables import is_layout

HEADING_MARKS = {"title": "#", "h1": "#", "h2": "##", "h3": "###", "h4": "####", "h5": "#####", "h6": "######"}
BOXES = {"true": " [x]", "false": " [ ]"}
INDENT = "  "
MARKS_OF_A_LINE = 2
"""Tokens set aside per sentence for what a line has beside it: a mark of an item, a bar between cells, the line's end."""


def to_text(document: Document) -> str:
    """The document as plain text with structure: headings, indented items with their numbers, a line per table row."""
    return "\n".join(_lines(document.root, "")).strip("\n")


def token_costs(document: Document, count_all: Callable[[Sequence[str]], list[int]]) -> list[int]:
    """For each node by position, the tokens that it and all below it add to an excerpt's text.

    Nearly exact, and rather too high than too low; the text that is really sent is counted again.
    """
    sentences = list(document.sentences())
    counts = count_all([sentence.text for sentence in sentences])
    costs = [0] * len(document.nodes)
    for sentence, count in zip(sentences, counts, strict=True):
        costs[sentence.position] = count + MARKS_OF_A_LINE
    for node in reversed(document.nodes):
        if node.parent is not None:
            costs[node.parent.position] += costs[node.position]
    return costs


def _lines(block: Node, indent: str) -> Iterator[str]:
    """The lines of a block's children: runs of sentences joined, blocks each on their own."""
    run: list[Node] = []
    for child in block.children:
        if child.tag == SENTENCE:
            run.append(child)
            continue
        if run:
            yield from _paragraph(run, indent)
            run = []
        yield from _block(child, indent)
    if run:
        yield from _paragraph(run, indent)


def _block(block: Node, indent: str) -> Iterator[str]:
    tag = block.tag
    if tag in HEADING_MARKS:
        if content := block.content:
            yield f"{HEADING_MARKS[tag]} {content}"
    elif tag == "table" and not is_layout(block):
        yield from _table(block, indent)
    elif tag == "li":
        lines = list(_lines(block, indent + INDENT))
        if lines:
            mark = item_mark(block) + BOXES.get(block.attributes.get("checked", ""), "")
            yield f"{indent}{mark} {lines[0].lstrip()}"
            yield from lines[1:]
    elif tag == "dt":
        if content := block.content:
            yield f"{indent}{content}:"
    elif tag == "dd":
        yield from _lines(block, indent + INDENT)
    else:
        yield from _lines(block, indent)


def _paragraph(sentences: list[Node], indent: str) -> Iterator[str]:
    """Sentences that follow each other stand on one line; where some are left out between them, a new line begins."""
    line = ""
    for before, sentence in zip([None, *sentences], sentences, strict=False):
        if before is None:
            line = sentence.text
        elif sentence.index == before.index + 1:
            line += sentence.text if "joined" in sentence.attributes else " " + sentence.text
        else:
            yield indent + line
            line = sentence.text
    yield indent + line


def _table(table: Node, indent: str) -> Iterator[str]:
    """A line for each row, its cells in the columns that some row of the excerpt has a cell in."""
    for child in table.children:
        if child.tag == "caption":
            yield indent + child.content
    rows = [_columns(row) for row in rows_with_columns(table)]
    columns = sorted({column for row in rows for column in row})
    for row in rows:
        if row:
            shown = columns[: bisect_right(columns, max(row))]
            yield f"{indent}| {' | '.join(row.get(column, '') for column in shown)} |"


def _columns(cells: dict[int, Node]) -> dict[int, str]:
    # A cell may hold lists and paragraphs; a row is one line.
    return {column: " ".join(line.strip() for line in _lines(cell, "")) for column, cell in cells.items()}
