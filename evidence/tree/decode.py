"""Bytes to text, as a browser would read them."""

from __future__ import annotations

import codecs
import re

import webencodings
from chardetng_py import EncodingDetector

# A browser looks for a declaration in the first 1024 bytes; pages with long comments or scripts declare theirs later.
PRESCAN = 8192
META_CHARSET = re.compile(rb"""<meta[^>]*?charset\s*=\s*["']?\s*([\w:.-]+)""", re.IGNORECASE)
XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w:.-]+)["']""", re.IGNORECASE)
LANGUAGE = re.compile(rb"""<html[^>]*?\slang\s*=\s*["']?\s*([a-z]{2,3}(?:-[a-z]{2,4})?)""", re.IGNORECASE)
COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
UNMARKED = (
    (re.compile(rb"(?:[\t\n\r ]\0)*<\0[!?a-zA-Z]\0"), "utf-16-le"),
    (re.compile(rb"(?:\0[\t\n\r ])*\0<\0[!?a-zA-Z]"), "utf-16-be"),
)
"""How markup begins in UTF-16 without a byte order mark."""

# What the standard names and no browser reads a page with.
NOT_READ = frozenset(("replacement", "x-user-defined"))

# One wrong byte in a page of UTF-8 is a slip; many say that the page is in another encoding.
TOLERATED_SHARE_OF_ERRORS = 0.05

LOOKED_AT = 1_000_000
"""Bytes, from the first that is not plain ASCII, that an encoding is guessed from."""

FOREIGN = bytes(range(128, 256))
FIRST_FOREIGN = re.compile(rb"[\x80-\xff]|\x1b[$(]")
ESCAPE = re.compile(rb"\x1b[$(]")

COUNTRIES = dict(
    pair.split(":")
    for pair in """
    ar:sa be:by bs:ba cs:cz cy:gb da:dk el:gr et:ee eu:es fa:ir he:il hi:in hy:am ja:jp ka:ge kk:kz ko:kr ms:my
    nb:no nn:no sl:si sq:al sr:rs sv:se uk:ua ur:pk vi:vn zh:cn zh-cn:cn zh-hans:cn zh-hant:tw zh-hk:hk zh-tw:tw
    """.split()
)
"""The country that stands for a language, where its code is not the language's own. The guess goes by countries."""


def decode(data: bytes, charset: str = "") -> str:
    """The text of a page: by its byte order mark, else ``charset`` (as its sender declared it), else as it declares
    itself, else UTF-8 where that fits, else as its bytes look (https://encoding.spec.whatwg.org names the labels; the
    guess is that of Firefox, helped by the language that the page declares).

    A declaration that the bytes contradict is not believed. Nothing raises: what cannot be read becomes U+FFFD.
    """
    for mark, name in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _clean(data[len(mark) :].decode(name, "replace"))
    for opening, name in UNMARKED:
        if opening.match(data):
            return _clean(data.decode(name, "replace"))
    head = COMMENT.sub(b"", data[:PRESCAN])
    # Pages in UTF-8 that declare an old encoding are common, and what is written in an old one never passes as UTF-8.
    as_utf8 = _read(data, "utf-8")
    for label in _declared(head, charset):
        encoding = webencodings.lookup(label)
        if encoding is None or encoding.name in NOT_READ:
            continue
        # A page that could be searched for its declaration byte by byte is not in UTF-16, whatever it says.
        is_utf8 = encoding.name == "utf-8" or (encoding.name.startswith("utf-16") and label != charset)
        if is_utf8:
            break
        text = data.decode(_codec(encoding), "replace")
        if _is_right(text, data):
            return _clean(text if as_utf8 is None or data.isascii() else as_utf8)
    if as_utf8 is not None and not (data.isascii() and ESCAPE.search(data)):
        return _clean(as_utf8)
    text = data.decode("utf-8", "replace")
    if as_utf8 is None and _is_right(text, data):
        return _clean(text)
    return _clean(data.decode(_guess(data, head), "replace"))


def _declared(head: bytes, charset: str) -> list[str]:
    found = (XML_ENCODING.search(head), META_CHARSET.search(head))
    return [*([charset] if charset else []), *(label[1].decode("ascii") for label in found if label)]


def _codec(encoding: webencodings.Encoding) -> str:
    """Python's codec. Browsers read the older Chinese encoding as the newer one, which holds it."""
    return "gb18030" if encoding.name == "gbk" else str(encoding.codec_info.name)


def _read(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def _is_right(text: str, data: bytes) -> bool:
    """Whether the bytes were read without more errors than a page has by mistake."""
    errors = text.count("\ufffd")
    return errors == 0 or errors <= TOLERATED_SHARE_OF_ERRORS * (len(data) - len(data.translate(None, FOREIGN)))


def _guess(data: bytes, head: bytes) -> str:
    """The codec of bytes that declare nothing that is true."""
    first = FIRST_FOREIGN.search(data)
    start = max(first.start() - 1000, 0) if first else 0
    detector = EncodingDetector()
    detector.feed(data[start : start + LOOKED_AT], last=True)
    # Pages in every language say that they are English.
    declared = LANGUAGE.search(head)
    language = declared[1].decode("ascii").lower() if declared else "en"
    country = COUNTRIES.get(language) or COUNTRIES.get(language[:2]) or language[:2]
    tld = None if country == "en" else country.encode("ascii")
    guessed = detector.guess(tld=tld, allow_utf8=False)
    # Some are named as in the standard, some as in Python.
    encoding = webencodings.lookup(guessed)
    return guessed if encoding is None else _codec(encoding)


def _clean(text: str) -> str:
    """Without the characters that neither the parser nor PostgreSQL takes."""
    return text.replace("\0", "").removeprefix("\ufeff")
