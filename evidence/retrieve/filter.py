"""The contextual filter: a language model reads candidates in their local context, and says by labels which of them help."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import NamedTuple

from evidence.language.chat import Chat, ChatError, Message, Usage
from evidence.retrieve.budget import fill
from evidence.retrieve.evidence import Filtered
from evidence.retrieve.labels import GRADES, HELPS, read_reply, schema_of
from evidence.retrieve.prompts import UNREADABLE, to_pick
from evidence.retrieve.views import Readable, View, as_hit, seeds_of, views_of
from evidence.store.search import Hit

MOST_IDLE = 40
"""Candidates in a row of which nothing is kept; then no more are read, whatever is left of the budget."""

MOST_REPLY_TOKENS = 400

log = logging.getLogger(__name__)

Library = Callable[[Sequence[int]], Mapping[int, Readable]]
"""Gives revisions to read in. The candidates of one that is missing (too large, or gone) are not judged."""


@dataclass(frozen=True)
class Filter:
    """A language model, and how much of it a question may have: requests at once, and seconds in all."""

    chat: Chat
    library: Library
    at_once: int = 4
    seconds: float = 20.0

    def choose(self, question: str, hits: Sequence[Hit], budget: int) -> tuple[list[Hit], Filtered]:
        """Of candidates, the best first, those that the model keeps: what answers before what helps.

        They are read in batches of what would fill the rest of the budget, until it is full, the candidates end, or the
        time does. A neighbour that the model picks is kept, too. Candidates of a document that could not be judged stay.
        Where nothing could be, all candidates stay.
        """
        work = _Work(self, question, time.monotonic() + self.seconds)
        rest = list(hits)
        idle = 0
        while rest and idle < MOST_IDLE and time.monotonic() < work.until:
            batch = _batch(work.kept(), rest, budget)
            if not batch:
                break
            taken = {id(hit) for hit in batch}
            rest = [hit for hit in rest if id(hit) not in taken]
            picks, views = len(work.picks), work.views
            work.read(batch)
            if work.failures and work.views == views:
                break
            if work.views > views:
                idle = idle + len(batch) if len(work.picks) == picks else 0
        kept = work.kept() if work.views or not work.failures else list(hits)
        filtered = work.summary(read=len(hits) - len(rest), kept=len(kept))
        log.info("%s: %s", self.chat.name, filtered)
        return kept, filtered


class _Pick(NamedTuple):
    """A hit that stays, and what puts it in order: the worth, the candidate's place among all, its own place."""

    worth: int
    rank: int
    position: int
    hit: Hit


@dataclass
class _Work:
    """The filter at work on one question."""

    filter: Filter
    question: str
    until: float
    picks: list[_Pick] = field(default_factory=list)
    grades: dict[tuple[int, int], int] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)
    failures: dict[int, str] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    views: int = 0
    """Views that were judged."""

    _ranks: dict[int, int] = field(default_factory=dict)
    _judged: dict[int, set[int]] = field(default_factory=dict)
    _readable: dict[int, Readable] = field(default_factory=dict)

    def kept(self) -> list[Hit]:
        ordered = sorted(self.picks, key=lambda pick: (-pick.worth, pick.rank, pick.position))
        return [pick.hit for pick in ordered]

    def read(self, batch: Sequence[Hit]) -> None:
        """Judge a batch of candidates, a request for each view."""
        for hit in batch:
            self._ranks[id(hit)] = len(self._ranks)
        views = self._views(batch)
        pool = ThreadPoolExecutor(self.filter.at_once)
        # In the context of the request, by which the log knows what belongs together.
        asked = {pool.submit(copy_context().run, self._ask, view): view for view in views}
        done, _ = wait(asked, max(self.until - time.monotonic(), 0))
        # Whoever is not done by now is not waited for; its own time-out ends it.
        pool.shutdown(wait=False, cancel_futures=True)
        for future, view in asked.items():
            if future in done:
                self._take(future, view)
            else:
                self._leave(view.hits, "the time was over")

    def summary(self, *, read: int, kept: int) -> Filtered:
        return Filtered(
            model=self.filter.chat.name,
            read=read,
            kept=kept,
            grades=self.grades,
            failures=self.failures,
            faults=dict(self.faults),
            usage=self.usage,
        )

    def _views(self, batch: Sequence[Hit]) -> list[View]:
        by_revision: dict[int, list[Hit]] = {}
        for hit in batch:
            by_revision.setdefault(hit.revision_id, []).append(hit)
        missing = [revision_id for revision_id in by_revision if revision_id not in self._readable]
        self._readable |= self.filter.library(missing) if missing else {}
        views = []
        for revision_id, hits in by_revision.items():
            source = self._readable.get(revision_id)
            if source is None:
                self._leave(hits, "it is too large to be read around the candidates")
                continue
            self._leave([hit for hit in hits if not seeds_of(source.tree, hit)])
            judged = self._judged.setdefault(revision_id, set())
            made = views_of(source, hits, judged)
            for view in made:
                judged.update(view.nearest)
            views += made
        return views

    def _ask(self, view: View) -> tuple[dict[str, int], Counter[str], Usage]:
        """The grades that the model gives. An unreadable reply is tried once more. ChatError says why there are none."""
        table = view.shown.table
        messages = to_pick(self.question, view.shown.text)
        faults: Counter[str] = Counter()
        usage = Usage()
        for _ in range(2):
            reply = self.filter.chat.complete(
                messages, most_tokens=MOST_REPLY_TOKENS, until=self.until, schema=schema_of(list(table))
            )
            usage += reply.usage
            reading = read_reply(reply.text, table)
            if reading is not None:
                return reading.grades, faults + reading.faults, usage
            faults["unreadable"] += 1
            messages = [*messages, Message("assistant", reply.text[:500]), Message("user", UNREADABLE)]
        raise _Unreadable(faults, usage)

    def _take(self, future: Future[tuple[dict[str, int], Counter[str], Usage]], view: View) -> None:
        try:
            grades, faults, usage = future.result()
        except _Unreadable as error:
            self.faults += error.faults
            self.usage += error.usage
            self._leave(view.hits, "its replies could not be read")
        except ChatError as error:
            self._leave(view.hits, str(error))
        else:
            self.views += 1
            self.faults += faults
            self.usage += usage
            for label, grade in grades.items():
                self._pick(view, view.shown.table[label], grade)

    def _pick(self, view: View, position: int, grade: int) -> None:
        candidate = view.nearest[position]
        hit = as_hit(self._readable[candidate.revision_id], position, candidate)
        self.grades[hit.revision_id, position] = grade
        self.picks.append(_Pick(grade, self._ranks[id(candidate)], position, hit))

    def _leave(self, hits: Sequence[Hit], failure: str = "") -> None:
        """Let candidates stay that nobody has judged."""
        for hit in hits:
            if failure:
                self.failures.setdefault(hit.revision_id, failure)
            self.picks.append(_Pick(GRADES[HELPS], self._ranks[id(hit)], hit.positions[0], hit))


class _Unreadable(Exception):
    """No reply of the model could be read."""

    def __init__(self, faults: Counter[str], usage: Usage) -> None:
        super().__init__()
        self.faults = faults
        self.usage = usage


def _batch(kept: Sequence[Hit], rest: Sequence[Hit], budget: int) -> list[Hit]:
    """Of the candidates that are left, those that the budget would hold beside what is kept."""
    chosen = {id(hit) for selection in fill([*kept, *rest], budget) for hit in selection.hits}
    return [hit for hit in rest if id(hit) in chosen]
