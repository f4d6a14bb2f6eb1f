"""In words, why a place of a document is not searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evidence.store.repeats import Repeat
from evidence.tree.document import Node
from evidence.tree.main_content import APART


def reasons_in_words(repeats: Mapping[int, Repeat], documents: int) -> Callable[[Node], str]:
    """What the page says of a node: "Navigation: not searched", "" where it is searched.

    ``repeats`` are the seeds that the collection searches elsewhere, by position; ``documents`` is how many it holds.
    """

    def words(node: Node) -> str:
        if reason := node.attributes.get(APART):
            return f"{reason.capitalize()}: not searched"
        if repeat := repeats.get(node.position):
            return f"on {repeat.documents} of {documents} pages: searched in \u201c{repeat.title}\u201d only"
        return ""

    return words
