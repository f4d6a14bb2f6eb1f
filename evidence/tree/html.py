"""Bytes to a clean tree of blocks, with sentences as its leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import PurePosixPath
from urllib.parse import unquote, urljoin, urlsplit

from lxml.etree import _Element as Element

from evidence.tree.decode import decode
from evidence.tree.document import NO_ATTRIBUTES, SENTENCE, Document, Node
from evidence.tree.elements import elements
from evidence.tree.lists import number_items
from evidence.tree.sentences import Run, visible
from evidence.tree.tables import mark_layout
from evidence.tree.tags import (
    BLOCKS,
    DROPPED,
    HEADINGS,
    INLINE_AS,
    KEPT_ATTRIBUTES,
    KEPT_INLINE,
    KEPT_INLINE_ATTRIBUTES,
    NO_PROSE,
    ONE_LEAF,
    ONE_LEAF_IF_SHORT,
    SAFE_SCHEMES,
    SAME_AS,
    SELF_LINK_TEXTS,
    SENTENCE_HOLDERS,
    WRAPPERS,
)
from evidence.tree.visibility import Visibility

PARSER_VERSION = "1"
"""Changes whenever the same bytes give another tree."""

DEEPEST = 100
"""Levels of blocks that are kept; what is nested deeper hangs on the last kept level. Bounds paths and their indexes."""

SHORT_LEAF = 100
"""Characters up to which an item, cell, term, caption … is one leaf even if it holds a full stop."""


LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")


def parse(data: bytes, address: str = "", *, charset: str = "") -> Document:
    """The tree of an HTML page: the same bytes and address always give the same tree.

    ``address`` is the URL the page came from, or its file name: links are resolved against it, and it gives the title of a
    page that has none. ``charset`` is what the sender declared. Nothing in the page makes this raise; an empty page gives
    a document without sentences. Text is as a browser shows it: white space collapsed outside ``pre``, NFC, without
    soft hyphens and zero-width spaces.
    """
    return parse_text(decode(data, charset), address)


def parse_text(text: str, address: str = "") -> Document:
    """The tree of an HTML page that has been decoded; see ``parse``."""
    roots = elements(text)
    builder = _Builder(roots, address)
    for root in roots:
        builder.walk(root)
    document = builder.document
    document.number()
    number_items(document)
    mark_layout(document)
    if not document.title:
        document.title = _fallback_title(document, address)
    return document


def _fallback_title(document: Document, address: str) -> str:
    for node in document.nodes:
        if node.tag == "h1" and node.children:
            return node.content
    name = unquote(PurePosixPath(urlsplit(address).path).stem if "://" in address else PurePosixPath(address).stem)
    return visible(name) or address


class _Frame:
    """An element that is being read, and what must be put back when it ends."""

    __slots__ = ("children", "element", "kind", "node", "protect_from", "tag")

    def __init__(self, element: Element, tag: str, kind: str, node: Node, protect_from: int = -1) -> None:
        self.element = element
        self.children: Iterator[Element] = iter(element)
        self.tag = tag
        self.kind = kind
        self.node = node
        self.protect_from = protect_from


class _Builder:
    """Reads elements in document order and grows the tree. It keeps its own stack: pages nest deeper than Python does."""

    def __init__(self, roots: list[Element], address: str) -> None:
        self.document = Document(language=_language(roots))
        self._visibility = Visibility(
            style.text or "" for root in roots for style in root.iter("style") if not _is_for_print(style)
        )
        self._base = _base(roots, address)
        self._parting = _inline_with_blocks(roots)
        self._block = self.document.root
        self._depth = 0
        self._languages = [self.document.language]
        self._run = Run()
        self._verbatim = 0
        self._anchor = ""
        self._add_title(roots)

    def walk(self, root: Element) -> None:
        stack: list[_Frame] = []
        self._begin(root, stack)
        while stack:
            frame = stack[-1]
            child = next(frame.children, None)
            if child is not None:
                self._begin(child, stack)
                continue
            stack.pop()
            self._end(frame)
            # The tail of the root is no part of the page's tree.
            if stack and frame.element.tail:
                self._add_text(frame.element.tail)
        self._flush()

    def _begin(self, element: Element, stack: list[_Frame]) -> None:
        tag = element.tag
        if not isinstance(tag, str):
            self._skip(element, stack)
            return
        tag = tag.lower() if not tag.islower() else tag
        if tag in DROPPED or self._visibility.hides(element):
            self._skip(element, stack)
            return
        frame = _Frame(element, tag, "transparent", self._block)
        tag = SAME_AS.get(tag, tag)
        if tag == "br":
            self._break(element)
        elif tag == "hr" or tag in BLOCKS:
            self._open_block(element, tag, frame)
        elif tag in WRAPPERS or element in self._parting:
            self._flush()
            frame.kind = "wrapper"
            self._remember_anchor(element)
            self._enter_language(element, frame)
        else:
            self._open_inline(element, INLINE_AS.get(tag, tag), frame)
        stack.append(frame)
        if element.text:
            self._add_text(element.text)

    def _skip(self, element: Element, stack: list[_Frame]) -> None:
        if element.tail and stack:
            self._add_text(element.tail)

    def _open_block(self, element: Element, tag: str, frame: _Frame) -> None:
        self._flush()
        if tag == "title":
            # Handled once, in front of everything; a second one, or that of a drawing, is no content.
            frame.kind, frame.children = "wrapper", iter(())
            element.text = None
            return
        if self._block.parent is not None and (ended := self._ended_by(tag)) is not None:
            # The frame's node too: what follows this block is no longer in the one that it has ended.
            self._block = frame.node = ended.parent or self.document.root
        frame.kind = "block" if self._depth < DEEPEST else "wrapper"
        if frame.kind == "block":
            self._block = self._append(self._block, tag, _attributes(element, tag))
            self._depth += 1
            if "id" in self._block.attributes:
                self._anchor = ""
        else:
            self._remember_anchor(element)
        if tag == "pre":
            self._verbatim += 1
            if element.text and element.text.startswith("\n"):
                element.text = element.text[1:]
        frame.tag = tag
        self._enter_language(element, frame)

    def _ended_by(self, tag: str) -> Node | None:
        """The open block that this one ends by beginning, as the HTML standard has it and libxml2 does not."""
        block = self._block
        if block.tag == "p" or (block.tag in HEADINGS and tag in HEADINGS):
            return block
        if tag in ("dt", "dd"):
            return block if block.tag in ("dt", "dd") else None
        return None

    def _open_inline(self, element: Element, tag: str, frame: _Frame) -> None:
        self._remember_anchor(element)
        if tag not in KEPT_INLINE:
            return
        attributes = ""
        if tag == "a":
            target = self._link(element)
            if target is None:
                return
            attributes = f' href="{escape(target)}"'
            if target.startswith("#") and _is_self_link(element):
                frame.children = iter(())
                element.text = None
                return
        elif tag in KEPT_INLINE_ATTRIBUTES:
            for name in KEPT_INLINE_ATTRIBUTES[tag]:
                if value := element.get(name):
                    attributes += f' {name}="{escape(visible(value))}"'
        frame.kind, frame.tag = "inline", tag
        if tag in NO_PROSE:
            frame.protect_from = self._run.length
        self._run.open(tag, f"<{tag}{attributes}>")

    def _end(self, frame: _Frame) -> None:
        if frame.kind == "inline":
            self._run.close(frame.tag)
            if frame.protect_from >= 0:
                self._run.protect(frame.protect_from)
        elif frame.kind in ("block", "wrapper"):
            self._flush()
            if frame.tag == "pre":
                self._verbatim -= 1
            if frame.kind == "block":
                self._block = frame.node
                self._depth -= 1
        if frame.protect_from == -2:
            self._languages.pop()

    def _enter_language(self, element: Element, frame: _Frame) -> None:
        if language := _declared_language(element):
            self._languages.append(language)
            frame.protect_from = -2

    def _add_text(self, text: str) -> None:
        if self._verbatim:
            self._run.add_verbatim(text)
        else:
            self._run.add(text)

    def _break(self, element: Element) -> None:
        if self._verbatim:
            self._run.add_verbatim("\n")
            return
        following = element.getnext()
        is_double = following is not None and following.tag == "br" and not (element.tail or "").strip()
        if is_double and not self._run.is_blank and self._block.tag not in ONE_LEAF:
            self._end_paragraph()
            return
        if not self._run.is_blank:
            self._run.void("br")
            self._run.add(" ")

    def _end_paragraph(self) -> None:
        """A double line break: what follows is a paragraph of its own."""
        block = self._block
        if block.tag == "p" and block.parent is not None:
            self._flush()
            self._block = self._append(block.parent, "p", NO_ATTRIBUTES)
        else:
            self._flush(keep_open=True)

    def _remember_anchor(self, element: Element) -> None:
        name = element.get("id") or (element.get("name") if element.tag == "a" else None)
        if name and not self._anchor:
            self._anchor = name

    def _append(self, parent: Node, tag: str, attributes: dict[str, str], text: str = "", markup: str = "") -> Node:
        node = Node(self.document, parent, len(parent.children), tag, attributes, text, markup)
        parent.children.append(node)
        return node

    def _flush(self, *, keep_open: bool = False) -> None:
        """Turn the inline content gathered so far into sentences of the current block."""
        run = self._run
        if run.is_blank:
            if run.length or keep_open or run.events:
                run.clear()
            return
        block = self._block
        tag = block.tag
        # Two runs of text in one block are two paragraphs: a second one is wrapped, so that they stay apart.
        is_paragraph = (
            tag not in SENTENCE_HOLDERS or keep_open or bool(block.children and block.children[-1].tag == SENTENCE)
        )
        is_leaf = tag in ONE_LEAF or (tag in ONE_LEAF_IF_SHORT and len(run.text.strip()) <= SHORT_LEAF)
        whole = bool(self._verbatim) or (is_leaf and not is_paragraph)
        sentences = run.sentences(self._languages[-1], whole=whole)
        if sentences and is_paragraph:
            block = self._append(block, "pre" if self._verbatim and tag != "pre" else "p", self._take_anchor())
        for sentence in sentences:
            attributes = {"joined": ""} if sentence.joined else self._take_anchor()
            self._append(block, SENTENCE, attributes, sentence.text, sentence.markup)
        run.clear()

    def _take_anchor(self) -> dict[str, str]:
        if not self._anchor:
            return NO_ATTRIBUTES
        attributes = {"id": self._anchor}
        self._anchor = ""
        return attributes

    def _link(self, element: Element) -> str | None:
        target = element.get("href")
        if target is None:
            return None
        target = visible(target.strip())
        if target.startswith("#"):
            return target
        try:
            resolved = urljoin(self._base, target)
            parts = urlsplit(resolved)
        except ValueError:
            return None
        if parts.scheme and parts.scheme.lower() not in SAFE_SCHEMES:
            return None
        return resolved

    def _add_title(self, roots: list[Element]) -> None:
        for root in roots:
            for element in root.iter("title"):
                parent = element.getparent()
                if parent is not None and parent.tag in ("svg", "symbol", "g"):
                    continue
                run = Run()
                run.add("".join(map(str, element.itertext())))
                for sentence in run.sentences(self.document.language, whole=True):
                    node = self._append(self.document.root, "title", NO_ATTRIBUTES)
                    self._append(node, SENTENCE, NO_ATTRIBUTES, sentence.text, sentence.markup)
                    self.document.title = sentence.text
                return


def _inline_with_blocks(roots: list[Element]) -> set[Element]:
    """The inline elements that hold a block (a link around a card, a custom element): they part the text as a ``div``."""
    found: set[Element] = set()
    for root in roots:
        for element in root.iter(*BLOCKS, *WRAPPERS, *SAME_AS):
            parent = element.getparent()
            while (
                parent is not None and parent.tag not in BLOCKS and parent.tag not in WRAPPERS and parent not in found
            ):
                found.add(parent)
                parent = parent.getparent()
    return found


def _attributes(element: Element, tag: str) -> dict[str, str]:
    attributes = element.attrib
    if not attributes:
        return NO_ATTRIBUTES
    kept = {}
    for name in KEPT_ATTRIBUTES.get(tag, ()):
        value = attributes.get(name)
        if value is not None:
            kept[name] = visible(value)[:200]
    identifier = attributes.get("id")
    if identifier:
        kept["id"] = visible(identifier)[:200]
    if language := _declared_language(element):
        kept["lang"] = language
    direction = attributes.get("dir")
    if direction and direction.lower() in ("ltr", "rtl", "auto"):
        kept["dir"] = direction.lower()
    return kept or NO_ATTRIBUTES


def _declared_language(element: Element) -> str:
    declared = element.get("lang") or element.get("xml:lang") or ""
    return declared if declared and LANGUAGE.fullmatch(declared) else ""


def _language(roots: list[Element]) -> str:
    for root in roots:
        for element in (root, *root.iterchildren("body")):
            if language := _declared_language(element):
                return language
        for meta in root.iter("meta"):
            if (meta.get("http-equiv") or "").lower() == "content-language":
                declared = (meta.get("content") or "").split(",")[0].strip()
                if LANGUAGE.fullmatch(declared):
                    return declared
    return ""


def _base(roots: list[Element], address: str) -> str:
    """What links are resolved against: the first ``<base href>`` as long as it leads to the web, else the address."""
    for root in roots:
        for element in root.iter("base"):
            target = element.get("href")
            if target is None:
                continue
            try:
                resolved = urljoin(address, target.strip())
                return resolved if urlsplit(resolved).scheme in ("http", "https", "") else address
            except ValueError:
                return address
    return address


def _is_self_link(element: Element) -> bool:
    return "".join(map(str, element.itertext())).strip() in SELF_LINK_TEXTS


def _is_for_print(style: Element) -> bool:
    media = (style.get("media") or "all").lower()
    return "all" not in media and "screen" not in media
