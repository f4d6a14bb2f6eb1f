"""Text to lxml's elements, however a page is nested or broken."""

from __future__ import annotations

import re
from itertools import islice

from lxml import etree
from lxml.etree import _Element as Element

from evidence.tree.tags import BLOCKS, WRAPPERS

XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
TAG = re.compile(r"<!--.*?(?:-->|\Z)|<(/?)([a-zA-Z][^\s/>]*)[^>]*(?:>|\Z)", re.DOTALL)
WHOLE_TAG = re.compile(
    r"""<(?:!--.*?(?:-->|\Z) | (script|style)\b.*?(?:</\1|\Z) | [a-z](?:[^"'>]++|"[^"]*+"|'[^']*+')*)""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
ATTRIBUTE = re.compile(r"""\s[^\s"'>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]*))?""")
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
LONGEST_TAG = 20_000
"""Characters. The time that libxml2 takes for a tag grows with the square of its attributes; longer tags keep the first."""

MOST_ATTRIBUTES = 200
NEEDS_NO_END = frozenset("p li dt dd tr td th option".split())


def elements(text: str) -> list[Element]:
    """The page's top elements: ``html``, and whatever libxml2 puts beside it when something follows ``</html>``."""
    text = _with_fewer_attributes(XML_DECLARATION.sub("", text, count=1))
    root, is_cut = _parse(text)
    if is_cut:
        root, _ = _parse(_flattened(text))
    return [] if root is None else [root, *root.itersiblings(etree.Element)]


def _parse(text: str) -> tuple[Element | None, bool]:
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        root = None
    is_cut = any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log)
    return root, is_cut


def _with_fewer_attributes(text: str) -> str:
    if len(text) <= LONGEST_TAG:
        return text
    pieces: list[str] = []
    start = 0
    for tag in WHOLE_TAG.finditer(text):
        if tag.end() - tag.start() > LONGEST_TAG and text[tag.start() + 1] != "!" and tag[1] is None:
            attributes = list(islice(ATTRIBUTE.finditer(text, tag.start(), tag.end()), MOST_ATTRIBUTES + 1))
            if len(attributes) > MOST_ATTRIBUTES:
                pieces.append(text[start : attributes[-1].start()])
                start = tag.end()
    return "".join((*pieces, text[start:]))


def _flattened(text: str, limit: int = 600) -> str:
    """The page without the tags nested deeper than libxml2 goes (2048 levels, after which it drops the rest of a page).

    Tags that need no end tag are not counted, so a level may really be three: a table, its row and its cell.
    """
    pieces: list[str] = []
    start = depth = 0
    for tag in TAG.finditer(text):
        name = (tag[2] or "").lower()
        if not name or name in VOID:
            continue
        is_counted, is_end = name not in NEEDS_NO_END, bool(tag[1])
        depth += is_counted and not is_end
        if depth > limit:
            pieces.append(text[start : tag.start()])
            # A space, so that the words on both sides of a block do not run together.
            pieces.append("<br>" if name in BLOCKS or name in WRAPPERS else "")
            start = tag.end()
        depth = max(depth - (is_counted and is_end), 0)
    pieces.append(text[start:])
    return "".join(pieces)
