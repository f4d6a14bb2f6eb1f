"""Laws that hold for every page, on pages made at random."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html

from evidence.tree.html import parse
from evidence.tree.markup import Rendering
from evidence.tree.path import Path
from evidence.tree.subdocument import prune
from evidence.tree.text import to_text
from tests.tree.strategies import broken_pages, pages


def without_space(text: str) -> str:
    return unicodedata.normalize("NFD", "".join(text.replace("\u00ad", "").split()))


def well_formed(markup: str) -> etree._Element:
    """The markup as XML; XMLSyntaxError where it is not well-formed."""
    return etree.fromstring(f"<sentence>{markup.replace('<br>', '<br/>').replace('<hr>', '<hr/>')}</sentence>")


@given(pages())
def test_no_text_is_lost_or_doubled(page: str) -> None:
    """What is not in the tree is never found, and what is in it twice is found twice."""
    shown = html.document_fromstring(page.encode(), parser=html.HTMLParser(encoding="utf-8", remove_comments=True))
    sentences = [sentence.text for sentence in parse(page.encode()).sentences()]
    assert without_space("".join(sentences)) == without_space("".join(map(str, shown.itertext())))


@given(st.one_of(pages(), broken_pages()))
def test_parsing_is_deterministic(page: str) -> None:
    """The same bytes give the same tree, or the paths of saved citations would move."""
    assert parse(page.encode(), "a.html").fingerprint == parse(page.encode(), "a.html").fingerprint


@given(st.one_of(pages(), broken_pages()))
def test_a_tree_of_a_page_has_its_shape(page: str) -> None:
    """Only leaves have text; a sentence has some, and lies in one block at least."""
    document = parse(page.encode())
    for node in document.nodes:
        if node.is_sentence:
            assert node.text.strip()
            assert not node.children
            assert node.parent is not document.root
        else:
            assert not node.text
            assert not node.markup
        assert document.at(node.path) is node


@given(st.one_of(pages(), broken_pages()))
def test_the_markup_of_a_sentence_is_well_formed_and_says_its_text(page: str) -> None:
    """A tag that is left open would swallow the rest of the page that shows the sentence."""
    for sentence in parse(page.encode()).sentences():
        assert "".join(map(str, well_formed(sentence.markup).itertext())) == sentence.text


@given(st.one_of(pages(), broken_pages()))
def test_a_rendered_tree_parsed_again_has_the_same_sentences(page: str) -> None:
    """What people see on the document's page is what was indexed."""
    document = parse(page.encode())
    rendered = Rendering(anchors=True).html(document)
    well_formed(rendered.replace("&nbsp;", " "))
    again = parse(rendered.encode())
    title = document.title_node
    shown = [sentence.text for sentence in document.sentences() if sentence.parent is not title]
    assert [sentence.text for sentence in again.sentences()] == shown


@given(st.one_of(pages(), broken_pages()))
def test_the_text_holds_each_sentence_in_order(page: str) -> None:
    """A model is given the text; what is missing in it cannot be cited."""
    document = parse(page.encode())
    text, place = to_text(document), 0
    for sentence in document.sentences():
        place = text.find(sentence.text, place) + len(sentence.text)
        assert place >= len(sentence.text), sentence.text


@given(st.one_of(pages(), broken_pages()), st.lists(st.integers(0, 200), min_size=1, max_size=4))
def test_excerpts_render_well_formed(page: str, numbers: list[int]) -> None:
    """Whatever is selected, its HTML is whole, and holds the sentences of the excerpt and no other."""
    document = parse(page.encode())
    chosen = [document.nodes[number % len(document)] for number in numbers]
    excerpt = prune(document, chosen)
    rendering = Rendering(cited=prune(document, chosen).paths - prune(document, []).paths, is_excerpt=True)
    shown = without_space("".join(map(str, well_formed(rendering.html(excerpt)).itertext())))
    expected = [s.text for s in excerpt.sentences() if s.parent is None or s.parent.tag != "title"]
    assert sorted(shown) == sorted(without_space("".join(expected)))


@given(st.binary(max_size=300))
def test_rubbish_never_raises(data: bytes) -> None:
    """One broken file must not end an ingest."""
    document = parse(data, "rubbish.html")
    assert document.at(Path()) is document.root
    assert "\0" not in document.title + to_text(document)


@given(st.text(st.characters(), max_size=200))
def test_any_text_never_raises(text: str) -> None:
    document = parse(text.encode("utf-8", "surrogatepass"), "rubbish.html")
    to_text(document)
    Rendering().html(document)
