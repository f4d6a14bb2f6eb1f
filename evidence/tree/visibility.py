"""What a reader of the page cannot see, and so must not be indexed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0*\.?0+|font-size\s*:\s*0+(?:\.0+)?"
    r"(?:px|pt|em|rem|%)?)\s*(?:!important\s*)?(?=;|$)",
    re.IGNORECASE,
)
CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
BRACE = re.compile(r"[{}]")
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
            for selectors, declarations in _rules(CSS_COMMENT.sub("", sheet)):
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


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Selectors and declarations of the rules that always hold: those inside ``@media print`` and its like are left out."""
    depth = start = 0
    conditional_from = 0
    selectors = ""
    for brace in BRACE.finditer(sheet):
        # What ends with a semicolon before a rule ("@import …;") is none of its selectors.
        before = sheet[start : brace.start()].rpartition(";")[2] if brace[0] == "{" else sheet[start : brace.start()]
        start = brace.end()
        if brace[0] == "{":
            depth += 1
            if not conditional_from and "@" in before:
                conditional_from = depth
            selectors = before
        else:
            if not conditional_from and selectors:
                yield selectors, before
            depth = max(depth - 1, 0)
            if depth < conditional_from:
                conditional_from = 0
            selectors = ""
