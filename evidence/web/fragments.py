"""Links to the exact place in an original, by a text fragment (https://wicg.github.io/scroll-to-text-fragment/)."""

from __future__ import annotations

from urllib.parse import quote, urldefrag

WORDS_OF_AN_END = 5
LONGEST_WHOLE = 80


def at_source(address: str, text: str) -> str:
    """The address with the cited text as its fragment; "" when the document did not come from the web.

    Of a long text its first and last words are named; of a table row, whose text no page has in one piece, its first cell.
    """
    if not address.startswith(("http://", "https://")):
        return ""
    text = text.split(" | ")[0].strip()
    words = text.split()
    if not words:
        return address
    if len(text) <= LONGEST_WHOLE or len(words) <= 2 * WORDS_OF_AN_END:
        named = _escaped(text)
    else:
        named = f"{_escaped(' '.join(words[:WORDS_OF_AN_END]))},{_escaped(' '.join(words[-WORDS_OF_AN_END:]))}"
    return f"{urldefrag(address).url}#:~:text={named}"


def _escaped(text: str) -> str:
    # The dash, the comma and the ampersand have a meaning of their own in a text fragment.
    return quote(text, safe="").replace("-", "%2D")
