"""Lists: the number of each item."""

from __future__ import annotations

from evidence.tree.document import Document, Node


def number_items(document: Document) -> None:
    """Write the number that a browser shows into the ``value`` of every item of an ordered list."""
    for node in document.nodes:
        if node.tag == "ol":
            _number(node)


def _number(ordered: Node) -> None:
    items = [child for child in ordered.children if child.tag == "li"]
    step = -1 if "reversed" in ordered.attributes else 1
    number = _integer(ordered.attributes.get("start"), len(items) if step < 0 else 1)
    for item in items:
        number = _integer(item.attributes.get("value"), number)
        item.attributes = {**item.attributes, "value": str(number)}
        number += step


def _integer(text: str | None, default: int) -> int:
    """HTML's rules for integers: leading digits count, anything else is ignored."""
    if text is None:
        return default
    text = text.strip()
    sign, digits = (text[0], text[1:]) if text[:1] in ("-", "+") else ("", text)
    length = 0
    while length < len(digits) and digits[length] in "0123456789":
        length += 1
    return int(sign + digits[: min(length, 9)]) if length else default
