"""Subdocuments: a document and a path set, from which an excerpt is pruned when it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evidence.tree.document import Document, Node
from evidence.tree.path import Path, PathSet


@dataclass(frozen=True)
class Subdocument:
    """(D, P): a selection of places in a tree. Nothing is copied until ``extract``."""

    document: Document
    paths: PathSet

    def up(self) -> Subdocument:
        """(D, up(P)): with every ancestor."""
        return Subdocument(self.document, self.paths.up())

    def down(self) -> Subdocument:
        """(D, down(P)): with every descendant."""
        return Subdocument(self.document, self.paths.down(self.document.paths))

    def link(self) -> Subdocument:
        """(D, link(P)): with every ancestor and every descendant."""
        return Subdocument(self.document, self.paths.link(self.document.paths))

    def __or__(self, other: Subdocument) -> Subdocument:
        if other.document is not self.document:
            raise ValueError("only subdocuments of one document can be united")
        return Subdocument(self.document, self.paths | other.paths)

    def extract(self) -> Document:
        """The document pruned to link(P). KeyError for a path that the document does not have."""
        return prune(self.document, [self.document.at(path) for path in self.paths])


def prune(document: Document, nodes: Iterable[Node]) -> Document:
    """The document with only these nodes, their ancestors and their descendants."""
    kept: dict[int, Node] = {}
    for node in nodes:
        above: Node | None = node
        while above is not None and above.position not in kept:
            kept[above.position] = above
            above = above.parent
        for below in node.descendants():
            kept[below.position] = below
    kept.setdefault(document.root.position, document.root)
    rows = (
        (
            node.position,
            node.last,
            -1 if node.parent is None else node.parent.position,
            node.index,
            node.tag,
            node.attributes,
            node.text,
            node.markup,
        )
        for _, node in sorted(kept.items())
    )
    return Document.from_rows(rows, title=document.title, language=document.language)


def cover(pruned: Document) -> PathSet:
    """The fewest paths whose link is this pruned document: its topmost nodes of which nothing is left out."""
    kept = {node.position: 1 for node in pruned.nodes}
    for node in reversed(pruned.nodes):
        if node.parent is not None:
            kept[node.parent.position] += kept[node.position]
    paths: list[Path] = []
    covered = -1
    for node in pruned.nodes:
        if node.position > covered and kept[node.position] == node.last - node.position + 1:
            covered = node.last
            paths.append(node.path)
    return PathSet(paths)
