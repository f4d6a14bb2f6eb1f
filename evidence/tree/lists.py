"""Lists: the number of each item, and how it is shown."""

from __future__ import annotations

from evidence.tree.document import Document, Node

ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)


def number_items(document: Document) -> None:
    """Write the number that a browser shows into the ``value`` of every item of an ordered list."""
    for node in document.nodes:
        if node.tag == "ol":
            _number(node)


def item_mark(item: Node) -> str:
    """The mark that stands before an item: "3." or "c." or "iii." as its ordered list has it, else "-"."""
    ordered = item.parent
    if ordered is None or ordered.tag != "ol" or "value" not in item.attributes:
        return "-"
    number = int(item.attributes["value"])
    kind = ordered.attributes.get("type", "1").strip()
    if kind in ("a", "A") and number > 0:
        mark = _letters(number)
    elif kind in ("i", "I") and 0 < number < 4000:
        mark = _roman(number)
    else:
        return f"{number}."
    return f"{mark.upper() if kind.isupper() else mark}."


def _letters(number: int) -> str:
    letters = ""
    while number:
        number, place = divmod(number - 1, 26)
        letters = chr(ord("a") + place) + letters
    return letters


def _roman(number: int) -> str:
    digits = ""
    for value, digit in ROMAN:
        count, number = divmod(number, value)
        digits += digit * count
    return digits


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
