"""Evidence: what a question gets, grouped by document, within a token budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from evidence.language.chat import Usage
from evidence.tree.document import Document
from evidence.tree.path import Path, PathSet


@dataclass(frozen=True)
class Why:
    """Why a place was found, and why what stands with it does.

    ``vector_rank`` and ``text_rank``: how near its meaning and its words are among all, from 1; None where it was not found
    that way. ``words`` of the question stand in its paragraph or in its context. ``identifiers`` of the question, that many,
    stand in the place itself. ``context``: what each policy added. ``relevance``: how likely it
    is to help, from 0 to 1, by the judge that read it; None without one.
    """

    vector_rank: int | None
    text_rank: int | None
    words: tuple[str, ...] = ()
    identifiers: int = 0
    context: tuple[tuple[str, str], ...] = ()
    relevance: float | None = None


@dataclass(frozen=True)
class Citation:
    """A place that answers: the path of a sentence or a row, what it says, its similarity to the question (cosine), its
    place among all that was found, from 1, and why it was."""

    path: Path
    text: str
    score: float
    rank: int
    why: Why


@dataclass(frozen=True)
class Excerpt:
    """The evidence of one document: its tree pruned to link(P), and the places in it that are cited.

    ``text`` is what a language model is given, and ``tokens`` the exact count of it. An excerpt of ``Evidence.definitions``
    has no citations: it explains words, and answers nothing.
    """

    document_id: int
    revision_id: int
    revision: int
    collection: str
    title: str
    address: str
    tree: Document
    citations: tuple[Citation, ...]
    text: str
    tokens: int

    @cached_property
    def cited(self) -> PathSet:
        """The paths of the citations."""
        return PathSet(citation.path for citation in self.citations)


@dataclass(frozen=True)
class Filtered:
    """What a filter made of the candidates: how many it was to read, how many are kept. Of a judge that is all; what follows
    is a language model's.

    ``grades``: of what it picked, by revision and position; those of labels.GRADES. ``failures``: revisions whose candidates
    were not judged and stay, and why. ``faults``: how often what was wrong in its replies.
    """

    model: str
    read: int
    kept: int
    grades: Mapping[tuple[int, int], int]
    failures: Mapping[int, str]
    faults: Mapping[str, int]
    usage: Usage


@dataclass(frozen=True)
class Evidence:
    """The excerpts that a question gets, the best first, and from glossaries the definitions of terms that these use;
    ``tokens`` is the sum of all, never above ``budget``. Where ``likely`` is false, what was searched seems to hold no
    answer, and this is only the nearest."""

    question: str
    budget: int
    tokens: int
    excerpts: tuple[Excerpt, ...]
    milliseconds: dict[str, float]
    index: str
    definitions: tuple[Excerpt, ...] = ()
    likely: bool = True
    filtered: Filtered | None = None
