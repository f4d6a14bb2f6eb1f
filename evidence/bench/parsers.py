"""Parsers of HTML that are measured side by side: what each makes of a page, and what of it a search would be given."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple

import lxml.html

from evidence.bench.table_grid import Grid, grid_of_html
from evidence.tree.context import global_context, list_number
from evidence.tree.decode import decode
from evidence.tree.document import Document, Node
from evidence.tree.html import parse
from evidence.tree.markup import Rendering
from evidence.tree.seeds import seeds
from evidence.tree.subdocument import prune

MARKS = re.compile(r"\*\*|`|\[(?P<words>[^\]\[]+)\]\((?P<target>[^)\s]*)\)")
"""Of Markdown, in which some parsers write a piece: bold, code, and links."""


class NotInstalled(Exception):
    """A parser that this installation lacks; the message says what brings it."""


@dataclass(frozen=True)
class Page:
    """A page as received, and the charset that its sender declared."""

    address: str
    data: bytes
    charset: str = ""

    @cached_property
    def text(self) -> str:
        """The page decoded as a browser does, for parsers that leave this to their caller."""
        return decode(self.data, self.charset)


@dataclass(frozen=True)
class Piece:
    """What a search would hold of one place of a page: the unit that a parser gives, with all that it says of it.

    ``text`` is the unit's own words, ``context`` what it brings from elsewhere in the page, the outermost first. ``place``
    leads to where the unit stands, "" when the parser does not tell. ``grid`` is the table that it is or stands in.
    """

    text: str
    context: tuple[str, ...] = ()
    place: str = ""
    links: dict[str, str] = field(default_factory=dict)
    grid: Grid = ()


class Counts(NamedTuple):
    """What a parser made of a page: the units that a search would hold, and where it has them, sentences and nodes."""

    pieces: int
    sentences: int = 0
    nodes: int = 0


class Parser(ABC):
    """A parser with the best settings that its documentation names. Instances hold nothing until ``load``."""

    name: ClassVar[str]
    module: ClassVar[str]
    distribution: ClassVar[str]
    decodes: ClassVar[bool] = True
    """Whether it takes bytes. The others are handed decoded text, in no time."""

    gives_pieces: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """Name and version; NotInstalled when there is none."""
        self.check()
        return f"{self.name} {version(self.distribution)}"

    def check(self) -> None:
        """NotInstalled when this installation lacks the parser."""
        if find_spec(self.module.partition(".")[0]) is None:
            raise NotInstalled(f"{self.name} is not installed; the extra brings it: pip install 'spire[bench]'")

    def load(self) -> None:  # noqa: B027 - ours and lxml need none
        """Import and set up: what an application does once."""

    @abstractmethod
    def parse(self, page: Page) -> Any:
        """What the parser makes of the page. This, and nothing else, is timed."""

    @abstractmethod
    def counts(self, parsed: Any) -> Counts:
        """How much it made of the page."""

    def pieces(self, parsed: Any, page: Page) -> list[Piece]:
        """What a search would be given."""
        raise NotImplementedError


class Spire(Parser):
    """Ours: the tree, its sentences and rows, and the global context of each."""

    name = "SPIRE"
    module = "evidence"
    distribution = "spire"

    def parse(self, page: Page) -> tuple[Document, list[Node]]:
        tree = parse(page.data, page.address, charset=page.charset)
        found = seeds(tree)
        for seed in found:
            global_context(seed)
        return tree, found

    def counts(self, parsed: tuple[Document, list[Node]]) -> Counts:
        tree, found = parsed
        return Counts(len(found), sum(1 for _ in tree.sentences()), len(tree))

    def pieces(self, parsed: tuple[Document, list[Node]], page: Page) -> list[Piece]:
        tree, found = parsed
        return [self._piece(tree, seed) for seed in found]

    def _piece(self, tree: Document, seed: Node) -> Piece:
        context = [entry.node for entry in global_context(seed)]
        texts = [sentence.text for sentence in seed.sentences()]
        links: dict[str, str] = {}
        grid: Grid = ()
        for sentence in seed.sentences():
            if "<a " in sentence.markup:
                links |= links_of(sentence.markup)
        if seed.tag == "tr":
            texts = [cell.content for cell in seed.children]
            grid = grid_of_html(Rendering(is_excerpt=True).html(prune(tree, [seed, *context])))
        number = list_number(seed)
        around = (*(node.content for node in context), *([] if number is None else [str(number)]))
        return Piece(" | ".join(texts), around, str(seed.path), links, grid)


OURS: Parser = Spire()


class Lxml(Parser):
    """The floor: bytes to lxml's own tree of elements, from which nothing is made."""

    name = "lxml"
    module = "lxml"
    distribution = "lxml"
    gives_pieces = False

    @property
    def label(self) -> str:
        return f"{super().label}, parse only"

    def parse(self, page: Page) -> Any:
        return lxml.html.document_fromstring(page.data, parser=lxml.html.HTMLParser(huge_tree=True))

    def counts(self, parsed: Any) -> Counts:
        return Counts(1, nodes=sum(1 for _ in parsed.iter()))


def plain(text: str) -> tuple[str, dict[str, str]]:
    """A text without Markdown's marks, and the targets of its links by their words."""
    links = {found["words"]: found["target"] for found in MARKS.finditer(text) if found["words"]}
    return MARKS.sub(lambda found: found["words"] or "", text), links


def links_of(markup: str) -> dict[str, str]:
    """The targets of a markup's links by their words."""
    fragment = lxml.html.fromstring(f"<div>{markup}</div>")
    return {" ".join("".join(map(str, link.itertext())).split()): link.get("href", "") for link in fragment.iter("a")}
