"""Which formats are read: by the ending of a file's name, and by its bytes where the ending says too little."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import version

from evidence.ingest.readers.xhtml import is_wellformed
from evidence.tree.html import PARSER_VERSION

BYTES_OF_A_MAIL_HEADER = 4096


@dataclass(frozen=True)
class Format:
    """A format of documents.

    ``reader`` is the module of this package that makes HTML of it. ``revision`` is that reader's own version: it changes
    when the same bytes give other HTML. ``libraries`` are the distributions that it reads with. ``media_type`` is what the
    original is served as.
    """

    title: str
    endings: tuple[str, ...]
    media_type: str
    reader: str = ""
    revision: int = 1
    libraries: tuple[str, ...] = ()

    @property
    def is_shown(self) -> bool:
        """Whether browsers show the original, and do not keep it as a download."""
        return self.media_type.startswith("text/") or self.media_type == "application/xhtml+xml"


FORMATS = {
    "html": Format("HTML", (".html", ".htm", ".shtml"), "text/html"),
    "xhtml": Format("XHTML", (".xhtml", ".xht"), "application/xhtml+xml", "xhtml"),
    "mhtml": Format("MHTML", (".mhtml", ".mht"), "multipart/related", "mhtml"),
    "markdown": Format(
        "Markdown",
        (".md", ".markdown", ".md.txt"),
        "text/plain",
        "markdown",
        libraries=("markdown-it-py", "mdit-py-plugins"),
    ),
    "rst": Format("reStructuredText", (".rst", ".rst.txt"), "text/plain", "rst", libraries=("docutils",)),
    "text": Format("plain text", (".txt",), "text/plain", "text"),
    "docx": Format(
        "Word document",
        (".docx",),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "docx",
        libraries=("mammoth",),
    ),
    "epub": Format("EPUB", (".epub",), "application/epub+zip", "epub"),
}

ENDINGS = {ending: name for name, known in FORMATS.items() for ending in known.endings}


def by_ending(name: str) -> str:
    """The name of the format that a file's ending stands for; "" for one that is not read."""
    name = name.lower()
    last = name[name.rfind(".") :]
    before = name[: len(name) - len(last)]
    two = before[before.rfind(".") :] + last if "." in before else ""
    return ENDINGS.get(two) or ENDINGS.get(last, "")


def format_of(name: str, data: bytes) -> str:
    """The name of the format of a file; "" when none that is read.

    A page saved with its pictures may be called .html and be MHTML, or the reverse. XHTML that is not well-formed XML is
    read as the HTML that browsers make of it.
    """
    ending = by_ending(name)
    if ending in ("html", "mhtml"):
        return "mhtml" if _has_mail_header(data) else "html"
    if ending == "xhtml" and not is_wellformed(data):
        return "html"
    return ending


@cache
def parser_of(name: str) -> str:
    """What a tree of this format was made by: it changes whenever the same bytes may give another tree.

    HTML's is the parser's version. Other formats add their reader's, and those of its libraries, in their order:
    "2+1 4.3.0 0.7.0".
    """
    known = FORMATS[name]
    if not known.reader:
        return PARSER_VERSION
    return " ".join([f"{PARSER_VERSION}+{known.revision}", *map(version, known.libraries)])


def _has_mail_header(data: bytes) -> bool:
    head = data[:BYTES_OF_A_MAIL_HEADER].lstrip()
    first, colon, _ = head.partition(b"\n")[0].partition(b":")
    is_field = bool(colon) and first.replace(b"-", b"").isalnum()
    return is_field and b"mime-version:" in head.lower()
