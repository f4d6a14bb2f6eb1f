from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from evidence.tree.context import DEFINITION, POLICIES, global_context, glossary_entries, policies_for
from evidence.tree.definitions import definitions, is_glossary
from evidence.tree.document import Document
from evidence.tree.glossary import MOST_TERMS
from evidence.tree.html import parse
from evidence.tree.seeds import seeds
from tests.tree.strategies import pages

DATA = Path(__file__).parent.parent / "data"
WITH_DEFINITIONS = policies_for(["definition"])


def page(body: str) -> Document:
    return parse(body.encode(), "page.html")


def regulation(name: str = "regulation.html") -> Document:
    return parse((DATA / name).read_bytes(), name)


def explained(document: Document, text: str) -> list[str]:
    """What the policy adds to the seed that begins with this text."""
    seed = next(seed for seed in seeds(document) if seed.content.startswith(text))
    return [entry.node.content for entry in global_context(seed, WITH_DEFINITIONS) if entry.policy == "definition"]


def defined(body: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for term, node in definitions(page(body)):
        found.setdefault(term, []).append(node.content)
    return found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<dl><dt>Parcel<dd>A strip of land.</dl>", {"Parcel": ["Parcel", "A strip of land."]}),
        ("<dl><dt>A1<dt>Parcel<dd>Land.</dl>", {"A1": ["A1", "Land."], "Parcel": ["Parcel", "Land."]}),
        ("<p>A <dfn>parcel</dfn> is a strip of land.", {"parcel": ["A parcel is a strip of land."]}),
        ("<p>“Parcel” means a strip of land.", {"Parcel": ["“Parcel” means a strip of land."]}),
        ("<p>„Parzelle“ bezeichnet ein Stück Land.", {"Parzelle": ["„Parzelle“ bezeichnet ein Stück Land."]}),
        ("<p>On entend par « parcelle » un terrain.", {"parcelle": ["On entend par « parcelle » un terrain."]}),
        ("<p>Ours is this lot (the “Parcel”).", {"Parcel": ["Ours is this lot (the “Parcel”)."]}),
        ("<h2>Definitions</h2><p>A parcel means a strip.", {"parcel": ["A parcel means a strip."]}),
        ("<h2>Glossary</h2><ul><li><b>Parcel</b>: a strip</ul>", {"Parcel": ["Parcel: a strip"]}),
        ("<h2>Begriffe</h2><ul><li>Parzelle – ein Stück</ul>", {"Parzelle": ["Parzelle – ein Stück"]}),
        ("<h2>Glossary</h2><h3>Parcel</h3><p>A strip. Long.", {"Parcel": ["Parcel", "A strip."]}),
        (
            "<table><tr><th>Abbreviation<th>Meaning<tr><td>DMR<td>The record</table>",
            {"DMR": ["DMR", "The record"]},
        ),
        ("<p>The Damage Record (DR) is kept.", {"DR": ["The Damage Record (DR) is kept."]}),
        ('<p>The <abbr title="Damage Record">DR</abbr> is kept.', {"DR": ["The DR is kept."]}),
        ("<dl><dt>DR (Damage Record)<dd>A list.</dl>", {
            "DR": ["DR (Damage Record)", "A list."], "Damage Record": ["DR (Damage Record)", "A list."]}),
    ],
)  # fmt: skip
def test_the_ways_to_define_a_term(body: str, expected: dict[str, list[str]]) -> None:
    """Each is common on real pages; a definition that is not seen is never brought along."""
    assert defined(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "<p>A parcel means work.",
        "<p>He said “yes” to it.",
        "<p>The union (EU) pays.",
        "<dl><dt>Author<dd>Ann</dl>",
        "<dl><dt><code>all</code><dd>Everything.</dl>",
        "<dl><dt>--all<dd>Everything.</dl>",
        "<pre>“Parcel” means a strip.</pre>",
        "<h2>Definitions</h2><p>For this page the term is as follows:",
    ],
)
def test_what_is_no_definition(body: str) -> None:
    """Words of the language that would be explained wherever they stand."""
    assert defined(body) == {}


def test_terms_of_a_regulation_are_explained_where_they_are_used() -> None:
    """Case: an article that cannot be understood without the article on definitions."""
    document = regulation()
    assert [text[:16] for text in explained(document, "(1) The loan period is")] == ["“loan period” me"]
    assert [text[:24] for text in explained(document, "orders repairs")] == ["“restorer of record” mea"]
    assert explained(document, "6.2.2 The keeper") == ["The Damage and Maintenance Record (DMR) is kept by the keeper."]
    german = regulation("satzung.html")
    assert [text[:12] for text in explained(german, "(1) Während der Ruhezeit")] == ["„Ruhezeit“ d"]
    assert [text[:10] for text in explained(german, "die Wege vor ihrer")] == ["„Parzelle“"]


def test_a_definition_does_not_explain_itself() -> None:
    second = "A parcel is never larger than what one person can dig up in a day, as our grandparents used to say."
    document = page(f"<dl><dt>Parcel<dd>A parcel is land. {second}</dl><p>The parcel is mine.")
    assert explained(document, "A parcel is land.") == []
    assert explained(document, "A parcel is never") == []
    assert explained(document, "The parcel is mine.") == ["Parcel", f"A parcel is land. {second}"]


def test_a_long_definition_brings_its_first_sentence() -> None:
    """A bound for each node: a definition of a page's length would be paid for by every answer."""
    document = page(
        f"<dl><dt>Parcel<dd>A strip of land. {'It is measured by the council. ' * 30}</dl><p>Mine is a parcel."
    )
    assert explained(document, "Mine is a parcel.") == ["Parcel", "A strip of land."]


def test_only_the_rarest_terms_of_a_sentence_are_explained() -> None:
    """A sentence of a contract in which every word is defined."""
    entries = "".join(f"<dt>term{letter}<dd>Meaning {letter}." for letter in "abcdef")
    uses = "<p>It has terma, termb, termc.</p>" * 3
    document = page(f"<dl>{entries}</dl>{uses}<p>Here are terma, termb, termc, termd, terme, termf.")
    assert explained(document, "Here are") == ["termd", "Meaning d.", "terme", "Meaning e.", "termf", "Meaning f."]
    assert len(explained(document, "Here are")) == 2 * MOST_TERMS == DEFINITION.most


def test_a_term_that_stands_everywhere_is_not_explained() -> None:
    """The subject of a page needs no word; its definition would stand in the context of all sentences."""
    document = page("<dl><dt>Parcel<dd>Land.</dl>" + "<p>The parcel is mine.</p>" * 30)
    assert explained(document, "The parcel") == []


def test_an_abbreviation_with_its_own_title_is_not_explained() -> None:
    short = '<abbr title="Damage Record">DR</abbr>'
    document = page(f"<p>The {short} is kept.</p><p>See the {short} for more.</p><p>No DR is lost.")
    assert explained(document, "See the DR") == []
    assert explained(document, "No DR is lost.") == ["The DR is kept."]


def test_code_is_not_explained() -> None:
    document = page("<dl><dt>Parcel<dd>Land.</dl><p>Run this:</p><pre>make Parcel</pre>")
    assert explained(document, "make") == []


GLOSSARY = "<title>Words</title><h1>Words</h1><dl>" + "".join(
    f"<dt>{word}<dd>What we call a {other}."
    for word, other in (("Parcel", "lot"), ("Warden", "keeper"), ("RTO", "time"))
)


def test_a_page_that_is_mostly_definitions_is_a_glossary() -> None:
    """Its terms are looked up by other pages; those of a handbook with one list of definitions are its own."""
    assert is_glossary(page(GLOSSARY))
    assert not is_glossary(page(GLOSSARY + "</dl>" + "<p>There is much more to say about the garden.</p>" * 9))
    assert not is_glossary(page("<dl><dt>Parcel<dd>Land.</dl>"))
    assert not is_glossary(page("<p>Nothing."))
    options = "".join(f"<dt><code>opt_{letter}</code><dd>An option." for letter in "abcd")
    assert not is_glossary(page(f"<dl>{options}</dl>"))


def test_the_entries_of_a_glossary_are_looked_up_by_their_words() -> None:
    document = page(GLOSSARY)
    entries = glossary_entries(document, WITH_DEFINITIONS)
    assert [(term, document.node(position).content) for term, position in entries] == [
        ("parcel", "Parcel"),
        ("parcel", "What we call a lot."),
        ("warden", "Warden"),
        ("warden", "What we call a keeper."),
        ("RTO", "RTO"),
        ("RTO", "What we call a time."),
    ]
    assert glossary_entries(document, POLICIES) == []


def test_thousands_of_terms_and_sentences_are_matched_in_one_pass() -> None:
    """A dictionary that is searched once for each sentence would take minutes here."""
    entries = "".join(f"<dt>word{number}<dd>Meaning." for number in range(3000))
    body = "".join(f"<p>Here word{number} is used once.</p>" for number in range(3000))
    document = page(f"<dl>{entries}</dl>{body}")
    assert explained(document, "Here word2999 ") == ["word2999", "Meaning."]


@given(pages())
def test_explanations_are_places_of_the_document_within_their_bounds(text: str) -> None:
    document, again = parse(text.encode()), parse(text.encode())
    for seed, same in zip(seeds(document), seeds(again), strict=True):
        found = [entry.node for entry in global_context(seed, WITH_DEFINITIONS) if entry.policy == "definition"]
        others = [entry.node for entry in global_context(same, WITH_DEFINITIONS) if entry.policy == "definition"]
        assert [node.path for node in found] == [node.path for node in others]
        assert len(found) <= 6
        assert all(document.at(node.path) is node and len(node.content) <= 400 for node in found)
