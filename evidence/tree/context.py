"""Global context: what a node needs from elsewhere in its document to be understood, found by fixed policies.

A policy is a function from a node to the nodes of its context; the global context of a node is the path set of all policies
(SPIRE, section on contextualization). It is found once, when a page is indexed, and stored as places, never as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evidence.tree.document import SENTENCE, Document, Node
from evidence.tree.path import PathSet
from evidence.tree.tables import CELLS, Grid, is_layout
from evidence.tree.tags import HEADINGS

LISTS = ("ul", "ol", "dl")
TITLED = ("table", "pre", "figure", *LISTS)

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
# What a list or table may stand in, alone, and still belong to the words before it.
SEE_THROUGH = frozenset(["section", "article", "figure", "blockquote", "main", "form", "root"])
ENDS_A_SENTENCE = re.compile(r"[.!?…。！？؟][\"'”’»)\]]*$")
NAMES_WHAT_FOLLOWS = re.compile(r"[:：]$|^(?:table|tab\.|figure|fig\.|example|listing)\s", re.IGNORECASE)

LONGEST_ROW = 1200
"""Characters. A row with more is a layout of prose, and its sentences are found one by one."""


class Policy(NamedTuple):
    """A named rule that gives the context nodes of a node, the outermost first."""

    name: str
    find: Callable[[Node], Iterable[Node]]


class Entry(NamedTuple):
    """One node of a global context, and the policy that put it there."""

    policy: str
    node: Node


def title(node: Node) -> Iterable[Node]:
    """The document's title, unless the first heading says the same."""
    found = node.document.title_node
    if found is None or found.last >= node.position >= found.position:
        return []
    structure = _structure(node.document)
    active = structure.headings[node.position]
    return [] if active and active[0].position in structure.repeat_the_title else [found]


def headings(node: Node) -> Iterable[Node]:
    """The active headings: each closes all equal and deeper ones, and need not be an ancestor of what it heads."""
    return _structure(node.document).headings[node.position]


def list_label(node: Node) -> Iterable[Node]:
    """The words that introduce each list around the node, and the beginning of the items that these lists are in."""
    found: list[Node] = []
    for ancestor in node.ancestors():
        if ancestor.tag in LISTS:
            item = ancestor.nearest("li", "dd")
            label = _lead_in(ancestor)
            if item is not None and item.tag == "li" and (first := _opening(item, ancestor)) is not None:
                found.append(first)
            if label is not None and label not in found:
                found.append(label)
    return found


def term(node: Node) -> Iterable[Node]:
    """The terms (``dt``) that a definition (``dd``) belongs to, for each definition around the node."""
    found: list[Node] = []
    for ancestor in (*node.ancestors(), node):
        if ancestor.tag == "dd":
            found.extend(_terms(ancestor))
    return found


def caption(node: Node) -> Iterable[Node]:
    """The caption of each table and figure around the node; the words before a table that has none."""
    labels = (_caption(holder) for holder in (*node.ancestors(), node))
    return [label for label in labels if label is not None and not label.position <= node.position <= label.last]


def row_header(node: Node) -> Iterable[Node]:
    """The header cells beside a cell; of a row, those that span it from a row above or head its group."""
    found: list[Node] = []
    for grid, place in _cells(node):
        if place.tag == "tr":
            row = grid.row(place)
            if row is not None:
                found.extend(cell.node for cell in (row.group.cells if row.group else []) if cell.node.children)
                found.extend(cell.node for cell in row.from_above if cell.node.children)
        else:
            found.extend(grid.row_headers(place))
    return found


def column_header(node: Node) -> Iterable[Node]:
    """The header cells over a cell; of a row, its header rows."""
    found: list[Node] = []
    for grid, place in _cells(node):
        if place.tag == "tr":
            row = grid.row(place)
            found.extend(header.node for header in (row.headers if row else ()))
        else:
            found.extend(grid.column_headers(place))
    return found


def summary(node: Node) -> Iterable[Node]:
    """The summary of each ``details`` around the node."""
    return [
        child
        for holder in node.ancestors()
        if holder.tag == "details"
        for child in holder.children[:1]
        if child.tag == "summary" and not child.position <= node.position <= child.last
    ]


def lead_in(node: Node) -> Iterable[Node]:
    """The words that introduce a ``pre``."""
    block = node if node.tag == "pre" else node.nearest("pre")
    found = None if block is None else _lead_in(block)
    return [] if found is None else [found]


POLICIES: list[Policy] = [
    Policy("title", title),
    Policy("heading", headings),
    Policy("list label", list_label),
    Policy("term", term),
    Policy("summary", summary),
    Policy("caption", caption),
    Policy("row header", row_header),
    Policy("column header", column_header),
    Policy("lead-in", lead_in),
]
"""The policies that are used, in the order in which a context is read. A site may add its own."""


def global_context(node: Node, policies: Sequence[Policy] = POLICIES) -> list[Entry]:
    """The global context of a node: each context node once, with the policy that found it first."""
    known = _structure(node.document).contexts
    # By identity, and kept with its key: a list of policies that is gone must not lend its place to another.
    key = (node.position, id(policies), len(policies))
    if key not in known:
        known[key] = (policies, _find_context(node, policies))
    return list(known[key][1])


def _find_context(node: Node, policies: Sequence[Policy]) -> list[Entry]:
    seen: set[int] = {node.position}
    entries: list[Entry] = []
    for policy in policies:
        for found in policy.find(node):
            if found.position not in seen:
                seen.add(found.position)
                entries.append(Entry(policy.name, found))
    return entries


def context_paths(node: Node, policies: Sequence[Policy] = POLICIES) -> PathSet:
    """The global context of a node as a path set."""
    return PathSet(entry.node.path for entry in global_context(node, policies))


def seeds(document: Document) -> list[Node]:
    """The units of retrieval in document order: sentences of running text, and rows of data tables.

    What only serves others as context (headings, captions, terms, header rows …) is no seed, except where it serves
    nobody: then it is all that the page says there. Navigation is not searched, unless the page has nothing else.
    """
    main: list[Node] = []
    apart: list[Node] = []
    seen_rows: set[int] = set()
    for sentence in document.sentences():
        seed = seed_of(sentence)
        if seed.position in seen_rows or not any(character.isalnum() for character in seed.content):
            continue
        seen_rows.add(seed.position)
        (apart if _is_navigation(seed) else main).append(seed)
    chosen = main or apart
    serving = [seed for seed in chosen if _only_serves(seed)]
    if not serving:
        return chosen
    served = {id(seed) for seed in serving}
    context = {
        entry.node.position: entry.node for seed in chosen if id(seed) not in served for entry in global_context(seed)
    }
    used = {sentence.position for node in context.values() for sentence in node.sentences()}
    return [
        seed
        for seed in chosen
        if id(seed) not in served
        or (seed.parent.tag != "title" and not any(part.position in used for part in seed.sentences()))  # type: ignore[union-attr]
    ]


def seed_of(sentence: Node) -> Node:
    """The seed that a sentence is found by: its row, where it stands in a data table; else itself."""
    seed = sentence
    for ancestor in sentence.ancestors():
        if ancestor.tag == "table" and not is_layout(ancestor):
            row = next((a for a in sentence.ancestors() if a.tag == "tr" and a.position > ancestor.position), None)
            if row is not None and len(row.content) <= LONGEST_ROW:
                return row
    return seed


def list_number(node: Node) -> int | None:
    """The number of the nearest item around the node, in an ordered list."""
    item = node.nearest("li")
    if item is None or item.parent is None or item.parent.tag != "ol":
        return None
    return int(item.attributes["value"])


def label(node: Node) -> Node | None:
    """The words that introduce the innermost list or table around the node."""
    for ancestor in reversed(node.ancestors()):
        if ancestor.tag in ("ul", "ol"):
            return _lead_in(ancestor)
        if ancestor.tag == "table" and not is_layout(ancestor):
            return _caption(ancestor)
    return None


def _only_serves(seed: Node) -> bool:
    if seed.tag == "tr":
        grid = grid_of(seed.nearest("table"))
        row = None if grid is None else grid.row(seed)
        return row is not None and row.is_header
    return seed.parent is not None and seed.parent.tag in (*HEADINGS, "title", "caption", "figcaption", "dt", "summary")


def _is_navigation(node: Node) -> bool:
    return any(ancestor.tag == "nav" for ancestor in node.ancestors())


@dataclass(slots=True)
class _Structure:
    """What is known of a document as a whole, found in one pass."""

    headings: list[tuple[Node, ...]]
    repeat_the_title: set[int]
    grids: dict[int, Grid] = field(default_factory=dict)
    contexts: dict[tuple[int, int, int], tuple[Sequence[Policy], list[Entry]]] = field(default_factory=dict)


def _structure(document: Document) -> _Structure:
    found = document.findings.get("structure")
    if not isinstance(found, _Structure):
        found = document.findings["structure"] = _Structure(_active_headings(document), _repeats_of_title(document))
    return found


def _active_headings(document: Document) -> list[tuple[Node, ...]]:
    """For each position, the headings that are active there."""
    active: list[tuple[Node, ...]] = []
    current: tuple[Node, ...] = ()
    scopes: list[tuple[int, tuple[Node, ...]]] = []
    for node in document.nodes:
        while scopes and node.position > scopes[-1][0]:
            current = scopes.pop()[1]
        if node.tag in HEADING_SCOPES:
            scopes.append((node.last, current))
        if node.tag in HEADINGS:
            current = tuple(heading for heading in current if heading.tag < node.tag)
            active.append(current)
            if node.children:
                # The heading's own sentences are headed by those above it.
                scopes.append((node.last, (*current, node)))
        else:
            active.append(current)
    return active


def _repeats_of_title(document: Document) -> set[int]:
    """The headings that say the same as the title."""
    title_node = document.title_node
    if title_node is None:
        return set()
    said = title_node.content.casefold()
    return {node.position for node in document.nodes if node.tag in HEADINGS and node.content.casefold() == said}


def grid_of(table: Node | None) -> Grid | None:
    """The grid of a data table, laid out once; None where there is no table, or one that only arranges the page."""
    if table is None or is_layout(table):
        return None
    grids = _structure(table.document).grids
    if table.position not in grids:
        grids[table.position] = Grid(table)
    return grids[table.position]


def _cells(node: Node) -> list[tuple[Grid, Node]]:
    """The cells of data tables around the node, outermost first; for a row, the row itself comes last."""
    found = []
    for place in (*node.ancestors(), node):
        if place.tag in CELLS or (place is node and place.tag == "tr"):
            grid = grid_of(place.nearest("table"))
            if grid is not None:
                found.append((grid, place))
    return found


def _caption(holder: Node) -> Node | None:
    if holder.tag == "table":
        if is_layout(holder):
            return None
        if (found := next((child for child in holder.children if child.tag == "caption"), None)) is not None:
            return found
        around = holder.parent
        if around is not None and around.tag == "figure":
            return None
        before = _lead_in(holder)
        return before if before is not None and _names_a_table(before) else None
    if holder.tag == "figure":
        return next((child for child in holder.children if child.tag == "figcaption"), None)
    return None


def _names_a_table(sentence: Node) -> bool:
    """Whether a sentence before a table is about it: it ends with a colon, or stands alone as a caption does."""
    if NAMES_WHAT_FOLLOWS.search(sentence.text):
        return True
    is_alone = sentence.parent is not None and len(sentence.parent.children) == 1
    return is_alone and len(sentence.text) <= 150 and not ENDS_A_SENTENCE.search(sentence.text)


def _lead_in(block: Node) -> Node | None:
    """The last sentence before a block, if the block follows running text directly."""
    node = block
    while node.parent is not None:
        before = _before(node.parent.children, node.index)
        if before is not None:
            if before.tag == SENTENCE:
                return before
            last = before.children[-1] if before.tag == "p" and before.children else None
            return last if last is not None and last.tag == SENTENCE else None
        if node.parent.tag not in SEE_THROUGH:
            return None
        node = node.parent
    return None


def _before(siblings: Sequence[Node], place: int) -> Node | None:
    """What stands before this place; editors leave empty paragraphs there, which a reader does not see."""
    while place and siblings[place - 1].tag == "p" and not siblings[place - 1].children:
        place -= 1
    return siblings[place - 1] if place else None


def _opening(item: Node, inner: Node) -> Node | None:
    """The first sentence of an item, if it comes before the inner list."""
    first = next(item.sentences(), None)
    return first if first is not None and first.position < inner.position else None


def _terms(definition: Node) -> list[Node]:
    """The run of terms before a definition, other definitions of the same terms left out."""
    siblings = definition.parent.children if definition.parent is not None else []
    place = definition.index
    while place > 0 and siblings[place - 1].tag == "dd":
        place -= 1
    end = place
    while place > 0 and siblings[place - 1].tag == "dt":
        place -= 1
    return siblings[place:end]
