"""The policy "reference": a cross-reference brings the heading, caption, item or paragraph of the page that it leads to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape
from urllib.parse import unquote

from evidence.tree.document import Document, Node
from evidence.tree.labels import lead_in, terms_of
from evidence.tree.mentions import KINDS, ROMAN, Mention, mentions
from evidence.tree.structure import structure_of
from evidence.tree.tags import HEADINGS

LINK = re.compile(r'<a href="#([^"]+)"')
# "Article 5 — Scope", "§ 2 Begriffe", "2.1 Hours", "Annex II": what a heading is numbered.
HEADING = re.compile(
    r"(?:(?i:" + "|".join(f"(?P<{kind}>{words})" for kind, words in KINDS.items()) + r")\s?)?"
    r"(?P<number>\d{1,4}(?:\.\d{1,4}){0,5}[a-z]?|[IVXLC]{1,7}|[A-Z](?:\.\d{1,3}){0,3})(?=[\s.):–—-]|$)"
)
# "(2) The controller …", "a) …", "3.2 …", alone or before the words of a paragraph or item.
NUMBERED = re.compile(r"\(?(\d{1,3}[a-z]?|[a-z]{1,5})\)\s*|(\d{1,3}[a-z]?)\.\s+|(\d{1,3}(?:\.\d{1,3}){1,5})\.?\s+")
CAPTION = re.compile(
    rf"(?i:(?P<table>{KINDS['table']})|(?P<figure>{KINDS['figure']}))\s?(?P<number>[A-Z]?\d{{1,4}}(?:[.-]\d{{1,4}})*[a-z]?)\b"
)
LONGEST_HEADING_LINE = 120
PARAGRAPHS = ("p", "li", "td", "dd")

Key = tuple[str, str]


def reference(node: Node) -> Iterable[Node]:
    """Where the cross-references in a node lead to, in the order in which they are made."""
    targets = targets_of(node.document)
    said = node.content.casefold()
    found: dict[int, Node] = {}
    for sentence in node.sentences():
        for mention in mentions(sentence.text):
            for target in targets.of_mention(mention, sentence):
                found.setdefault(target.position, target)
        if '<a href="#' in sentence.markup:
            for name in LINK.findall(sentence.markup):
                for target in targets.of_link(unquote(unescape(name))):
                    if target.content.casefold() not in said:
                        found.setdefault(target.position, target)
    return found.values()


class Targets:
    """The places of a document that cross-references can lead to, collected in one pass."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._structure = structure_of(document)
        self._sections: dict[Key, Node] = {}
        """Headings and captions by kind and number; the kind of "2.1 Hours" is "", which any section may be."""

        self._number_of: dict[int, Key] = {}
        """For the position of a numbered heading its kind and number."""

        self._parts: dict[tuple[int, tuple[str, ...]], Node] = {}
        """Numbered paragraphs and items by the position of the heading they stand under, and their numbers."""

        self._part_at: dict[int, tuple[str, ...]] = {}
        """For the position of a block that is numbered, its numbers."""

        self._under: list[int] = []
        """For each position, that of the numbered heading it stands under, or -1."""

        self._collect()

    def of_mention(self, mention: Mention, sentence: Node) -> Iterator[Node]:
        """The heading or caption of the place that is mentioned, and the paragraph or item within it."""
        own = self._under[sentence.position]
        if mention.number:
            heading = self._heading(mention)
            if heading is None:
                return
            under = heading.position
            if not heading.position <= sentence.position <= heading.last and under != own:
                yield heading
        else:
            under = own
        part = self._part(under, mention, sentence)
        if part is not None and not self._is_own(part, sentence):
            yield part

    def of_link(self, name: str) -> Iterator[Node]:
        """What tells of the place that an id of the page names."""
        target = self._document.named.get(name)
        if target is None:
            return
        if target.tag == "dt":
            yield target
            parent = target.parent
            after = parent.children[target.place + 1 :] if parent is not None else []
            yield from (child for child in after[:1] if child.tag == "dd")
        elif target.tag == "dd":
            yield from terms_of(target)
            yield target
        elif (shown := _shown_of(target)) is not None:
            yield shown

    def _heading(self, mention: Mention) -> Node | None:
        key = (mention.kind, _normal(mention.number))
        found = self._sections.get(key)
        if found is None and mention.kind in ("section", "chapter", "article", "part"):
            found = self._sections.get(("", key[1]))
        return found

    def _part(self, under: int, mention: Mention, sentence: Node) -> Node | None:
        parts = mention.parts
        if not parts:
            return None
        if not mention.number and not parts[0].isdigit():
            # "point (b)" alone is one of the paragraph that says so, else of the section.
            around = self._numbers_around(sentence)
            for length in range(len(around), -1, -1):
                if (found := self._parts.get((under, (*around[:length], *parts)))) is not None:
                    return found
        for length in range(len(parts), 0, -1):
            if (found := self._parts.get((under, parts[:length]))) is not None:
                return found
        return None

    def _numbers_around(self, node: Node) -> tuple[str, ...]:
        while node.parent is not None:
            if node.position in self._part_at:
                return self._part_at[node.position]
            node = node.parent
        return ()

    def _is_own(self, part: Node, sentence: Node) -> bool:
        """Whether the sentence stands in the paragraph itself that it mentions."""
        block = part.parent
        return block is not None and block.position <= sentence.position <= block.last

    def _collect(self) -> None:
        under, end_of_line = -1, -1
        last_headings: tuple[Node, ...] | None = None
        numbering = _Numbering()
        lines: dict[Key, Node] = {}
        for node in self._document.nodes:
            headings = self._structure.headings[node.position]
            if headings is not last_headings:
                last_headings = headings
                numbered = [heading for heading in headings if heading.position in self._number_of]
                under = numbered[-1].position if numbered else -1
                numbering = _Numbering()
            self._under.append(under)
            if node.tag in HEADINGS:
                self._add_heading(node)
            elif node.tag in ("table", "figure"):
                self._add_caption(node)
            elif node.tag in PARAGRAPHS and node.children and node.children[0].is_sentence:
                first = node.children[0]
                if (line := _heading_line(node, first)) is not None:
                    lines.setdefault(line, first)
                    self._number_of[first.position] = line
                    under, end_of_line = first.position, node.last
                    numbering = _Numbering()
                elif node.position > end_of_line:
                    self._add_part(node, first, under, numbering)
        for key, first in lines.items():
            self._sections.setdefault(key, first)

    def _add_heading(self, heading: Node) -> None:
        key = _numbered(heading.content)
        if key is not None:
            self._number_of[heading.position] = key
            self._sections.setdefault(key, heading)

    def _add_caption(self, holder: Node) -> None:
        captions = self._structure.within(holder).captions
        found = CAPTION.match(captions[-1].content) if captions else None
        if found is not None:
            kind = "table" if found["table"] else "figure"
            self._sections.setdefault((kind, _normal(found["number"])), captions[-1])

    def _add_part(self, block: Node, first: Node, under: int, numbering: _Numbering) -> None:
        label = _label(block, first)
        if not label:
            return
        if "." in label:
            self._sections.setdefault(("", label), first)
            return
        numbers = numbering.next(label, block, self._part_at)
        self._part_at[block.position] = numbers
        shown = first
        if NUMBERED.fullmatch(first.text + " ") and first.position + 1 < len(self._document.nodes):
            # The number stands alone, in a cell or paragraph of its own.
            shown = next(
                (n for n in self._document.nodes[first.position + 1 : first.position + 5] if n.is_sentence), first
            )
        self._parts.setdefault((under, numbers), shown)


class _Numbering:
    """The numbers of paragraphs and points that follow each other: (2), then (a), then (i)."""

    def __init__(self) -> None:
        self._current: tuple[str, ...] = ()

    def next(self, label: str, block: Node, known: dict[int, tuple[str, ...]]) -> tuple[str, ...]:
        """The numbers of the next block, that around it included."""
        if block.tag == "li" and block.parent is not None:
            # Items are points of the item that their list is in, or of the paragraph that introduces it.
            introduced = lead_in(block.parent)
            for holder in (block.parent.nearest("li"), introduced and introduced.parent):
                if holder is not None and holder.position in known:
                    return (*known[holder.position], label)
        before = self._current
        level = self._level(label, before)
        self._current = (*before[:level], label)
        return self._current

    @staticmethod
    def _level(label: str, before: tuple[str, ...]) -> int:
        if label[0].isdigit():
            return 0
        letters = [number for number in before if not number[0].isdigit()]
        first_letter = len(before) - len(letters)
        is_next = bool(letters) and len(label) == 1 and ord(label) == ord(letters[0][0]) + 1
        if letters and ROMAN.fullmatch(label) and not is_next:
            return first_letter + 1
        return first_letter


def targets_of(document: Document) -> Targets:
    """The targets of a document, collected when they are first asked for."""
    found = document.findings.get("targets")
    if not isinstance(found, Targets):
        found = document.findings["targets"] = Targets(document)
    return found


def _normal(number: str) -> str:
    return number.rstrip(".").casefold()


def _numbered(text: str) -> Key | None:
    found = HEADING.match(text)
    if found is None:
        return None
    kind = next((kind for kind in KINDS if found[kind]), "")
    if (
        not kind
        and not found["number"][0].isdigit()
        and "." not in found["number"]
        and text[found.end() :][:1] not in ".):"
    ):
        # "A day at the office" is no section A.
        return None
    return kind, _normal(found["number"])


def _heading_line(block: Node, first: Node) -> Key | None:
    """The number of a paragraph that is a heading in all but its tag: "Article 5", alone on its line."""
    if block.tag != "p" or len(block.children) > 1 or len(first.text) > LONGEST_HEADING_LINE:
        return None
    key = _numbered(first.text)
    return (
        key if key is not None and key[0] in ("section", "article", "annex") and first.text[-1] not in ".;:," else None
    )


def _label(block: Node, first: Node) -> str:
    """The number of a paragraph or item: what it begins with, else what its list gives it."""
    found = NUMBERED.match(first.text + " ")
    if found is not None:
        return (found[1] or found[2] or found[3]).casefold()
    if block.tag == "li" and block.parent is not None and block.parent.tag == "ol" and "value" in block.attributes:
        return _as_list_shows(int(block.attributes["value"]), block.parent.attributes.get("type", "1"))
    return ""


def _as_list_shows(value: int, type_: str) -> str:
    if type_ in ("a", "A") and 1 <= value <= 26:
        return chr(ord("a") + value - 1)
    if type_ in ("i", "I") and 1 <= value <= 39:
        ones = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
        return "x" * (value // 10) + ones[value % 10]
    return str(value)


def _shown_of(target: Node) -> Node | None:
    """Of a section its heading, of a table or figure its caption, of anything else its first sentence."""
    if target.tag in HEADINGS:
        return target
    if target.tag in ("table", "figure"):
        captions = structure_of(target.document).within(target).captions
        if captions:
            return captions[-1]
    first = next(target.sentences(), None)
    return first.parent if first is not None and first.parent is not None and first.parent.tag in HEADINGS else first
