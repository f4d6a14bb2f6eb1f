"""Opening a saved question again: the evidence that it had, from the stored revisions, and what has become of it since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

from evidence.configured import pipeline
from evidence.models import Document, Revision, SavedCitation, SavedClaim, SavedExcerpt, SavedQuestion
from evidence.retrieve.answer import Claim, Source, Standing
from evidence.retrieve.evidence import Citation, Evidence, Excerpt, Why
from evidence.retrieve.pipeline import excerpt_from
from evidence.store.revisions import Linked, positions_of, read_links, read_tree
from evidence.tree.following import MOST_SENTENCES, Alignment, Followed, words_of
from evidence.tree.path import Path


@dataclass(frozen=True)
class Since:
    """What has become of a citation: its state in the document's current revision, the number of this, and there the path
    and the words. Removed, it has none of them; "unfollowed", in documents that are too large, only the revision."""

    state: str
    revision: int | None = None
    path: Path | None = None
    text: str = ""


@dataclass(frozen=True)
class Reopened:
    """A saved question: the evidence and the answer that it had, its citations by number, and what has become of each.

    ``removed`` are the numbers of citations whose documents have been deleted: nothing is known of them.
    ``forgotten`` is how many sentences of the answer went with them.
    """

    evidence: Evidence
    sources: Mapping[int, Source]
    since: Mapping[int, Since]
    claims: tuple[Claim, ...]
    removed: tuple[int, ...]
    forgotten: int


def question_reopen(question: SavedQuestion) -> Reopened:
    """A saved question with exactly the evidence that it had; nothing is searched, and no model asked.

    A few statements, and two trees for each document that has changed since, up to MOST_SENTENCES in all of them together.
    """
    excerpts = list(question.excerpts.all())
    saved: dict[int, list[SavedCitation]] = {excerpt.pk: [] for excerpt in excerpts}
    for citation in question.citations.all():
        saved[citation.excerpt_id].append(citation)
    paths = {excerpt.revision_id: list(map(Path.parse, excerpt.paths)) for excerpt in excerpts}
    with pipeline() as connection:
        linked = read_links(connection, positions_of(connection, paths))
    answering: list[Excerpt] = []
    definitions: list[Excerpt] = []
    sources: dict[int, Source] = {}
    for excerpt in excerpts:
        if excerpt.revision_id not in linked:  # deleted since the excerpts were read
            continue
        made = _excerpt(excerpt, linked[excerpt.revision_id], saved[excerpt.pk])
        (answering if made.citations else definitions).append(made)
        by_path = {citation.path: citation for citation in made.citations}
        for citation in saved[excerpt.pk]:
            sources[citation.number] = Source(citation.number, made, by_path[Path.parse(citation.path)])
    evidence = Evidence(
        question.question,
        question.budget,
        question.tokens,
        tuple(answering),
        {"all": question.milliseconds},
        question.index,
        tuple(definitions),
        question.likely,
    )
    said = list(question.claims.all())
    claims = tuple(_claim(claim, sources) for claim in said if claim.text)
    removed = tuple(number for number in range(1, question.cited + 1) if number not in sources)
    return Reopened(evidence, sources, _since(sources), claims, removed, len(said) - len(claims))


def _excerpt(excerpt: SavedExcerpt, source: Linked, citations: list[SavedCitation]) -> Excerpt:
    made = [
        Citation(Path.parse(saved.path), saved.quote, saved.score, saved.rank, _why(saved.why)) for saved in citations
    ]
    made.sort(key=lambda citation: citation.rank)
    return excerpt_from(source, excerpt.revision_id, source.tree, tuple(made))


def _why(saved: dict[str, Any]) -> Why:
    context = tuple((policy, text) for policy, text in saved["context"])
    return Why(**{**saved, "words": tuple(saved["words"]), "context": context})


def _claim(claim: SavedClaim, sources: Mapping[int, Source]) -> Claim:
    named = tuple(sources[number] for number in claim.numbers if number in sources)
    return Claim(claim.text, named, cast(Standing, claim.standing), tuple(claim.missing))


def _since(sources: Mapping[int, Source]) -> dict[int, Since]:
    """What has become of each citation, by its number."""
    documents = Document.objects.filter(pk__in={source.excerpt.document_id for source in sources.values()})
    current = {pk: rest for pk, *rest in documents.values_list("pk", "current", "current__number")}
    both = {source.excerpt.revision_id for source in sources.values()} | {pk for pk, _ in current.values()}
    sentences = dict(Revision.objects.filter(pk__in=both).values_list("pk", "sentences"))
    found: dict[int, Since] = {}
    left = MOST_SENTENCES
    with pipeline() as connection:
        # An excerpt's citations together: two trees are held at a time.
        for revision_id, of_excerpt in groupby(sources.items(), lambda item: item[1].excerpt.revision_id):
            citations = {number: source.citation for number, source in of_excerpt}
            document = sources[next(iter(citations))].excerpt.document_id
            current_id, revision = current.get(document, (None, None))
            if current_id is None:
                found |= dict.fromkeys(citations, Since("removed"))
            elif current_id == revision_id:
                found |= {n: Since("unchanged", revision, made.path, made.text) for n, made in citations.items()}
            elif (size := sentences[revision_id] + sentences[current_id]) > left:
                found |= dict.fromkeys(citations, Since("unfollowed", revision))
            else:
                left -= size
                alignment = Alignment(*(read_tree(connection, pk) for pk in (revision_id, current_id)))
                found |= {n: _become(alignment.follow(made.path), revision) for n, made in citations.items()}
    return found


def _become(followed: Followed, revision: int | None) -> Since:
    if followed.node is None:
        return Since("removed", revision)
    return Since(followed.state, revision, followed.node.path, words_of(followed.node))
