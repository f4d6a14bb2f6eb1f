"""Bytes to a document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote, urljoin, urlsplit

from lxml.etree import _Element as Element

from evidence.tree.attributes import LANGUAGE, language_of
from evidence.tree.builder import Builder
from evidence.tree.decode import decode
from evidence.tree.document import NO_ATTRIBUTES, SENTENCE, Document, Node
from evidence.tree.elements import elements
from evidence.tree.lists import number_items
from evidence.tree.main_content import settle
from evidence.tree.sentences import Run, visible
from evidence.tree.tables import mark_layout
from evidence.tree.visibility import Visibility

PARSER_VERSION = "2"
"""Changes whenever the same bytes give another tree."""


def parse(data: bytes, address: str = "", *, charset: str = "") -> Document:
    """The tree of an HTML page: the same bytes and address always give the same tree.

    ``address`` is the URL the page came from, or its file name: links are resolved against it, and it gives the title of a
    page that has none. ``charset`` is what the sender declared. Nothing in the page makes this raise; an empty page gives
    a document without sentences. Text is as a browser shows it: white space collapsed outside ``pre``, NFC, without
    soft hyphens and zero-width spaces.
    """
    return parse_text(decode(data, charset), address)


def parse_text(text: str, address: str = "") -> Document:
    """The tree of an HTML page that has been decoded; see ``parse``."""
    roots = elements(text)
    document = Document(language=_language(roots))
    _add_title(document, roots)
    builder = Builder(
        roots,
        document,
        Visibility(_style_sheets(roots)),
        base_of(roots, address),
        has_roles="role" in text.lower(),
    )
    for root in roots:
        builder.walk(root)
    document.number()
    number_items(document)
    mark_layout(document)
    settle(document)
    if not document.title:
        document.title = _fallback_title(document, address)
    return document


def _fallback_title(document: Document, address: str) -> str:
    for node in document.nodes:
        if node.tag == "h1" and node.children:
            return node.content
    name = unquote(PurePosixPath(urlsplit(address).path).stem if "://" in address else PurePosixPath(address).stem)
    return visible(name) or address


def _add_title(document: Document, roots: Sequence[Element]) -> None:
    """The page's own title, in front of everything; that of a drawing is none."""
    for root in roots:
        for element in root.iter("title"):
            parent = element.getparent()
            if parent is not None and parent.tag in ("svg", "symbol", "g"):
                continue
            run = Run()
            run.add("".join(map(str, element.itertext())))
            for sentence in run.sentences(document.language, whole=True):
                node = Node(document, document.root, 0, "title")
                document.root.children.append(node)
                node.children.append(Node(document, node, 0, SENTENCE, NO_ATTRIBUTES, sentence.text, sentence.markup))
                document.title = sentence.text
            return


def _style_sheets(roots: Sequence[Element]) -> list[str]:
    return [style.text or "" for root in roots for style in root.iter("style") if not _is_for_print(style)]


def _language(roots: Sequence[Element]) -> str:
    for root in roots:
        for element in (root, *root.iterchildren("body")):
            if language := language_of(element.attrib):  # type: ignore[arg-type]
                return language
        for meta in root.iter("meta"):
            if (meta.get("http-equiv") or "").lower() == "content-language":
                declared = (meta.get("content") or "").split(",")[0].strip()
                if LANGUAGE.fullmatch(declared):
                    return declared
    return ""


def base_of(roots: Sequence[Element], address: str) -> str:
    """What links are resolved against: the first ``<base href>`` as long as it leads to the web, else the address."""
    for root in roots:
        for element in root.iter("base"):
            target = element.get("href")
            if target is None:
                continue
            try:
                resolved = urljoin(address, target.strip())
                return resolved if urlsplit(resolved).scheme in ("http", "https", "") else address
            except ValueError:
                return address
    return address


def _is_for_print(style: Element) -> bool:
    media = (style.get("media") or "all").lower()
    return "all" not in media and "screen" not in media
