"""How much text stands between two places of a document, and how much of it is links, or prose."""

from __future__ import annotations

import re
from bisect import bisect_left

from evidence.tree.document import SENTENCE, Document
from evidence.tree.tags import HEADINGS

SHORTEST_PROSE = 40
"""Characters outside links. A sentence with fewer may be a label, a date, a motto."""

STOPS = (".", "!", "?", "…", "。", "！", "？", "؟", "।", ":")
TAG = re.compile(r"<[^>]*>")
NOT_COUNTED = frozenset((*HEADINGS, "title"))


class Amounts:
    """Characters in any range of positions (its end included), in constant time after one pass.

    Headings and the title do not count: they are found by what they head.
    """

    def __init__(self, document: Document) -> None:
        self._said, self._linked, self._prose = [0], [0], [0]
        self._headings: list[int] = []
        said = linked = prose = 0
        for node in document.nodes:
            if node.tag == SENTENCE:
                if node.parent is not None and node.parent.tag not in NOT_COUNTED:
                    text = node.text
                    length = len(text)
                    said += length
                    if "<a " in node.markup:
                        in_links = min(_in_links(node.markup), length)
                        linked += in_links
                        length -= in_links
                    if length >= SHORTEST_PROSE and text.endswith(STOPS):
                        prose += length
            elif node.tag in HEADINGS:
                self._headings.append(node.position)
            self._said.append(said)
            self._linked.append(linked)
            self._prose.append(prose)

    def said(self, first: int, last: int) -> int:
        """Characters in sentences."""
        return self._said[last + 1] - self._said[first]

    def linked(self, first: int, last: int) -> int:
        """Those of them that are in links."""
        return self._linked[last + 1] - self._linked[first]

    def prose(self, first: int, last: int) -> int:
        """Those of them that stand in whole sentences, outside links."""
        return self._prose[last + 1] - self._prose[first]

    def is_links(self, first: int, last: int, share: float) -> bool:
        """Whether at least this share of the text is in links."""
        said = self.said(first, last)
        return said > 0 and self.linked(first, last) >= share * said

    def has_heading(self, first: int, last: int) -> bool:
        """Whether a heading stands in this range."""
        place = bisect_left(self._headings, first)
        return place < len(self._headings) and self._headings[place] <= last


def _in_links(markup: str) -> int:
    """Characters in the links of a sentence. Links hold no links, and "<" in a text is escaped."""
    count = 0
    start = markup.find("<a ")
    while start >= 0:
        begin = markup.find(">", start) + 1
        end = markup.find("</a>", begin)
        inner = markup[begin:end]
        count += len(TAG.sub("", inner) if "<" in inner else inner)
        start = markup.find("<a ", end)
    return count
