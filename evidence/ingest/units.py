"""What an index embeds: the units of a document, and the text that the model is given for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evidence.tree.context import POLICIES, Entry, Policy, global_context
from evidence.tree.document import Document, Node
from evidence.tree.seeds import seeds
from evidence.tree.tags import HEADINGS
from evidence.tree.units import Unit, context_text

WORDS_OF_A_PASSAGE = 100


@dataclass(frozen=True)
class Section:
    """Running text that is embedded together: the text of its context, and pieces, of which some are units.

    Pieces that are no unit (a term, a caption) are read by the model with the others; their vectors are not kept.
    """

    context: str
    pieces: tuple[str, ...]
    units: tuple[int | None, ...]


def units_of(document: Document, unit: str, policies: Sequence[Policy] = POLICIES) -> list[Unit]:
    """The units of a document for an index: "seed", "sentence", "block" or "passage", in document order."""
    found: list[tuple[Node, ...]]
    if unit == "seed":
        found = [(seed,) for seed in seeds(document)]
    elif unit == "sentence":
        found = [(sentence,) for sentence in document.sentences() if _is_content(sentence)]
    elif unit == "block":
        blocks = dict.fromkeys(s.parent for s in document.sentences() if s.parent is not None and _is_content(s))
        found = [(block,) for block in blocks]
    elif unit == "passage":
        found = list(_passages(document))
    else:
        raise ValueError(f"unknown unit {unit!r}; there are seed, sentence, block and passage")
    return [Unit(nodes, tuple(global_context(nodes[0], policies))) for nodes in found]


def sections_of(document: Document, units: Sequence[Unit], *, context: bool) -> Iterator[Section]:
    """The running text of a document in sections under the same headings, for shared-context encoding.

    ``units`` are all units of the document; rows among them are left out (they are encoded one by one).
    """
    number_at = {unit.nodes[0].position: number for number, unit in enumerate(units) if unit.nodes[0].tag != "tr"}
    rows = [unit.nodes[0] for unit in units if unit.nodes[0].tag == "tr"]
    in_rows = {position for row in rows for position in range(row.position, row.last + 1)}
    heading: tuple[Entry, ...] | None = None
    pieces: list[str] = []
    numbers: list[int | None] = []
    for node in document.nodes:
        is_unit = node.position in number_at
        if not (is_unit or (node.is_sentence and _is_beside_units(node))) or node.position in in_rows:
            continue
        around = _headings(units[number_at[node.position]].context if is_unit else global_context(node))
        if around != heading:
            if any(number is not None for number in numbers):
                yield Section(_told(heading or (), context), tuple(pieces), tuple(numbers))
            pieces, numbers = [], []
            heading = around
        pieces.append(node.content)
        numbers.append(number_at.get(node.position))
    if any(number is not None for number in numbers):
        yield Section(_told(heading or (), context), tuple(pieces), tuple(numbers))


def _headings(context: Sequence[Entry]) -> tuple[Entry, ...]:
    return tuple(entry for entry in context if entry.policy in ("title", "heading"))


def _told(entries: Sequence[Entry], context: bool) -> str:
    return context_text(entries) if context else ""


def _is_content(sentence: Node) -> bool:
    parent = sentence.parent
    return (
        parent is not None
        and parent.tag not in ("title", *HEADINGS)
        and any(character.isalnum() for character in sentence.text)
    )


def _is_beside_units(sentence: Node) -> bool:
    return sentence.parent is not None and sentence.parent.tag in ("dt", "caption", "figcaption", "summary")


def _passages(document: Document) -> Iterator[tuple[Node, ...]]:
    """Runs of sentences of about a hundred words, as chunk-based systems cut them: whatever structure they cross."""
    passage: list[Node] = []
    words = 0
    for sentence in document.sentences():
        if sentence.parent is not None and sentence.parent.tag == "title":
            continue
        passage.append(sentence)
        words += len(sentence.text.split())
        if words >= WORDS_OF_A_PASSAGE:
            yield tuple(passage)
            passage, words = [], 0
    if passage:
        yield tuple(passage)
