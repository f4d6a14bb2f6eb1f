"""What a reader of the page cannot see, and so must not be indexed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0*\.?0+|font-size\s*:\s*0+(?:\.0+)?"
    r"(?:px|pt|em|rem|%)?)\s*(?:!important\s*)?(?=;|$)",
    re.IGNORECASE,
)
CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
# Text that is the name of a drawing ("home", "chevron_right"), which a font shows instead; links to edit what is beside.
NO_WORDS = frozenset(
    """
    material-icons material-icons-outlined material-symbols-outlined material-symbols-rounded mw-editsection headerlink
    """.split()
)
SIMPLE_SELECTOR = re.compile(r"([a-z][a-z0-9]*)?([.#])([\w-]+)", re.IGNORECASE)


class Visibility:
    """Says of an element whether its page hides it: by ``hidden``, by its own style, or by a rule of the page's style
    sheet with one class or id (``.note``, ``p#draft``), which is what hides text in practice."""

    def __init__(self, style_sheets: Iterable[str] = ()) -> None:
        self._hidden: set[tuple[str, str, str]] = set()
        for sheet in style_sheets:
            for selectors, declarations in RULE.findall(_top_level(CSS_COMMENT.sub("", sheet))):
                if HIDING.search(declarations):
                    for selector in selectors.split(","):
                        if found := SIMPLE_SELECTOR.fullmatch(selector.strip()):
                            self._hidden.add(((found[1] or "").lower(), found[2], found[3]))

    def hides(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Whether an element of this tag with these attributes is hidden, and all that is in it."""
        if "hidden" in attributes:
            return True
        style = attributes.get("style")
        if style is not None and HIDING.search(style):
            return True
        if tag == "dialog" and "open" not in attributes:
            return True
        names = attributes.get("class")
        if names is not None and not NO_WORDS.isdisjoint(names.split()):
            return True
        return bool(self._hidden) and self._is_matched(tag, attributes)

    def _is_matched(self, tag: str, attributes: Mapping[str, str]) -> bool:
        names = [(".", name) for name in attributes.get("class", "").split()]
        if identifier := attributes.get("id"):
            names.append(("#", identifier))
        return any((tag, *name) in self._hidden or ("", *name) in self._hidden for name in names)


def _top_level(sheet: str) -> str:
    """The rules that always hold: those inside ``@media print`` and other blocks are left out."""
    kept: list[str] = []
    depth = skipped_at = 0
    start = 0
    for position, character in enumerate(sheet):
        if character == "{":
            if not skipped_at and "@" in sheet[start:position]:
                skipped_at = depth + 1
            depth += 1
        elif character == "}":
            depth -= 1
            if skipped_at and depth < skipped_at:
                skipped_at = 0
            elif not skipped_at:
                kept.append(sheet[start : position + 1])
            start = position + 1
    return "".join(kept)
