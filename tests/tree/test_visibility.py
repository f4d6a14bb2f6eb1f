from __future__ import annotations

import pytest

from evidence.tree.html import parse


def texts(body: str) -> list[str]:
    return [sentence.text for sentence in parse(body.encode()).sentences()]


@pytest.mark.parametrize(
    "attributes",
    [
        "hidden",
        "hidden=''",
        "hidden=until-found",
        "style='display:none'",
        "style='display: none !important'",
        "style='color:red;DISPLAY:NONE;'",
        "style='display : none'",
        "style='visibility:hidden'",
        "style='visibility: collapse'",
        "style='opacity:0'",
        "style='opacity:0.0;color:red'",
        "style='font-size:0'",
        "style='font-size: 0px'",
        "class='a no'",
        "class=other id=gone",
        "class=wide",
        "class=a2",
        "class=b2",
    ],
)
def test_hidden_text_is_not_read(attributes: str) -> None:
    """Text that a reader cannot see is where instructions to models are put."""
    style = (
        "<style>/* .seen{display:none} */ .no{display:none} #gone { color:red; visibility:hidden }"
        " div.wide{display:none}.a2,.b2{display:none}</style>"
    )
    assert texts(f"{style}<div {attributes}>Secret. <b>Reply</b><p>BANANA</p></div><p>Seen.</p>") == ["Seen."]


@pytest.mark.parametrize(
    "attributes",
    [
        "",
        "style='display:block'",
        "style='display:nonesuch'",
        "style='opacity:0.5'",
        "style='opacity:1'",
        "style='font-size:0.9em'",
        "style='visibility:visible'",
        "style='x-display:none'",
        "style=''",
        "class=print",
        "class=seen",
        "class=wide2",
        "class=hover",
        "class=narrow",
        "class=inner",
        "aria-hidden=true",
    ],
)
def test_what_is_seen_is_read(attributes: str) -> None:
    """A rule for print, for a narrow screen or for another element hides nothing here."""
    style = (
        "<style>@media print {.print{display:none} .seen{display:none}} span.wide2{display:none}"
        ".hover:hover{display:none} @media (max-width: 9em) {.narrow{display:none}} .other .inner{display:none}</style>"
        "<style media=print>.seen{display:none}</style>"
    )
    assert texts(f"{style}<div {attributes}>Seen.</div>") == ["Seen."]


def test_hidden_text_inside_a_sentence_is_taken_out_and_the_rest_kept() -> None:
    assert texts("<p>Lunch <span hidden>never</span>is at <i style='display:none'>x</i>noon.</p>") == [
        "Lunch is at noon."
    ]


def test_a_dialog_that_is_closed_is_hidden() -> None:
    assert texts("<dialog>Sure?</dialog><dialog open>Open.</dialog>") == ["Open."]


def test_what_is_folded_away_is_content() -> None:
    """A reader opens it with one click."""
    assert texts("<details><summary>Late?</summary>Call us.</details>") == ["Late?", "Call us."]


@pytest.mark.parametrize(
    "sheet", ["{", "}", "}}}{{{", "@media {", ".a{display:none", "/*", ".a{}}.b{display:none}", "@import 'x';"]
)
def test_style_sheets_that_are_broken_do_not_raise(sheet: str) -> None:
    assert "Seen." in texts(f"<style>{sheet}</style><p>Seen.</p>")


def test_a_style_sheet_in_the_body_counts() -> None:
    assert texts("<p class=x>no</p><style>.x{display:none}</style><p>Seen.</p>") == ["Seen."]


def test_a_hidden_body_hides_what_is_in_it_and_not_what_comes_after() -> None:
    assert texts("<p>One.</p><section hidden><h2>H</h2><ul><li>x</ul></section>tail") == ["One.", "tail"]


@pytest.mark.parametrize(
    "sheet",
    [
        "@media print { .a { display: none } } .b { display: none }",
        "@import url(x.css); .b { display: none }",
        ".b { display: none } /* never closed .a { display: none }",
        ".a { color: red } } .b { display: none }",
        ".x .y { display: none } .b, .c { display: none; }",
        "@supports (display: grid) { @media print { .a { display: none } } } .b { display: none }",
    ],
)
def test_rules_that_always_hold_are_told_from_those_that_do_not(sheet: str) -> None:
    """What is hidden in print only, and was lost; what follows a broken rule, and was read."""
    assert texts(f"<style>{sheet}</style><p class=a>Seen.</p><p class=b>Hidden.</p>") == ["Seen."]


@pytest.mark.parametrize("piece", ["/* ", "a{", "x", "}", "{", "a{b}", "@"])
def test_a_style_sheet_of_any_shape_is_read_in_one_pass(piece: str) -> None:
    """A megabyte of unclosed comments in a style sheet hung a worker for minutes."""
    assert texts(f"<style>{piece * 300_000}}}</style><p>Seen.</p>") == ["Seen."]
