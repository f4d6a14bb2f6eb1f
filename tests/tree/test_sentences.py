from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from evidence.tree.html import parse
from evidence.tree.sentences import LONGEST_SENTENCE, Run, boundaries, visible

WORDS = st.lists(
    st.sampled_from(
        ["Go.", "e.g.", "Dr.", "no", "(see", "A.)", "受付。", "3.5", "“Yes.”", "x!", "…", "U.S.", "p.m.", "I.", "b"]
    ),
    max_size=30,
).map(" ".join)


def cut(text: str, language: str = "en") -> list[str]:
    ends = boundaries(text, language)
    return [text[start:end].strip() for start, end in zip([0, *ends], ends, strict=False)]


def run_of(*pieces: str) -> Run:
    """A run of text and tags: "<b>" opens, "</b>" closes, "<br>" stands alone."""
    run = Run()
    for piece in pieces:
        if piece == "<br>":
            run.void("br")
        elif piece.startswith("</"):
            run.close(piece[2:-1])
        elif piece.startswith("<"):
            run.open(piece[1:-1], piece)
        else:
            run.add(piece)
    return run


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [""]),
        ("Hello", ["Hello"]),
        ("...", ["..."]),
        ("Ask. Then go.", ["Ask.", "Then go."]),
        ("Really?! Yes. Wait!!! Stop.", ["Really?!", "Yes.", "Wait!!!", "Stop."]),
        ('He said "Go." Then he left.', ['He said "Go."', "Then he left."]),
        ("The end.No space here.", ["The end.", "No space here."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Lind et al. [2004] met Edgar F. Berg at 5 p.m. on Monday.",
        "Bring e.g. a map, i.e. paper.",
        "See fig. 3, sec. 4.2 and p. 7.",
        "No. 5 costs approx. 3.5 kr.",
        "The U.S. Army and Mr. and Mrs. Berg of St. Olof.",
        "J. K. Rowling has a Ph.D. in etc. and so on.",
        "Version 2.0.1 of www.example.com, mail a.b@c.example.",
        "Wait... what",
    ],
)
def test_stops_that_end_no_sentence(text: str) -> None:
    """Half a sentence is a wrong citation."""
    assert cut(text) == [text]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Keys are at desk A. Lamps are at desk B.", "en", ["Keys are at desk A.", "Lamps are at desk B."]),
        ("I say no. Then go.", "en", ["I say no.", "Then go."]),
        ("It is set. max_connections limits it.", "en", ["It is set.", "max_connections limits it."]),
        ("1. First. 2. Second.", "en", ["1. First.", "2. Second."]),
        ("受付は九時。電話は不要！はい？", "ja", ["受付は九時。", "電話は不要！", "はい？"]),
        ("请带护照。明天见？", "en", ["请带护照。", "明天见？"]),
        ("أين المفتاح؟ عند الباب.", "ar", ["أين المفتاح؟", "عند الباب."]),
        ("यह है। ठीक है।", "hi", ["यह है।", "ठीक है।"]),
        ("Siehe z. B. S. 5. Am 3. Mai gehen.", "de", ["Siehe z. B. S. 5.", "Am 3. Mai gehen."]),
        ("Se t.ex. bilaga 3. Det är bra.", "sv", ["Se t.ex. bilaga 3.", "Det är bra."]),
        ("Ask. Go.", "xx-unknown", ["Ask.", "Go."]),
    ],
)
def test_ends_that_need_the_language_or_the_words(text: str, language: str, expected: list[str]) -> None:
    assert cut(text, language) == expected


@given(st.one_of(WORDS, st.text(max_size=80)), st.sampled_from(["en", "de", "ja", "ar", "", "nn-NO"]))
def test_boundaries_cover_the_text(text: str, language: str) -> None:
    """Offsets are code points: a boundary out of place would shift every citation after it."""
    ends = boundaries(text, language)
    assert ends[-1] == len(text)
    assert ends == sorted(set(ends))
    assert "".join(text[start:end] for start, end in zip([0, *ends], ends, strict=False)) == text


@given(st.lists(st.one_of(WORDS, st.sampled_from([" ", "<b>", "</b>", "<br>", "\n"])), max_size=12))
def test_a_run_loses_no_text_and_its_markup_is_well_formed(pieces: list[str]) -> None:
    """Tags that are open across a boundary are closed and opened again."""
    depth, balanced = 0, []
    for piece in pieces:
        depth += (piece == "<b>") - (piece == "</b>")
        if depth < 0:
            depth = 0
            continue
        balanced.append(piece)
    run = run_of(*balanced, *["</b>"] * depth)
    sentences = run.sentences("en")
    assert "".join("".join(s.text for s in sentences).split()) == "".join(run.text.split())
    for sentence in sentences:
        element = etree.fromstring(f"<s>{sentence.markup.replace('<br>', '<br/>')}</s>")
        assert "".join(map(str, element.itertext())) == sentence.text
        assert sentence.text == sentence.text.strip()


def test_a_sentence_that_ends_inside_a_tag_takes_its_part_of_it() -> None:
    """The two forms that the design names: ``<b>A.</b> B`` and a sentence that spans a link."""
    assert [s.markup for s in run_of("<b>", "A one.", "</b>", " B two.").sentences("en")] == ["<b>A one.</b>", "B two."]
    assert [s.markup for s in run_of("Go ", "<a>", "there. Then", "</a>", " back.").sentences("en")] == [
        "Go <a>there.</a>",
        "<a>Then</a> back.",
    ]


def test_no_empty_tags_are_left_at_a_boundary() -> None:
    assert [s.markup for s in run_of("<b>", "One. ", "</b>", "Two.").sentences("en")] == ["<b>One.</b>", "Two."]
    assert [s.markup for s in run_of("One.", "<b>", " ", "</b>", "Two.").sentences("en")] == ["One.", "Two."]


def test_markup_is_escaped() -> None:
    """Text such as "x < y" stays text."""
    (sentence,) = run_of("x < y & z").sentences("en")
    assert (sentence.text, sentence.markup) == ("x < y & z", "x &lt; y &amp; z")


def test_no_sentence_ends_inside_code() -> None:
    """The command "sync.sh --all. now" is one thing."""
    assert [s.text for s in parse(b"<p>Run <code>a.sh --all. Now</code> first. Then go.").sentences()] == [
        "Run a.sh --all. Now first.",
        "Then go.",
    ]
    assert [s.text for s in parse(b"<p>See <code>foo.bar()</code>. It works.").sentences()] == [
        "See foo.bar().",
        "It works.",
    ]


def test_what_no_space_parts_is_joined_again_without_one() -> None:
    """Japanese sentences follow each other without a space; an excerpt must not put one in."""
    document = parse("<p>受付は九時。電話は不要！</p>".encode())
    first, second = document.sentences()
    assert "joined" not in first.attributes
    assert "joined" in second.attributes


@pytest.mark.parametrize("text", ["word " * 1000 + "end.", "x" * 7001, "受" * 4500, "e\u0301 " * 3000])
def test_what_is_too_long_is_cut_without_loss(text: str) -> None:
    """A dump without a stop could never be shown within a budget; its words are found all the same."""
    sentences = [s.text for s in parse(f"<p>{text}</p>".encode()).sentences()]
    assert len(sentences) > 1
    assert max(map(len, sentences)) <= LONGEST_SENTENCE
    shown = unicodedata.normalize("NFC", text)
    assert "".join("".join(sentences).split()) == "".join(shown.split())


def test_what_is_too_long_is_cut_between_words() -> None:
    assert all(set(s.text.split()) == {"word"} for s in parse(b"<p>" + b"word " * 1000 + b"</p>").sentences())


def test_markup_survives_a_cut() -> None:
    sentences = list(parse(b"<p><b>" + b"word " * 1000 + b"</b></p>").sentences())
    assert all(s.markup == f"<b>{s.text}</b>" for s in sentences)


@given(st.text(max_size=60))
def test_visible_text_is_stable(text: str) -> None:
    """Cached by hash and compared across revisions: normalising twice must change nothing."""
    assert visible(visible(text)) == visible(text)
    assert unicodedata.is_normalized("NFC", visible(text))


def test_white_space_of_a_run_is_collapsed_across_its_pieces() -> None:
    assert run_of(" a ", " b", "\n", "<b>", " c", "</b>", "d ").text.strip() == "a b cd"
    assert run_of(" ", "\n").is_blank
    assert run_of("<b>", "</b>").sentences("en") == []


def test_a_verbatim_text_of_nothing_visible_is_no_text() -> None:
    """A soft hyphen alone in a ``pre`` was an IndexError."""
    assert [sentence.text for sentence in parse("Key<pre>\u00ad</pre>".encode()).sentences()] == ["Key"]
