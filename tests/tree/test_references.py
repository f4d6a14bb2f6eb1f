from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from evidence.tree.context import REFERENCE, global_context, policies_for
from evidence.tree.document import Document
from evidence.tree.html import parse
from evidence.tree.seeds import seeds
from tests.tree.strategies import pages

DATA = Path(__file__).parent.parent / "data"
CASES = Path(__file__).parent.parent / "cases"
WITH_REFERENCES = policies_for(["reference"])


def page(body: str) -> Document:
    return parse(body.encode(), "page.html")


def led_to(document: Document, text: str) -> list[str]:
    """What the policy adds to the seed that begins with this text."""
    seed = next(seed for seed in seeds(document) if seed.content.startswith(text))
    return [entry.node.content for entry in global_context(seed, WITH_REFERENCES) if entry.policy == "reference"]


REGULATION = parse((DATA / "regulation.html").read_bytes(), "regulation.html")
SATZUNG = parse((DATA / "satzung.html").read_bytes(), "satzung.html")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The university lends", ["Schools are lent instruments since 2019. Back"]),
        ("The application form", ["Annex I — Forms and fees"]),
        ("(2) It does not apply", ["Annex II — Instruments that are not lent"]),
        ("(3) For the protection of data", []),
        ("“borrower” means", ["Article 4 — Applications"]),
        (
            "decides on applications",
            ["Article 5 — Length of a loan", "(b) the instrument is older than a hundred years."],
        ),
        (
            "(3) Point (b) of paragraph 2",
            ["decides on applications within ten working days, unless Article 5(2)(b) applies;"],
        ),
        ("(1) A person applies", ["Annex I — Forms and fees"]),
        ("(2) Applications of minors", ["(1) A person applies with the form of Annex I."]),
        ("(3) The fees", ["Table 1: Fees for a year"]),
        ("Figure 1 shows", ["Figure 1: The way of an application"]),
        ("(3) Articles 3 and 4", ["Article 3 — The keeper", "Article 4 — Applications"]),
        ("(1) The borrower pays", ["Article 5 — Length of a loan"]),
        ("(2) Instruments that were insured", []),
        ("(3) The loan ends", ["6.2.1 Damage is serious if the repair costs more than half of the value."]),
        ("Brass 30", ["Article 5 — Length of a loan", "(1) The loan period is twelve months."]),
    ],
)
def test_the_cross_references_of_a_regulation(text: str, expected: list[str]) -> None:
    """A rule whose condition stands in another article is no answer without it."""
    assert led_to(REGULATION, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(2) Für Wege", ["§ 3 Pflichten", "die Wege vor ihrer Parzelle,"]),
        ("(3) Näheres steht", ["Anhang A: Pläne", "Tabelle 1: Pacht im Jahr"]),
        ("Die Pacht richtet sich", ["§ 2 Begriffsbestimmungen"]),
    ],
)
def test_the_cross_references_of_a_german_statute(text: str, expected: list[str]) -> None:
    assert led_to(SATZUNG, text)[: len(expected)] == expected


@pytest.mark.parametrize(
    ("body", "text", "expected"),
    [
        ("<h2>2. Hours</h2><p>At nine.<h2>3. Keys</h2><p>See section 2.", "See", ["2. Hours"]),
        ("<h2>Section 2.1 Hours</h2><p>At nine.<h2>Keys</h2><p>See section 2.1.", "See", ["Section 2.1 Hours"]),
        ("<p>Article 5<p>Nine.<p>Article 6<p>See Article 5.", "See", ["Article 5"]),
        ("<h2>A. Scope</h2><p>All.<h2>B. Keys</h2><p>See section A.", "See", ["A. Scope"]),
        ("<p id=x>Nine. Ten.<p>See <a href='#x'>there</a>.", "See", ["Nine."]),
        ("<h2 id=x>Hours</h2><p>Nine.<h2>Keys</h2><p>See <a href='#x'>there</a>.", "See", ["Hours"]),
        ("<section id=x><h2>Hours</h2><p>Nine.</section><p>See <a href='#x'>there</a>.", "See", ["Hours"]),
        ("<dl><dt id=x>Hour<dd>Sixty.</dl><p>See <a href='#x'>there</a>.", "See", ["Hour", "Sixty."]),
        ("<dl><dt>Hour<dd id=x>Sixty.</dl><p>See <a href='#x'>there</a>.", "See", ["Hour", "Sixty."]),
        ("<ol><li id=x>Nine<li>Ten</ol><p>See <a href='#x'>there</a>.", "See", ["Nine"]),
    ],
)
def test_what_references_lead_to(body: str, text: str, expected: list[str]) -> None:
    assert led_to(page(body), text) == expected


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<h2>2. Hours</h2><p>Section 2 is short.", "Section"),
        ("<h2 id=x>Hours</h2><p>See <a href='#x'>this section</a>.", "See"),
        ("<h2 id=x>Hours</h2><p>Nine.<h2>Keys</h2><ul><li><a href='#x'>Hours</a></ul>", "Hours"),
        ("<p>See <a href='other.html#x'>there</a>.<p id=x>Nine.", "See"),
        ("<p>See <a href='#gone'>there</a>.", "See"),
        ("<h2>Table of contents</h2><p>See table 9 and section 9.", "See"),
        ("<h2>5. Hours</h2><p>Nine.<h2>Keys</h2><p>Article 5 of Regulation (EU) 2016/679 holds.", "Article"),
    ],
)
def test_references_that_bring_nothing(body: str, text: str) -> None:
    """To itself, to what is there already, to another document, to nowhere."""
    assert led_to(page(body), text) == []


def test_references_are_bounded() -> None:
    """A table of contents in one sentence would bring every heading of the page."""
    headings = "".join(f"<h2>{number}. Part {number}</h2><p>Text.</p>" for number in range(1, 30))
    listed = ", ".join(f"section {number}" for number in range(1, 30))
    assert len(led_to(page(f"{headings}<h2>Last</h2><p>See {listed}."), "See")) == REFERENCE.most


def test_a_long_paragraph_is_not_brought_whole() -> None:
    document = page(f"<ul><li id=x><p>{'Nine o clock. ' * 60}</p></ul><p>See <a href='#x'>there</a>.")
    assert led_to(document, "See") == ["Nine o clock."]


def references_of(document: Document) -> list[list[str]]:
    found = []
    for seed in seeds(document):
        nodes = [entry.node for entry in global_context(seed, WITH_REFERENCES) if entry.policy == "reference"]
        assert len(nodes) <= 4
        for node in nodes:
            assert document.at(node.path) is node
            assert len(node.content) <= 400
            assert node.last < seed.position or seed.last < node.position
        found.append([str(node.path) for node in nodes])
    return found


@given(pages())
def test_references_are_places_of_the_document_within_their_bounds(text: str) -> None:
    assert references_of(parse(text.encode())) == references_of(parse(text.encode()))


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir() if path.is_dir()))
def test_references_of_real_kinds_of_pages_are_bounded(case: str) -> None:
    data = (CASES / case / "input.html").read_bytes()
    assert references_of(parse(data, "input.html")) == references_of(parse(data, "input.html"))
