"""HTML at random: every tag there is, nested as no page should be, closed or not."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

BLOCK = (
    "p div section article aside nav header footer main h1 h2 h3 h6 ul ol li dl dt dd blockquote "
    "figure figcaption pre address "
    "details summary fieldset legend form center table caption thead tbody tfoot tr td th dir menu search hgroup dialog"
).split()
INLINE = (
    "a b i em strong code span sup sub q cite abbr dfn time kbd samp var u s del ins mark small bdo bdi font big tt label "
    "nobr my-card ruby rb math mi mo svg"
).split()
VOID = ("br", "hr", "img", "input", "wbr", "col", "meta", "link", "base")
DROPPED = ("script", "style", "template", "select", "textarea", "button", "noscript", "iframe", "video", "object", "rt")

WORDS = (
    "Key",
    "keys",
    "A.",
    "e.g.",
    "No.",
    "5",
    "12.5",
    "p.m.",
    "§",
    "(2)",
    "café",
    "über",
    "受付。",
    "أين؟",
    "कुंजी।",
    "🚀",
    "1.",
    "x;",
)
ENTITIES = (
    "&amp;",
    "&lt;",
    "&nbsp;",
    "&eacute;",
    "&#8212;",
    "&#x1F680;",
    "&copy",
    "&nope;",
    "&#0;",
    "&#xD800;",
    "&#99999999;",
    "&",
    "&#",
)
ODD = (
    "<!-- a comment -->",
    "<!-- open",
    "-->",
    "<![CDATA[ data ]]>",
    "<?php echo 1 ?>",
    "<!doctype html>",
    "]]>",
    "<",
    ">",
    "</>",
    "<p",
    "<a href='",
    '<a href="',
    "</html>",
    "</body>",
    "<body>",
    "<html lang=de>",
    "<head>",
    "<title>T</title>",
    "<plaintext>",
    "\t\n",
    "\u00a0",
    "\u00ad",
    "\u200b",
    "\u0301",
    "\x0c",
    "\x01",
    "\ufffe",
)
ATTRIBUTES = (
    "",
    "",
    "",
    " id=a",
    ' id="b c"',
    " class=nav",
    ' class="sidebar menu"',
    " hidden",
    ' style="display:none"',
    " lang=fr",
    " dir=rtl",
    " colspan=2",
    " rowspan=0",
    " rowspan=3",
    " colspan=99999",
    " scope=row",
    " scope=rowgroup",
    ' headers="a b"',
    " role=presentation",
    " role=heading aria-level=2",
    " role=list",
    " role=table",
    " start=3",
    " reversed",
    " value=x",
    " type=a",
    " href=#a",
    ' href="/x?y=1&z=2"',
    " href=javascript:x",
    " name=a",
    ' title="T &quot;x&quot;"',
    " open",
    " a=1 a=2",
    ' x="<p>"',
    " =",
    " aria-hidden=true",
    " checked",
)

SPANS = (
    *("", "", "", " colspan=2", " rowspan=2", " rowspan=0", " colspan=7"),
    *(" scope=row", " scope=col", " id=a headers=a"),
)
CELLS = (
    *("", "Key", "5", "12.5", "2019", "<b>Zone</b>", "<p>One.<p>Two.", "<ul><li>x</ul>"),
    "A long word. " * 20,
)


def _text() -> SearchStrategy[str]:
    return st.lists(st.sampled_from((*WORDS, *ENTITIES)), min_size=1, max_size=6).map(" ".join)


@st.composite
def _opened(draw: DrawFn, inner: SearchStrategy[str]) -> str:
    """An element whose end is left out, or another's, now and then."""
    tag = draw(st.sampled_from((*BLOCK, *INLINE)))
    attributes = draw(st.sampled_from(ATTRIBUTES))
    held = "".join(draw(st.lists(inner, max_size=4)))
    end = draw(st.sampled_from((f"</{tag}>", f"</{tag}>", f"</{tag}>", "", "</div>", "</table>", "</p>")))
    return f"<{tag}{attributes}>{held}{end}"


def _single() -> SearchStrategy[str]:
    void = st.builds("<{}{}>".format, st.sampled_from(VOID), st.sampled_from(ATTRIBUTES))
    dropped = st.builds("<{0}>{1}</{0}>".format, st.sampled_from(DROPPED), _text())
    stray = st.sampled_from((*BLOCK, *INLINE)).map("</{}>".format)
    return st.one_of(_text(), _text(), void, dropped, stray, st.sampled_from(ODD))


def any_pages() -> SearchStrategy[str]:
    """Anything that could be called HTML."""
    piece = st.recursive(_single(), _opened, max_leaves=25)
    return st.lists(piece, max_size=6).map("".join)


@st.composite
def deep_pages(draw: DrawFn) -> str:
    """A few tags in each other, some thousand times."""
    tags = draw(st.lists(st.sampled_from((*BLOCK, *INLINE)), min_size=1, max_size=3))
    return "".join(f"<{tag}>x" for tag in tags) * draw(st.integers(100, 3000))


@st.composite
def tables(draw: DrawFn) -> str:
    """Tables with spans, scopes and header cells anywhere, their rows in row groups or not."""
    cell = st.builds(
        "<{0}{1}>{2}</{0}>".format, st.sampled_from(("td", "td", "th")), st.sampled_from(SPANS), st.sampled_from(CELLS)
    )
    rows = st.lists(st.lists(cell, max_size=4).map(lambda cells: f"<tr>{''.join(cells)}</tr>"), max_size=4).map("".join)
    groups = st.builds("<{0}>{1}</{0}>".format, st.sampled_from(("thead", "tbody", "tfoot")), rows)
    parts = draw(st.lists(st.one_of(rows, groups, st.just("<caption>Fares</caption>")), max_size=4))
    return f"<p>Fares:</p><table>{''.join(parts)}</table>"
