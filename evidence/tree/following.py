"""Where the sentences of one revision stand in another: what stayed, moved, changed, went and came.

What is compared are lines: the sentences in reading order, of data tables the rows. Lines of equal words are paired as in
Paul Heckel's "A technique for isolating differences between files" (1978): those that both revisions have once, then their
neighbours, then copies under the same headings, then any copies in order. Of the rest, a line has changed into the most
similar one between the same neighbours. All of it is close to linear in the number of lines.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Literal

from evidence.tree.context import global_context
from evidence.tree.document import Document, Node
from evidence.tree.path import Path
from evidence.tree.seeds import seed_of
from evidence.tree.structure import grid_of
from evidence.tree.tags import HEADINGS
from evidence.tree.words import plain_words

State = Literal["unchanged", "moved", "changed", "removed"]

SIMILAR = 0.6
"""Twice the shared words, in order, by all words: from here on a line has changed, below it another has taken its place.
difflib's documentation calls this a close match."""

CLOSEST = 5
COMMON = 30
"""A line is compared with the five that share most words with it; words of more lines than this tell none apart."""

NOWHERE = -2
"""Beside no line of the later revision."""

LONGEST_IN_ORDER = 300
MOST_IN_ORDER = 15_000_000
"""Words of a line; and words of one line times words of the other, of all pairs of lines together: some seconds. Of longer
lines, and of pairs that come later, the order of the words is not looked at, which takes the square of their number."""

MOST_SENTENCES = 300_000
"""Of two revisions together. Comparing larger ones takes more time and memory than somebody who asks for a page may take."""


@dataclass(frozen=True)
class Followed:
    """What became of a place: "moved" has the same words elsewhere or under other headings. ``node`` is in the later
    revision, None where it was removed."""

    state: State
    node: Node | None


class Alignment:
    """The lines of two revisions of a document, paired."""

    def __init__(self, earlier: Document, later: Document) -> None:
        self.earlier = earlier
        self.later = later
        self.old = lines(earlier)
        self.new = lines(later)
        same = _same(self.old, self.new)
        self.same = same
        """For the number of each earlier line that of the later one that says the same; -1 for none."""
        self.changed = _similar(self.old, self.new, same)
        """For the numbers of earlier lines those of the later ones that they have changed into."""

    @cached_property
    def kept(self) -> frozenset[int]:
        """The earlier lines whose order has certainly stayed: those in every longest run of lines in the same order."""
        numbers = [number for number, other in enumerate(self.same) if other >= 0]
        others = [self.same[number] for number in numbers]
        before = _longest_until(others)
        after = _longest_until([-other for other in reversed(others)])[::-1]
        longest = max(before, default=0)
        places = Counter(one for one, rest in zip(before, after, strict=True) if one + rest - 1 == longest)
        return frozenset(
            number
            for number, one, rest in zip(numbers, before, after, strict=True)
            if one + rest - 1 == longest and places[one] == 1
        )

    def follow(self, path: Path) -> Followed:
        """What became of the sentence, cell, row or block at a path of the earlier revision. KeyError when it has none."""
        node = self.earlier.at(path)
        numbers = self._lines_of(node)
        if not numbers:
            return Followed("removed", None)
        if len(numbers) > 1:
            return self._block(numbers)
        followed = self._line(numbers[0])
        line = self.old[numbers[0]]
        is_in_row = line.tag == "tr" and line.position < node.position
        if not is_in_row or followed.node is None or followed.node.tag != "tr":
            return followed
        return _within_row(followed, followed.node, line, node)

    def _lines_of(self, node: Node) -> list[int]:
        """The numbers of the lines that a node holds, or of the one that holds it."""
        found = dict.fromkeys(self._numbers[seed_of(sentence).position] for sentence in node.sentences())
        return list(found)

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {line.position: number for number, line in enumerate(self.old)}

    def _line(self, number: int) -> Followed:
        other = self.same[number]
        if other >= 0:
            node = self.new[other]
            stayed = number in self.kept and _context(self.old[number]) == _context(node)
            return Followed("unchanged" if stayed else "moved", node)
        if number in self.changed:
            return Followed("changed", self.new[self.changed[number]])
        return Followed("removed", None)

    def _block(self, numbers: Iterable[int]) -> Followed:
        """Of a block, what became of it as a whole; its first line that is left stands for its place."""
        found = [self._line(number) for number in numbers]
        node = next((followed.node for followed in found if followed.node is not None), None)
        states = {followed.state for followed in found}
        if node is None:
            return Followed("removed", None)
        if states <= {"unchanged", "moved"}:
            return Followed("moved" if "moved" in states else "unchanged", node)
        return Followed("changed", node)


def lines(document: Document) -> list[Node]:
    """What revisions are compared by: the sentences in document order, of data tables the rows."""
    found = {seed.position: seed for seed in map(seed_of, document.sentences())}
    return list(found.values())


def words_of(line: Node) -> str:
    """What a line says, white space collapsed; the cells of a row with bars between them."""
    if line.tag != "tr":
        return " ".join(line.content.split())
    return " | ".join(" ".join(cell.content.split()) for cell in line.children)


def _context(line: Node) -> tuple[tuple[str, str], ...]:
    """What a line stands under, by what it says: headings, labels, headers of its table; not the document's title."""
    return tuple((entry.policy, words_of(entry.node)) for entry in global_context(line) if entry.policy != "title")


def _same(old: Sequence[Node], new: Sequence[Node]) -> list[int]:
    """For each of the earlier lines, the number of the later one that it is; -1 for none."""
    says_old, says_new = [words_of(line) for line in old], [words_of(line) for line in new]
    once_old, once_new = _once(says_old), _once(says_new)
    partner = [once_new.get(said, -1) if said in once_old else -1 for said in says_old]
    taken = {other for other in partner if other >= 0}

    def extend(numbers: Iterable[int], step: int, end: int) -> None:
        """Pair the neighbours of pairs; the beginnings and the ends of both are neighbours as well."""
        before = end
        for number in numbers:
            beside = before + step
            is_free = partner[number] < 0 and 0 <= beside < len(new) and beside not in taken
            if is_free and says_old[number] == says_new[beside]:
                partner[number] = beside
                taken.add(beside)
            before = partner[number] if partner[number] >= 0 else NOWHERE

    extend(range(len(old)), 1, -1)
    extend(reversed(range(len(old))), -1, len(new))
    _pair_copies(partner, taken, old, new, lambda line: (words_of(line), _context(line)))
    _pair_copies(partner, taken, old, new, words_of)
    return partner


def _once(said: Sequence[str]) -> dict[str, int]:
    """The number of each text that is said once."""
    counts = Counter(said)
    return {text: number for number, text in enumerate(said) if counts[text] == 1}


def _pair_copies(
    partner: list[int],
    taken: set[int],
    old: Sequence[Node],
    new: Sequence[Node],
    key: Callable[[Node], Hashable],
) -> None:
    """Pair what has no pair yet and has equal keys, in order."""
    said = {words_of(old[number]) for number, other in enumerate(partner) if other < 0}
    left: dict[Hashable, list[int]] = defaultdict(list)
    for other in reversed(range(len(new))):
        if other not in taken and words_of(new[other]) in said:
            left[key(new[other])].append(other)
    if not left:
        return
    for number, other in enumerate(partner):
        if other < 0 and (copies := left.get(key(old[number]))):
            partner[number] = copies.pop()
            taken.add(partner[number])


def _longest_until(numbers: Sequence[int]) -> list[int]:
    """For each number, how long the longest ascending run is that ends with it."""
    lowest: list[int] = []
    lengths: list[int] = []
    for number in numbers:
        place = bisect_left(lowest, number)
        lowest[place : place + 1] = [number]
        lengths.append(place + 1)
    return lengths


def _similar(old: Sequence[Node], new: Sequence[Node], same: Sequence[int]) -> dict[int, int]:
    """The earlier lines that have changed, and into which later ones: the most similar pairs first."""
    taken = {other for other in same if other >= 0}
    pairs: list[tuple[float, int, int]] = []
    work = 0
    for run, others in _gaps(same, taken, len(new)):
        for likeness, number, other, one, its in _likely_within(old, new, run, others):
            if max(len(one), len(its)) <= LONGEST_IN_ORDER and work < MOST_IN_ORDER:
                work += len(one) * len(its)
                likeness = SequenceMatcher(None, one, its, autojunk=False).ratio()
            if likeness >= SIMILAR:
                pairs.append((-likeness, number, other))
    found: dict[int, int] = {}
    for _, number, other in sorted(pairs):
        if number not in found and other not in taken:
            found[number] = other
            taken.add(other)
    return found


def _gaps(same: Sequence[int], taken: set[int], length: int) -> Iterator[tuple[range, list[int]]]:
    """Each run of earlier lines without a pair, and the later lines without one that follow what is before the run, or
    come before what follows it."""
    start = 0
    while start < len(same):
        if same[start] >= 0:
            start += 1
            continue
        end = start
        while end < len(same) and same[end] < 0:
            end += 1
        after = same[start - 1] if start else -1
        before = same[end] if end < len(same) else length
        others = {}
        after += 1
        while after < length and after not in taken:
            others[after] = True
            after += 1
        before -= 1
        while before >= 0 and before not in taken and before not in others:
            others[before] = True
            before -= 1
        if others:
            yield range(start, end), list(others)
        start = end


def _likely_within(
    old: Sequence[Node], new: Sequence[Node], run: range, others: Sequence[int]
) -> Iterator[tuple[float, int, int, list[str], list[str]]]:
    """The pairs of a gap that share enough words, in whatever order: how much, the numbers of the earlier line and of the
    later, and the words of both."""
    words = {other: plain_words(words_of(new[other])).split() for other in others}
    counts = {other: Counter(its) for other, its in words.items()}
    holders: dict[str, list[int]] = defaultdict(list)
    for other, its_counts in counts.items():
        for word in its_counts:
            holders[word].append(other)
    for number in run:
        own = plain_words(words_of(old[number])).split()
        own_counts = Counter(own)
        shared: Counter[int] = Counter()
        for word in own_counts:
            its_holders = holders.get(word, ())
            if len(its_holders) <= COMMON:
                shared.update(its_holders)
        for other, _ in shared.most_common(CLOSEST):
            if _kind(old[number]) == _kind(new[other]):
                likeness = _shared(own_counts, counts[other])
                if likeness >= SIMILAR:
                    yield likeness, number, other, own, words[other]


def _shared(one: Counter[str], other: Counter[str]) -> float:
    """The share of words that two lines have in common, in any order: from 0 to 1. In the same order it is no more."""
    return 2 * (one & other).total() / (one.total() + other.total())


def _kind(line: Node) -> str:
    """Headings change into headings, rows into rows."""
    return "heading" if line.parent is not None and line.parent.tag in HEADINGS else line.tag


def _within_row(row: Followed, later: Node, earlier: Node, node: Node) -> Followed:
    """What became of a cell, or of a place in one, whose row is found again: the cell that says the same, else the one under
    the same headers or in the same column."""
    cell = next(cell for cell in earlier.children if cell.position <= node.position <= cell.last)
    headers = _headers(cell)
    same_column = later.children[cell.index : cell.index + 1]
    # The likeliest first.
    likely = [other for other in later.children if headers and _headers(other) == headers] + same_column
    for place in (place for other in [*likely, *later.children] for place in (other, *other.descendants())):
        if place.tag == node.tag and words_of(place) == words_of(node):
            state: State = "unchanged" if _context(place) == _context(node) else "moved"
            return Followed(state if row.state == "changed" else row.state, place)
    if not likely:
        return Followed("removed", None)
    return Followed("changed", likely[0] if node is cell else next(likely[0].sentences(), likely[0]))


def _headers(cell: Node) -> list[str]:
    grid = grid_of(cell.nearest("table"))
    return [] if grid is None else [words_of(header) for header in grid.column_headers(cell)]
