"""What a reader gives, and what it raises."""

from __future__ import annotations

from html import escape
from typing import NamedTuple


class Unreadable(Exception):
    """A file that its reader cannot read; the message goes on after the file's name ("is damaged: …")."""


class Page(NamedTuple):
    """HTML made from a file. ``address`` is what its links are resolved against, where the file itself says it."""

    html: str
    address: str = ""


def page_of(body: str, notes: str = "", *, title: str = "", language: str = "") -> str:
    """A page of HTML around its body. ``notes`` stand outside of the section that holds the body and its headings: the
    last of these is not theirs."""
    lang = f' lang="{escape(language)}"' if language else ""
    head = f"<title>{escape(title)}</title>" if title else ""
    content = f"<section>{body}</section>{notes}" if notes.strip() else body
    return f"<!DOCTYPE html><html{lang}><head>{head}</head><body>{content}</body></html>"
