"""How fast questions are answered, and how many find what answers them."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from evidence.bench.stages import Figure
from evidence.configured import judge, pipeline
from evidence.retrieve.evidence import Evidence
from evidence.retrieve.pipeline import ask
from evidence.store.schema import document, node
from evidence.tree.document import Document, Node

WARM_UP = 5


class QuestionFileError(Exception):
    """A file of questions that cannot be read; the message names the line."""


@dataclass(frozen=True)
class Question:
    """A question, and the sentence or cell of a document that answers it, where that is known. ``row`` is the text of
    another cell of the same row, for answers that stand in a table more than once."""

    text: str
    document: str = ""
    answer: str = ""
    row: str = ""


def read_questions(path: Path) -> list[Question]:
    """The questions of a file of JSON lines: ``question``, and if known ``document`` (the end of its address),
    ``sentence`` or ``answer`` (the exact text that answers), ``row``."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            answer = entry.get("sentence") or entry.get("answer") or ""
            found.append(Question(entry["question"], entry.get("document", ""), answer, entry.get("row", "")))
        except (ValueError, KeyError, AttributeError) as error:
            raise QuestionFileError(f'{path}, line {number}: expected a JSON object with a "question"') from error
    return found


def headings_as_questions(collections: Sequence[int], count: int) -> list[Question]:
    """Headings of the collections as questions, evenly spread: for speed, where there are not enough questions."""
    with pipeline() as connection:
        return [Question(text) for text in headings(connection, collections, count)]


def headings(connection: sa.Connection, collections: Sequence[int], count: int) -> list[str]:
    """The headings of the second and third level of these collections, evenly spread."""
    heading = node.alias("heading")
    statement = (
        sa.select(sa.func.min(node.c.text))
        .join(heading, sa.and_(heading.c.revision_id == node.c.revision_id, heading.c.position == node.c.parent))
        .join(document, document.c.current_id == node.c.revision_id)
        .where(heading.c.tag.in_(["h2", "h3"]), document.c.collection_id.in_(collections))
        .group_by(node.c.revision_id, node.c.position)
        .order_by(sa.func.md5(sa.func.min(node.c.text)))
        .limit(count)
    )
    return list(connection.execute(statement).scalars())


def measure(
    questions: Sequence[Question], *, collections: Sequence[int], budget: int, index: str | None
) -> Iterator[Figure | str]:
    """Latency of each step over all questions, and for those whose answer is known, how many found it; misses by name."""
    given: dict[str, Any] = {"collections": collections, "budget": budget, "index": index, "judge": judge()}
    for question in questions[:WARM_UP]:
        ask(question.text, **given)
    answered = [(q, ask(q.text, **given)) for q in questions]
    yield Figure("questions", len(answered), "")
    yield from _latency([evidence for _, evidence in answered])
    known = [(question, evidence) for question, evidence in answered if question.answer]
    if not known:
        return
    found = [question for question, evidence in known if holds(evidence, question)]
    cited = [question for question, evidence in known if cites(evidence, question)]
    yield Figure("answer cited", len(cited), f"of {len(known)}")
    yield Figure("answer in the evidence", len(found), f"of {len(known)}")
    yield Figure("citations a question", statistics.mean(_citations(evidence) for _, evidence in known), "")
    for question, _ in known:
        if question not in found:
            yield f"  not found: {question.text} ({question.document}: {question.answer})"


def cites(evidence: Evidence, question: Question) -> bool:
    """Whether a citation is the answer's sentence, or the table row with its cell."""
    return any(
        _answers(excerpt.tree.at(citation.path), question)
        for excerpt in evidence.excerpts
        if excerpt.address.endswith(question.document)
        for citation in excerpt.citations
    )


def holds(evidence: Evidence, question: Question) -> bool:
    """Whether the excerpts hold the answer, cited or as the context of something cited."""
    return any(
        _holds(excerpt.tree, question) for excerpt in evidence.excerpts if excerpt.address.endswith(question.document)
    )


def _holds(tree: Document, question: Question) -> bool:
    return any(_answers(place, question) for place in tree.nodes if place.is_sentence or place.tag == "tr")


def _answers(place: Node, question: Question) -> bool:
    texts = [sentence.text for sentence in place.sentences()]
    if place.tag == "tr":
        texts += [cell.content for cell in place.children]
    return question.answer in texts and (not question.row or question.row in texts)


def _citations(evidence: Evidence) -> int:
    return sum(len(excerpt.citations) for excerpt in evidence.excerpts)


def _latency(answers: Sequence[Evidence]) -> Iterator[Figure]:
    steps = {step: [answer.milliseconds.get(step, 0.0) for answer in answers] for step in answers[0].milliseconds}
    whole = [sum(answer.milliseconds.values()) for answer in answers]
    model_and_scan = [a.milliseconds.get("embed", 0.0) + a.milliseconds.get("search", 0.0) for a in answers]
    steps |= {
        "whole question": whole,
        "without model and search": [w - m for w, m in zip(whole, model_and_scan, strict=True)],
    }
    for step, values in steps.items():
        yield Figure(f"{step}, p50", statistics.median(values), "ms")
        yield Figure(f"{step}, p95", sorted(values)[int(len(values) * 0.95)], "ms")
