"""Where gold is in a tree, and whether a citation or an excerpt holds it. No model judges.

The rules, the same for every system:

- Gold has a place: sentences of our tree, each with its share of the gold's letters. Texts are compared by their letters
  and digits only, case folded, so that "Alaska 's" is "Alaska's".
- A place is held when at least half of the gold's letters are, in the same document. Sentences that we cut elsewhere than
  the data do are so scored by overlap. A phrase (a short answer) is held with any sentence that says it as whole words.
- A table cell is held when the cell itself is there, not another that says the same. It is complete when its row header
  (where the page marks none, the row's first cell) and its column headers are there too.
- A citation is useful if what it cites itself holds gold; its context is not counted. Where overlapping windows hold the
  same gold, each is useful. Gold is found, once, if anything of the evidence of its document holds it.
- Texts of systems that keep no place (splitters of other libraries) hold gold by text: its letters in order; for a cell,
  the letters of its whole row, cell by cell.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import lru_cache

from evidence.bench.quality.data import Gold
from evidence.tree.context import grid_of
from evidence.tree.document import Document, Node
from evidence.tree.path import Path
from evidence.tree.tags import CELLS

ENOUGH = 0.5
"""The share of a gold text that has to be there."""

WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Placed:
    """Gold that has been found in its document: other places for it, each as shares by position.

    ``texts`` are squeezed, all of one place; ``headers`` are the sentences that make a cell complete.
    """

    document: int
    places: tuple[dict[int, float], ...]
    texts: tuple[tuple[str, ...], ...]
    headers: frozenset[int] = frozenset()
    is_cell: bool = False

    def is_in(self, held: Set[int]) -> bool:
        """Whether these sentences of its document hold it."""
        return any(sum(share for place, share in shares.items() if place in held) >= ENOUGH for shares in self.places)

    def is_said_in(self, text: str) -> bool:
        """Whether a text (squeezed) that comes from its document holds it."""
        return any(all(part in text for part in parts) for parts in self.texts)


class Places:
    """A document's sentences by their letters, for finding gold in it."""

    def __init__(self, number: int, tree: Document) -> None:
        self._number = number
        self._tree = tree
        self._sentences = [sentence for sentence in tree.sentences() if not _is_title(sentence)]
        self._starts: list[int] = []
        pieces: list[str] = []
        length = 0
        for sentence in self._sentences:
            self._starts.append(length)
            pieces.append(squeezed(sentence.text))
            length += len(pieces[-1])
        self._letters = "".join(pieces)

    def place(self, gold: Gold) -> Placed | None:
        """The gold in this document; None where it is not (its text is no text of the page, its path leads nowhere)."""
        if gold.anchor:
            return self._of_cell(self._tree.named.get(gold.anchor))
        if gold.path:
            return self._of_node(self._at(gold.path))
        if gold.is_phrase:
            return self._of_phrases(gold.texts)
        return self._of_texts(gold.texts)

    def _at(self, path: str) -> Node | None:
        try:
            return self._tree.at(Path.parse(path))
        except KeyError:
            return None

    def _of_node(self, node: Node | None) -> Placed | None:
        if node is None:
            return None
        cell = node if node.tag in CELLS else node.nearest(*CELLS)
        return self._of_cell(cell, node) if cell is not None else self._placed([_shares(node)], [(node.content,)])

    def _of_cell(self, cell: Node | None, part: Node | None = None) -> Placed | None:
        if cell is None or not cell.children:
            return None
        row = cell.parent
        beside = [other.content for other in row.children if other.tag in CELLS] if row is not None else []
        shares = [_shares(part or cell)]
        return self._placed(shares, [tuple(beside)], headers=frozenset(_headers(cell)), is_cell=True)

    def _of_texts(self, texts: tuple[str, ...]) -> Placed | None:
        """The places whose letters are those of a text; whole sentences and cells before parts of longer ones."""
        places: list[dict[int, float]] = []
        for text in texts:
            letters = squeezed(text)
            found = list(self._spans(letters))
            whole = [(start, end) for start, end in found if self._is_whole(start, end)]
            places += [self._overlaps(start, end) for start, end in whole or found]
        return self._placed(places, [(text,) for text in texts])

    def _of_phrases(self, texts: tuple[str, ...]) -> Placed | None:
        phrases = [f" {words(text)} " for text in texts if words(text)]
        places = [
            {sentence.position: 1.0}
            for sentence in self._sentences
            for said in [f" {words(sentence.text)} "]
            if any(phrase in said for phrase in phrases)
        ]
        return self._placed(places, [(text,) for text in texts if words(text)])

    def _placed(
        self,
        places: list[dict[int, float]],
        texts: list[tuple[str, ...]],
        *,
        headers: frozenset[int] = frozenset(),
        is_cell: bool = False,
    ) -> Placed | None:
        if not places:
            return None
        said = tuple(tuple(squeezed(part) for part in parts) for parts in texts)
        return Placed(self._number, tuple(places), said, headers, is_cell)

    def _spans(self, letters: str) -> Iterator[tuple[int, int]]:
        start = self._letters.find(letters) if letters else -1
        while start >= 0:
            yield start, start + len(letters)
            start = self._letters.find(letters, start + 1)

    def _is_whole(self, start: int, end: int) -> bool:
        first = bisect_right(self._starts, start) - 1
        after = bisect_right(self._starts, end - 1)
        return self._starts[first] == start and (self._starts[after] if after < len(self._starts) else end) == end

    def _overlaps(self, start: int, end: int) -> dict[int, float]:
        shares: dict[int, float] = {}
        number = bisect_right(self._starts, start) - 1
        while number < len(self._starts) and self._starts[number] < end:
            after = self._starts[number + 1] if number + 1 < len(self._starts) else len(self._letters)
            common = min(end, after) - max(start, self._starts[number])
            if common > 0:
                shares[self._sentences[number].position] = common / (end - start)
            number += 1
        return shares


@lru_cache(maxsize=200_000)
def squeezed(text: str) -> str:
    """The letters and digits of a text, case folded, and nothing between them. Signs stay where there is nothing else."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(filter(str.isalnum, folded)) or "".join(folded.split())


def words(text: str) -> str:
    """The words of a text, case folded, with a space between."""
    return " ".join(WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _shares(node: Node) -> dict[int, float]:
    letters = {sentence.position: len(squeezed(sentence.text)) for sentence in node.sentences()}
    whole = sum(letters.values()) or 1
    return {position: count / whole for position, count in letters.items()}


def _headers(cell: Node) -> Iterator[int]:
    """The sentences of a cell's headers."""
    grid = grid_of(cell.nearest("table"))
    if grid is None:
        return
    beside = grid.row_headers(cell)
    if not beside and cell.parent is not None:
        beside = [other for other in cell.parent.children if other.tag in CELLS][:1]
    for header in (*beside, *grid.column_headers(cell)):
        if header is not cell:
            yield from (sentence.position for sentence in header.sentences())


def _is_title(sentence: Node) -> bool:
    return sentence.parent is not None and sentence.parent.tag == "title"
