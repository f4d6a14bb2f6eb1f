from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.language.chat import OpenAIChat
from evidence.language.tokens import count
from evidence.retrieve.answer import MARKER, Claim, ClaimReader, End, answer, sources_of
from evidence.retrieve.claims import missing_from
from evidence.retrieve.evidence import Citation, Evidence, Excerpt, Why
from evidence.tree.html import parse
from evidence.tree.seeds import seeds
from evidence.tree.text import to_text
from tests.stub_server import Says, Script, last_said, stub

CASES = Path(__file__).parent.parent / "cases"


def case(number: str) -> tuple[bytes, dict[str, Any]]:
    folder = next(CASES.glob(f"{number}-*"))
    return (folder / "input.html").read_bytes(), json.loads((folder / "case.json").read_text())["checks"]


def evidence_of(data: bytes, question: str = "Where are the lamps?") -> Evidence:
    """Evidence that cites every seed of a page."""
    tree = parse(data, "desk.html")
    why = Why(None, None)
    cited = tuple(Citation(seed.path, seed.content, 0.5, rank, why) for rank, seed in enumerate(seeds(tree), 1))
    text = to_text(tree)
    excerpt = Excerpt(1, 1, 1, "Handbook", tree.title, "desk.html", tree, cited, text, count(text))
    return Evidence(question, 1000, excerpt.tokens, (excerpt,), {}, "default")


def answered(script: Script | Says | str, data: bytes) -> tuple[list[Claim], End]:
    with stub(script) as server:
        *claims, end = answer(evidence_of(data), OpenAIChat(server.url, "stub"), seconds=20)
    assert isinstance(end, End)
    return [claim for claim in claims if isinstance(claim, Claim)], end


DESK, DESK_CHECKS = case("42")
TEA, TEA_CHECKS = case("44")


def read(*chunks: str, data: bytes = DESK) -> list[Claim]:
    reader = ClaimReader(sources_of(evidence_of(data)))
    return [claim for chunk in chunks for claim in reader.read(chunk)] + list(reader.end())


def test_a_number_is_the_source_that_the_model_saw_under_it() -> None:
    """Case 42: off by one, or a link to a source that does not exist."""
    claims, end = answered(DESK_CHECKS["model_reply"], DESK)
    assert [(claim.text, claim.standing) for claim in claims] == [("Lamps.", "supported"), ("Ladders.", "unsupported")]
    assert [source.citation.text for source in claims[0].sources] == ["Lamps are at desk B."]
    assert claims[1].sources == ()
    assert (end.how, end.invented, end.is_whole) == ("answered", 1, True)


def test_a_marker_that_is_cut_by_the_stream_is_never_shown() -> None:
    """Case 44: a bare "[" on the page, or half a marker that stays."""
    reader = ClaimReader(sources_of(evidence_of(TEA)))
    shown = [[(claim.text, len(claim.sources)) for claim in reader.read(chunk)] for chunk in TEA_CHECKS["chunks"]]
    assert shown == [[], [], [], [], [("At ten.", 1)], []]
    assert [(claim.text, claim.standing) for claim in reader.end()] == [("Bye [S", "unsupported")]


@pytest.mark.parametrize(
    ("reply", "claims"),
    [
        (
            "Lamps are at desk B. [2] Keys are at desk A. [1]",
            [("Lamps are at desk B.", [2]), ("Keys are at desk A.", [1])],
        ),
        ("Lamps are at desk B [2][3].", [("Lamps are at desk B.", [2, 3])]),
        ("Lamps are at desk B [1, 2].", [("Lamps are at desk B.", [1, 2])]),
        ("Lamps are there [2][2][9].", [("Lamps are there.", [2])]),
        ("- Lamps [2]\n- Keys [1]", [("- Lamps", [2]), ("- Keys", [1])]),
        ("The list [a] and [x1] of lamps [2].", [("The list [a] and [x1] of lamps.", [2])]),
        ("Lamps [2", [("Lamps [2", [])]),
        ("", []),
        ("[1]", []),
    ],
)
def test_claims_and_their_sources(reply: str, claims: list[tuple[str, list[int]]]) -> None:
    found = [(claim.text, [source.number for source in claim.sources]) for claim in read(reply)]
    assert found == claims


@given(st.lists(st.text(alphabet="[]S12, .\nab"), max_size=12))
def test_however_it_is_cut_no_marker_is_shown_and_no_source_invented(chunks: list[str]) -> None:
    for claim in read(*chunks):
        assert not MARKER.search(claim.text)
        assert {source.number for source in claim.sources} <= {1, 2, 3}
        assert bool(claim.sources) == (claim.standing != "unsupported")


@given(
    st.lists(
        st.sampled_from(["Lamps are at desk B", " [2]", ". ", "Keys", " [1]", ".", " [", "7]", "2] "]), max_size=10
    )
)
def test_the_pieces_do_not_matter(words: list[str]) -> None:
    """Another answer on a slow line."""
    text = "".join(words)
    whole, by_letter = ("".join(claim.text for claim in read(*chunks)) for chunks in ([text], text))
    assert list(filter(str.isalnum, whole)) == list(filter(str.isalnum, by_letter))


@pytest.mark.parametrize(
    ("claim", "missing"),
    [
        ("Lamps are at desk B.", ()),
        ("There are 2 lamps.", ("2",)),
        ("The store opens at 6.", ()),
        ("It costs 1200 euro.", ()),
        ("It costs 12,00 euro.", ("12,00",)),
        ("Ask Mr Hale for it.", ("Mr", "Hale")),
        ("Ask Orr's guard.", ()),
        ('It says "ring the bell twice".', ()),
        ('It says "ring it thrice".', ("ring it thrice",)),
    ],
)
def test_numbers_names_and_quotations_must_be_in_the_source(claim: str, missing: tuple[str, ...]) -> None:
    source = "Lamps: desk B. Opens at six. It costs 1,200 euro. The guard is Orr. Ring  the bell twice."
    assert missing_from(claim, [source]) == missing


def test_german_nouns_are_no_names() -> None:
    assert missing_from("Das Tor ist grün.", ["Das Haus"], "de") == ()


def test_what_is_not_in_the_source_is_marked() -> None:
    """A wrong number with a true link beside it."""
    claim = read("Lamps are at desk B, floor 7 [2].")[0]
    assert (claim.standing, claim.missing) == ("doubtful", ("7",))


def test_headings_and_headers_support_what_stands_under_them() -> None:
    page = b"""<title>Hale Museum</title><h1>Hale Museum</h1><h2>Summer 2025</h2><p>It opens at ten.</p><h2>Winter 2026</h2>
    <table><tr><th>Day</th><th>Guide</th></tr><tr><td>Monday</td><td>Orr</td></tr></table>"""
    assert read("In Summer 2025 the Hale Museum opens at ten [1].", data=page)[0].standing == "supported"
    assert read("In Winter 2026 it opens at ten [1].", data=page)[0].missing == ("2026", "Winter")
    assert read("On Monday the Guide is Orr [2].", data=page)[0].standing == "supported"


@pytest.mark.parametrize("reply", ["Not in these documents.", "not in these documents", "Not in these documents. [1]"])
def test_not_in_these_documents_is_an_answer(reply: str) -> None:
    claims, end = answered(reply, DESK)
    assert (claims, end.how) == ([], "not found")


def test_without_evidence_nobody_is_asked() -> None:
    with stub("Lamps.") as server:
        nothing = Evidence("Where?", 1000, 0, (), {}, "default")
        assert list(answer(nothing, OpenAIChat(server.url, "stub"), seconds=20)) == [End("not found")]
    assert server.requests == []


@pytest.mark.parametrize(
    ("fault", "how"),
    [
        (Says(status=500), "failed"),
        (Says(""), "failed"),
        (Says(chunks=["Lamps are at desk B [2]. Chairs"], is_cut=True), "answered"),
        (Says(chunks=["Lamps are at desk B [2]. Chairs"], finish="length"), "answered"),
    ],
    ids=["500", "nothing", "cut off", "too long"],
)
def test_an_answer_that_fails_or_breaks_off_says_so(fault: Says, how: str) -> None:
    claims, end = answered(fault, DESK)
    assert end.how == how
    if how == "answered":
        assert not end.is_whole
        assert [(claim.text, claim.standing) for claim in claims] == [
            ("Lamps are at desk B.", "supported"),
            ("Chairs", "unsupported"),
        ]


def test_the_model_sees_the_evidence_alone_with_its_numbers() -> None:
    def script(asked: dict[str, Any], number: int) -> str:
        assert "[1] Keys are at desk A. \n[2] Lamps are at desk B. \n[3] Chairs" in last_said(asked)
        assert last_said(asked).endswith("Question: Where are the lamps?")
        return "Desk B [2]."

    claims, _ = answered(script, DESK)
    assert claims[0].standing == "supported"


def test_markup_in_a_reply_is_text() -> None:
    """Case 46 and its kind, by way of the model."""
    text = "<img src=x onerror=alert(1)> ![a](http://x.example/?q) lamps [2]."
    assert read(text)[0].text == "<img src=x onerror=alert(1)> ![a](http://x.example/?q) lamps."
