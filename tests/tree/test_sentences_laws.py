"""What holds for the sentences of every run of text and tags."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from evidence.tree.boundaries import boundaries
from evidence.tree.sentences import DEEPEST_INLINE, LONGEST_SENTENCE, Run, visible

PIECES = st.sampled_from(
    """
    Go. e.g. Dr. A. B. 1. 12. 2020. (see A.) “Yes. No.” "Go." « Va ! » „Nein!“ ... … ?! x! .NET end.Next U.S. p.m.
    [1] .[2] a.b.c
    受付。 「はい。」 と 你好！ ．5 أين؟ د. है। डॉ. Πού; Привет. г. สวัสดี 🎉 👩‍🔧. :) é ̃ ﬁ ( ) " « . , ; — - no
    """.split()
)
TEXTS = st.lists(st.tuples(PIECES, st.sampled_from(["", " ", "  ", "\u00a0"])).map("".join), max_size=25).map("".join)
STEPS = st.lists(
    st.one_of(
        st.one_of(TEXTS, st.text(max_size=20)).map(lambda text: ("add", text)),
        st.sampled_from([("open", "b"), ("open", "code"), ("close", ""), ("void", "br")]),
        st.integers(1, 3000).map(lambda length: ("add", "x" * length)),
    ),
    max_size=14,
)
LANGUAGES = st.sampled_from(["en", "de", "fr", "pl", "zh", "ja", "ar", "hi", "ru", "", "de-AT", "xx"])


def run_of(steps: list[tuple[str, str]]) -> Run:
    """The run that these steps make; what is in ``code`` is protected, and what is left open is closed."""
    run = Run()
    opened: list[tuple[str, int]] = []
    for kind, what in [*steps, *[("close", "")] * len(steps)]:
        if kind == "add":
            run.add(what)
        elif kind == "void":
            run.void(what)
        elif kind == "open":
            opened.append((what, run.length))
            run.open(what, f"<{what}>")
        elif opened:
            tag, start = opened.pop()
            run.close(tag)
            if tag == "code":
                run.protect(start)
    return run


@given(st.one_of(TEXTS, st.text(max_size=60)), LANGUAGES)
def test_the_spans_between_boundaries_are_the_text(text: str, language: str) -> None:
    """A boundary out of place, missing or doubled would lose words or shift every citation after it."""
    ends = boundaries(text, language)
    assert ends[-1] == len(text)
    assert all(start < end for start, end in pairwise(ends))
    assert "".join(text[start:end] for start, end in pairwise([0, *ends])) == text


@given(STEPS, LANGUAGES)
def test_the_sentences_of_a_run_are_its_text(steps: list[tuple[str, str]], language: str) -> None:
    """Each stands in the text once, in order, at its place, with nothing but white space between; none is empty."""
    run = run_of(steps)
    text = run.text
    position = 0
    for sentence in run.sentences(language):
        place = text.index(sentence.text, position)
        assert not text[position:place].strip()
        assert sentence.joined == (place == position > 0)
        assert 0 < len(sentence.text) <= LONGEST_SENTENCE
        assert sentence.text == sentence.text.strip()
        markup = etree.fromstring(f"<s>{sentence.markup.replace('<br>', '<br/>')}</s>")
        assert "".join(map(str, markup.itertext())) == sentence.text
        position = place + len(sentence.text)
    assert not text[position:].strip()


@given(STEPS, LANGUAGES)
def test_no_sentence_ends_in_what_is_protected(steps: list[tuple[str, str]], language: str) -> None:
    """Half of a command is no command."""
    run = run_of(steps)
    ends = boundaries(run.text, language, run.protected)
    assert not any(first < end < last for end in ends[:-1] for first, last in run.protected)


@given(STEPS)
def test_a_whole_run_is_one_sentence(steps: list[tuple[str, str]]) -> None:
    run = run_of(steps)
    sentences = run.sentences("en", whole=True)
    assert [sentence.text for sentence in sentences] == ([run.text.rstrip()] if run.text.strip() else [])


@pytest.mark.parametrize(
    "shape",
    [
        "a.a.",
        ". ",
        "... ",
        "e.g. ",
        "A. ",
        "1. ",
        '" ',
        "(",
        "(a. B ",
        "“Go. ",
        "aa.The ",
        "Section 1. ",
        "受付。",
        "「受付。",
        "Go. 🎉 ",
    ],
)
def test_no_shape_of_text_is_lost(shape: str) -> None:
    """Dumps have no sentences; they must come through whole all the same."""
    run = Run()
    run.add(shape * 3000)
    sentences = run.sentences("en")
    assert "".join("".join(sentence.text for sentence in sentences).split()) == "".join(run.text.split())
    assert max(len(sentence.text) for sentence in sentences) <= LONGEST_SENTENCE


def test_tags_nested_beyond_reason_are_left_out() -> None:
    """Every sentence opens again what is open around it: ten thousand tags would be written ten thousand times."""
    run = run_of([("open", "b"), ("add", "Then go. ")] * (DEEPEST_INLINE + 5))
    assert all(sentence.markup.count("<b>") <= DEEPEST_INLINE for sentence in run.sentences("en"))
    assert run.sentences("en")[-1].markup.count("</b>") == DEEPEST_INLINE


def test_endless_combining_marks_are_kept_as_they_are() -> None:
    """Python normalises "x" with a hundred thousand marks in quadratic time."""
    text = "x" + "\u0301\u0316" * 100_000
    assert visible(text) == text
    run = run_of([("add", "x"), *[("open", "b"), ("add", "\u0301\u0316"), ("close", "")] * 200])
    assert unicodedata.normalize("NFD", run.text) == unicodedata.normalize("NFD", "x" + "\u0301\u0316" * 200)


def test_a_cut_parts_no_letter_from_its_marks() -> None:
    run = Run()
    run.add("q" + "u\u0331" * LONGEST_SENTENCE)
    assert not any(unicodedata.combining(sentence.text[0]) for sentence in run.sentences("en"))
