"""XHTML, read as the XML it is: ``<div/>`` and ``<title/>`` are closed, and CDATA is text."""

from __future__ import annotations

import re
from html.entities import html5

from lxml import etree
from lxml.etree import _Element as Element

from evidence.ingest.readers.page import Page, Unreadable
from evidence.tree.decode import decode
from evidence.tree.elements import XML_DECLARATION

# XML itself knows five names.
NAMED = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)(\w{1,40};)")
CDATA, CDATA_END = "<![CDATA[", "]]>"
DOCTYPE = "<!DOCTYPE"
ELEMENT = re.compile(r"<\w")
# Their text would be markup again once it is written as HTML.
RAW = ("script", "noscript", "iframe", "noembed", "noframes", "plaintext", "xmp", "textarea", "template")


def is_wellformed(data: bytes) -> bool:
    """Whether a page is XML that declares no entities of its own; of those nothing good comes."""
    return parse_xml(decode(data)) is not None


def read(data: bytes, charset: str = "") -> Page:
    """HTML of a page of XHTML that is well-formed."""
    root = parse_xml(decode(data, charset))
    if root is None:
        raise Unreadable("is not well-formed XHTML")
    return Page(to_html(as_html(root)))


def parse_xml(text: str) -> Element | None:
    """The root of a page that is XML; None where it is not, or where it declares entities."""
    if "<!ENTITY" in text:
        return None
    text = _with_known_names(_without_doctype(XML_DECLARATION.sub("", text, count=1)))
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None


def as_html(root: Element) -> Element:
    """The elements with the names that HTML knows them by, in place; what a browser would not show is emptied."""
    for element in root.iter(etree.Element):
        tag = str(element.tag)
        element.tag = tag.rpartition("}")[2].lower()
        for name, value in element.attrib.items():
            name = str(name)
            if name.startswith("{"):
                del element.attrib[name]
                local = name.rpartition("}")[2]
                # xml:lang is HTML's lang, epub:type nearly its role; the others mean nothing to it.
                if local == "lang" and element.get("lang") is None:
                    element.set("lang", value)
                elif local == "type":
                    element.set("data-type", value)
        if element.tag in RAW:
            for child in list(element):
                element.remove(child)
            element.text = None
    return root


def to_html(element: Element) -> str:
    """An element written as HTML."""
    return etree.tostring(element, method="html", encoding="unicode", with_tail=False)


def _without_doctype(text: str) -> str:
    """The page without its document type, which names entities that are looked up nowhere."""
    first = ELEMENT.search(text)
    start = text.find(DOCTYPE, 0, first.start() if first else 0)
    if start < 0:
        return text
    end = text.find(">", start)
    subset = text.find("[", start, end)
    if subset >= 0:
        end = text.find(">", text.find("]", subset))
    return text[:start] + text[end + 1 :] if end >= 0 else text


def _with_known_names(text: str) -> str:
    """The page with ``&nbsp;`` and its like as characters; inside CDATA they are text."""
    first, *others = text.split(CDATA)
    pieces = [NAMED.sub(_character, first)]
    for piece in others:
        inside, end, after = piece.partition(CDATA_END)
        pieces += [CDATA, inside, end, NAMED.sub(_character, after)]
    return "".join(pieces)


def _character(found: re.Match[str]) -> str:
    # A name that HTML does not know is text, as it is in a browser.
    character = html5.get(found[1], f"&{found[1]}")
    return "".join(f"&#{ord(one)};" if one in "&<>" else one for one in character)
