from __future__ import annotations

import pytest

from evidence.tree.builder import DEEPEST
from evidence.tree.document import Document
from evidence.tree.html import parse

ADDRESS = "https://h.example/a/page.html"


def page(body: str) -> Document:
    return parse(body.encode(), ADDRESS)


def texts(body: str) -> list[str]:
    return [sentence.text for sentence in page(body).sentences()]


def blocks(body: str) -> list[tuple[str, str]]:
    """Each sentence with the tags around it."""
    return [("/".join(n.tag for n in s.ancestors()[1:]), s.text) for s in page(body).sentences()]


def markup(body: str) -> list[str]:
    return [sentence.markup for sentence in page(body).sentences()]


# Blocks


def test_loose_text_becomes_a_paragraph() -> None:
    assert blocks("One.<div>Two.</div>Three.") == [("p", "One."), ("p", "Two."), ("p", "Three.")]


def test_wrappers_part_the_text_and_are_no_nodes() -> None:
    """Ten levels of div around a page say nothing, and would lengthen every path."""
    assert blocks("<div><div><center><p>One.</p></center></div></div>") == [("p", "One.")]


def test_two_runs_of_text_in_one_block_stay_apart() -> None:
    assert blocks("<li>One.<div>Two.</div>Three.</li>") == [("li", "One."), ("li/p", "Two."), ("li", "Three.")]


def test_a_short_item_or_cell_is_one_leaf() -> None:
    """The words "5 p.m. Mon." in a cell are one thing; a long item is prose."""
    assert texts("<ul><li>Mon. Tue.</ul>") == ["Mon. Tue."]
    hundred = f"{'a' * 93} bb. Go"
    assert texts(f"<ul><li> {hundred} </ul>") == [hundred]
    assert texts(f"<ul><li>{hundred}!</ul>") == [hundred[:-3], "Go!"]
    assert texts("<ul><li>" + "It is a long item about keys. " * 5 + "</ul>") == ["It is a long item about keys."] * 5


def test_a_heading_is_one_leaf_however_it_is_written() -> None:
    assert texts("<h2>Keys. And <b>locks.</b><br><br>Part two.</h2>") == ["Keys. And locks. Part two."]


def test_terms_and_definitions_without_end_tags() -> None:
    """libxml2 nests them; the standard ends one where the next begins."""
    assert blocks("<dl><dt>A<dd>one<dt>B<dd>two</dl>") == [
        ("dl/dt", "A"),
        ("dl/dd", "one"),
        ("dl/dt", "B"),
        ("dl/dd", "two"),
    ]


def test_a_heading_that_was_never_closed_ends_where_the_next_begins() -> None:
    assert blocks("<h1>One<h1>Two</h1><p>x</p>") == [("h1", "One"), ("h1", "Two"), ("p", "x")]
    assert blocks("<h1>One<h2>Two</h2>tail") == [("h1", "One"), ("h2", "Two"), ("p", "tail")]


def test_a_block_ends_a_paragraph() -> None:
    assert blocks("<p>One.<ul><li>Two</ul>") == [("p", "One."), ("ul/li", "Two")]
    assert blocks("<p>One.<table><tr><td>a<td>b</table>") == [
        ("p", "One."),
        ("table/tr/td", "a"),
        ("table/tr/td", "b"),
    ]


def test_text_after_the_end_of_the_page_is_kept() -> None:
    assert texts("<html><body><p>in</p></body></html><p>after</p> text <p>end") == ["in", "after", "text", "end"]


def test_text_before_the_page_is_kept() -> None:
    assert texts("Hello.<html><body><p>in</p></body></html>") == ["Hello.", "in"]


def test_two_pages_in_one_file_are_both_kept() -> None:
    whole = "<html><head><title>A</title></head><body><p>one</p></body></html>"
    found = texts(whole + whole.replace("one", "two"))
    assert "one" in found
    assert "two" in found


def test_an_inline_tag_around_blocks_parts_the_text() -> None:
    """Cards are links around headings and paragraphs."""
    assert blocks("<a href=/x><h3>Card</h3><p>Two. Three.</p></a>tail") == [
        ("h3", "Card"),
        ("p", "Two."),
        ("p", "Three."),
        ("p", "tail"),
    ]
    assert texts("<span>One<div>two</div>three</span>four") == ["One", "two", "three", "four"]
    assert texts("<my-card>One</my-card><my-card><p>two</p></my-card>") == ["One", "two"]


def test_double_line_breaks_part_paragraphs_and_single_ones_do_not() -> None:
    """Old pages have no p."""
    assert blocks("One.<br><br>Two.<br>three") == [("p", "One."), ("p", "Two. three")]
    assert blocks("One.<br> <br/><br>Two.") == [("p", "One."), ("p", "Two.")]
    assert blocks("<b>One.<br><br>Two.</b> Three.") == [("p", "One."), ("p", "Two."), ("p", "Three.")]
    assert markup("<b>One.<br><br>Two.</b>") == ["<b>One.</b>", "<b>Two.</b>"]
    assert blocks("<li><p>One.<br><br>Two.</p></li>") == [("li/p", "One."), ("li/p", "Two.")]
    assert blocks("<li>One.<br><br>Two.</li>") == [("li/p", "One."), ("li", "Two.")]


def test_a_line_break_is_a_space() -> None:
    assert texts("<p>Desk<br>nine<br></p>") == ["Desk nine"]


def test_a_pre_keeps_its_white_space_wherever_it_stands() -> None:
    assert ("ul/li/pre", "  a\n    b") in blocks("<ul><li>Run:<pre>\n  a\n    b\n</pre>then</ul>")
    assert texts("<pre>a<br>b</pre>") == ["a\nb"]
    assert texts("<pre>\n\n  a</pre>") == ["\n  a"]
    assert texts("<pre>a\r\nb\tc</pre>") == ["a\nb\tc"]
    assert texts("<pre><code>x. y\n\n<b>z</b></code></pre>") == ["x. y\n\nz"]
    assert texts("<pre>   \n </pre>") == []


def test_a_pre_with_blocks_in_it_loses_nothing() -> None:
    assert texts("<pre>a\n<div>  b</div>\n  c</pre>") == ["a", "  b", "\n  c"]


def test_white_space_is_collapsed_as_a_browser_does() -> None:
    assert texts("<p> One \n\t two\xa0three\u3000four </p>".replace("\u3000", " ")) == ["One two three four"]
    assert texts("<p>a <b> b</b> <i> c </i></p>") == ["a b c"]
    assert markup("<p>a<b> b</b></p>") == ["a<b> b</b>"]


def test_what_is_not_read_is_no_content() -> None:
    body = (
        "<script>s</script><style>s</style><template>s</template><noscript>s</noscript><svg><title>s</title>"
        "<text>s</text></svg><iframe>s</iframe><textarea>s</textarea><select><option>s</select><button>s</button>"
        "<canvas>s</canvas><video>s</video><object>s</object><!-- s --><?s s?><p>seen<img alt=s></p>"
    )
    assert texts(body) == ["seen"]


def test_the_text_around_what_is_dropped_is_kept() -> None:
    assert texts("<p>one<script>x</script> two<!-- x --> three<svg></svg> four</p>") == ["one two three four"]


def test_ruby_keeps_the_base_and_drops_the_reading() -> None:
    assert texts("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>字</p>") == ["漢字"]


# Titles and languages


@pytest.mark.parametrize(
    ("body", "address", "expected"),
    [
        ("<title> Leave\n rules </title><h1>H</h1>", ADDRESS, "Leave rules"),
        ("<title></title><h1>Leave</h1>", ADDRESS, "Leave"),
        ("<title> \n</title><p>x", ADDRESS, "page"),
        ("<svg><title>Icon</title></svg><p>x", ADDRESS, "page"),
        ("<svg><title>Icon</title></svg><title>Leave</title><p>x", ADDRESS, "Leave"),
        ("<title>A</title><title>B</title><p>x", ADDRESS, "A"),
        ("<p>x<title>Late</title>", ADDRESS, "Late"),
        ("<h1><img></h1><h1>Second</h1>", ADDRESS, "Second"),
        ("<p>x", "https://h.example/a%20b/c%C3%A9.html?q=1#f", "cé"),
        ("<p>x", "folder/leave rules.html", "leave rules"),
        ("<p>x", "https://h.example/", "https://h.example/"),
        ("<p>x", "", ""),
        ("<title>A &amp; B &lt;i></title>", ADDRESS, "A & B <i>"),
    ],
)
def test_the_title_of_a_page(body: str, address: str, expected: str) -> None:
    """It is the first thing a reader sees of a result; "None" or the name of an icon helps nobody."""
    assert parse(body.encode(), address).title == expected


def test_the_title_comes_first_and_once() -> None:
    document = page("<title>Leave</title><p>x<svg><title>Icon</title></svg>")
    assert [(node.tag, node.content) for node in document.root.children] == [("title", "Leave"), ("p", "x")]
    assert document.title_node is document.root.children[0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<html lang=sv><p>x", "sv"),
        ("<html xml:lang=de-AT><p>x", "de-AT"),
        ("<body lang=fr><p>x", "fr"),
        ("<meta http-equiv=Content-Language content='fi, sv'><p>x", "fi"),
        ("<html lang='not a language!'><p>x", ""),
        ("<html lang=''><body lang=nb><p>x", "nb"),
        ("<p lang=sv>x", ""),
        ("<p>x", ""),
    ],
)
def test_the_language_of_a_page(body: str, expected: str) -> None:
    """It decides where sentences end."""
    assert page(body).language == expected


# Links and ids


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("x.html", "https://h.example/a/x.html"),
        (" ../y ", "https://h.example/y"),
        ("//o.example/z", "https://o.example/z"),
        ("?q=1&amp;r=2", "https://h.example/a/page.html?q=1&amp;r=2"),
        ("#top", "#top"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        ("javascript:alert(1)", None),
        ("JaVaScRiPt:alert(1)", None),
        (" javascript:alert(1)", None),
        ("java\nscript:alert(1)", None),
        ("java\tscript:alert(1)", None),
        ("\x01javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("vbscript:x", None),
        ("file:///etc/passwd", None),
        ("http://[bad", None),
        ('x"onclick="y', "https://h.example/a/x&quot;onclick=&quot;y"),
    ],
)
def test_links_lead_to_the_web_or_nowhere(target: str, expected: str | None) -> None:
    """A link that a page brings is shown on our own pages."""
    value = target.replace('"', "&quot;")
    (found,) = markup(f'<p><a href="{value}" onclick="alert(1)">go</a></p>')
    assert found == ("go" if expected is None else f'<a href="{expected}">go</a>')


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("<base href='/wiki/'>", "https://h.example/wiki/x"),
        ("<base href='/wiki/'><base href='/other/'>", "https://h.example/wiki/x"),
        ("<base target=_top><base href='/wiki/'>", "https://h.example/wiki/x"),
        ("<base href='javascript:alert(1)'>", "https://h.example/a/x"),
        ("<base href='data:text/html,'>", "https://h.example/a/x"),
        ("<base href='http://[bad'>", "https://h.example/a/x"),
        ("<base href='::::'>", "https://h.example/a/x"),
        ("<base href=''>", "https://h.example/a/x"),
        ("<base href='https://o.example/b/'>", "https://o.example/b/x"),
    ],
)
def test_the_base_of_links(base: str, expected: str) -> None:
    assert markup(f"<head>{base}</head><p><a href=x>go</a></p>") == [f'<a href="{expected}">go</a>']


def test_a_page_that_came_from_no_address_keeps_its_links_as_they_are() -> None:
    document = parse(b"<p><a href='b/c.html'>go</a>", "a.html")
    assert [s.markup for s in document.sentences()] == ['<a href="b/c.html">go</a>']


def test_the_mark_that_a_heading_links_to_itself_with_is_no_text() -> None:
    assert texts("<h2 id=x>Keys<a href='#x'>¶</a></h2>") == ["Keys"]
    assert texts("<h2>Section <a href='/x'>#</a></h2>") == ["Section #"]


def test_ids_are_kept_where_a_link_can_lead_to() -> None:
    """A link to "#contact" must find its place here; two equal ones must not raise."""
    document = page("<h2 id=a>A</h2><p><a name=b></a>B.</p><div id=c>C.</div><p id=a>D.</p><p><b id=e>E.</b></p>")
    found = {node.attributes["id"]: node.content for node in document.nodes if "id" in node.attributes}
    assert set(found) == {"a", "b", "c", "e"}
    assert (found["b"], found["c"], found["e"]) == ("B.", "C.", "E.")


# Text


def test_inline_markup_stays_in_its_sentence() -> None:
    body = (
        "<p>A <b>bold. New</b> one with <abbr title='Recovery &quot;time&quot;'>RTO</abbr> and <font>font</font>.</p>"
    )
    assert markup(body) == [
        "A <b>bold.</b>",
        '<b>New</b> one with <abbr title="Recovery &quot;time&quot;">RTO</abbr> and font.',
    ]


def test_invisible_characters_are_taken_out() -> None:
    assert texts("<p>co\u00adop\u200berat\u2060ion\ufeff</p>") == ["cooperation"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("e&#x301;", "é"),
        ("e<b>&#x301;</b>", "é"),
        ("e<b>&#x301;</b>a", "éa"),
        ("<b>e</b>&#x301;", "é"),
        ("caf<i>e</i><b>&#x301;s</b>", "cafés"),
        ("<i>x</i>&#x308;y", "ẍy"),
        ("e<code>&#x301;</code> a. B", "é a. B"),
        ("&#x301;a", "\u0301a"),
        ("a <b>&#x301;</b>b", "a \u0301b"),
        ("e<b>&#x323;&#x302;</b>", "ệ"),
    ],
)
def test_letters_and_their_accents_join_across_tags(body: str, expected: str) -> None:
    """The word "café" written with its accent in another tag would not be found, and raised."""
    assert texts(f"<td>{body}</td>") == [expected]


def test_characters_that_postgresql_refuses_are_taken_out() -> None:
    assert texts("<p>a\0b\x01cd\ufdd0e\uffff</p>") == ["abcde"]


def test_emoji_sequences_stay_whole() -> None:
    assert texts("<p>Team 👩‍🔧 and 🏳️‍🌈. Go 🇸🇪!</p>") == ["Team 👩‍🔧 and 🏳️‍🌈.", "Go 🇸🇪!"]


# Pages that are broken or too large


@pytest.mark.parametrize("data", [b"", b" \n", b"<", b"<!doctype html>", b"<html></html>", b"\xef\xbb\xbf", b"\0\0"])
def test_a_page_without_text_is_a_document_without_sentences(data: bytes) -> None:
    document = parse(data, "empty.html")
    assert [s.text for s in document.sentences()] in ([], ["<"])
    assert document.title == "empty"


def test_xml_entities_are_not_resolved(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A page must not read a file of the server."""
    secret = tmp_path_factory.mktemp("secret") / "secret.txt"
    secret.write_text("hunter2")
    body = (
        f'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY f SYSTEM "{secret.as_uri()}"><!ENTITY a "ha">'
        '<!ENTITY b "&a;&a;">]><html xmlns="http://www.w3.org/1999/xhtml"><body><p>Host &f; and &b;.</p></body></html>'
    )
    text = " ".join(texts(body))
    assert "hunter2" not in text
    assert "haha" not in text
    assert "Host" in text


def test_xhtml_is_read_as_html() -> None:
    body = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><p>One<br/>two</p><P>Three</P></body></html>'
    assert texts(body) == ["One two", "Three"]


@pytest.mark.parametrize("levels", [1500, 10_000])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("<div>", "</div>"),
        ("<blockquote>", "</blockquote>"),
        ("<ul><li>", "</li></ul>"),
        ("<span>", "</span>"),
        ("<b>", "</b>"),
        ("<table><tr><td>", "</td></tr></table>"),
        ("<section><p>", "</section>"),
        ("<dl><dd>", "</dd></dl>"),
        ("<font>", ""),
        ("<a href=x>", ""),
    ],
)
def test_deep_nesting_loses_no_text(opening: str, closing: str, levels: int) -> None:
    """libxml2 drops what is deeper than its limit, and Python's stack is no deeper than a thousand."""
    document = page(f"<p>Before.</p>{opening * levels}Inside.{closing * levels}<p>After.</p>")
    assert [s.text for s in document.sentences()] == ["Before.", "Inside.", "After."]
    assert max(len(node.path) for node in document.nodes) <= DEEPEST + 5


def test_text_at_each_level_of_a_deep_page_is_kept_in_order() -> None:
    levels = 3000
    body = "".join(f"<div>n{number} " for number in range(levels)) + "</div>" * levels
    words = " ".join(texts(body)).split()
    assert words == [f"n{number}" for number in range(levels)]


def test_closing_tags_without_number_do_not_lose_what_follows() -> None:
    assert texts("</div>" * 5000 + "<p>After.</p>") == ["After."]


def test_ten_thousand_blocks_beside_each_other_are_all_kept() -> None:
    assert len(texts("<p>x</p>" * 10_000)) == 10_000
    assert len(texts("<p>x" * 10_000)) == 10_000
    assert len(texts("<li>x" * 10_000)) == 10_000


def test_a_large_table_is_read_whole() -> None:
    document = page("<table>" + "".join(f"<tr><td>{n}<td>x" for n in range(5000)) + "</table><p>After.</p>")
    assert sum(1 for node in document.nodes if node.tag == "tr") == 5000
    assert [s.text for s in document.sentences()][-1] == "After."


def test_an_attribute_of_a_megabyte_is_cut_and_the_page_is_kept() -> None:
    document = page(f"<h2 id='{'a' * 1_000_000}'>Keys</h2><p title='{'b' * 1_000_000}'>Text.</p>")
    assert [s.text for s in document.sentences()] == ["Keys", "Text."]
    assert all(len(value) <= 200 for node in document.nodes for value in node.attributes.values())


@pytest.mark.parametrize("tag", ["main", "article", "section", "nav", "my-app", "div"])
def test_a_page_that_writes_no_body_keeps_its_content(tag: str) -> None:
    """libxml2 takes what it does not know for a part of the head, and the whole page was lost with it."""
    page = f"<title>Hours</title><meta charset=utf-8><{tag}><p>Open at nine.</p></{tag}><p>Closed on Sunday.</p>"
    assert [s.text for s in parse(page.encode()).sentences()] == ["Hours", "Open at nine.", "Closed on Sunday."]


def test_links_to_edit_a_section_are_no_part_of_its_heading() -> None:
    """ "History[edit]" as the heading of everything that happened."""
    page = b"<h2>History <span class=mw-editsection>[<a href=e>edit</a>]</span></h2>"
    assert [sentence.text for sentence in parse(page).sentences()] == ["History"]
