"""The usual baselines: pages cut into chunks, the best of which are sent as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from evidence.bench.quality.corpus import Asked, Corpus
from evidence.bench.quality.data import Page
from evidence.bench.quality.fulltext import FullText
from evidence.bench.quality.systems import Answer, Cited, Part, best, fused
from evidence.ingest.units import units_of
from evidence.language.tokens import count, count_all
from evidence.retrieve.budget import TOKENS_OF_AN_EXCERPT
from evidence.tree.document import Document, Node
from evidence.tree.tags import HEADINGS
from evidence.tree.units import single_text

BREAK = "\n\n"
MOST_CANDIDATES = 800

Cut = Callable[[Page, Document], Iterable[tuple[str, frozenset[int] | None]]]
"""A way to cut a page: the text of each chunk, and the sentences that it holds where that is known."""


@dataclass
class Chunks:
    """Chunks of pages as candidates, by their vectors, by BM25, or by both, fused by reciprocal ranks with this weight of
    BM25; greedily, and those that do not fit are passed over."""

    name: str
    about: str
    cut: Cut = field(repr=False)
    by_words: bool = False
    text_weight: float = 0.0

    @property
    def settings(self) -> str:
        return repr(self)

    def prepare(self, corpus: Corpus) -> None:
        self._parts = [
            Part(number, text, places)
            for number, (page, tree) in enumerate(zip(corpus.data.pages, corpus.trees, strict=True))
            for text, places in self.cut(page, tree)
            if text.strip()
        ]
        texts = [part.text for part in self._parts]
        self._tokens = count_all(texts)
        self._scores = _by_words(texts) if self.by_words else _by_vectors(corpus, texts)
        self._words = _by_words(texts) if self.text_weight else None

    def answers(self, asked: Asked, budgets: Sequence[int]) -> Iterator[Answer]:
        scores = self._scores(asked)
        ranking = best(scores, MOST_CANDIDATES)
        if self.by_words:
            ranking = [number for number in ranking if scores[number] > 0]
        if self._words is not None:
            words = self._words(asked)
            said = [number for number in best(words, MOST_CANDIDATES) if words[number] > 0]
            ranking = [number for number, _ in fused([(1.0, ranking), (self.text_weight, said)], MOST_CANDIDATES)]
        score = float(scores[ranking[0]]) if ranking else 0.0
        for budget in budgets:
            yield self._answer(ranking, budget, score)

    def _answer(self, ranking: Sequence[int], budget: int, score: float) -> Answer:
        chosen: list[int] = []
        spent = 0
        for number in ranking:
            cost = self._tokens[number] + TOKENS_OF_AN_EXCERPT
            if spent + cost <= budget:
                chosen.append(number)
                spent += cost
        while (tokens := count(BREAK.join(self._parts[number].text for number in chosen))) > budget:
            chosen.pop()
        sent = tuple(self._parts[number] for number in chosen)
        return Answer(sent, tuple(Cited(part, within) for within, part in enumerate(sent)), tokens, score)


def _by_words(texts: Sequence[str]) -> Callable[[Asked], Any]:
    full_text = FullText(texts)
    return lambda asked: full_text.scores(asked.text)


def _by_vectors(corpus: Corpus, texts: Sequence[str]) -> Callable[[Asked], Any]:
    vectors = corpus.embedder.embed_passages(texts)
    return lambda asked: vectors @ asked.vector


def passages(page: Page, tree: Document) -> Iterator[tuple[str, frozenset[int]]]:
    """Runs of whole sentences of about a hundred words, as the product's unit "passage" has them."""
    for unit in units_of(tree, "passage"):
        yield " ".join(node.text for node in unit.nodes), frozenset(node.position for node in unit.nodes)


def passages_with_context(page: Page, tree: Document) -> Iterator[tuple[str, frozenset[int]]]:
    """The same passages behind the title and headings that hold where they begin, embedded and sent so."""
    for unit in units_of(tree, "passage"):
        places = {node.position for node in unit.nodes}
        places |= {sentence.position for entry in unit.context for sentence in entry.node.sentences()}
        yield single_text(unit, context=True), frozenset(places)


def windows(tokens: int, overlap: float) -> Cut:
    """Windows of so many tokens over the page's text, each beginning with the end of the one before. A sentence that is
    cut belongs to a window that holds more than half of its words."""

    def cut(page: Page, tree: Document) -> Iterator[tuple[str, frozenset[int]]]:
        said = [(word, sentence.position) for sentence in _text(tree) for word in sentence.text.split()]
        sizes = count_all([f" {word}" for word, _ in said])
        lengths = _counted(position for _, position in said)
        start = 0
        while start < len(said):
            end = _reach(sizes, start, tokens)
            held = _counted(position for _, position in said[start:end])
            yield (
                " ".join(word for word, _ in said[start:end]),
                frozenset(position for position, held_words in held.items() if held_words > lengths[position] / 2),
            )
            if end == len(said):
                return
            shared = 0
            following = end
            while following > start + 1 and shared + sizes[following - 1] <= tokens * overlap:
                following -= 1
                shared += sizes[following]
            start = following

    return cut


def sections(tokens: int) -> Cut:
    """What stands under each heading, with the heading; a longer section in several pieces, the heading before each.
    (The BGE baseline of HtmlRAG cuts by headings, too.)"""

    def cut(page: Page, tree: Document) -> Iterator[tuple[str, frozenset[int]]]:
        heading: list[Node] = []
        body: list[Node] = []
        for sentence in _text(tree):
            is_heading = sentence.parent is not None and sentence.parent.tag in HEADINGS
            if is_heading and (body or (heading and sentence.parent is not heading[0].parent)):
                yield from _section(heading, body, tokens)
                heading, body = [], []
            (heading if is_heading else body).append(sentence)
        yield from _section(heading, body, tokens)

    return cut


def _section(heading: list[Node], body: list[Node], tokens: int) -> Iterator[tuple[str, frozenset[int]]]:
    if not body:
        if heading:
            yield _piece(heading)
        return
    room = tokens - sum(count_all([sentence.text for sentence in heading]))
    piece: list[Node] = []
    size = 0
    for sentence, cost in zip(body, count_all([sentence.text for sentence in body]), strict=True):
        if piece and size + cost > room:
            yield _piece([*heading, *piece])
            piece, size = [], 0
        piece.append(sentence)
        size += cost
    yield _piece([*heading, *piece])


def _piece(sentences: Sequence[Node]) -> tuple[str, frozenset[int]]:
    return " ".join(sentence.text for sentence in sentences), frozenset(sentence.position for sentence in sentences)


def _text(tree: Document) -> Iterator[Node]:
    """The sentences of the page as it is shown, without its title."""
    return (s for s in tree.sentences() if s.parent is not None and s.parent.tag != "title")


def _reach(sizes: Sequence[int], start: int, tokens: int) -> int:
    """Where a window that starts here ends: it holds one word at least."""
    held = sizes[start]
    end = start + 1
    while end < len(sizes) and held + sizes[end] <= tokens:
        held += sizes[end]
        end += 1
    return end


def _counted(positions: Iterable[int]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for position in positions:
        counts[position] = counts.get(position, 0) + 1
    return counts
