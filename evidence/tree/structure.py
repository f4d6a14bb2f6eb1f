"""What is known of a document as a whole, found in one pass: the active headings, and what stands around each block."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from evidence.tree.document import SENTENCE, Document, Node
from evidence.tree.labels import caption_of, lead_in, opening, terms_of
from evidence.tree.tables import Grid, is_layout
from evidence.tree.tags import HEADINGS, LISTS

# A heading in one of these says nothing about what follows it.
HEADING_SCOPES = frozenset(
    [
        "section",
        "article",
        "aside",
        "nav",
        "footer",
        "blockquote",
        "figure",
        "details",
        "fieldset",
        "li",
        "dd",
        "td",
        "th",
        "table",
        "caption",
    ]
)

LONGEST_ROW = 1200
"""Characters, with the header rows. A longer row is a layout of prose or one of very many columns: its sentences are
found one by one, each with its own headers."""


class Around(NamedTuple):
    """What stands around the nodes within a block, the block included; the outermost first.

    Blocks that change nothing share the object of their parent.
    """

    labels: tuple[Node, ...] = ()
    """The words that introduce each list, and the beginning of the items that these lists are in."""

    terms: tuple[Node, ...] = ()
    captions: tuple[Node, ...] = ()
    summaries: tuple[Node, ...] = ()
    verbatim: Node | None = None
    """The innermost ``pre``."""

    row: Node | None = None
    """The row that sentences here are found by."""

    data_tables: int = 0
    """How many tables, within each other, the nodes stand in; those that only arrange the page are not counted."""

    is_in_row: bool = True
    """False between a data table and its row."""


NOTHING = Around()
CHANGE_IT = frozenset(
    [
        "title",
        "table",
        "caption",
        "tr",
        "dd",
        "figure",
        "figcaption",
        "pre",
        *LISTS,
        "details",
        "summary",
        "fieldset",
        "legend",
    ]
)
NAMED_BY_FIRST = {"details": "summary", "fieldset": "legend"}


@dataclass(slots=True)
class Structure:
    """What is known of a document as a whole."""

    headings: list[tuple[Node, ...]]
    """For each position, the headings that are active there."""

    around: dict[int, Around]
    """For the position of each block, what stands around the nodes within it."""

    repeat_the_title: set[int]
    """The positions of the headings that say the same as the title."""

    grids: dict[int, Grid] = field(default_factory=dict)

    def within(self, node: Node) -> Around:
        """What stands around a node, the node itself included if it is a block."""
        return self.around[node.position] if node.tag != SENTENCE else self.outside(node)

    def outside(self, node: Node) -> Around:
        """What stands around a node, without the node itself."""
        return NOTHING if node.parent is None else self.around[node.parent.position]


def structure_of(document: Document) -> Structure:
    """The structure of a document, found when it is first asked for."""
    found = document.findings.get("structure")
    if not isinstance(found, Structure):
        found = document.findings["structure"] = Structure(_active_headings(document), {}, _repeats_of_title(document))
        # Afterwards, because the grids of tables are kept in the structure.
        found.around.update(_surroundings(document))
    return found


def grid_of(table: Node | None) -> Grid | None:
    """The grid of a data table, laid out once; None where there is no table, or one that only arranges the page."""
    if table is None or is_layout(table):
        return None
    grids = structure_of(table.document).grids
    if table.position not in grids:
        grids[table.position] = Grid(table)
    return grids[table.position]


def _active_headings(document: Document) -> list[tuple[Node, ...]]:
    """For each position, the headings that are active there. The same tuple as long as nothing changes."""
    active: list[tuple[Node, ...]] = []
    current: tuple[Node, ...] = ()
    scopes: list[tuple[int, tuple[Node, ...]]] = []
    until = len(document.nodes)
    for node in document.nodes:
        tag = node.tag
        if tag == SENTENCE and node.position <= until:
            active.append(current)
            continue
        while scopes and node.position > scopes[-1][0]:
            current = scopes.pop()[1]
        if tag in HEADING_SCOPES:
            scopes.append((node.last, current))
        if tag in HEADINGS:
            current = tuple(heading for heading in current if heading.tag < tag)
            active.append(current)
            if node.children:
                # The heading's own sentences are headed by those above it.
                scopes.append((node.last, (*current, node)))
        else:
            active.append(current)
        until = scopes[-1][0] if scopes else len(document.nodes)
    return active


def _repeats_of_title(document: Document) -> set[int]:
    title_node = document.title_node
    if title_node is None:
        return set()
    said = title_node.content.casefold()
    return {node.position for node in document.nodes if node.tag in HEADINGS and node.content.casefold() == said}


def _surroundings(document: Document) -> dict[int, Around]:
    around: dict[int, Around] = {}
    for node in document.nodes:
        if node.tag == SENTENCE:
            continue
        above = NOTHING if node.parent is None else around[node.parent.position]
        if node.tag == "dd" and (before := _definition_before(node)) is not None:
            # It has the same terms, which may be long ago.
            around[node.position] = around[before.position]
        else:
            around[node.position] = _changed(above, node) if node.tag in CHANGE_IT else above
    return around


def _definition_before(definition: Node) -> Node | None:
    before = definition.parent.children[definition.place - 1] if definition.parent and definition.place else None
    return before if before is not None and before.tag == "dd" else None


def _changed(above: Around, block: Node) -> Around:
    tag = block.tag
    if tag in LISTS:
        return _with_labels(above, block)
    if tag == "table":
        in_table = above if is_layout(block) else above._replace(data_tables=above.data_tables + 1, is_in_row=False)
        return _with_caption(in_table, block)
    if tag == "figure":
        return _with_caption(above, block)
    if tag == "tr":
        return _with_row(above, block)
    if tag == "dd":
        return above._replace(terms=(*above.terms, *terms_of(block)))
    if tag in NAMED_BY_FIRST:
        summary = block.children[0] if block.children and block.children[0].tag == NAMED_BY_FIRST[tag] else None
        return above if summary is None else above._replace(summaries=(*above.summaries, summary))
    if tag == "pre":
        return above._replace(verbatim=block)
    # Of a title, caption, summary or legend: it is no context of its own words.
    return above._replace(
        captions=tuple(caption for caption in above.captions if caption is not block),
        summaries=tuple(summary for summary in above.summaries if summary is not block),
    )


def _with_labels(above: Around, block: Node) -> Around:
    added: list[Node] = []
    item = block.nearest("li", "dd")
    if item is not None and item.tag == "li" and (first := opening(item, block)) is not None:
        added.append(first)
    label = lead_in(block)
    if label is not None and label not in added and label not in above.labels:
        added.append(label)
    return above._replace(labels=(*above.labels, *added)) if added else above


def _with_caption(above: Around, block: Node) -> Around:
    caption = caption_of(block)
    return above if caption is None else above._replace(captions=(*above.captions, caption))


def _length_with_headers(row: Node) -> int:
    """Characters of a row and of the header rows that it brings along."""
    grid = grid_of(row.nearest("table"))
    placed = None if grid is None else grid.row(row)
    return len(row.content) + (0 if grid is None or placed is None else grid.length_of_headers(placed))


def _with_row(above: Around, row: Node) -> Around:
    if above.is_in_row:
        return above
    is_found_whole = above.row is None and _length_with_headers(row) <= LONGEST_ROW
    return above._replace(row=row if is_found_whole else above.row, is_in_row=True)
