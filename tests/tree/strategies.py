"""Random trees and random pages for the laws of the tree."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from evidence.tree.document import SENTENCE, Document, Node
from evidence.tree.path import Path, PathSet

PHRASING_HOLDERS = ("p", "h2", "h3")
FLOW_HOLDERS = ("div", "section", "blockquote", "article", "figure")
INLINE = ("b", "i", "em", "code", "sup", "span", "font")

WORDS = st.sampled_from(
    [
        "Keys",
        "are",
        "at",
        "desk",
        "A.",
        "The",
        "café",
        "e.g.",
        "№",
        "5",
        "p.m.",
        "受付は九時。",
        "أين؟",
        "🚀",
        "x < y",
        "R&D",
    ]
)
BROKEN = st.sampled_from(
    [
        "</p>",
        "</div>",
        "<b>",
        "</b>",
        "</table>",
        "<td>",
        "<li>",
        "</html>",
        "<p",
        "<a href='",
        "&",
        "<!-- ",
        "]]>",
        "<?",
    ]
)


def paths() -> SearchStrategy[Path]:
    """Any paths, of no tree in particular."""
    return st.lists(st.integers(0, 12), max_size=6).map(Path)


@st.composite
def documents(draw: DrawFn) -> Document:
    """A tree of blocks and sentences, of any shape."""
    document = Document("Title", "en")
    blocks = [document.root]
    for number in range(draw(st.integers(0, 40))):
        parent = blocks[draw(st.integers(0, len(blocks) - 1))]
        is_block = draw(st.booleans())
        node = (
            Node(document, parent, len(parent.children), draw(st.sampled_from(["section", "p", "li", "ul"])))
            if is_block
            else Node(document, parent, len(parent.children), SENTENCE, text=f"T{number}.", markup=f"<b>T{number}.</b>")
        )
        parent.children.append(node)
        if is_block:
            blocks.append(node)
    document.number()
    return document


@st.composite
def subdocuments(draw: DrawFn) -> tuple[Document, PathSet]:
    """A tree and some of its paths."""
    document = draw(documents())
    chosen = draw(st.lists(st.integers(0, len(document) - 1), max_size=8))
    return document, PathSet(document.nodes[position].path for position in chosen)


def _words() -> SearchStrategy[str]:
    escaped = WORDS.map(lambda word: word.replace("&", "&amp;").replace("<", "&lt;"))
    return st.lists(escaped, min_size=1, max_size=12).map(" ".join)


def _phrasing() -> SearchStrategy[str]:
    """Words with inline tags, whole and inside words, and line breaks."""
    tagged = st.builds("<{0}>{1}</{0}>".format, st.sampled_from(INLINE), _words())
    linked = st.builds('<a href="{}">{}</a>'.format, st.sampled_from(["/x?a=1&amp;b=2", "#here", "y.html"]), _words())
    marks = st.sampled_from(["e<b>&#x301;</b>", "x<i>&#x308;y</i>", "<code>&#x301;</code>", "co&shy;op"])
    piece = st.one_of(
        _words(), tagged, linked, marks, st.sampled_from(["<br>", "<br><br>", " ", "\n\t", "<!-- no -->"])
    )
    return st.lists(piece, min_size=1, max_size=5).map("".join)


def _table(cells: list[list[str]]) -> str:
    rows = ("".join(f"<td>{cell}</td>" for cell in row) for row in cells)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def _around(inner: SearchStrategy[str]) -> SearchStrategy[str]:
    """Blocks, lists and tables that hold what is given."""
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds("<{0}>{1}</{0}>".format, st.sampled_from(FLOW_HOLDERS), several.map("".join)),
        several.map(lambda items: "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"),
        several.map(lambda items: "<ol>" + "".join(f"<li>{item}" for item in items) + "</ol>"),
        several.map(lambda items: "<dl>" + "".join(f"<dt>Term<dd>{item}" for item in items) + "</dl>"),
        st.lists(st.lists(inner, min_size=1, max_size=3), min_size=1, max_size=3).map(_table),
        several.map("".join),
    )


def _flow() -> SearchStrategy[str]:
    leaf = st.one_of(_phrasing(), st.builds("<{0}>{1}</{0}>".format, st.sampled_from(PHRASING_HOLDERS), _phrasing()))
    return st.recursive(leaf, _around, max_leaves=8)


def pages() -> SearchStrategy[str]:
    """Well-formed pages of common tags, all of whose text is shown."""
    return st.lists(_flow(), max_size=5).map(lambda parts: f"<!doctype html><body>{''.join(parts)}</body>")


def broken_pages() -> SearchStrategy[str]:
    """Pages with tags that are never closed, never opened or cut."""
    parts = st.lists(st.one_of(_flow(), BROKEN), max_size=8)
    return parts.map(lambda pieces: "<!doctype html><title>Broken</title>" + "".join(pieces))
