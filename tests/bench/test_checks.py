"""evidence.bench.checks: asked of any parser's pieces, and fair to all."""

from __future__ import annotations

from evidence.bench.checks import CHARSET, CODE, HEADERS, HEADING, LINK, NUMBER, PLACE, RESOLVED, SENTENCE, checks_of
from evidence.bench.parsers import Page, Piece


def judged(known: dict[str, object], pieces: list[Piece], html: str = "<p>x</p>") -> dict[str, bool]:
    return {kind: check(pieces) for kind, _, check in checks_of(Page("input.html", html.encode()), known)}


def test_a_heading_of_another_section_in_between_is_a_loss() -> None:
    html = "<h1>Tools</h1><h4>Drill</h4><p>Charge it.</p><h2>Returns</h2><p>Bring it back.</p>"
    checks = {"context": [{"text": "Bring it back.", "headings": ["Tools", "Returns"]}]}
    for pieces, is_kept in (
        ([Piece("Bring it back.", ("Tools", "Returns"))], True),
        ([Piece("# Tools\n#### Drill\nCharge it.\n## Returns\nBring it back.")], True),
        ([Piece("Bring it back.", ("Tools", "Drill", "Returns"))], False),
        ([Piece("Tools. Returns. Drill. Bring it back.")], False),
        ([Piece("Bring it back.", ("Returns",))], False),
        ([Piece("Bring it back.")], False),
    ):
        assert judged(checks, pieces, html) == {HEADING: is_kept}, pieces


def test_marks_of_markdown_and_white_space_make_no_difference_but_in_code() -> None:
    assert judged({"sentences": ["Run a now, see b."]}, [Piece("Run `a`\n**now**, see [b](c.html).")])[SENTENCE]
    assert not judged({"pre": ["a:\n  b"]}, [Piece("a: b")])[CODE]
    assert judged({"pre": ["a:\n  b"]}, [Piece("```\na:\n  b\n```")])[CODE]


def test_a_number_is_found_as_a_word_only() -> None:
    checks = {"context": [{"text": "24", "col_headers": ["2026"]}]}
    assert not judged(checks, [Piece("2024 | 2026")])[HEADERS]


def test_places_count_when_they_differ() -> None:
    checks = {"distinct_addresses": ["Desk four.", "Desk nine."]}
    assert judged(checks, [Piece("Desk four.", place="0.1"), Piece("Desk nine.", place="0.2")])[PLACE]
    assert not judged(checks, [Piece("Desk four. Desk nine.", place="0")])[PLACE]
    assert not judged(checks, [Piece("Desk four."), Piece("Desk nine.")])[PLACE]


def test_a_link_may_be_kept_and_lead_elsewhere() -> None:
    checks = {"links": {"the form": "https://intra.example/wiki/form.html"}}
    found = judged(checks, [Piece("Fill in the form.", links={"the form": "form.html"})])
    assert found == {LINK: True, RESOLVED: False}


def test_a_number_of_an_item_may_stand_in_its_text_or_beside_it() -> None:
    known = {"context": [{"text": "Sand it.", "list_number": 3}]}
    assert judged(known, [Piece("3. Sand it.")])[NUMBER]
    assert judged(known, [Piece("Sand it.", ("3",))])[NUMBER]
    assert not judged(known, [Piece("Sand it. 30")])[NUMBER]


def test_a_charset_is_right_whatever_becomes_of_a_dash() -> None:
    known = {"encoding": "windows-1252", "sentences": ["Le café — 3 €."]}
    assert judged(known, [Piece("Le café - 3 €.")]) == {CHARSET: True}
    assert judged(known, [Piece("Le cafÃ© - 3 €.")]) == {CHARSET: False}


def test_a_lead_before_the_first_heading_has_none() -> None:
    known = {"context": [{"text": "It opened in 1998.", "headings": []}]}
    html = "<title>Office</title><p>It opened in 1998.</p><h2>Travel</h2>"
    assert judged(known, [Piece("It opened in 1998. Travel", ("Office",))], html)[HEADING]
    assert not judged(known, [Piece("It opened in 1998.", ("Travel",))], html)[HEADING]
