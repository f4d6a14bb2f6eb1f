"""EPUB: the chapters of a book in their order, as one document."""

from __future__ import annotations

from posixpath import dirname, join, normpath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from lxml import etree
from lxml.etree import _Element as Element

from evidence.ingest.readers.package import Package
from evidence.ingest.readers.page import Page, Unreadable, page_of
from evidence.ingest.readers.xhtml import as_html, parse_xml, to_html
from evidence.tree.decode import decode
from evidence.tree.elements import elements
from evidence.tree.visibility import Visibility

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
DC = "{http://purl.org/dc/elements/1.1/}"
XHTML = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")
CONTENTS = ("toc", "landmarks", "page-list")


class Chapter(NamedTuple):
    """A document of the spine: its part of the package, and whether it is a table of contents."""

    name: str
    is_contents: bool


def read(data: bytes, charset: str = "") -> Page:
    """HTML of a book, a section for each chapter, in the order of reading. Links between chapters stay in the document.

    Unreadable where a chapter is missing or encrypted: a book is taken whole, or not.
    """
    package = Package(data)
    book = _book(package)
    spine, title, language = _spine(package, book)
    _refuse_encrypted(package, {chapter.name for chapter in spine})
    numbers = {chapter.name: number for number, chapter in enumerate(spine, 1)}
    sections = "".join(_section(package, chapter, numbers) for chapter in spine)
    return Page(page_of(sections, title=title, language=language))


def _book(package: Package) -> str:
    """The part that lists the parts of the book."""
    for root_file in package.xml(CONTAINER).iter("{*}rootfile"):
        if path := root_file.get("full-path"):
            return normpath(path)
    raise Unreadable("is damaged: it does not say where its book is (META-INF/container.xml)")


def _spine(package: Package, book: str) -> tuple[list[Chapter], str, str]:
    """The chapters in the order of reading, the title and the language."""
    root = package.xml(book)
    items = {item.get("id"): item for item in root.iterfind("{*}manifest/{*}item")}
    contents = {
        _part(book, reference.get("href") or "")
        for reference in root.iterfind("{*}guide/{*}reference")
        if reference.get("type") == "toc"
    }
    chapters: dict[str, Chapter] = {}
    for reference in root.iterfind("{*}spine/{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None:
            raise Unreadable(f"is damaged: its chapter {reference.get('idref')} is missing")
        if item.get("media-type") not in XHTML:
            continue
        name = _part(book, item.get("href") or "")
        if name not in package:
            raise Unreadable(f"is damaged: its chapter {name} is missing")
        is_contents = "nav" in (item.get("properties") or "").split() or name in contents
        chapters.setdefault(name, Chapter(name, is_contents))
    if not chapters:
        raise Unreadable("holds no chapters of text")
    title = " ".join((root.findtext(f"{{*}}metadata//{DC}title") or "").split())
    return list(chapters.values()), title, (root.findtext(f"{{*}}metadata//{DC}language") or "").strip()


def _refuse_encrypted(package: Package, chapters: set[str]) -> None:
    """Fonts are often obscured, which is no matter; chapters are encrypted by what protects a book from being copied."""
    if ENCRYPTION not in package:
        return
    for reference in package.xml(ENCRYPTION).iter("{*}CipherReference"):
        if normpath(unquote(reference.get("URI") or "")) in chapters:
            raise Unreadable("is protected against copying (DRM), and cannot be read")


def _part(base: str, target: str) -> str:
    """The part of the package that a reference in another one means; a path out of it names none."""
    return normpath(join(dirname(base), unquote(urlsplit(target).path)))


def _section(package: Package, chapter: Chapter, numbers: dict[str, int]) -> str:
    """A chapter as a section: its names made its own, and its links to other chapters links within the document."""
    text = decode(package.part(chapter.name))
    root = parse_xml(text)
    roots = [as_html(root)] if root is not None else elements(text)
    styles = [style.text or "" for root in roots for style in root.iter("style")]
    body = etree.Element("nav" if chapter.is_contents else "section", id=_name(chapter.name, "", numbers))
    visibility = Visibility(styles)
    for root in roots:
        _copy_language(root, body)
        for holder in root.iter("body"):
            _copy_language(holder, body)
            if identifier := holder.get("id"):
                etree.SubElement(body, "a", id=identifier)
            _move(holder, body)
    for element in body.iterdescendants(etree.Element):
        # Rules of a chapter hide nothing in another one.
        if visibility.hides(str(element.tag), {str(name): str(value) for name, value in element.attrib.items()}):
            element.set("hidden", "")
        _rename(element, chapter.name, numbers)
        if element.get("data-type") in CONTENTS:
            element.tag = "nav"
    return to_html(body)


def _copy_language(source: Element, target: Element) -> None:
    if language := source.get("lang") or source.get("xml:lang"):
        target.set("lang", language)


def _move(source: Element, target: Element) -> None:
    """All that is in one element to the end of another."""
    text = source.text or ""
    if len(target):
        target[-1].tail = (target[-1].tail or "") + text
    else:
        target.text = text
    target.extend(list(source))


def _rename(element: Element, chapter: str, numbers: dict[str, int]) -> None:
    if identifier := element.get("id"):
        element.set("id", _name(chapter, identifier, numbers))
    target = element.get("href")
    if element.tag != "a" or target is None:
        return
    try:
        parts = urlsplit(target.strip())
    except ValueError:
        return
    if parts.scheme or parts.netloc:
        return
    name = _part(chapter, parts.path) if parts.path else chapter
    if name in numbers:
        element.set("href", f"#{_name(name, unquote(parts.fragment), numbers)}")
    else:
        # A path within the book leads nowhere outside of it.
        del element.attrib["href"]


def _name(chapter: str, identifier: str, numbers: dict[str, int]) -> str:
    number = numbers[chapter]
    return f"chapter-{number}-{identifier}" if identifier else f"chapter-{number}"
