"""Gold in its place, and who holds it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evidence.bench.quality.data import Gold
from evidence.bench.quality.gold import Placed, Places, squeezed
from evidence.tree.document import Document
from evidence.tree.html import parse

PAGE = parse(
    b"""<title>Tins</title><h1>Tins</h1><p>Tea is Anna 's. It is hot. Tea is green.</p>
    <table><tr><th>Tin</th><th>Holds</th><th>Grams</th></tr>
    <tr><td>Blue</td><td>Tea</td><td id="gold">80</td></tr><tr><td>Red</td><td>Coffee</td><td>80</td></tr></table>"""
)


def placed(gold: Gold, tree: Document = PAGE) -> Placed:
    found = Places(0, tree).place(gold)
    assert found is not None
    return found


def positions(*texts: str) -> set[int]:
    return {sentence.position for sentence in PAGE.sentences() if sentence.text in texts}


def test_a_text_is_found_whatever_its_spaces_and_case() -> None:
    """Data that were tokenised by others, and gold that nobody ever finds."""
    assert placed(Gold("", ("tea is anna's",))).is_in(positions("Tea is Anna 's."))


def test_a_text_over_two_sentences_is_held_by_the_longer_one_and_not_by_the_shorter() -> None:
    """Sentences that are cut elsewhere than the data cut them."""
    gold = placed(Gold("", ("It is hot. Tea is green.",)))
    assert gold.is_in(positions("Tea is green."))
    assert gold.is_in(positions("It is hot.", "Tea is green."))
    assert not gold.is_in(positions("It is hot."))


def test_a_text_that_is_a_whole_sentence_is_not_also_a_part_of_others() -> None:
    """A cell "8" that any number with an eight would be."""
    assert placed(Gold("", ("Tea",))).places == ({next(iter(positions("Tea"))): 1.0},)


def test_a_phrase_is_held_as_whole_words_only() -> None:
    """A short answer "ea" in "Tea"."""
    assert len(placed(Gold("", ("tea",), is_phrase=True)).places) == 3
    assert Places(0, PAGE).place(Gold("", ("ea",), is_phrase=True)) is None


def test_a_cell_is_not_another_that_says_the_same() -> None:
    """Eighty grams of coffee, for a question about tea."""
    gold = placed(Gold("", anchor="gold"))
    tea, coffee = (s.position for s in PAGE.sentences() if s.text == "80")
    assert gold.is_in({tea})
    assert not gold.is_in({coffee})


def test_a_cell_is_complete_with_its_column_header_and_the_first_cell_of_its_row() -> None:
    """A number without its meaning that counts as much as one with it."""
    assert placed(Gold("", anchor="gold")).headers == positions("Grams", "Blue")


def test_a_text_without_places_holds_a_cell_if_it_holds_its_row() -> None:
    """Chunks of other libraries, in which any table with the same number would do."""
    gold = placed(Gold("", anchor="gold"))
    assert gold.is_said_in(squeezed("Blue, Holds = Tea. Blue, Grams = 80."))
    assert not gold.is_said_in(squeezed("Red, Holds = Coffee. Red, Grams = 80."))


def test_gold_by_path_and_gold_that_is_not_there() -> None:
    """A path that a new revision no longer has must be told, not raise."""
    sentence = next(s for s in PAGE.sentences() if s.text == "It is hot.")
    assert placed(Gold("", path=str(sentence.path))).is_in({sentence.position})
    for gold in (Gold("", path="9.9"), Gold("", anchor="none"), Gold("", ("Milk.",))):
        assert Places(0, PAGE).place(gold) is None


WORDS = st.lists(st.sampled_from(["Tea", "is", "hot", "green", "8"]), min_size=1, max_size=6).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=5), st.data())
def test_every_sentence_is_found_and_holds_itself(sentences: list[str], data: st.DataObject) -> None:
    """Gold in short and repeated sentences, whose letters run into each other."""
    tree = parse("".join(f"<p>{sentence}.</p>" for sentence in sentences).encode())
    chosen = data.draw(st.sampled_from(list(tree.sentences())))
    assert placed(Gold("", (chosen.text,)), tree).is_in({chosen.position})
