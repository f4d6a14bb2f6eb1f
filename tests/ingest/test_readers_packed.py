"""XHTML, MHTML, Word documents and books."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.ingest.readers import Unreadable, format_of, tree_of
from evidence.tree.context import global_context
from evidence.tree.document import Document
from tests.ingest.files import BULLETS, NUMBERS, chapter, docx_parts, epub_parts, mhtml, packed, paragraph, run, table

CASES = Path(__file__).parent.parent / "cases"


def texts(tree: Document) -> list[str]:
    return [sentence.text for sentence in tree.sentences() if sentence.parent and sentence.parent.tag != "title"]


def word(body: str, **parts: Any) -> Document:
    return tree_of(packed(docx_parts(body, **parts)), "plan.docx", format_name="docx")


def book(chapters: dict[str, str], **parts: Any) -> Document:
    return tree_of(packed(epub_parts(chapters, **parts)), "book.epub", format_name="epub")


# XHTML


def test_xhtml_closes_what_it_closes() -> None:
    """Read as HTML, ``<title/>`` and ``<script/>`` swallow the page, and what follows ``<div/>`` is in it."""
    page = chapter(
        '<script src="a.js"/><div id="a"/><p>One &nbsp;two &eacute;.</p><![CDATA[1 < 2 &nbsp;]]><p>&unknown;</p>'
    )
    assert format_of("a.xhtml", page.encode()) == "xhtml"
    tree = tree_of(page.encode(), "a.xhtml", format_name="xhtml")
    assert texts(tree) == ["One two é.", "1 < 2 &nbsp;", "&unknown;"]
    assert tree.title == "a"


def test_xhtml_with_a_document_type_and_prefixes_is_xhtml() -> None:
    page = (
        '<?xml version="1.0" encoding="iso-8859-1"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd" [ ]>'
        '<h:html xmlns:h="http://www.w3.org/1999/xhtml" xml:lang="de"><h:body><h:p>Tür.</h:p></h:body></h:html>'
    ).encode("latin-1")
    assert format_of("a.xhtml", page) == "xhtml"
    tree = tree_of(page, "a.xhtml", format_name="xhtml")
    assert (tree.language, texts(tree)) == ("de", ["Tür."])


def test_entities_that_a_page_declares_are_never_resolved() -> None:
    """Case 53: they name the server's files, or grow without end. Such a page is read as HTML, where they are text."""
    data = next(CASES.glob("53-*")).joinpath("input.html").read_bytes()
    assert format_of("a.xhtml", data) == "html"
    assert "hahaha" not in " ".join(texts(tree_of(data, "a.xhtml")))


@pytest.mark.parametrize("text", ["<![CDATA[" * 20_000, "<!DOCTYPE" * 20_000 + "[", "<!DOCTYPE [" + "] " * 50_000])
def test_hostile_xhtml_is_told_in_time_that_grows_with_it(text: str) -> None:
    assert format_of("a.xhtml", text.encode()) == "html"


# MHTML


def test_a_saved_page_is_read_with_the_address_it_came_from() -> None:
    """Browsers write its links in full, also those within the page."""
    html = '<h1 id="a">Gate</h1><p>See <a href="b.html">b</a> and <a href="https://intra.example/hr/page.html#a">a</a>.</p>'
    tree = tree_of(mhtml(html), "saved.mht", format_name="mhtml")
    markup = [sentence.markup for sentence in tree.sentences()][-1]
    assert 'href="https://intra.example/hr/b.html"' in markup
    assert 'href="#a"' in markup


def test_the_root_part_is_the_page_and_frames_are_not() -> None:
    message = (
        b'MIME-Version: 1.0\nContent-Type: multipart/related; start="<main@x>"; boundary=b\n\n'
        b"--b\nContent-Type: text/html\nContent-ID: <frame@x>\n\n<p>Frame.</p>\n"
        b"--b\nContent-Type: text/html; charset=windows-1252\nContent-ID: <main@x>\n\n<p>Caf\xe9.</p>\n--b--\n"
    )
    assert texts(tree_of(message, "a.mht", format_name="mhtml")) == ["Café."]


PARTS_IN_PARTS = b"".join(b'Content-Type: multipart/related; boundary="b%d"\n\n--b%d\n' % (n, n) for n in range(2000))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"MIME-Version: 1.0\nContent-Type: text/plain\n\nx", "holds no HTML page"),
        (b"MIME-Version: 1.0\n" + PARTS_IN_PARTS, "nested too deeply"),
        (b"MIME-Version: 1.0\nContent-Type: text/html\n\n<p></p>", "holds no text"),
    ],
)
def test_mail_without_a_page_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        tree_of(data, "a.mht", format_name="mhtml")


# Word documents


def test_a_word_document_without_title_styles_has_that_of_its_properties() -> None:
    tree = word(paragraph("Gate", "heading1") + paragraph("Closed."), title="Rules &amp; hours")
    assert tree.title == "Rules & hours"
    assert [node.tag for node in tree.nodes if node.content == "Gate"][-2:] == ["h1", "sentence"]


def test_notes_stand_after_the_text_and_not_under_its_last_heading() -> None:
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    tree = word(
        paragraph("Gate", "heading1") + paragraph(f"{run('Closed at six.')}{reference}"),
        footnotes={2: "In winter at five."},
    )
    note = next(sentence for sentence in tree.sentences() if "winter" in sentence.text)
    assert note.text == "In winter at five."
    assert [entry.node.content for entry in global_context(note) if entry.policy == "heading"] == []
    assert 'href="#footnote-2"' in next(s.markup for s in tree.sentences() if "six" in s.text)


def test_captions_belong_to_their_table_or_figure() -> None:
    tree = word(
        paragraph("Table 1: Tins", "caption")
        + table([["Tin", "Holds"], ["Blue", "Tea"]])
        + paragraph("Figure 1: Gate", "caption")
    )
    captions = {node.tag: node.content for node in tree.nodes if node.tag in ("caption", "figcaption")}
    assert captions == {"caption": "Table 1: Tins", "figcaption": "Figure 1: Gate"}


def test_a_styled_first_row_is_a_header_also_where_it_is_not_repeated() -> None:
    """Few know Word's "Repeat as header row"; most choose a style with a header row."""
    rows = [["Tin", "Holds"], ["Blue", "Tea"]]
    styled = '<w:tblStyle w:val="GridTable4"/><w:tblLook w:val="04A0" w:firstRow="1"/>'
    assert "thead" in [node.tag for node in word(table(rows, styled, header=False)).nodes]
    plain = styled.replace("GridTable4", "TableGrid")
    assert "thead" not in [node.tag for node in word(table(rows, plain, header=False)).nodes]


def test_lists_in_lists_and_contents_are_what_they_are() -> None:
    tree = word(
        paragraph("Gate 3", "toc1")
        + paragraph("a key", numbering=(BULLETS, 0))
        + paragraph("red", numbering=(BULLETS, 1))
        + paragraph("Open.", numbering=(NUMBERS, 0))
    )
    assert [node.tag for node in tree.nodes if node.tag in ("nav", "ul", "ol")] == ["nav", "ul", "ul", "ol"]


SHOWN = '<w:vanish w:val="0"/>'


def test_what_word_hides_is_not_read() -> None:
    """Case 48: hidden text would be found, and cited, where no reader sees it."""
    tree = word(f"<w:p>{run('Seen.')}{run('Hidden.', '<w:vanish/>')}{run(' Too.', SHOWN)}</w:p>")
    assert texts(tree) == ["Seen.", "Too."]


def damaged_word(part: str, text: str) -> bytes:
    parts = docx_parts(paragraph("Gate"))
    return packed({**parts, part: text or parts[part]})


def tables_in_tables(levels: int) -> bytes:
    return packed(docx_parts("<w:tbl><w:tr><w:tc>" * levels + paragraph("x") + "</w:tc></w:tr></w:tbl>" * levels))


DECLARED = '<!DOCTYPE w [<!ENTITY a SYSTEM "file:///etc/hostname">]><w:document xmlns:w="w">&a;</w:document>'


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04 hello", "is damaged"),
        (b"\xd0\xcf\x11\xe0" + b"x" * 600, "protected by a password"),
        (packed({}), "no Word document"),
        (packed({"xl/workbook.xml": "<a/>"}), "no Word document"),
        (damaged_word("word/document.xml", DECLARED), "declares entities"),
        (damaged_word("word/styles.xml", DECLARED), "declares entities"),
        (damaged_word("word/document.xml", "<w:document"), "is no XML"),
        (damaged_word("word/document.xml", '<a><b xmlns="x"/></a>'), "is damaged, or no Word document"),
        (tables_in_tables(60), "nested too deeply"),
        (tables_in_tables(900), "is no XML"),
    ],
)
def test_a_file_that_is_no_word_document_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        tree_of(data, "a.docx", format_name="docx")


# Books


def test_chapters_are_sections_and_their_links_stay_in_the_book() -> None:
    """Two chapters have the same names; a heading holds to the end of its chapter."""
    tree = book(
        {
            "text/one.xhtml": chapter('<h1 id="top">Gate</h1><p>See <a href="two.xhtml#top">tea</a>.</p>'),
            "text/two.xhtml": chapter('<p id="top">Tea. <a href="one.xhtml">Back</a>, <a href="../art.css">x</a></p>'),
        }
    )
    tea = next(sentence for sentence in tree.sentences() if sentence.text == "Tea.")
    assert [entry.node.content for entry in global_context(tea)] == ["Handbook"]
    markup = " ".join(sentence.markup for sentence in tree.sentences())
    assert 'href="#chapter-2-top"' in markup
    assert 'href="#chapter-1"' in markup
    assert "art.css" not in markup
    assert tree.named["chapter-2-top"].tag == "p"
    assert (tree.title, tree.language) == ("Handbook", "en")


def test_a_book_s_contents_are_navigation_and_hidden_text_is_left_out() -> None:
    hiding = "<style>.x { display: none }</style>"
    tree = book(
        {
            "nav.xhtml": chapter("<ol><li>Gate</li></ol>"),
            "one.xhtml": chapter('<p class="x">Hidden.</p><p>Seen.</p>').replace("<title/>", hiding),
            "two.xhtml": chapter('<p class="x">Seen too.</p>'),
        },
        properties={"nav.xhtml": "nav"},
    )
    assert tree.named["chapter-1"].tag == "nav"
    assert texts(tree) == ["Gate", "Seen.", "Seen too."]


BOOK = epub_parts({"one.xhtml": chapter("<p>Text.</p>")})


def damaged_book(**changes: str) -> bytes:
    """A book with texts replaced in its list of parts."""
    parts = dict(BOOK)
    for old, new in changes.items():
        parts["OEBPS/book.opf"] = parts["OEBPS/book.opf"].replace(old, new)
    return packed(parts)


ENCRYPTED = '<encryption><CipherReference URI="OEBPS/one.xhtml"/></encryption>'


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"no zip", "is damaged"),
        (packed({"a": "b"}), "META-INF/container.xml is missing"),
        (damaged_book(**{"one.xhtml": "two.xhtml"}), "chapter OEBPS/two.xhtml is missing"),
        (damaged_book(**{"one.xhtml": "../../../etc/passwd"}), r"chapter \.\./\.\./etc/passwd is missing"),
        (damaged_book(**{"application/xhtml+xml": "image/svg+xml"}), "no chapters"),
        (damaged_book(**{"<package": '<!DOCTYPE p [<!ENTITY a "b">]><package'}), "declares entities"),
        (packed({**BOOK, "META-INF/encryption.xml": ENCRYPTED}), "protected against copying"),
    ],
)
def test_a_book_that_cannot_be_read_whole_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        tree_of(data, "a.epub", format_name="epub")


@pytest.mark.parametrize("kind", ["docx", "epub"])
def test_what_is_packed_counts_against_the_limit_for_a_file(kind: str, settings: Any) -> None:
    """A bomb is a few kilobytes as it comes."""
    settings.SPIRE_LARGEST_FILE = 1
    parts = (
        docx_parts(" " * 2_000_000) if kind == "docx" else epub_parts({f"{n}.xhtml": " " * 400_000 for n in range(4)})
    )
    with pytest.raises(Unreadable, match="SPIRE_LARGEST_FILE.*once it is unpacked"):
        tree_of(packed(parts), "a", format_name=kind)


WHOLE = {
    "docx": packed(docx_parts(paragraph("Gate", "heading1") + table([["a", "b"]]))),
    "epub": packed(epub_parts({"one.xhtml": chapter("<p>Text.</p>")})),
    "mhtml": mhtml("<p>Text.</p>"),
}


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.filterwarnings("ignore:Duplicate name")
@given(changes=st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), max_size=8))
def test_a_damaged_file_is_read_or_refused(kind: str, changes: list[tuple[int, int]]) -> None:
    data = bytearray(WHOLE[kind])
    for place, value in changes:
        data[place % len(data)] = value
    try:
        tree = tree_of(bytes(data), "a", format_name=kind)
    except Unreadable:
        return
    assert len(tree) > 1
