"""What changed between two revisions, line by line, and within a line word by word."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from evidence.tree.document import Node
from evidence.tree.following import Alignment

TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+|\s+|.", re.DOTALL)
MOST_COMPARED = 250_000
"""Words of one line times words of the other. Of longer ones all is marked between the first and the last difference."""


@dataclass(frozen=True)
class Change:
    """A line of one revision, of the other, or of both."""

    kind: Literal["same", "added", "removed", "changed", "moved"]
    earlier: Node | None
    later: Node | None

    @property
    def line(self) -> Node:
        """The line in the later revision; one that was removed, in the earlier."""
        found = self.later or self.earlier
        if found is None:
            raise ValueError("a change is of a line of one revision, or of both")
        return found


class Piece(NamedTuple):
    """A part of a line, and whether it is only there."""

    text: str
    is_changed: bool


def changes(alignment: Alignment) -> list[Change]:
    """Every line of the later revision in its order; those that are gone stand between the lines that they stood between."""
    found: list[Change] = []
    number, other = 0, 0
    of_later = {other: number for number, other in enumerate(alignment.same) if other >= 0}
    of_later |= {other: number for number, other in alignment.changed.items()}
    for next_number, next_other in [*_anchors(alignment, of_later), (len(alignment.old), len(alignment.new))]:
        gone = (n for n in range(number, next_number) if alignment.same[n] < 0 and n not in alignment.changed)
        found.extend(Change("removed", alignment.old[n], None) for n in gone)
        until = min(next_other + 1, len(alignment.new))
        found.extend(_change(alignment, of_later.get(place), place) for place in range(other, until))
        number, other = next_number + 1, next_other + 1
    return found


def _anchors(alignment: Alignment, of_later: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """The pairs, by their numbers, that are in the same order in both: lines that stayed, and changed ones between them."""
    kept = sorted(alignment.kept)
    last = -1
    for other in range(len(alignment.new)):
        number = of_later.get(other, -1)
        if number <= last:
            continue
        place = bisect_left(kept, last + 1)
        limit = kept[place] if place < len(kept) else len(alignment.old)
        if number == limit or (number in alignment.changed and number < limit):
            last = number
            yield number, other


def _change(alignment: Alignment, number: int | None, other: int) -> Change:
    line = alignment.new[other]
    if number is None:
        return Change("added", None, line)
    if number in alignment.changed:
        return Change("changed", alignment.old[number], line)
    return Change("same" if number in alignment.kept else "moved", alignment.old[number], line)


def word_changes(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """Two lines in pieces, with what only one of them has."""
    one, other = TOKEN.findall(before), TOKEN.findall(after)
    first = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    most = min(len(one), len(other)) - first
    last = next((n for n in range(most) if one[-1 - n] != other[-1 - n]), most)
    middle, middle_other = one[first : len(one) - last], other[first : len(other) - last]
    pieces, pieces_other = _pieces(middle, middle_other)
    start, end = Piece("".join(one[:first]), False), Piece("".join(one[len(one) - last :]), False)
    return list(_joined([start, *pieces, end])), list(_joined([start, *pieces_other, end]))


def _pieces(one: Sequence[str], other: Sequence[str]) -> tuple[list[Piece], list[Piece]]:
    if len(one) * len(other) > MOST_COMPARED:
        return [Piece("".join(one), True)], [Piece("".join(other), True)]
    pieces: list[Piece] = []
    pieces_other: list[Piece] = []
    for kind, start, end, start_other, end_other in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        pieces.append(Piece("".join(one[start:end]), kind != "equal"))
        pieces_other.append(Piece("".join(other[start_other:end_other]), kind != "equal"))
    return pieces, pieces_other


def _joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Neighbours of a kind as one; what is unchanged between two changes and only a space is part of them."""
    joined: list[Piece] = []
    for number, piece in enumerate(pieces):
        is_changed = piece.is_changed
        if not is_changed and piece.text.isspace() and joined and number + 1 < len(pieces):
            is_changed = joined[-1].is_changed and pieces[number + 1].is_changed and bool(pieces[number + 1].text)
        if not piece.text:
            continue
        if joined and joined[-1].is_changed == is_changed:
            joined[-1] = Piece(joined[-1].text + piece.text, is_changed)
        else:
            joined.append(Piece(piece.text, is_changed))
    yield from joined
