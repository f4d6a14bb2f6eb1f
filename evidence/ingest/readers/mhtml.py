"""MHTML, what browsers and Word save as one file: a mail whose root part is the page (RFC 2557)."""

from __future__ import annotations

import email
import email.policy
import re
from email.message import Message

from evidence.ingest.readers.page import Page, Unreadable
from evidence.tree.decode import decode

HTML_TYPES = ("text/html", "application/xhtml+xml")
ON_THE_WEB = re.compile(r"https?://", re.IGNORECASE)


def read(data: bytes, charset: str = "") -> Page:
    """The page of an MHTML file, with the address that it was saved from. Unreadable where no part is HTML."""
    message = email.message_from_bytes(data.lstrip(), policy=email.policy.compat32)
    part = _root(message)
    if part is None:
        raise Unreadable("holds no HTML page (MHTML)")
    payload = part.get_payload(decode=True)
    html = decode(payload if isinstance(payload, bytes) else b"", part.get_content_charset("") or charset)
    location = str(part.get("Content-Location") or message.get("Content-Location") or "").strip()
    if not ON_THE_WEB.match(location):
        return Page(html)
    # Browsers write every link in full, also those within the page.
    return Page(html.replace(f'href="{location.partition("#")[0]}#', 'href="#'), location)


def _root(message: Message) -> Message | None:
    """The part that the message starts with: the one it names, else the first that is HTML."""
    start = str(message.get_param("start") or "").strip("<> ")
    found = None
    for part in message.walk():
        if part.get_content_type() not in HTML_TYPES:
            continue
        if not start or str(part.get("Content-ID") or "").strip("<> \r\n") == start:
            return part
        found = found or part
    return found
