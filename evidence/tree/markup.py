"""A tree as HTML for people: built from the kept tags alone, so that nothing of a page can run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import groupby

from evidence.tree.document import NO_ATTRIBUTES, SENTENCE, Document, Node
from evidence.tree.path import Path, PathSet
from evidence.tree.rows import displayed_rows
from evidence.tree.tables import is_layout
from evidence.tree.tags import LISTS, ROW_GROUPS

KEPT_AS_THEY_ARE = frozenset(
    [
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "table",
        "caption",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "td",
        "th",
        "pre",
        "blockquote",
        "figure",
        "figcaption",
        "details",
        "summary",
        "section",
        "article",
        "aside",
        "address",
        "hr",
    ]
)
# No text may stand in these directly.
HOLD_BLOCKS_ONLY = frozenset(["ul", "ol", "dl", "table", "hr", "details"])
# What is not searched is folded up around blocks, but within these: nothing else may stand in a list or a row.
ITEMS = frozenset(["li", "dt", "dd", "td", "th"])
BOXES = {
    "true": '<input type="checkbox" checked="" disabled="">',
    "false": '<input type="checkbox" disabled="">',
}
SHOWN_ATTRIBUTES = ("lang", "dir", "start", "reversed", "type", "value", "colspan", "scope")
HREF = re.compile(r'<a href="([^"]*)">(.*?)</a>', re.DOTALL)
MARKUP_PIECE = re.compile(r"<[^>]*>|&[#\w]+;|[^<&]+")


def anchor(path: Path) -> str:
    """The id that a node has on its document's page."""
    return f"n{path}"


@dataclass(frozen=True)
class Rendering:
    """How a tree is written as HTML.

    ``cited`` are the paths to mark; in an excerpt (``is_excerpt``) everything else is context. ``link`` maps the target of
    a link in the document to the one to show; None takes the link away and leaves its text. ``highlight`` gives the spans
    of a cited text to mark, such as the words of a question. With ``anchors`` each node has an id (see ``anchor``).
    ``apart`` says in words why a node is not searched, "" where it is: blocks are folded up under these words, those side
    by side together, unless a cited place is in them; a sentence has them behind it.
    """

    cited: PathSet = field(default_factory=PathSet)
    is_excerpt: bool = False
    anchors: bool = False
    link: Callable[[str], str | None] = lambda target: target
    highlight: Callable[[str], list[tuple[int, int]]] = lambda text: []
    apart: Callable[[Node], str] = lambda node: ""

    def html(self, document: Document) -> str:
        """The document as HTML, well-formed, without its title."""
        return "".join(self._block(document.root, Path(), False))

    def _block(self, block: Node, path: Path, is_cited: bool) -> Iterator[str]:
        is_cited = is_cited or path in self.cited
        tag = block.tag
        if tag == "title":
            return
        if tag == "root":
            yield from self._children(block, path, is_cited)
            return
        if tag == "hr":
            yield "<hr>"
            return
        shown = tag if tag in KEPT_AS_THEY_ARE else "div"
        classes = ["cited"] if path in self.cited else []
        if shown == "div":
            classes.insert(0, tag)
        opened = ' open=""' if tag == "details" else ""
        layout = ' role="presentation"' if tag == "table" and is_layout(block) else ""
        if tag in HOLD_BLOCKS_ONLY:
            yield self._named(block)
        yield f"<{shown}{self._identity(path, classes)}{_shown(block)}{opened}{layout}>"
        if tag == "pre":
            yield "\n"
        if tag not in HOLD_BLOCKS_ONLY:
            yield self._named(block)
        if "checked" in block.attributes:
            yield BOXES[block.attributes["checked"]]
        if tag == "table":
            yield from self._table(block, path, is_cited)
        else:
            yield from self._children(block, path, is_cited)
        yield f"</{shown}>"

    def _children(self, block: Node, path: Path, is_cited: bool) -> Iterator[str]:
        if block.tag in ITEMS and (why := self.apart(block)):
            yield self._unfolds(why, path, path)
            yield from self._all(block.children, path, is_cited)
            yield "</details>"
        elif block.tag in LISTS:
            yield from self._all(block.children, path, is_cited)
        else:
            for why, group in groupby(block.children, self._why):
                together = list(group)
                if why:
                    yield self._unfolds(why, path.child(together[0].index), path.child(together[-1].index))
                yield from self._all(together, path, is_cited)
                if why:
                    yield "</details>"

    def _why(self, child: Node) -> str:
        return "" if child.tag == SENTENCE else self.apart(child)

    def _unfolds(self, why: str, first: Path, last: Path) -> str:
        is_open = any(first <= cited and (cited <= last or last.contains(cited)) for cited in self.cited)
        opened = ' open=""' if is_open else ""
        return f'<details class="apart"{opened}><summary>{escape(why)}</summary>'

    def _all(self, children: Sequence[Node], path: Path, is_cited: bool) -> Iterator[str]:
        before: Node | None = None
        for child in children:
            below = path.child(child.index)
            if child.tag != SENTENCE:
                yield from self._block(child, below, is_cited)
            else:
                if before is not None and before.tag == SENTENCE:
                    if child.index != before.index + 1:
                        yield ' <span class="gap"></span> '
                    elif "joined" not in child.attributes:
                        yield " "
                yield self._sentence(child, below, is_cited)
            before = child

    def _sentence(self, sentence: Node, path: Path, is_cited: bool) -> str:
        is_marked = path in self.cited
        markup = HREF.sub(self._relinked, sentence.markup)
        if is_marked or is_cited:
            markup = highlighted(markup, self.highlight(sentence.text))
        classes = ["cited"] if is_marked else []
        if self.is_excerpt and not is_marked and not is_cited:
            classes.append("context")
        why = self.apart(sentence)
        if why:
            classes.append("apart")
        identity = self._identity(path, classes)
        markup = self._named(sentence) + markup + (f" <small>({escape(why)})</small>" if why else "")
        return f"<span{identity}>{markup}</span>" if identity else markup

    def _table(self, table: Node, path: Path, is_cited: bool) -> Iterator[str]:
        for child in table.children:
            if child.tag not in (*ROW_GROUPS, "tr"):
                yield from self._block(child, path.child(child.index), is_cited)
        group: Node | None = None
        for row in displayed_rows(table):
            above = row.node.parent
            if above is not group:
                if group is not None and group is not table:
                    yield f"</{group.tag}>"
                group = above
                if group is not None and group is not table:
                    yield f"<{group.tag}>"
            row_path = row.node.path
            row_cited = is_cited or row_path in self.cited
            yield f"<tr{self._identity(row_path, ['cited'] if row_path in self.cited else [])}>"
            named = self._named(row.node)
            for cell in row.cells:
                cell_path = cell.path
                classes = ["cited"] if cell_path in self.cited else []
                height = f' rowspan="{row.height(cell)}"' if row.height(cell) > 1 else ""
                yield f"<{cell.tag}{self._identity(cell_path, classes)}{_shown(cell)}{height}>{named}{self._named(cell)}"
                named = ""
                yield from self._children(cell, cell_path, row_cited or cell_path in self.cited)
                yield f"</{cell.tag}>"
            yield "</tr>"
        if group is not None and group is not table:
            yield f"</{group.tag}>"

    def _named(self, node: Node) -> str:
        """A place for links to the id that the node has in the original."""
        name = node.attributes.get("id") if self.anchors else None
        if name is None or node.document.named[name] is not node:
            return ""
        return f'<span id="{escape(named_anchor(name))}"></span>'

    def _identity(self, path: Path, classes: list[str]) -> str:
        identity = f' id="{anchor(path)}"' if self.anchors else ""
        return identity + (f' class="{" ".join(classes)}"' if classes else "")

    def _relinked(self, found: re.Match[str]) -> str:
        target = self.link(unescape(found[1]))
        return found[2] if target is None else f'<a href="{escape(target)}" rel="noopener nofollow">{found[2]}</a>'


def named_anchor(name: str) -> str:
    """The id that stands on a document's page for an id of the original, kept apart from the page's own."""
    return f"at-{name}"


def highlighted(markup: str, spans: list[tuple[int, int]]) -> str:
    """The markup with ``<mark>`` around these spans of its text (code points), however its tags cut them."""
    if not spans:
        return markup
    pieces: list[str] = []
    position = 0
    for piece in MARKUP_PIECE.findall(markup):
        if piece.startswith("<"):
            pieces.append(piece)
            continue
        text = unescape(piece)
        start = 0
        for first, last in spans:
            begin, end = max(first - position, start), min(last - position, len(text))
            if begin < end:
                pieces.append(
                    f"{escape(text[start:begin], quote=False)}<mark>{escape(text[begin:end], quote=False)}</mark>"
                )
                start = end
        pieces.append(escape(text[start:], quote=False))
        position += len(text)
    return "".join(pieces)


def _shown(block: Node) -> str:
    if block.attributes is NO_ATTRIBUTES:
        return ""
    return "".join(
        f' {name}="{escape(block.attributes[name])}"'
        for name in SHOWN_ATTRIBUTES
        if name in block.attributes and not (name == "value" and block.parent is not None and block.parent.tag != "ol")
    )
