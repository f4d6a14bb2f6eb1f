"""Words that introduce what follows them: the lead-in of a list, the caption of a table, the terms of a definition."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evidence.tree.document import SENTENCE, Node
from evidence.tree.tables import is_layout

# What a list or table may stand in, alone, and still belong to the words before it.
SEE_THROUGH = frozenset(["section", "article", "figure", "blockquote", "main", "form", "root"])
ENDS_A_SENTENCE = re.compile(r"[.!?…。！？؟][\"'”’»)\]]*$")
NAMES_WHAT_FOLLOWS = re.compile(r"[:：]$|^(?:table|tab\.|figure|fig\.|example|listing)\s", re.IGNORECASE)


def lead_in(block: Node) -> Node | None:
    """The last sentence before a block, if the block follows running text directly."""
    node = block
    while node.parent is not None:
        before = _before(node.parent.children, node.place)
        if before is not None:
            if before.tag == SENTENCE:
                return before
            last = before.children[-1] if before.tag == "p" and before.children else None
            return last if last is not None and last.tag == SENTENCE else None
        if node.parent.tag not in SEE_THROUGH:
            return None
        node = node.parent
    return None


def opening(item: Node, inner: Node) -> Node | None:
    """The first sentence of an item, if it comes before the inner list."""
    first = next(item.sentences(), None)
    return first if first is not None and first.position < inner.position else None


def terms_of(definition: Node) -> list[Node]:
    """The run of terms (``dt``) before a definition (``dd``), other definitions of the same terms left out."""
    siblings = definition.parent.children if definition.parent is not None else []
    place = definition.place
    while place > 0 and siblings[place - 1].tag == "dd":
        place -= 1
    end = place
    while place > 0 and siblings[place - 1].tag == "dt":
        place -= 1
    return siblings[place:end]


def shortened(node: Node, longest: int) -> Node | None:
    """The node, or its first sentence, whichever has no more than this many characters."""
    first: Node | None = None
    length = -1
    for sentence in node.sentences():
        first = first or sentence
        length += 1 + len(sentence.text)
        if length > longest:
            return first if len(first.text) <= longest else None
    return node if first is not None else None


def caption_of(holder: Node) -> Node | None:
    """The caption of a table or figure; of a table that has none, the words before it if they are about it."""
    if holder.tag == "table":
        if is_layout(holder):
            return None
        if (found := next((child for child in holder.children if child.tag == "caption"), None)) is not None:
            return found
        around = holder.parent
        if around is not None and around.tag == "figure":
            return None
        before = lead_in(holder)
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


def _before(siblings: Sequence[Node], place: int) -> Node | None:
    """What stands before this place; editors leave empty paragraphs there, which a reader does not see."""
    while place and siblings[place - 1].tag == "p" and not siblings[place - 1].children:
        place -= 1
    return siblings[place - 1] if place else None
