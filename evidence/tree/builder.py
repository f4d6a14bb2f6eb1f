"""Elements to a clean tree of blocks, with sentences as its leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import islice

from lxml.etree import _Element as Element

from evidence.tree.attributes import by_role, code_language, kept, language_of
from evidence.tree.document import NO_ATTRIBUTES, SENTENCE, Document, Node
from evidence.tree.implied import MAY_HOLD, SEEN_THROUGH, ImpliedCells, has_headers
from evidence.tree.inline import (
    SUPERSCRIPTS,
    Links,
    inline_with_blocks,
    is_self_link,
    words_for_an_image,
    would_join,
)
from evidence.tree.main_content import APART, declared
from evidence.tree.mathematics import written
from evidence.tree.sentences import Run, visible
from evidence.tree.tags import (
    BLOCK,
    BREAK,
    CELLS,
    DROPPED,
    FORM_FIELD,
    HEADINGS,
    INLINE,
    KEPT_INLINE_ATTRIBUTES,
    KINDS,
    MATHEMATICS,
    NO_PROSE,
    ONE_LEAF,
    ONE_LEAF_IF_SHORT,
    SAME_AS,
    SENTENCE_HOLDERS,
    TRANSPARENT,
    WRAPPER,
    kind_of,
)
from evidence.tree.visibility import Visibility

DEEPEST = 100
"""Levels of blocks that are kept; what is nested deeper hangs on the last kept level. Bounds paths and their indexes."""

SHORT_LEAF = 100
"""Characters up to which an item, cell, term, caption … is one leaf even if it holds a full stop."""

MAY_BE_APART = frozenset(("nav", "header", "footer", "aside", "form"))
"""Tags that may stand apart from the main content without any attribute that says so."""


RAISED = -1
"""The kind of a ``sup`` whose digits are written as superscripts."""

NOTHING_TO_END = (TRANSPARENT, BREAK)


class _Frame:
    """An element that is being read, and what must be put back when it ends."""

    __slots__ = ("apart", "children", "element", "is_empty", "kind", "language", "node", "protected_from", "tag")

    def __init__(self, element: Element, tag: str, kind: int, node: Node) -> None:
        self.element = element
        self.children: Iterator[Element]
        self.is_empty = False
        self.tag = tag
        self.kind = kind
        self.node = node
        self.protected_from = -1
        self.language = False
        self.apart = False


class Builder:
    """Reads elements in document order and grows the tree. It keeps its own stack: pages nest deeper than Python does.

    ``base`` is what links are resolved against; without ``has_roles`` no element of the page says its role.
    """

    def __init__(
        self, roots: Sequence[Element], document: Document, visibility: Visibility, base: str, *, has_roles: bool
    ) -> None:
        self.document = document
        self._visibility = visibility
        self._parting = inline_with_blocks(roots, has_roles=has_roles)
        self._links = Links(base)
        self._block = document.root
        self._depth = 0
        self._languages = [document.language]
        self._run = Run()
        self._verbatim = 0
        self._anchor = ""
        # What a cell without text shows instead: the words for its image, or the state of its box.
        self._instead = ""
        self._after_field = False
        self._last_text = ""
        self._raised = False
        self._apart = ""
        self._apart_parent: Node | None = None
        self._implied = ImpliedCells(lambda parent, tag: self._append(parent, tag, NO_ATTRIBUTES))

    def walk(self, root: Element) -> None:
        """Read a top element of the page, and all that is in it."""
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
            if stack and (tail := frame.element.tail):
                self._add_text(tail)
        self._flush()

    def _begin(self, element: Element, stack: list[_Frame]) -> None:
        tag = element.tag
        kind = KINDS.get(tag)
        if kind is None:
            if not isinstance(tag, str):  # a comment
                self._add_tail(element, stack)
                return
            tag = SAME_AS.get(tag.lower(), tag.lower())
            kind = kind_of(tag)
        attributes: Mapping[str, str] = NO_ATTRIBUTES
        if items := element.items():
            attributes = dict(items)  # type: ignore[arg-type]
            if "role" in attributes and (found := by_role(str(tag), attributes)):
                tag, attributes = found
                kind = kind_of(tag)
        is_hidden = bool(attributes or tag == "dialog") and self._visibility.hides(str(tag), attributes)
        if kind >= DROPPED or is_hidden:
            if not is_hidden:
                self._pass_over(element, kind, attributes)
            self._add_tail(element, stack)
            return
        frame = _Frame(element, str(tag), kind, self._block)
        if kind == BLOCK and not (tag in SEEN_THROUGH and self._block.tag in MAY_HOLD):
            self._open_block(frame, attributes)
        elif kind in (BLOCK, WRAPPER) or element in self._parting:
            frame.kind = WRAPPER
            self._open_wrapper(frame, attributes)
        elif kind == INLINE:
            self._open_inline(frame, attributes)
        elif kind == BREAK:
            self._break(element)
        else:
            self._open_transparent(frame, attributes)
        if not frame.is_empty and (text := element.text):
            # As in HTML's own rules, a line's end right after the tag is none of the text.
            self._add_text(text.removeprefix("\n") if tag == "pre" else text)
        if stack and (frame.is_empty or not len(element)):
            self._end(frame)
            if tail := element.tail:
                self._add_text(tail)
        else:
            frame.children = iter(element)
            stack.append(frame)

    def _add_tail(self, element: Element, stack: list[_Frame]) -> None:
        if stack and (tail := element.tail):
            self._add_text(tail)

    def _pass_over(self, element: Element, kind: int, attributes: Mapping[str, str]) -> None:
        """What is left of an element that is not read: the words for an image, the state of a box."""
        if kind == MATHEMATICS:
            start = self._run.length
            self._add_text(written(element))
            self._run.protect(start)
        elif kind == FORM_FIELD:
            self._pass_field(attributes)
        elif attributes:
            self._note_words(attributes)

    def _pass_field(self, attributes: Mapping[str, str]) -> None:
        sort = attributes.get("type", "").lower()
        if sort in ("checkbox", "radio") and self._after_field and not self._run.is_blank:
            # The choice before this one has been named.
            self._end_paragraph()
        if sort == "checkbox":
            self._tick("checked" in attributes)
        self._after_field = self._after_field or sort != "hidden"

    def _note_words(self, attributes: Mapping[str, str]) -> None:
        self._instead = self._instead or words_for_an_image(attributes)

    def _tick(self, is_checked: bool) -> None:
        """A box that is, or is not, ticked: it says so of the item that it begins, or of a cell with nothing else."""
        self._instead = self._instead or ("☑" if is_checked else "☐")
        item: Node | None = self._block
        if item is not None and item.tag == "p" and not item.children:
            item = item.parent
        if item is not None and item.tag == "li" and self._run.is_blank and "checked" not in item.attributes:
            item.attributes = {**item.attributes, "checked": "true" if is_checked else "false"}

    def _open_block(self, frame: _Frame, attributes: Mapping[str, str]) -> None:
        self._flush()
        element, tag = frame.element, frame.tag
        if tag in CELLS:
            self._instead = ""
        if tag == "title":
            # Handled once, in front of everything; a second one, or that of a drawing, is no content.
            frame.kind, frame.is_empty = WRAPPER, True
            return
        block = self._block
        if block.parent is not None and (ended := _ended_by(block, tag)) is not None:
            # The frame's node too: what follows this block is no longer in the one that it has ended.
            self._block = frame.node = ended.parent or self.document.root
            if self._apart_parent is ended:
                self._apart_parent = self._block
        if (attributes or tag in MAY_BE_APART) and not self._apart:
            self._set_apart(frame, attributes)
        if self._depth < DEEPEST:
            own = kept(tag, attributes) if attributes else NO_ATTRIBUTES
            self._block = self._append(self._block, tag, own)
            self._depth += 1
            if "id" in own:
                self._anchor = ""
        else:
            frame.kind = WRAPPER
            self._remember_anchor(element.tag, attributes)
        if tag == "pre":
            self._verbatim += 1
            self._note_code_language(element, attributes)
        if attributes:
            self._enter_language(frame, attributes)

    def _note_code_language(self, element: Element, attributes: Mapping[str, str]) -> None:
        first, around = next(iter(element), None), islice(element.iterancestors(), 2)
        classes = (place.get("class") for place in (first, *around) if place is not None)
        if self._block.tag == "pre" and (language := code_language(attributes.get("class"), *classes)):
            self._block.attributes = {**self._block.attributes, "language": language}

    def _open_wrapper(self, frame: _Frame, attributes: Mapping[str, str]) -> None:
        self._flush()
        if attributes:
            if not self._apart:
                self._set_apart(frame, attributes)
            self._remember_anchor(frame.element.tag, attributes)
            self._enter_language(frame, attributes)

    def _open_inline(self, frame: _Frame, attributes: Mapping[str, str]) -> None:
        tag = frame.tag
        shown = ""
        if attributes:
            self._remember_anchor(frame.element.tag, attributes)
            self._note_words(attributes)
        if tag == "sup" and would_join(self._last_text, frame.element):
            frame.kind = RAISED
            self._raised = True
            return
        if attributes:
            if tag == "a":
                target = self._link(attributes)
                if target is None:
                    frame.kind = TRANSPARENT
                    return
                shown = f' href="{escape(target)}"'
                if target.startswith("#") and is_self_link(frame.element):
                    frame.kind = TRANSPARENT
                    frame.is_empty = True
                    return
            elif tag in KEPT_INLINE_ATTRIBUTES:
                for name in KEPT_INLINE_ATTRIBUTES[tag]:
                    if value := attributes.get(name):
                        shown += f' {name}="{escape(visible(value))}"'
        elif tag == "a":
            frame.kind = TRANSPARENT
            return
        if tag in NO_PROSE:
            frame.protected_from = self._run.length
        self._run.open(tag, f"<{tag}{shown}>")

    def _open_transparent(self, frame: _Frame, attributes: Mapping[str, str]) -> None:
        if self._after_field and frame.tag == "label" and not self._run.is_blank:
            # The field before it has ended what was said about that field.
            self._end_paragraph()
        if attributes:
            self._remember_anchor(frame.element.tag, attributes)
            if attributes.get("role") == "checkbox":
                self._tick(attributes.get("aria-checked") == "true")
            else:
                self._note_words(attributes)

    def _end(self, frame: _Frame) -> None:
        kind = frame.kind
        if kind == INLINE:
            self._run.close(frame.tag)
            if frame.protected_from >= 0:
                self._run.protect(frame.protected_from)
            return
        if kind in NOTHING_TO_END:
            return
        if kind == RAISED:
            self._raised = False
            return
        self._flush()
        if frame.tag == "pre":
            self._verbatim -= 1
        if kind == BLOCK:
            if self._instead and frame.tag in CELLS:
                self._say_instead()
            self._block = frame.node
            self._depth -= 1
        if frame.language:
            self._languages.pop()
        if frame.apart:
            self._apart, self._apart_parent = "", None

    def _say_instead(self) -> None:
        """A cell without text says what its image shows: in tables of features that is all there is."""
        if has_headers(self._block) and next(self._block.sentences(), None) is None:
            self._run.add(self._instead)
            self._flush()
        self._instead = ""

    def _set_apart(self, frame: _Frame, attributes: Mapping[str, str]) -> None:
        if reason := declared(frame.element, frame.tag):
            self._apart, self._apart_parent = reason, self._block
            frame.apart = True

    def _enter_language(self, frame: _Frame, attributes: Mapping[str, str]) -> None:
        if language := language_of(attributes):
            self._languages.append(language)
            frame.language = True

    def _add_text(self, text: str) -> None:
        if self._raised:
            text = text.translate(SUPERSCRIPTS)
        self._last_text = text
        if self._verbatim:
            self._run.add_verbatim(text)
        else:
            self._run.add(text)

    def _break(self, element: Element) -> None:
        run = self._run
        if self._verbatim:
            run.add_verbatim("\n")
            return
        if run.is_blank:
            return
        following = element.getnext()
        is_double = following is not None and following.tag == "br" and not (element.tail or "").strip()
        if is_double and self._block.tag not in ONE_LEAF:
            self._end_paragraph()
            return
        run.void("br")
        run.add(" ")

    def _end_paragraph(self) -> None:
        """A double line break: what follows is a paragraph of its own."""
        block = self._block
        if block.tag == "p" and block.parent is not None:
            self._flush()
            if self._apart_parent is block:
                self._apart_parent = block.parent
            self._block = self._append(block.parent, "p", NO_ATTRIBUTES)
        else:
            self._flush(keep_open=True)

    def _remember_anchor(self, tag: object, attributes: Mapping[str, str]) -> None:
        if not self._anchor:
            self._anchor = attributes.get("id") or (attributes.get("name", "") if tag == "a" else "")

    def _append(self, parent: Node, tag: str, attributes: dict[str, str], text: str = "", markup: str = "") -> Node:
        may_hold = MAY_HOLD.get(parent.tag)
        if may_hold is not None and tag not in may_hold:
            parent = self._implied.holder(parent, tag)
        if self._apart and parent is self._apart_parent:
            attributes = {**attributes, APART: self._apart}
        node = Node(self.document, parent, len(parent.children), tag, attributes, text, markup)
        parent.children.append(node)
        return node

    def _flush(self, *, keep_open: bool = False) -> None:
        """Turn the inline content gathered so far into sentences of the current block."""
        run = self._run
        self._after_field = False
        self._last_text = ""
        if run.is_blank:
            if run.length or run.events:
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

    def _link(self, attributes: Mapping[str, str]) -> str | None:
        target = attributes.get("href")
        if target is None:
            return None
        return self._links.resolved(visible(target.strip()))


def _ended_by(block: Node, tag: str) -> Node | None:
    """The open block that one of this tag ends by beginning, as the HTML standard has it and libxml2 does not."""
    if block.tag == "p" or (block.tag in HEADINGS and tag in HEADINGS):
        return block
    if tag in ("dt", "dd"):
        return block if block.tag in ("dt", "dd") else None
    return None
