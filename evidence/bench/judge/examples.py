"""What a judge of relevance learns from: questions with candidates as search finds them, read in their context."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from tqdm import tqdm

from evidence.bench.quality import systems
from evidence.bench.quality.corpus import Asked, Corpus, sentences_under
from evidence.bench.quality.data import Question, Set
from evidence.bench.quality.measures import is_useful
from evidence.bench.quality.run import code_hash, set_hash
from evidence.bench.quality.spire import Spire
from evidence.store.search import Hit
from evidence.tree.units import text_in_context, unit_at

FOUND = 100
"""Candidates of a question, by vectors and words together."""

HELD_BACK = {"selqa": 0.1, "wikitables": 0.1, "hotpotqa": 0.5, "clapnq": 0.3, "asqa": 1.0}
"""The share of each set's questions that nothing is learnt from, nor chosen by. Of small sets it is more, or the figures
would say nothing; of ASQA all, so that one set is of a kind that was never seen."""

CHOOSING = 0.1
"""The share of the others by which a floor is chosen, instead of being learnt from."""

Part = Literal["learn", "choose", "held back"]


@dataclass(frozen=True)
class Asking:
    """A question and its candidates, the best first: context, own text, whether it is gold, and its similarity. Gold that
    was not among the candidates comes last, with a similarity too, and is counted by ``missed``."""

    set_name: str
    question: str
    part: Part
    candidates: list[tuple[str, str, bool, float]]
    missed: int


def part_of(set_name: str, question: Question) -> Part:
    """What a question is for. All questions on a page are for the same, so that no page is learnt that is asked about."""
    about = question.gold[0].document if question.gold else question.text
    digest = hashlib.blake2b(f"{set_name} {about}".encode(), digest_size=4).digest()
    place = int.from_bytes(digest) / 2**32
    held_back = HELD_BACK.get(set_name, 0.0)
    if place < held_back:
        return "held back"
    return "choose" if place < held_back + CHOOSING * (1 - held_back) else "learn"


def held_back(data: Set) -> Set:
    """The set with those of its questions that the filter has neither learnt from nor been chosen by; all its pages."""
    return replace(data, questions=tuple(q for q in data.questions if part_of(data.name, q) == "held back"))


def askings(corpus: Corpus, questions: Sequence[Question]) -> Iterator[Asking]:
    """What there is to learn from a set. ``questions`` are those that the corpus was made with, in their order."""
    search = Spire("search", "", full_text=0.5, by_block=True)
    search.prepare(corpus)
    units = _units_of(search)
    texts: dict[int, tuple[str, str]] = {}
    for asked in tqdm(corpus.asked, desc=f"{corpus.data.name}: candidates", unit=" questions", leave=False):
        near = {unit for gold in asked.gold for unit in units[gold.document]}
        gold = {unit for unit in near if _is_gold(search.hits[unit], asked, corpus)}
        found = search.found(asked, FOUND)
        missed = sorted(gold.difference(found))
        candidates = []
        for unit in (*found, *missed):
            if unit not in texts:
                texts[unit] = _text(search.hits[unit], corpus)
            candidates.append((*texts[unit], unit in gold, round(search.similarity(asked, unit), 4)))
        part = part_of(corpus.data.name, questions[asked.number])
        yield Asking(corpus.data.name, asked.text, part, candidates, len(missed))


def write(path: Path, found: Iterator[Asking]) -> None:
    """Write askings as JSON lines; the file is there when all of them are."""
    draft = path.with_suffix(".draft")
    with draft.open("w", encoding="utf-8") as out:
        for asking in found:
            out.write(json.dumps(asdict(asking), ensure_ascii=False) + "\n")
    os.replace(draft, path)


def read(path: Path) -> list[Asking]:
    """Askings as they were written."""
    with path.open(encoding="utf-8") as lines:
        return [Asking(**json.loads(line)) for line in lines]


def file_of(data: Set, folder: Path) -> Path:
    """Where the askings of a set are kept: another file once its pages, its questions or what makes candidates of them have
    changed."""
    given = repr((code_hash(), set_hash(data), Path(__file__).read_bytes()))
    return folder / f"askings-{data.name}-{hashlib.blake2b(given.encode(), digest_size=8).hexdigest()}.jsonl"


def _units_of(search: Spire) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number, hit in enumerate(search.hits):
        found.setdefault(hit.revision_id, []).append(number)
    return found


def _is_gold(hit: Hit, asked: Asked, corpus: Corpus) -> bool:
    tree = corpus.trees[hit.revision_id]
    cited = systems.Part(hit.revision_id, "", sentences_under(tree, hit.positions))
    return any(is_useful(cited, gold) for gold in asked.gold)


def _text(hit: Hit, corpus: Corpus) -> tuple[str, str]:
    tree = corpus.trees[hit.revision_id]
    return text_in_context(unit_at(tree, hit.positions, hit.context_policies, hit.context_positions))
