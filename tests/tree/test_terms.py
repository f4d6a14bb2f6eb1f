from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.tree.terms import Terms, is_term, phrases_of, words_of


def found(text: str, *terms: str) -> list[str]:
    return [terms[number] for number in Terms(map(words_of, terms)).found_in(text)]


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("The loan period ends.", "loan period"),
        ("Loan periods end.", "loan period"),
        ("All parties agree.", "Party"),
        ("Boxes are shut.", "box"),
        ("The RTOs differ.", "RTO"),
        ("A status is set.", "status"),
    ],
)
def test_a_term_is_found_in_its_plain_forms(text: str, term: str) -> None:
    """A definition that is brought for one parcel, and not for two."""
    assert found(text, term) == [term]


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("It is late.", "IT"),
        ("Give it to us.", "US"),
        ("The loaning periodic.", "loan period"),
        ("Ends here. Loan", "loan period"),
        ("Unloaned", "loan"),
    ],
)
def test_a_term_is_not_found_in_other_words(text: str, term: str) -> None:
    """Acronyms that are words of the language, and terms within words."""
    assert found(text, term) == []


def test_of_terms_within_each_other_the_longest_is_found() -> None:
    """ "Personal data breach" explained as "data"."""
    terms = "data", "personal data", "personal data breach"
    assert found("A personal data breach is reported; data is not.", *terms) == ["personal data breach", "data"]
    assert found("Personal data are kept.", *terms) == ["personal data"]


@pytest.mark.parametrize("text", ["loan period", "RTO", "Parzelle", "data subject's consent", "C# code", "R&D"])
def test_what_can_be_a_term(text: str) -> None:
    assert is_term(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "42",
        "--verbose",
        "all(iterable)",
        "a = b",
        "Is it open?",
        "one two three four five six seven",
        "t" * 61,
    ],
)
def test_what_cannot_be_a_term(text: str) -> None:
    """Options, formulas and questions in a list of definitions are no vocabulary."""
    assert not is_term(text)


@given(
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3), max_size=6), st.lists(st.sampled_from("abcde"))
)
def test_every_term_that_is_found_stands_there(terms: list[list[str]], words: list[str]) -> None:
    """What the trie finds is what a plain search of the words finds, and is among the phrases that are looked up."""
    text = " ".join(words)
    given_terms = [tuple(term) for term in terms]
    for number in Terms(given_terms).found_in(text):
        phrase = " ".join(given_terms[number])
        assert f" {phrase} " in f" {text} "
        assert phrase in phrases_of([text])
