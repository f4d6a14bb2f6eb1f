"""Global context: what a node needs from elsewhere in its document to be understood, found by fixed policies.

A policy is a function from a node to the nodes of its context; the global context of a node is the path set of all policies
(SPIRE, section on contextualization). It is found once, when a page is indexed, and stored as places, never as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from evidence.tree.definitions import definitions, is_glossary
from evidence.tree.document import SENTENCE, Document, Node
from evidence.tree.glossary import definition
from evidence.tree.labels import caption_of, lead_in, shortened
from evidence.tree.path import PathSet
from evidence.tree.references import reference
from evidence.tree.structure import HEADING_SCOPES, Structure, grid_of, structure_of
from evidence.tree.tables import Grid, is_layout
from evidence.tree.tags import CELLS
from evidence.tree.terms import lookup_form

__all__ = ["HEADING_SCOPES", "OPTIONAL", "POLICIES", "Entry", "Policy", "global_context", "grid_of", "policies_for"]


class Policy(NamedTuple):
    """A named rule that gives the context nodes of a node, the outermost first; if it has a bound, the best first."""

    name: str
    find: Callable[[Node], Iterable[Node]]
    description: str = ""
    """For the people who switch it on: what it brings along."""

    most: int | None = None
    """How many nodes it may add to the context of one seed."""

    longest: int | None = None
    """Characters of a node that it may add. Of a longer one its first sentence is taken."""

    by_place: bool = False
    """Whether it looks only at what the document's structure knows of a place: the active headings, and what is ``Around``
    it. It is then asked once for all sentences outside tables that have the same, and must find none of these."""


class Entry(NamedTuple):
    """One node of a global context, and the policy that put it there."""

    policy: str
    node: Node


def title(node: Node) -> Iterable[Node]:
    """The document's title, unless the first heading says the same."""
    found = node.document.title_node
    if found is None or found.last >= node.position >= found.position:
        return ()
    structure = structure_of(node.document)
    active = structure.headings[node.position]
    return () if active and active[0].position in structure.repeat_the_title else (found,)


def headings(node: Node) -> Iterable[Node]:
    """The active headings: each closes all equal and deeper ones, and need not be an ancestor of what it heads."""
    return structure_of(node.document).headings[node.position]


def list_label(node: Node) -> Iterable[Node]:
    """The words that introduce each list around the node, and the beginning of the items that these lists are in."""
    return structure_of(node.document).outside(node).labels


def term(node: Node) -> Iterable[Node]:
    """The terms (``dt``) that a definition (``dd``) belongs to, for each definition around the node."""
    return structure_of(node.document).within(node).terms


def caption(node: Node) -> Iterable[Node]:
    """The caption of each table and figure around the node; the words before a table that has none."""
    return structure_of(node.document).within(node).captions


def row_header(node: Node) -> Iterable[Node]:
    """The header cells beside a cell; of a row, those that span it from a row above or head its group."""
    found: list[Node] = []
    for grid, place in _cells(node):
        if place.tag == "tr":
            row = grid.row(place)
            if row is not None:
                found.extend(grid.beside(row))
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
    """The summary of each ``details`` around the node, and the legend of each group of a form's fields."""
    return structure_of(node.document).outside(node).summaries


def words_before(node: Node) -> Iterable[Node]:
    """The words that introduce a ``pre``."""
    block = structure_of(node.document).within(node).verbatim
    found = None if block is None else lead_in(block)
    return () if found is None else (found,)


POLICIES: tuple[Policy, ...] = (
    Policy("title", title, by_place=True),
    Policy("heading", headings, by_place=True),
    Policy("list label", list_label, by_place=True),
    Policy("term", term, by_place=True),
    Policy("summary", summary, by_place=True),
    Policy("caption", caption, by_place=True),
    Policy("row header", row_header, by_place=True),
    Policy("column header", column_header, by_place=True),
    Policy("lead-in", words_before, by_place=True),
)
"""The policies that are always used, in the order in which a context is read."""

DEFINITION = Policy(
    "definition",
    definition,
    "Terms that a sentence uses bring their definition, from the same document or from a glossary of the collection.",
    most=6,
    longest=400,
)
REFERENCE = Policy(
    "reference",
    reference,
    "Cross-references (“section 2”, “§ 4(2)”, “Table 3”, links within the page) bring the heading, caption or paragraph"
    " that they lead to.",
    most=4,
    longest=400,
)
OPTIONAL: tuple[Policy, ...] = (DEFINITION, REFERENCE)
"""Policies that a collection may switch on. A site may add its own to them."""


def policies_for(names: Iterable[str], optional: Sequence[Policy] = OPTIONAL) -> tuple[Policy, ...]:
    """The policies of a collection that has switched these optional ones on, the same object for the same names.

    ValueError for a name that none of the optional policies has.
    """
    return _policies_for(tuple(sorted(set(names))), tuple(optional))


@lru_cache(maxsize=64)
def _policies_for(names: tuple[str, ...], optional: tuple[Policy, ...]) -> tuple[Policy, ...]:
    unknown = set(names) - {policy.name for policy in optional}
    if unknown:
        there_are = ", ".join(repr(policy.name) for policy in optional)
        raise ValueError(f"there is no optional policy {', '.join(map(repr, sorted(unknown)))}; there are: {there_are}")
    chosen = tuple(policy for policy in optional if policy.name in names)
    return (*POLICIES, *chosen) if chosen else POLICIES


def global_context(node: Node, policies: Sequence[Policy] = POLICIES) -> list[Entry]:
    """The global context of a node: each context node once, with the policy that found it first.

    What is found by place comes before what is found by the node's own words.
    """
    return list(contexts_of(node.document, policies).of(node))


def context_paths(node: Node, policies: Sequence[Policy] = POLICIES) -> PathSet:
    """The global context of a node as a path set."""
    return PathSet(entry.node.path for entry in global_context(node, policies))


def glossary_entries(document: Document, policies: Sequence[Policy]) -> list[tuple[str, int]]:
    """What a document defines for the other documents of its collection, where these policies ask for definitions: terms
    as they are looked up, and positions. Empty where the document is no glossary."""
    if DEFINITION not in policies or not is_glossary(document):
        return []
    entries = [
        (lookup_form(term), node.position)
        for term, found in definitions(document)
        if (node := shortened(found, DEFINITION.longest or len(found.content))) is not None
    ]
    return list(dict.fromkeys(entries))


@dataclass(slots=True)
class Contexts:
    """The contexts of a document's nodes by one list of policies, each found when it is first asked for."""

    policies: Sequence[Policy]
    """Kept, so that a list that is gone does not lend its identity to another."""

    by_place: list[Policy]
    by_node: list[Policy]
    structure: Structure
    known: dict[int, list[Entry]] = field(default_factory=dict)
    places: dict[tuple[int, int], list[Entry]] = field(default_factory=dict)

    def of(self, node: Node) -> list[Entry]:
        """The context of a node; not to be changed. Sentences in the same place may share one list."""
        placed = self._placed(node)
        if not self.by_node:
            return placed
        known = self.known.get(node.position)
        if known is None:
            known = self.known[node.position] = _with_own(node, placed, self.by_node)
        return known

    def _placed(self, node: Node) -> list[Entry]:
        """What the policies find that look only at a node's place."""
        key = (node.position, -1)
        if node.tag == SENTENCE:
            around = self.structure.outside(node)
            # In a table each cell has headers of its own.
            if not around.data_tables:
                key = (id(around), id(self.structure.headings[node.position]))
        placed = self.places.get(key)
        if placed is None:
            placed = self.places[key] = _found(node, self.by_place)
        return placed


def contexts_of(document: Document, policies: Sequence[Policy] = POLICIES) -> Contexts:
    """The contexts of a document's nodes by these policies."""
    key = f"contexts {id(policies)} {len(policies)}"
    found = document.findings.get(key)
    if not isinstance(found, Contexts):
        by_place = [policy for policy in policies if policy.by_place]
        by_node = [policy for policy in policies if not policy.by_place]
        found = Contexts(policies, by_place, by_node, structure_of(document))
        document.findings[key] = found
    return found


def _found(node: Node, policies: Sequence[Policy]) -> list[Entry]:
    seen: set[int] = {node.position}
    entries: list[Entry] = []
    for policy in policies:
        for found in policy.find(node):
            if found.position not in seen:
                seen.add(found.position)
                entries.append(Entry(policy.name, found))
    return entries


def _with_own(node: Node, placed: Sequence[Entry], policies: Sequence[Policy]) -> list[Entry]:
    """The context by place, and what the other policies add, each within its bounds."""
    entries = list(placed)
    seen = {node.position, *(entry.node.position for entry in entries)}
    for policy in policies:
        end = None if policy.most is None else len(entries) + policy.most
        for found in policy.find(node):
            if len(entries) == end:
                break
            taken = found if policy.longest is None else shortened(found, policy.longest)
            if taken is not None and taken.position not in seen and not _overlap(taken, node):
                seen.add(taken.position)
                entries.append(Entry(policy.name, taken))
    return entries


def _overlap(one: Node, other: Node) -> bool:
    return one.position <= other.last and other.position <= one.last


def _cells(node: Node) -> list[tuple[Grid, Node]]:
    """The cells of data tables around the node, outermost first; for a row, the row itself comes last."""
    tables = structure_of(node.document).within(node).data_tables
    if not tables:
        return []
    if tables == 1 and node.tag == "tr" and (grid := grid_of(node.nearest("table"))) is not None:
        return [(grid, node)]
    found: list[tuple[Grid, Node]] = []
    for place in (*node.ancestors(), node):
        if place.tag in CELLS or (place is node and place.tag == "tr"):
            grid = grid_of(place.nearest("table"))
            if grid is not None:
                found.append((grid, place))
    return found


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
            return lead_in(ancestor)
        if ancestor.tag == "table" and not is_layout(ancestor):
            return caption_of(ancestor)
    return None
