"""What on a page is not its main content, and why: menus, headers and footers of the site, sidebars, cookie notices.

It stays in the tree, marked: the outermost nodes have the reason as their attribute ``apart``. Two laws hold. What a page
says by tags, roles and whole class names counts, not how its text looks; and no mark may cost content: where what is left
is less than what a mark takes away, the mark goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile

from lxml.etree import _Element as Element

from evidence.tree import apart_names as names
from evidence.tree.amounts import Amounts
from evidence.tree.apart_names import reason_of_class, reason_of_id
from evidence.tree.document import Document, Node
from evidence.tree.tables import is_layout, rows_of

APART = "apart"

ROLES = {
    "navigation": names.NAVIGATION,
    "menu": names.NAVIGATION,
    "menubar": names.NAVIGATION,
    "banner": names.HEADER,
    "contentinfo": names.FOOTER,
    "search": names.SEARCH,
    "complementary": names.SIDEBAR,
    "dialog": names.DIALOG,
    "alertdialog": names.DIALOG,
    "doc-toc": names.CONTENTS,
}
# These are the page, or parts of a table, whatever they are called.
NEVER = frozenset("html body main article h1 h2 h3 h4 h5 h6 tr thead tbody tfoot caption th dt dd pre".split())
CONTENT_ROLES = ("main", "article")
ABOVE = 40
"""Ancestors that are asked for their role; it bounds the time on pages that nest deeply."""

# Without these a page reads as before, so they are believed whatever they hold.
CERTAIN = frozenset((names.COOKIES, names.ADVERTISEMENT, names.DIALOG, names.SEARCH, names.SHARE, names.SKIP))

NEXT_TO_NOTHING = 20
"""Characters outside headings. A page with fewer would be searched in vain."""

SHORT_REST = 200
"""Characters that may stand after the main part without being content: a copyright line, an address."""

WAYS = frozenset(
    """
    prev previous next up home top contents index back first last start toc zurück weiter nächste nächster vorige vorherige
    hoch inhalt start précédent précédente suivant suivante sommaire accueil retour anterior siguiente índice inicio
    poprzedni poprzednia następny następna spis treści góra page seite 上一页 下一页 目录 前へ 次へ 目次
    """.split()
)
NEAR_THE_EDGE = 5
"""Blocks from the beginning, and from the end, of a page."""

SMALL_SHARE = 0.2
MOST_SHARE = 0.6
LONG_PROSE = 500
"""Characters of prose that a page needs before a list of links above them is taken for a menu."""

WORDS = re.compile(r"\w+")
LONGEST_ROW_OF_WAYS = 100
LONGEST_DECORATION = 40
"""Characters."""

SECTIONS = frozenset(("main", "article", "section", "blockquote", "figure", "details", "fieldset", "aside"))
LANDMARKS = SECTIONS | {"nav", "header", "footer", "h1", "table"}


def declared(element: Element, tag: str) -> str:
    """Why what is in this element is apart from the main content, as the page itself declares it; "" where it is content.

    ``tag`` is what the element is to the tree. What is ``aria-hidden``, and yet seen, is an ornament as long as it is short:
    pages that were saved under an open dialog hide all their content so.
    """
    if tag == "nav":
        return names.NAVIGATION
    if tag in NEVER:
        return ""
    get = element.get
    role = get("role")
    reason = ROLES.get(role.strip().lower(), "") if role else ""
    class_names = get("class")
    if not reason and class_names:
        reason = reason_of_class(class_names)
    if not reason and (name := get("id")) and not _is_section(tag, class_names):
        reason = reason_of_id(name)
    if not reason:
        return names.DECORATION if get("aria-hidden") == "true" else ""
    return "" if _is_content_after_all(element, reason) else reason


def _is_section(tag: str, class_names: str | None) -> bool:
    """Whether the id is that of a chapter, which is made of its heading: a section on sidebars is called "sidebar"."""
    return tag == "section" or (class_names is not None and ("sect" in class_names or "level" in class_names))


def _is_content_after_all(element: Element, reason: str) -> bool:
    if reason == names.HEADER:
        # A header with headings is where the title and the lead are.
        return next(element.iter("h1", "h2", "h3", "main", "article"), None) is not None
    if reason in (names.FOOTER, names.SIDEBAR) and _stands_in_content(element):
        return True
    return reason not in CERTAIN and next(element.iter("main", "h1"), None) is not None


def _stands_in_content(element: Element) -> bool:
    if next(element.iterancestors("article", "section", "blockquote", "figure", "details"), None) is not None:
        return True
    return any(above.get("role") in CONTENT_ROLES for above in islice(element.iterancestors(), ABOVE))


def settle(document: Document) -> None:
    """Decide on the marks of a numbered tree: add what only the whole page shows, and take back what costs content.

    Landmarks (``header``, ``footer``, ``aside``) are marked where they are the page's own; what stands around ``main``, or
    the only ``article``, where it is links or next to nothing; links above, below and beside the text. Linear in the nodes.
    """
    before = [node for node in document.nodes if APART in node.attributes]
    page = _Page(document, {node.position: node.attributes[APART] for node in before})
    page.mark_landmarks()
    page.mark_what_is_outside()
    page.mark_rows_of_links()
    page.mark_columns_of_links()
    page.take_back()
    for node in before:
        if node.position not in page.reasons:
            node.attributes = {name: value for name, value in node.attributes.items() if name != APART}
    for position, reason in page.reasons.items():
        node = document.nodes[position]
        if node.attributes.get(APART) != reason:
            node.attributes = {**node.attributes, APART: reason}


def apart_reasons(document: Document) -> list[str]:
    """Why each node of ``document.nodes`` is apart from the main content; "" where it is content."""
    reasons: list[str] = []
    reason, until = "", -1
    for node in document.nodes:
        if node.position > until:
            reason = node.attributes.get(APART, "")
            until = node.last if reason else -1
        reasons.append(reason)
    return reasons


class _Page:
    """The marks of a page by position, while they are decided on. Outside ``take_back`` they may stand within each other."""

    def __init__(self, document: Document, reasons: dict[int, str]) -> None:
        self.reasons = reasons
        self._nodes = document.nodes
        self._amounts = Amounts(document)
        title = document.title_node
        self._start = 0 if title is None else title.last + 1
        self._end = len(document.nodes) - 1
        self._landmarks = [node for node in document.nodes if node.tag in LANDMARKS]
        self._settle_marks()

    def _settle_marks(self) -> None:
        """Leave the outermost of marks within each other, and count what no mark holds."""
        amounts = self._amounts
        outermost: dict[int, str] = {}
        until = -1
        self._content = amounts.said(self._start, self._end)
        self._unlinked = self._content - amounts.linked(self._start, self._end)
        for position in sorted(self.reasons):
            if position > until:
                outermost[position] = self.reasons[position]
                until = self._nodes[position].last
                said = amounts.said(position, until)
                self._content -= said
                self._unlinked -= said - amounts.linked(position, until)
        self.reasons = outermost

    def mark_landmarks(self) -> None:
        """Headers, footers and asides that belong to the page, and not to one of its sections."""
        landmarks = list(self._unmarked(self._landmarks))
        section_end = header_end = -1
        of_page: list[Node] = []
        titles: list[int] = []
        for node in landmarks:
            if node.position > section_end and node.tag in ("header", "footer", "aside"):
                of_page.append(node)
                header_end = node.last if node.tag == "header" else header_end
            elif node.tag == "h1" and node.position > header_end:
                titles.append(node.position)
            if node.tag in SECTIONS:
                section_end = max(section_end, node.last)
        is_parted = any(node.tag in ("main", "article") for node in landmarks)
        for node in of_page:
            if node.tag == "header" and self._is_page_header(node, bool(titles)):
                self.reasons[node.position] = names.HEADER
            elif node.tag == "footer" and self._is_at_the_end(node):
                self.reasons[node.position] = names.FOOTER
            elif node.tag == "aside" and (is_parted or self._amounts.is_links(node.position, node.last, 0.5)):
                self.reasons[node.position] = names.SIDEBAR
        self._settle_marks()

    def _is_page_header(self, header: Node, has_title: bool) -> bool:
        """Whether it is the site's: without prose, at the beginning, and without the title of the page."""
        amounts = self._amounts
        return (
            (has_title or not amounts.has_heading(header.position, header.last))
            and not amounts.prose(header.position, header.last)
            and amounts.said(self._start, header.position) <= amounts.said(self._start, self._end) * SMALL_SHARE
        )

    def _is_at_the_end(self, footer: Node) -> bool:
        amounts = self._amounts
        return amounts.said(footer.last, self._end) <= amounts.said(self._start, self._end) * SMALL_SHARE

    def _unmarked(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """Those of these nodes, in document order, that no mark holds."""
        marks = iter(self.reasons)
        mark = next(marks, None)
        for node in nodes:
            while mark is not None and self._nodes[mark].last < node.position:
                mark = next(marks, None)
            if mark is None or node.position < mark:
                yield node

    def mark_what_is_outside(self) -> None:
        """What stands around the part of the page that is declared to be its main one, if that has most of the text."""
        main = self._main_part()
        if main is None:
            return
        amounts = self._amounts
        inner: Node = main
        while (parent := inner.parent) is not None:
            siblings = [node for node in parent.children if node.position >= self._start]
            place = inner.index - siblings[0].index
            # From a heading on, what leads to the main part may be its title and its lead.
            for node in takewhile(lambda node: not amounts.has_heading(node.position, node.last), siblings[:place]):
                if amounts.is_links(node.position, node.last, 0.5):
                    self.reasons.setdefault(node.position, names.OUTSIDE)
            after = siblings[place + 1 :]
            if after and self._is_rest(after[0].position, after[-1].last, main):
                for node in after:
                    self.reasons.setdefault(node.position, names.OUTSIDE)
            inner = parent
        self._settle_marks()

    def _main_part(self) -> Node | None:
        landmarks = list(self._unmarked(self._landmarks))
        for tag in ("main", "article"):
            found = [node for node in landmarks if node.tag == tag]
            if found:
                said = self._amounts.said(found[0].position, found[0].last)
                return found[0] if len(found) == 1 and said >= MOST_SHARE * self._content else None
        return None

    def _is_rest(self, first: int, last: int, main: Node) -> bool:
        """Whether what follows the main part says too little to be content."""
        amounts = self._amounts
        if amounts.has_heading(first, last):
            return False
        said = amounts.said(first, last)
        return amounts.is_links(first, last, 0.5) or 0 < said <= min(
            SHORT_REST, SMALL_SHARE * amounts.said(main.position, main.last)
        )

    def mark_rows_of_links(self) -> None:
        """Ways to other pages above and below the content: "Previous | Up | Next", and a list of links before a text."""
        top = [node for node in self._top() if self._amounts.said(node.position, node.last)]
        for node in (*top[:NEAR_THE_EDGE], *top[-NEAR_THE_EDGE:]):
            if self._is_row_of_ways(node):
                self.reasons.setdefault(node.position, names.PAGER)
        for node in top:
            if node.position not in self.reasons:
                if not self._is_menu(node):
                    break
                self.reasons[node.position] = names.NAVIGATION
        self._settle_marks()

    def mark_columns_of_links(self) -> None:
        """Menus beside the text, in the cells of a table that arranges the page."""
        tables = (node for node in self._unmarked(self._landmarks) if node.tag == "table" and is_layout(node))
        for row in (row for table in tables for row in rows_of(table) if len(row.children) > 1):
            prose = max(self._amounts.prose(cell.position, cell.last) for cell in row.children)
            for cell in row.children:
                first, last = cell.position, cell.last
                if self._amounts.is_links(first, last, 0.7) and self._is_long_beside(prose, first, last):
                    self.reasons[first] = names.NAVIGATION
        self._settle_marks()

    def _is_long_beside(self, prose: int, first: int, last: int) -> bool:
        """Whether so much prose makes a menu of the links in this range."""
        return prose >= max(LONG_PROSE, 3 * self._amounts.said(first, last))

    def _top(self) -> list[Node]:
        """The topmost blocks of the page: what is in a block that holds all of it is taken out."""
        nodes = [node for node in self._nodes[0].children if node.position >= self._start]
        while len(nodes) == 1 and nodes[0].tag in ("main", "article", "section", "form"):
            nodes = nodes[0].children
        return nodes

    def _is_row_of_ways(self, node: Node) -> bool:
        amounts = self._amounts
        if amounts.said(node.position, node.last) > LONGEST_ROW_OF_WAYS or not amounts.linked(node.position, node.last):
            return False
        words = WORDS.findall(node.content.casefold())
        return bool(words) and WAYS.issuperset(words)

    def _is_menu(self, node: Node) -> bool:
        amounts = self._amounts
        first, last = node.position, node.last
        return (
            amounts.is_links(first, last, 0.9)
            and not amounts.has_heading(first, last)
            and amounts.has_heading(last, self._end)
            and self._is_long_beside(amounts.prose(last, self._end), first, last)
        )

    def take_back(self) -> None:
        """Take back the marks on what says more than all that is left, and all marks where next to nothing is left."""
        amounts = self._amounts
        groups = self._groups()
        for group in sorted(groups, key=lambda group: -amounts.prose(*self._range(group))):
            first, last = self._range(group)
            reason = self.reasons[first]
            if reason in CERTAIN:
                continue
            if reason == names.DECORATION:
                costs_content = amounts.said(first, last) > LONGEST_DECORATION
            elif reason == names.CONTENTS:
                costs_content = amounts.said(first, last) > self._unlinked
            else:
                costs_content = amounts.prose(first, last) > self._unlinked
            if costs_content:
                self._take(group)
        for group in groups:
            is_more = amounts.said(*self._range(group)) > self._content
            if self._content < NEXT_TO_NOTHING and is_more and self.reasons.get(group[0], "") not in ("", *CERTAIN):
                self._take(group)

    def _groups(self) -> list[list[int]]:
        """The marks, those together that stand side by side for one reason: what one ``div`` held."""
        groups: list[list[int]] = []
        for position, reason in self.reasons.items():
            node = self._nodes[position]
            before = self._nodes[groups[-1][-1]] if groups else None
            if (
                before is not None
                and before.parent is node.parent
                and before.index + 1 == node.index
                and self.reasons[before.position] == reason
            ):
                groups[-1].append(position)
            else:
                groups.append([position])
        return groups

    def _range(self, group: Sequence[int]) -> tuple[int, int]:
        return group[0], self._nodes[group[-1]].last

    def _take(self, group: Sequence[int]) -> None:
        first, last = self._range(group)
        said, linked = self._amounts.said(first, last), self._amounts.linked(first, last)
        self._content += said
        self._unlinked += said - linked
        for position in group:
            del self.reasons[position]
