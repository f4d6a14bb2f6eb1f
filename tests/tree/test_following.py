from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from evidence.tree import following
from evidence.tree.document import SENTENCE, Document, Node
from evidence.tree.following import Alignment, Followed, lines, words_of
from evidence.tree.html import parse
from tests.tree.strategies import broken_pages, pages

CASE = next((Path(__file__).parent.parent / "cases").glob("41-*")).joinpath("input.html").read_bytes()
NORTH = "Team North closes the gate at six each evening."
SOUTH = "Team South closes the gate at six each morning."
NORTH_LINE, SOUTH_LINE = (line for line in CASE.splitlines() if line.startswith(b"<p"))

PRICES = (
    b"<h1>Prices</h1><h2>Tea</h2><table><tr><th>Size</th><th>Price</th><th>Until</th></tr>"
    b"<tr><th>Small cup of tea</th><td>5</td><td>noon</td></tr>"
    b"<tr><th>Large pot of tea</th><td>5</td><td>six</td></tr></table>"
)


def follow(earlier: bytes, later: bytes, text: str, tag: str = SENTENCE, copy: int = 0) -> tuple[str, str | None]:
    """What becomes of the place that says this: its state, and what the place says that it is now."""
    before, after = parse(earlier, "a.html"), parse(later, "a.html")
    found = [node for node in before.nodes if node.tag == tag and words_of(node) == text]
    followed = Alignment(before, after).follow(found[copy].path)
    return followed.state, None if followed.node is None else words_of(followed.node)


def test_what_is_deleted_is_not_taken_for_its_neighbour() -> None:
    """Case 41: a saved citation of North that opens on South, nine words of ten the same."""
    later = CASE.replace(NORTH_LINE, b"").replace(SOUTH_LINE, b"<p>New rule.</p>\n" + SOUTH_LINE)
    assert follow(CASE, later, NORTH) == ("removed", None)
    assert follow(CASE, later, SOUTH) == ("unchanged", SOUTH)


def test_what_is_moved_down_is_found_there() -> None:
    """Case 41: a sentence at another path, told as if it were gone."""
    later = CASE.replace(NORTH_LINE, b"").replace(SOUTH_LINE, b"<p>New rule.</p>\n" + SOUTH_LINE + NORTH_LINE)
    assert follow(CASE, later, NORTH) == ("moved", NORTH)


def test_what_stands_before_does_not_move_it() -> None:
    """Every citation of a page said to have moved, because of a new first paragraph."""
    later = CASE.replace(NORTH_LINE, b"<p>Be quiet.</p><ul><li>One<li>Two</ul>" + NORTH_LINE)
    assert follow(CASE, later, NORTH) == ("unchanged", NORTH)
    assert follow(CASE, later, SOUTH) == ("unchanged", SOUTH)


def test_other_headings_are_another_place() -> None:
    """The same words that hold for another team now."""
    page = b"<h1>Gate</h1><h2>North</h2><p>It closes at six.</p>"
    assert follow(page, page.replace(b"North", b"South"), "It closes at six.") == ("moved", "It closes at six.")


def test_a_sentence_with_other_words_has_changed() -> None:
    later = CASE.replace(b"six each evening", b"eight each evening")
    assert follow(CASE, later, NORTH) == ("changed", NORTH.replace("six", "eight"))


def test_a_sentence_that_another_takes_the_place_of_is_removed() -> None:
    """Below the threshold: two sentences that share little more than their place."""
    page = b"<h1>Gate</h1><p>The gate closes at six.</p><p>Ring twice.</p>"
    later = page.replace(b"The gate closes at six.", b"Dogs stay outside.")
    assert follow(page, later, "The gate closes at six.") == ("removed", None)


def test_the_most_similar_pair_is_made_first() -> None:
    """North is deleted and South changed: what is left of South is no version of North."""
    later = CASE.replace(NORTH_LINE, b"").replace(b"six each morning", b"eight each morning")
    assert follow(CASE, later, SOUTH) == ("changed", SOUTH.replace("six", "eight"))
    assert follow(CASE, later, NORTH) == ("removed", None)


def test_copies_are_told_apart_by_what_stands_beside_and_above_them() -> None:
    """ "Ask at the desk." in each of five sections: one is deleted, and it is not the last."""
    sections = [b"<h2>Room %d</h2><p>It has %d seats.</p><p>Ask at the desk.</p>" % (n, n) for n in range(5)]
    page = b"<h1>Rooms</h1>" + b"".join(sections)
    later = page.replace(b"<p>It has 2 seats.</p><p>Ask at the desk.</p>", b"<p>It has 2 seats.</p>")
    states = [follow(page, later, "Ask at the desk.", copy=copy)[0] for copy in range(5)]
    assert states == ["unchanged", "unchanged", "removed", "unchanged", "unchanged"]
    turned = b"<h1>Rooms</h1>" + b"".join([*sections[1:], sections[0]])
    before, after = parse(page, "a.html"), parse(turned, "a.html")
    first = next(s for s in before.sentences() if s.text == "Ask at the desk.")
    node = Alignment(before, after).follow(first.path).node
    assert node is not None
    assert node.position == max(s.position for s in after.sentences())


def test_a_row_is_followed_by_its_cells() -> None:
    row = "Small cup of tea | 5 | noon"
    later = PRICES.replace(b"<td>noon</td>", b"<td>one</td>")
    assert follow(PRICES, later, row, "tr") == ("changed", "Small cup of tea | 5 | one")
    assert follow(PRICES, PRICES.replace(b"<h2>", b"<p>All day.</p><h2>"), row, "tr") == ("unchanged", row)


@pytest.mark.parametrize(
    ("before", "after", "cell", "expected"),
    [
        (b"<td>noon</td>", b"<td>one</td>", "5", ("unchanged", "5")),
        (b"<td>noon</td>", b"<td>one</td>", "noon", ("changed", "one")),
        (b"Small cup", b"Tiny cup", "noon", ("moved", "noon")),
        (b"<td>5</td><td>noon</td>", b"<td>6</td><td>noon</td>", "5", ("changed", "6")),
        (b"<th>Until", b"<th>From", "noon", ("moved", "noon")),
    ],
)
def test_a_cell_is_followed_within_its_row(before: bytes, after: bytes, cell: str, expected: tuple[str, str]) -> None:
    """A price that is said to be unchanged, of another thing or in another column."""
    assert follow(PRICES, PRICES.replace(before, after, 1), cell) == expected


def test_a_block_is_followed_by_all_its_lines() -> None:
    page = b"<h1>Gate</h1><p>It closes at six. Ring the bell twice.</p><p>End.</p>"
    both = "It closes at six. Ring the bell twice."
    assert follow(page, page, both, "p")[0] == "unchanged"
    assert follow(page, page.replace(b"twice", b"thrice"), both, "p")[0] == "changed"
    assert follow(page, page.replace(b"Ring the bell twice.", b""), both, "p")[0] == "changed"
    assert follow(page, b"<h1>Gate</h1><p>End.</p>", both, "p") == ("removed", None)


def test_a_path_that_is_not_there_is_an_error() -> None:
    tree = parse(CASE, "a.html")
    with pytest.raises(KeyError):
        Alignment(tree, tree).follow(tree.root.path.child(99))


def test_two_large_pages_without_a_line_in_common_are_compared_in_bounded_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page written anew line by line that holds a worker for minutes, as each line is compared with five others word by
    word. After so much of it, lines are paired by the words that they share."""
    compared: list[int] = []

    class Counted(SequenceMatcher):  # type: ignore[type-arg]
        def ratio(self) -> float:
            compared.append(len(self.a) * len(self.b))
            return super().ratio()

    def rooms(verb: str) -> Document:
        return page_of([f"Room {number} of wing {number // 20} {verb} at six each evening." for number in range(400)])

    monkeypatch.setattr(following, "SequenceMatcher", Counted)
    assert len(Alignment(rooms("opens"), rooms("closes")).changed) == 400
    assert len(compared) > 800
    compared.clear()
    monkeypatch.setattr(following, "MOST_IN_ORDER", 100 * 100)
    assert len(Alignment(rooms("opens"), rooms("closes")).changed) == 400, "by the words that they share"
    assert len(compared) == 100


def test_lines_whose_order_is_in_doubt_have_moved() -> None:
    """Of two sentences that have changed places, a reader cannot say which one moved: neither is said to have stayed."""
    later = CASE.replace(NORTH_LINE, b"").replace(SOUTH_LINE, SOUTH_LINE + NORTH_LINE)
    assert {follow(CASE, later, text)[0] for text in (NORTH, SOUTH)} == {"moved"}


def page_of(texts: list[str]) -> Document:
    """A page of a paragraph for each text, each of which is one sentence."""
    document = Document("Title", "en")
    for index, text in enumerate(texts):
        block = Node(document, document.root, index, "p")
        document.root.children.append(block)
        block.children.append(Node(document, block, 0, SENTENCE, text=text, markup=text))
    document.number()
    return document


def followed(earlier: list[str], later: list[str]) -> list[Followed]:
    """What becomes of each text."""
    before = page_of(earlier)
    alignment = Alignment(before, page_of(later))
    return [alignment.follow(sentence.path) for sentence in before.sentences()]


@st.composite
def edits(draw: DrawFn) -> tuple[list[str], list[str], set[int]]:
    """Different texts, what an editor made of them, and the numbers of those that are deleted."""
    earlier = [
        f"The {name} is at desk {n}." for n, name in enumerate(draw(st.lists(st.sampled_from("abc"), max_size=25)))
    ]
    deleted = draw(st.sets(st.sampled_from(range(len(earlier))))) if earlier else set()
    later = [text for number, text in enumerate(earlier) if number not in deleted]
    if draw(st.booleans()):
        later = draw(st.permutations(later))
    for number in range(draw(st.integers(0, 5))):
        later.insert(draw(st.integers(0, len(later))), f"Something {number} else entirely.")
    return earlier, later, deleted


@given(edits())
def test_an_untouched_sentence_is_always_found_and_a_deleted_one_never(
    edit: tuple[list[str], list[str], set[int]],
) -> None:
    """A citation that opens on something else, or is said to be gone while it is there."""
    earlier, later, deleted = edit
    for number, became in enumerate(followed(earlier, later)):
        if number in deleted:
            assert became.state in ("changed", "removed")
            assert became.node is None or became.node.text != earlier[number]
        else:
            assert became.state in ("unchanged", "moved")
            assert became.node is not None
            assert became.node.text == earlier[number]


@given(st.lists(st.sampled_from(["Yes.", "No.", "Ask.", "a", "b", "c"]), max_size=30), st.data())
def test_copies_keep_their_order_where_only_others_come_and_go(texts: list[str], data: st.DataObject) -> None:
    """The third "Yes." of a form that opens on the first."""
    earlier = [text if text[0].isupper() else f"{text} {number}" for number, text in enumerate(texts)]
    later: list[str] = []
    for text in earlier:
        if data.draw(st.booleans()):
            later.append(f"New {len(later)}")
        if text[0].isupper() or data.draw(st.booleans()):
            later.append(text)
    places = [
        [
            became.node.position
            for text, became in zip(earlier, followed(earlier, later), strict=True)
            if text == copy and became.node
        ]
        for copy in ("Yes.", "No.", "Ask.")
    ]
    for copy, found in zip(("Yes.", "No.", "Ask."), places, strict=True):
        assert found == sorted(found)
        assert len(found) == earlier.count(copy)


@given(st.lists(st.sampled_from("abcde"), max_size=15), st.lists(st.sampled_from("abcde"), max_size=15))
def test_no_two_sentences_become_one(earlier: list[str], later: list[str]) -> None:
    alignment = Alignment(page_of(earlier), page_of(later))
    others = [other for other in alignment.same if other >= 0] + list(alignment.changed.values())
    assert len(others) == len(set(others))
    assert sum(other >= 0 for other in alignment.same) == (Counter(earlier) & Counter(later)).total()


@given(st.one_of(pages(), broken_pages()))
def test_a_page_that_stays_has_changed_nowhere(page: str) -> None:
    """Whatever the page is made of, tables within tables included."""
    before, after = parse(page.encode(), "a.html"), parse(page.encode(), "a.html")
    alignment = Alignment(before, after)
    assert all(
        alignment.follow(line.path) == Followed("unchanged", other)
        for line, other in zip(lines(before), lines(after), strict=True)
    )
    for node in before.nodes:
        if node.content:
            assert alignment.follow(node.path).state == "unchanged"
