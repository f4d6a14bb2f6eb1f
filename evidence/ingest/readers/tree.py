"""Bytes of any format to their tree."""

from __future__ import annotations

from importlib import import_module

from evidence.ingest.readers.formats import FORMATS
from evidence.ingest.readers.page import Page, Unreadable
from evidence.tree.document import Document
from evidence.tree.html import parse, parse_text


def tree_of(data: bytes, address: str, *, format_name: str = "html", charset: str = "") -> Document:
    """The tree of a file in the format that ``format_of`` names. Unreadable when the file breaks its format's rules.

    ``address`` and ``charset`` are those of ``evidence.tree.html.parse``.
    """
    reader = FORMATS[format_name].reader
    if not reader:
        return parse(data, address, charset=charset)
    # Each brings a library that other commands need not wait for.
    read = import_module(f"evidence.ingest.readers.{reader}").read
    try:
        page: Page = read(data, charset)
    except RecursionError:
        raise Unreadable("is nested too deeply to be read") from None
    tree = parse_text(page.html, page.address or address)
    if next(tree.sentences(), None) is None:
        raise Unreadable(f"holds no text that could be read ({FORMATS[format_name].title})")
    return tree
