"""What a fetched page is: the format by which it is read, from its media type and its URL."""

from __future__ import annotations

import mimetypes
from email.message import Message
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from evidence.ingest.readers import FORMATS, refused_name
from evidence.ingest.readers.formats import by_ending

# Of formats that share a media type the first is the one that it means; the ending of the URL may say another.
BY_MEDIA_TYPE = {known.media_type: name for name, known in reversed(FORMATS.items())} | {
    "text/plain": "text",
    "text/markdown": "markdown",
    "text/x-rst": "rst",
    "message/rfc822": "mhtml",
    "application/x-mimearchive": "mhtml",
}
SAYS_LITTLE = ("", "text/plain", "application/octet-stream", "binary/octet-stream", "application/zip")
NO_PAGES = ("image/", "audio/", "video/", "font/")
NOT_PAGES = frozenset(
    f"{kind}/{name}"
    for kind, names in {
        "text": ("css", "javascript"),
        "application": ("javascript", "x-javascript", "wasm", "zip", "x-tar", "octet-stream", "pdf"),
    }.items()
    for name in names
)


class NotRead(Exception):
    """A page that no reader knows, and what it is."""


def media_type_of(content_type: str) -> tuple[str, str]:
    """The media type of a ``Content-Type``, and its charset; "" for what it does not say."""
    header = Message()
    header["Content-Type"] = " ".join(content_type.split())[:200]
    charset = header.get_content_charset("")
    said = header.get_content_type() if "/" in content_type else ""
    return said, charset[:40] if charset.isascii() else ""


def format_of_page(url: str, media_type: str) -> str:
    """The name of the format of a page. NotRead says what it is instead."""
    name = name_of(url)
    if media_type in SAYS_LITTLE and by_ending(name):
        return by_ending(name)
    if media_type in BY_MEDIA_TYPE:
        return BY_MEDIA_TYPE[media_type]
    raise NotRead(refused_name(name) or f"is {media_type or 'of no type that is said'}, which is not read")


def name_of(url: str) -> str:
    """The last part of a URL's path, as a file would be called."""
    return PurePosixPath(unquote(urlsplit(url).path)).name


def is_worth_asking(url: str) -> bool:
    """Whether what a link leads to is asked for, by its ending: pictures, styles, programs and archives are not. Documents
    in a format that is not read are named with their refusal, as in a folder."""
    name = name_of(url)
    if refused_name(name):
        return bool(refused_name(name, among_others=True))
    guessed = "" if by_ending(name) else mimetypes.guess_type(name)[0] or ""
    return not guessed.startswith(NO_PAGES) and guessed not in NOT_PAGES
