"""A document as a tree: blocks, and sentences as its leaves."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property

from evidence.tree.path import Path, PathSet

SENTENCE = "sentence"
ROOT = "root"
NO_ATTRIBUTES: dict[str, str] = {}


class Node:
    """A place in a document: a block (``h2``, ``ul``, ``td``, ``p``, …) or a sentence."""

    __slots__ = ("attributes", "children", "document", "index", "last", "markup", "parent", "position", "tag", "text")

    def __init__(
        self,
        document: Document,
        parent: Node | None,
        index: int,
        tag: str,
        attributes: dict[str, str] = NO_ATTRIBUTES,
        text: str = "",
        markup: str = "",
    ) -> None:
        self.document = document
        self.parent = parent
        self.index = index
        self.tag = tag
        self.attributes = attributes
        self.text = text
        self.markup = markup
        self.children: list[Node] = []
        self.position = 0
        self.last = 0

    def __repr__(self) -> str:
        return f"<{self.tag} {self.path} {self.text[:40]!r}>"

    @property
    def is_sentence(self) -> bool:
        return self.tag == SENTENCE

    @property
    def path(self) -> Path:
        """The child indices from the root to this node, as they are in the whole revision."""
        indices = []
        node = self
        while node.parent is not None:
            indices.append(node.index)
            node = node.parent
        indices.reverse()
        return Path(indices)

    @property
    def place(self) -> int:
        """Its place among its parent's children here: the index, unless some before it have been pruned; 0 for the root."""
        if self.parent is None:
            return 0
        siblings = self.parent.children
        if self.index < len(siblings) and siblings[self.index] is self:
            return self.index
        return bisect_left(siblings, self.index, key=lambda sibling: sibling.index)

    def ancestors(self) -> list[Node]:
        """All ancestors, the root first."""
        found = []
        node = self.parent
        while node is not None:
            found.append(node)
            node = node.parent
        found.reverse()
        return found

    def nearest(self, *tags: str) -> Node | None:
        """The innermost ancestor with one of these tags."""
        node = self.parent
        while node is not None and node.tag not in tags:
            node = node.parent
        return node

    def descendants(self) -> Iterator[Node]:
        """Everything below, in document order."""
        stack = self.children[::-1]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def sentences(self) -> Iterator[Node]:
        """The sentences at or below this node, in document order."""
        if self.tag == SENTENCE:
            yield self
        for node in self.descendants():
            if node.tag == SENTENCE:
                yield node

    @property
    def content(self) -> str:
        """The text of all sentences at or below this node, joined by spaces."""
        return " ".join(sentence.text for sentence in self.sentences())


class Document:
    """One revision's tree, whole or pruned.

    A pruned document holds only the nodes of link(P); positions, indices and paths stay those of the whole revision.
    """

    def __init__(self, title: str = "", language: str = "") -> None:
        self.title = title
        self.language = language
        self.root = Node(self, None, 0, ROOT)
        self.nodes: list[Node] = [self.root]
        # What context policies find out about the document as a whole; kept here, it goes when the document goes.
        self.findings: dict[str, object] = {}

    def __len__(self) -> int:
        return len(self.nodes)

    def number(self) -> None:
        """Give every node its pre-order position and the position of its last descendant, once the tree is built."""
        nodes = self.nodes = [self.root, *self.root.descendants()]
        for position, node in enumerate(nodes):
            node.position = node.last = position
        for node in reversed(nodes):
            if node.children:
                node.last = node.children[-1].last

    def node(self, position: int) -> Node:
        """The node at this pre-order position of the revision; KeyError when it is not (or no longer) here."""
        if position < len(self.nodes) and self.nodes[position].position == position:
            return self.nodes[position]
        place = bisect_left(self.nodes, position, key=lambda node: node.position)
        if place == len(self.nodes) or self.nodes[place].position != position:
            raise KeyError(position)
        return self.nodes[place]

    def at(self, path: Path) -> Node:
        """The node at this path; KeyError when there is none."""
        node = self.root
        for index in path:
            place = bisect_left(node.children, index, key=lambda child: child.index)
            if place == len(node.children) or node.children[place].index != index:
                raise KeyError(str(path))
            node = node.children[place]
        return node

    @cached_property
    def paths(self) -> PathSet:
        """The paths of all nodes."""
        paths: list[Path] = []
        by_position: dict[int, Path] = {}
        for node in self.nodes:
            path = Path() if node.parent is None else by_position[node.parent.position].child(node.index)
            by_position[node.position] = path
            paths.append(path)
        return PathSet(paths)

    @cached_property
    def named(self) -> dict[str, Node]:
        """The node of each id in the original; of several with one id the first, as in a browser."""
        found: dict[str, Node] = {}
        for node in self.nodes:
            if "id" in node.attributes:
                found.setdefault(node.attributes["id"], node)
        return found

    def sentences(self) -> Iterator[Node]:
        """All sentences, in document order."""
        return (node for node in self.nodes if node.tag == SENTENCE)

    @property
    def title_node(self) -> Node | None:
        """The node of the page's own title, where it has one."""
        first = self.root.children[0] if self.root.children else None
        return first if first is not None and first.tag == "title" else None

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the whole tree: equal trees have equal fingerprints."""
        digest = hashlib.sha256(f"{self.title}\0{self.language}".encode())
        for row in self.rows():
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def rows(self) -> Iterator[Row]:
        """The tree as flat records in document order; ``from_rows`` builds it again."""
        for node in self.nodes:
            parent = -1 if node.parent is None else node.parent.position
            yield (node.position, node.last, parent, node.index, node.tag, node.attributes, node.text, node.markup)

    @classmethod
    def from_rows(cls, rows: Iterable[Row], *, title: str = "", language: str = "") -> Document:
        """The document that these records describe: all of a revision, or what link(P) keeps of it.

        Records come in document order, a parent before its children; ValueError where a parent is missing.
        """
        document = cls(title, language)
        document.nodes = []
        by_position: dict[int, Node] = {}
        for position, last, parent_position, index, tag, attributes, text, markup in rows:
            parent = by_position.get(parent_position)
            if parent is None and parent_position >= 0:
                raise ValueError(f"node {position} comes without its parent {parent_position}")
            node = Node(document, parent, index, tag, attributes, text, markup)
            node.position, node.last = position, last
            by_position[position] = node
            document.nodes.append(node)
            if parent is None:
                document.root = node
            else:
                parent.children.append(node)
        return document


Row = tuple[int, int, int, int, str, dict[str, str], str, str]
"""position, last, parent's position (-1 for the root), index, tag, attributes, text, markup"""
