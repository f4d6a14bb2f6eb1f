"""Laws that hold for anything that is given as HTML, on pages that nobody would write."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from evidence.tree.context import context_paths, global_context
from evidence.tree.decode import decode
from evidence.tree.document import Document
from evidence.tree.elements import elements
from evidence.tree.html import parse
from evidence.tree.markup import Rendering
from evidence.tree.seeds import seed_of, seeds
from evidence.tree.subdocument import prune
from evidence.tree.text import to_text
from tests.tree.grammar import any_pages, deep_pages, tables

PAGES = st.one_of(any_pages(), tables())


def letters(text: str) -> str:
    """What a reader reads: the letters and digits, however they are composed."""
    return "".join(c for c in unicodedata.normalize("NFKD", text) if c.isalnum())


def is_within(part: str, whole: str) -> bool:
    """Whether the characters of one text come in this order in another."""
    remaining: Iterator[str] = iter(whole)
    return all(character in remaining for character in part)


def shown(document: Document) -> str:
    title = document.title_node
    return "".join(s.text for s in document.sentences() if title is None or s.parent is not title)


@given(PAGES)
def test_no_word_is_told_twice_or_out_of_order(page: str) -> None:
    """The sentences are the page's words, in its order; what is hidden or no content may lack."""
    text = "".join(letters("".join(map(str, root.itertext()))) for root in elements(decode(page.encode())))
    assert is_within(letters(shown(parse(page.encode()))), text)


@given(PAGES)
def test_records_build_the_same_document_and_paths_lead_to_their_nodes(page: str) -> None:
    document = parse(page.encode(), "a.html")
    again = Document.from_rows(document.rows(), title=document.title, language=document.language)
    assert again.fingerprint == document.fingerprint == parse(page.encode(), "a.html").fingerprint
    for node in document.nodes:
        assert document.at(node.path) is node
        assert document.node(node.position) is node
        assert node.last == max((below.position for below in node.descendants()), default=node.position)


@given(PAGES)
def test_every_sentence_is_found_or_comes_along(page: str) -> None:
    """What is neither a seed nor in the context of one can never be shown."""
    document = parse(page.encode())
    chosen = seeds(document)
    assert [seed.position for seed in chosen] == sorted({seed.position for seed in chosen})
    for seed in chosen:
        assert context_paths(seed) <= document.paths
        assert seed.position not in {entry.node.position for entry in global_context(seed)}
    for sentence in document.sentences():
        assert seed_of(sentence) in (sentence, *sentence.ancestors())


@given(PAGES)
def test_a_tree_that_is_shown_and_read_again_says_the_same(page: str) -> None:
    document = parse(page.encode())
    again = parse(Rendering(anchors=True).html(document).encode())
    # A caption is shown above its table wherever it stands.
    assert sorted(letters(shown(again))) == sorted(letters(shown(document)))


@given(PAGES, st.lists(st.integers(0, 500), min_size=1, max_size=4))
def test_an_excerpt_has_its_sentences_in_html_and_in_text(page: str, numbers: list[int]) -> None:
    """A citation without its words is none, whatever stood around them."""
    document = parse(page.encode())
    excerpt = prune(document, [document.nodes[number % len(document)] for number in numbers])
    html = etree.fromstring(f"<div>{_as_xml(Rendering(is_excerpt=True).html(excerpt))}</div>")
    assert sorted(letters("".join(map(str, html.itertext())))) == sorted(letters(shown(excerpt)))
    assert sorted(_without_marks(excerpt)) == sorted(letters("".join(s.text for s in excerpt.sentences())))


@pytest.mark.parametrize("page", ["Key<pre>\u00ad", "<pre>\n\x01x</pre>", "<pre>\n&#1;x</pre>"])
def test_pages_that_fuzzing_found_to_raise(page: str) -> None:
    """Each of these ended the ingest of its page."""
    assert is_within(letters(shown(parse(page.encode()))), "Keyx")


@settings(max_examples=15)
@given(deep_pages())
def test_deep_pages_keep_their_words(page: str) -> None:
    """Python's stack, libxml2's limit and the depth that the tree keeps are all passed here."""
    document = parse(page.encode())
    for seed in seeds(document):
        global_context(seed)
    assert max(len(node.path) for node in document.nodes) < 110
    to_text(prune(document, document.nodes[-1:]))
    Rendering().html(prune(document, document.nodes[-1:]))


def _as_xml(html: str) -> str:
    for void in ("<br>", "<hr>", "<wbr>"):
        html = html.replace(void, f"{void[:-1]}/>")
    # White space to HTML, and nothing to XML.
    return re.sub("[\x0b\x0c\x1c-\x1f]", " ", html)


def _without_marks(excerpt: Document) -> str:
    """The text of an excerpt, less the numbers of its items."""
    for node in excerpt.nodes:
        node.attributes = {name: value for name, value in node.attributes.items() if name not in ("value", "checked")}
    return letters(to_text(excerpt))
