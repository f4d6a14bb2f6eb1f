from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from evidence.tree.document import Document, Node
from evidence.tree.html import parse
from evidence.tree.markup import Rendering, anchor, highlighted, named_anchor
from evidence.tree.path import Path, PathSet
from evidence.tree.subdocument import prune


def page(body: str) -> Document:
    return parse(body.encode(), "https://h.example/page.html")


def html_of(body: str, **options: object) -> str:
    return Rendering(**options).html(page(body))  # type: ignore[arg-type]


def cited(body: str, *texts: str) -> str:
    """The excerpt of these sentences with all that is around them as context."""
    document = page(body)
    paths = PathSet(leaf.path for leaf in document.sentences() if leaf.text in texts)
    return Rendering(cited=paths, is_excerpt=True).html(document)


def test_kept_tags_are_shown_and_others_become_divs() -> None:
    assert html_of("<main><h1>A</h1><p>One. <b>Two</b>.</p></main><hr>") == (
        '<div class="main"><h1>A</h1><p>One. <b>Two</b>.</p></div><hr>'
    )


def test_the_title_is_not_part_of_the_page() -> None:
    assert html_of("<title>T</title><p>x") == "<p>x</p>"


@pytest.mark.parametrize(
    "body",
    [
        "<p onclick=alert(1)>x</p>",
        "<script>alert(1)</script><p>x</p>",
        "<p style='x' class='y'>x</p>",
        "<p>&lt;img src=x onerror=alert(1)&gt;</p>",
        "<p><a href='javascript:alert(1)'>x</a></p>",
        "<p><a href='/x' onclick='alert(1)' target=y>x</a></p>",
        "<ul type='\"><script>'><li>x</ul>",
        "<ol start='\"><script>alert(1)</script>'><li>x</ol>",
        "<p lang='\"><script>'>x</p>",
        "<abbr title='\"><script>alert(1)</script>'>x</abbr>",
        "<a href='/\"><script>alert(1)</script>'>x</a>",
        "<table><tr><td colspan='\"><script>'>x<td rowspan='9' background=x>y</table>",
        "<h2 id='\"><script>'>x</h2>",
        "<math><mtext><img src=x onerror=alert(1)></mtext></math><svg onload=alert(1)></svg>x",
        "<form action=/logout><input name=x><button>go</button>x</form>",
        "<p><b id='\" onmouseover=alert(1)'>x</b></p>",
    ],
)
def test_nothing_of_a_page_can_run(body: str) -> None:
    """The document's page stands in our own origin."""
    rendered = html_of(body, anchors=True)
    tree = etree.fromstring(f"<div>{rendered.replace('<br>', '<br/>')}</div>")
    for element in tree.iter():
        assert element.tag not in ("script", "img", "svg", "form", "input", "button", "style", "iframe")
        for name, value in element.attrib.items():
            assert not str(name).startswith("on")
            assert name not in ("style", "target", "background")
            assert name == "href" or "javascript" not in str(value)
        assert not (element.get("href") or "").startswith("javascript")


def test_every_node_has_an_anchor_of_its_own_where_asked() -> None:
    """A citation's link opens the document scrolled to its node."""
    rendered = html_of(
        "<h2 id=a>A</h2><ul><li>One. Two.<li id=a>Three</ul><table><tr><th>B<th>C<tr><td>4<td>5</table>", anchors=True
    )
    ids = re.findall(r' id="([^"]*)"', rendered)
    assert len(ids) == len(set(ids))
    document = page("<h2 id=a>A</h2><ul><li>One. Two.<li id=a>Three</ul><table><tr><th>B<th>C<tr><td>4<td>5</table>")
    assert {anchor(node.path) for node in document.nodes[1:]} <= set(ids)


def test_an_anchor_is_no_id_that_a_page_could_have_made() -> None:
    """An id of the original must not take the place of a citation's."""
    assert anchor(Path((0, 3, 1))) == "n0.3.1"
    assert named_anchor("n0.3.1") != anchor(Path((0, 3, 1)))


def test_cited_sentences_are_marked_and_the_rest_is_context() -> None:
    assert cited("<h2>A</h2><p>One. Two.</p>", "Two.") == (
        '<h2><span class="context">A</span></h2>'
        '<p><span class="context">One.</span> <span class="cited">Two.</span></p>'
    )


def test_a_cited_block_marks_what_is_in_it() -> None:
    document = page("<table><tr><th>Zone<th>Fare<tr><td>A<td>5</table>")
    row = [node for node in document.nodes if node.tag == "tr"][1]
    rendered = Rendering(cited=PathSet([row.path]), is_excerpt=True).html(document)
    assert rendered == (
        '<table><tr><th><span class="context">Zone</span></th><th><span class="context">Fare</span></th></tr>'
        '<tr class="cited"><td>A</td><td>5</td></tr></table>'
    )


def test_what_is_left_out_between_sentences_is_shown_as_a_gap() -> None:
    document = page("<p>One. Two. Three.</p>")
    first, _, third = document.sentences()
    assert '<span class="gap"></span>' in Rendering().html(prune(document, [first, third]))


def test_items_keep_their_numbers_in_an_excerpt() -> None:
    document = page("<ol><li>One<li>Two<li>Three</ol>")
    last = list(document.sentences())[-1]
    assert Rendering().html(prune(document, [last])) == '<ol><li value="3">Three</li></ol>'


def test_a_table_cut_to_some_rows_keeps_its_columns() -> None:
    """A header that spans rows is shown for as many as are left."""
    document = page(
        "<table><thead><tr><th rowspan=2>Depot<th colspan=2>2026<tr><th>Spring<th>Autumn</thead>"
        "<tbody><tr><th rowspan=2>South<td>1<td>2<tr><td>3<td>4</tbody></table>"
    )
    head = next(node for node in document.nodes if node.tag == "thead")
    south = next(node for node in document.nodes if node.content == "South" and node.tag == "th")
    rows = [node for node in document.nodes if node.tag == "tr"]
    assert Rendering().html(prune(document, [head, south, rows[3]])) == (
        '<table><thead><tr><th rowspan="2">Depot</th><th colspan="2">2026</th></tr><tr><th>Spring</th><th>Autumn</th></tr>'
        "</thead><tbody><tr><th>South</th><td>3</td><td>4</td></tr></tbody></table>"
    )


def test_links_are_led_elsewhere_or_taken_away() -> None:
    """A link to "#top" points into the document's page; an excerpt may want no links at all."""
    body = "<p><a href='#top'>up</a> <a href='/x?a=1&amp;b=2'>there</a></p>"
    document = page(body)
    assert Rendering(link=lambda target: None).html(document) == "<p>up there</p>"
    seen: list[str] = []

    def elsewhere(target: str) -> str:
        seen.append(target)
        return '/d?"' + target

    rendered = Rendering(link=elsewhere).html(document)
    assert seen == ["#top", "https://h.example/x?a=1&b=2"]
    assert '<a href="/d?&quot;https://h.example/x?a=1&amp;b=2" rel="noopener nofollow">there</a>' in rendered


def test_a_pre_keeps_its_first_blank_line() -> None:
    """A browser drops one line break after <pre>."""
    document = page("<pre>\n\n a</pre>")
    again = parse(Rendering().html(document).encode())
    assert [s.text for s in again.sentences()] == [s.text for s in document.sentences()] == ["\n a"]


def test_words_of_a_question_are_marked_across_tags_and_entities() -> None:
    assert highlighted("The <b>lan</b>tern &amp; keys", [(4, 11), (12, 13)]) == (
        "The <b><mark>lan</mark></b><mark>tern</mark> <mark>&amp;</mark> keys"
    )
    assert highlighted("<i>a</i>", []) == "<i>a</i>"
    assert highlighted("👩‍🔧 up", [(4, 6)]) == "👩‍🔧 <mark>up</mark>"


def test_only_cited_text_is_highlighted() -> None:
    document = page("<p>Keys. Keys.</p>")
    second = list(document.sentences())[1]
    rendering = Rendering(cited=PathSet([second.path]), is_excerpt=True, highlight=lambda text: [(0, 4)])
    assert rendering.html(document) == (
        '<p><span class="context">Keys.</span> <span class="cited"><mark>Keys</mark>.</span></p>'
    )


@given(st.text(max_size=40), st.lists(st.tuples(st.integers(0, 45), st.integers(0, 45)), max_size=4))
def test_highlighting_changes_no_text(text: str, spans: list[tuple[int, int]]) -> None:
    document = page(f"<p>{text.replace('&', '&amp;').replace('<', '&lt;')} <b>end</b></p>")
    for sentence in document.sentences():
        marked = highlighted(sentence.markup, sorted(spans))
        element = etree.fromstring(f"<s>{marked}</s>")
        assert "".join(map(str, element.itertext())) == sentence.text


def test_a_link_finds_its_id_on_any_kind_of_block() -> None:
    """A page's own links lead to headings, items, cells and lists by their ids; one that leads nowhere looks broken."""
    page = (
        "<h2 id=a>A</h2><ul id=b><li id=c>C</ul><dl id=d><dt id=e>E<dd id=f>F</dl><section id=g><p id=h>H</section>"
        "<table id=i><tr id=j><th id=k>K<th>2<tr><td>3<td id=l>L</table><pre id=m>M</pre><p id=a>Again</p>"
    )
    shown = Rendering(anchors=True).html(parse(page.encode()))
    assert [shown.count(f'id="{named_anchor(name)}"') for name in "abcdefghijklm"] == [1] * 13


def test_what_is_not_searched_is_folded_up_with_the_reason() -> None:
    """A reader who wonders why a line of the page is never found."""
    page = b"<h1>A</h1><p>One.</p><nav><p>Two.</p></nav><nav>Three.</nav><ul><li>Four.<li>Five.</ul><p>Six. Seven.</p>"
    tree = parse(page)
    item = next(node for node in tree.nodes if node.tag == "li")
    seven = next(node for node in tree.sentences() if node.text == "Seven.")

    def apart(node: Node) -> str:
        return {"nav": "a < b", "li": "c" if node is item else "", "sentence": "d" if node is seven else ""}.get(
            node.tag, ""
        )

    shown = Rendering(apart=apart).html(tree)
    assert (
        '<details class="apart"><summary>a &lt; b</summary><div class="nav"><p>Two.</p></div><div class="nav"><p>Three.</p>'
        "</div></details>" in shown
    )
    assert '<ul><li><details class="apart"><summary>c</summary>Four.</details></li><li>Five.</li></ul>' in shown
    assert '<p>Six. <span class="apart">Seven. <small>(d)</small></span></p>' in shown
    assert "<details" not in Rendering().html(tree)


def test_a_cited_place_is_not_folded_away() -> None:
    """A link to a citation that opens a page without it."""
    tree = parse(b"<h1>A</h1><nav><p>One.</p></nav><nav><p>Two.</p></nav><p>Three.</p><nav><p>Four.</p></nav>")

    def opened(text: str) -> list[bool]:
        cited = next(node.path for node in tree.sentences() if node.text == text)
        shown = Rendering(cited=PathSet([cited]), apart=lambda node: "why" if node.tag == "nav" else "").html(tree)
        return ['open=""' in piece.split(">")[0] for piece in shown.split("<details")[1:]]

    assert [opened(text) for text in ("One.", "Two.", "Three.", "Four.")] == [
        [True, False],
        [True, False],
        [False, False],
        [False, True],
    ]
