"""Bytes to text, as a browser would read them."""

from __future__ import annotations

import codecs
import re

import webencodings

# A browser looks for a declaration in the first 1024 bytes; pages with long comments or scripts declare theirs later.
PRESCAN = 8192
META_CHARSET = re.compile(rb"""<meta[^>]*?charset\s*=\s*["']?\s*([\w:.-]+)""", re.IGNORECASE)
XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w:.-]+)["']""", re.IGNORECASE)
COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

# What the standard names and no browser reads a page with.
NOT_READ = frozenset(("replacement", "x-user-defined"))

# One wrong byte in a page of UTF-8 is a slip; many say that the page is in another encoding.
TOLERATED_SHARE_OF_ERRORS = 0.05


def decode(data: bytes, charset: str = "") -> str:
    """The text of a page: by its byte order mark, else ``charset`` (as its sender declared it), else as it declares
    itself, else UTF-8 where that fits, else windows-1252 (https://encoding.spec.whatwg.org names the labels).

    A declaration that the bytes contradict is not believed. Nothing raises: what cannot be read becomes U+FFFD.
    """
    for mark, name in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _clean(data[len(mark) :].decode(name, "replace"))
    declared = [charset] if charset else []
    head = COMMENT.sub(b"", data[:PRESCAN])
    declared += [found[1].decode("ascii") for found in (XML_ENCODING.search(head), META_CHARSET.search(head)) if found]
    for label in declared:
        encoding = webencodings.lookup(label)
        if encoding is None or encoding.name in NOT_READ:
            continue
        # A page that could be searched for its declaration byte by byte is not in UTF-16, whatever it says.
        name = "utf-8" if encoding.name.startswith("utf-16") and label != charset else encoding.codec_info.name
        if name == "utf-8":
            break
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        # Pages in UTF-8 that declare an old single-byte encoding are common; the reverse never passes this test.
        return _clean(text if data.isascii() or not _is_utf8(data) else data.decode("utf-8"))
    if _is_utf8(data):
        return _clean(data.decode("utf-8"))
    text = data.decode("utf-8", "replace")
    foreign = sum(1 for byte in data if byte > 127) if len(data) < 1_000_000 else len(data) - len(text)
    if text.count("�") <= TOLERATED_SHARE_OF_ERRORS * max(foreign, 1):
        return _clean(text)
    return _clean(data.decode("cp1252", "replace"))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _clean(text: str) -> str:
    """Without the characters that neither the parser nor PostgreSQL takes."""
    return text.replace("\0", "").removeprefix("\ufeff")
