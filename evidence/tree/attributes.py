"""What the attributes of an element say of it: its language, its role, and what its node keeps."""

from __future__ import annotations

import re
from collections.abc import Mapping

from evidence.tree.document import NO_ATTRIBUTES
from evidence.tree.sentences import visible
from evidence.tree.tags import HEADINGS, KEPT_ATTRIBUTES, NEUTRAL, TAG_OF_ROLE

LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
CODE_LANGUAGE = re.compile(r"(?:^|\s)(?:language-|lang-|highlight-(?:source-)?|brush:\s*)([A-Za-z][\w+#.-]*)")
LONGEST = 200
"""Characters of an attribute that are kept."""


def language_of(attributes: Mapping[str, str]) -> str:
    """The language that an element declares, "" where it declares none that could be one."""
    declared = attributes.get("lang") or attributes.get("xml:lang") or ""
    return declared if declared and LANGUAGE.fullmatch(declared) else ""


def by_role(tag: str, attributes: Mapping[str, str]) -> tuple[str, Mapping[str, str]] | None:
    """The tag that an element stands for by its ARIA role, with the attributes that such a tag would have; None where
    the role changes nothing.

    A role counts only where the tag has no meaning of its own (https://www.w3.org/TR/wai-aria-1.2/), and that of a cell
    that is a header.
    """
    words = attributes.get("role", "").lower().split()
    role = words[0] if words else ""
    if role in ("columnheader", "rowheader") and (tag in NEUTRAL or tag == "td"):
        return "th", {"scope": "col" if role == "columnheader" else "row", **_spans(attributes)}
    if tag not in NEUTRAL:
        return None
    if role == "heading":
        level = attributes.get("aria-level", "2").strip()
        return HEADINGS[min(max(int(level), 1), 6) - 1 if level.isascii() and level.isdigit() else 1], attributes
    if (found := TAG_OF_ROLE.get(role)) is None:
        return None
    return found, _spans(attributes) if found == "td" else attributes


def _spans(attributes: Mapping[str, str]) -> dict[str, str]:
    spans = {name: attributes[f"aria-{name}"] for name in ("colspan", "rowspan") if f"aria-{name}" in attributes}
    return {**attributes, **spans}


def kept(tag: str, attributes: Mapping[str, str]) -> dict[str, str]:
    """The attributes of a block that its node keeps."""
    found = {}
    for name in KEPT_ATTRIBUTES.get(tag, ()):
        value = attributes.get(name)
        if value is not None:
            found[name] = visible(value)[:LONGEST]
    if identifier := attributes.get("id"):
        found["id"] = visible(identifier)[:LONGEST]
    if language := language_of(attributes):
        found["lang"] = language
    direction = attributes.get("dir")
    if direction and direction.lower() in ("ltr", "rtl", "auto"):
        found["dir"] = direction.lower()
    return found or NO_ATTRIBUTES


def code_language(*classes: str | None) -> str:
    """The language that code is written in, as the classes of it or of what is around it say; "" where none does."""
    for names in classes:
        if names and (found := CODE_LANGUAGE.search(names)):
            return found[1].lower()
    return ""
