"""What an answer is worth: counted against the gold by the rules of gold.py."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass

from evidence.bench.quality.corpus import Asked, Corpus
from evidence.bench.quality.gold import Placed, squeezed
from evidence.bench.quality.systems import Answer, Cited, Part


@dataclass(frozen=True)
class Marks:
    """The marks of one answer. Those of gold are 0 for a question without gold.

    ``repeated``: tokens of sentences that are sent again (the text of several excerpts or overlapping chunks); 0 where a
    system keeps no places. ``cells`` are gold cells that are cited, and have headers; ``complete`` those of them that
    come with all; both 0 where a system keeps no places.
    """

    citations: int
    useful: int
    gold: int
    found: int
    documents: int
    tokens: int
    repeated: int
    cells: int
    complete: int
    score: float

    def as_row(self) -> dict[str, float]:
        return asdict(self)


def mark(answer: Answer, asked: Asked, corpus: Corpus) -> Marks:
    """The marks of an answer."""
    shown = _shown(answer.sent)
    useful = [cited for cited in answer.cited if any(is_useful(cited.part, gold) for gold in asked.gold)]
    placed = [one for one in useful if one.part.places is not None]
    cells = [gold for gold in asked.gold if gold.headers and any(is_useful(one.part, gold) for one in placed)]
    return Marks(
        citations=len(answer.cited),
        useful=len(useful),
        gold=len(asked.gold),
        found=sum(any(is_useful(part, gold) for part in answer.sent) or _is_shown(gold, shown) for gold in asked.gold),
        documents=len({cited.part.document for cited in answer.cited}),
        tokens=answer.tokens,
        repeated=_repeated(answer.sent, corpus),
        cells=len(cells),
        complete=sum(_comes_with_headers(gold, useful, answer) for gold in cells),
        score=answer.score,
    )


def is_useful(part: Part, gold: Placed) -> bool:
    """Whether a part holds the gold."""
    if part.document != gold.document:
        return False
    return gold.is_in(part.places) if part.places is not None else gold.is_said_in(squeezed(part.text))


def _shown(sent: Sequence[Part]) -> dict[int, set[int]]:
    shown: dict[int, set[int]] = {}
    for part in sent:
        shown.setdefault(part.document, set()).update(part.places or ())
    return shown


def _is_shown(gold: Placed, shown: dict[int, set[int]]) -> bool:
    """Whether the parts of its document hold the gold together."""
    held: Set[int] = shown.get(gold.document, frozenset())
    return gold.is_in(held)


def _comes_with_headers(gold: Placed, useful: Sequence[Cited], answer: Answer) -> bool:
    return any(
        is_useful(one.part, gold) and gold.headers <= (answer.sent[one.within].places or frozenset()) for one in useful
    )


def _repeated(sent: Sequence[Part], corpus: Corpus) -> int:
    seen: set[tuple[int, int]] = set()
    repeated = 0
    for part in sent:
        for place in part.places or ():
            if (part.document, place) in seen:
                repeated += corpus.costs[part.document][place]
            seen.add((part.document, place))
    return repeated
