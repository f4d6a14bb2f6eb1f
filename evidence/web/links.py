"""Where links lead: those inside a document, and those to the exact place in its source."""

from __future__ import annotations

from urllib.parse import quote, urldefrag, urlsplit

from django.urls import reverse

from evidence.ingest.readers.formats import FORMATS, by_ending
from evidence.tree.markup import named_anchor

WORDS_OF_AN_END = 5
LONGEST_WHOLE = 80


def is_on_the_web(address: str) -> bool:
    """Whether a document came from a URL, and not from a file."""
    return address.startswith(("http://", "https://"))


def inside(pk: int, target: str) -> str | None:
    """Where a link inside a document leads from our pages: an id of its own to its page, a relative address to the
    document of that address in its collection, a URL to where it led. None for a link that names no document."""
    if target.startswith("#"):
        return f"{reverse('document', args=[pk])}#{named_anchor(target[1:])}"
    if ":" in target.split("/", 1)[0]:
        return target
    address, _, name = target.partition("#")
    address = address.partition("?")[0].lstrip("/")
    if not address:
        return None
    return reverse("linked", args=[pk, address]) + (f"#{named_anchor(name)}" if name else "")


def at_source(address: str, text: str) -> str:
    """The address with the cited text as its fragment; "" when the document did not come from the web.

    A text fragment (https://wicg.github.io/scroll-to-text-fragment/) has a browser scroll to the text. Of a long text its
    first and last words are named; of a table row, whose text no page has in one piece, its first cell. A document that
    browsers do not show (a Word file, a book) is linked as a whole.
    """
    if not is_on_the_web(address):
        return ""
    text = text.split(" | ")[0].strip()
    words = text.split()
    known = FORMATS.get(by_ending(urlsplit(address).path))
    if not words or (known is not None and not known.is_shown):
        return address
    if len(text) <= LONGEST_WHOLE or len(words) <= 2 * WORDS_OF_AN_END:
        named = _escaped(text)
    else:
        named = f"{_escaped(' '.join(words[:WORDS_OF_AN_END]))},{_escaped(' '.join(words[-WORDS_OF_AN_END:]))}"
    return f"{urldefrag(address).url}#:~:text={named}"


def _escaped(text: str) -> str:
    # The dash, the comma and the ampersand have a meaning of their own in a text fragment.
    return quote(text, safe="").replace("-", "%2D")
