from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evidence.tree.changes import Change, changes, word_changes
from evidence.tree.following import Alignment, words_of
from tests.tree.test_following import page_of


def told(earlier: list[str], later: list[str]) -> list[tuple[str, str]]:
    """The changes between two pages: kind, and the text in the page that has it."""
    return [(change.kind, words_of(change.line)) for change in changed(earlier, later)]


def changed(earlier: list[str], later: list[str]) -> list[Change]:
    return changes(Alignment(page_of(earlier), page_of(later)))


def test_each_kind_of_change_is_told_in_its_place() -> None:
    earlier = ["Ring twice.", "The gate closes at six each evening.", "Dogs stay out.", "Moved along.", "One.", "Two."]
    later = ["Ring twice.", "The gate closes at eight each evening.", "Cats too.", "One.", "Two.", "Moved along."]
    assert told(earlier, later) == [
        ("same", "Ring twice."),
        ("changed", "The gate closes at eight each evening."),
        ("removed", "Dogs stay out."),
        ("added", "Cats too."),
        ("same", "One."),
        ("same", "Two."),
        ("moved", "Moved along."),
    ]


texts = st.lists(
    st.sampled_from(["Yes it is.", "a b c d", "a b c e", "x y", "Ask at the desk.", "no", "two"]), max_size=14
)


@given(texts, texts)
def test_both_pages_can_be_read_off_the_changes(earlier: list[str], later: list[str]) -> None:
    """A line that is in neither page, or twice, or left out."""
    found = changed(earlier, later)
    assert [words_of(change.later) for change in found if change.later] == later
    assert sorted(words_of(change.earlier) for change in found if change.earlier) == sorted(earlier)
    for change in found:
        if change.kind in ("same", "moved"):
            assert change.earlier
            assert change.later
            assert words_of(change.earlier) == words_of(change.later)


@given(texts, texts)
def test_what_stays_and_what_goes_keeps_its_order(earlier: list[str], later: list[str]) -> None:
    """A sentence that was deleted from the beginning, told at the end."""
    found = [change.earlier for change in changed(earlier, later) if change.kind in ("same", "removed")]
    positions = [node.position for node in found if node]
    assert positions == sorted(positions)


def test_words_that_changed_are_marked() -> None:
    before, after = word_changes("The gate closes at six sharp.", "The gate closes at eight or nine sharp.")
    assert [piece.text for piece in before if piece.is_changed] == ["six"]
    assert [piece.text for piece in after if piece.is_changed] == ["eight or nine"]


def test_signs_of_chinese_are_marked_one_by_one() -> None:
    """A whole line of text without spaces, marked for one sign."""
    before, after = word_changes("受付は九時から。", "受付は十時から。")
    assert [piece.text for piece in before if piece.is_changed] == ["九"]
    assert [piece.text for piece in after if piece.is_changed] == ["十"]


@given(st.text("ab .\n1", max_size=20), st.text("ab .\n1", max_size=20))
def test_pieces_make_up_their_lines(before: str, after: str) -> None:
    pieces, pieces_after = word_changes(before, after)
    assert "".join(piece.text for piece in pieces) == before
    assert "".join(piece.text for piece in pieces_after) == after
    if before == after:
        assert not any(piece.is_changed for piece in (*pieces, *pieces_after))


def test_very_long_lines_are_marked_from_the_first_difference_to_the_last() -> None:
    """Program text of thousands of words that takes minutes to compare."""
    middle, middle_after = "a b " * 2000, "b c " * 2000
    before, after = word_changes(f"start {middle} end", f"start {middle_after} end")
    assert before[0].text == "start "
    assert before[-1].text.endswith(" end")
    assert [piece.is_changed for piece in after] == [False, True, False]
