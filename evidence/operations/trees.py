"""Whether what is derived from each revision is what its bytes give: parsed again, and compared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest

import sqlalchemy as sa

from evidence.configured import OtherModel, embedder_of, optional_policies, pipeline, policies_named
from evidence.ingest.contexts import Contexts
from evidence.ingest.documents import Prepared, prepare
from evidence.ingest.readers import FORMATS, Unreadable, parser_of
from evidence.ingest.rebuild import write_missing_wordings
from evidence.ingest.rederive import revision_rederive
from evidence.ingest.sources import Arrival
from evidence.ingest.wordings import blocks_of, language_of
from evidence.language.embedder import ModelError
from evidence.models import Document, Revision
from evidence.operations.finding import REPAIR, Finding
from evidence.store.indexes import Index
from evidence.store.repeats import digests_of
from evidence.store.revisions import NODE_COLUMNS, node_rows, read_contexts, read_node_rows
from evidence.store.schema import definition, seed, wording
from evidence.store.wording import differing_wordings
from evidence.tree.context import POLICIES, glossary_entries

Told = tuple[tuple[str, int, int], ...]
"""A global context as it is compared: policy, position and tokens of each place."""


@dataclass
class Trees:
    """Looks at revisions, one after the other. What many of them have in common is counted, and told at the end."""

    ways: list[Index]
    older: dict[str, int] = field(default_factory=dict)
    """Documents of each collection whose current revision an older parser has read."""
    switched: dict[str, int] = field(default_factory=dict)
    """Documents of each collection (by its slug) whose contexts are those of other policies than are on."""
    wordless: int = 0

    def findings(self, revision_id: int) -> Iterator[Finding]:
        """What is wrong with a revision; nothing when it has gone meanwhile."""
        revision = Revision.objects.select_related("document__collection").filter(pk=revision_id).first()
        if revision is None:
            return
        document, content = revision.document, bytes(revision.content)
        place = f"{document.collection}: {document.address} (revision {revision.number})"
        if hashlib.sha256(content).hexdigest() != revision.content_hash:
            remedy = "deleting it in the admin and manage.py ingest, or manage.py restore of a good backup"
            yield Finding(place, "its bytes are not those that were received", remedy)
            return
        if revision.format not in FORMATS or revision.parser != parser_of(revision.format):
            if document.current_id == revision_id:
                name = document.collection.name
                self.older[name] = self.older.get(name, 0) + 1
            return
        source = Arrival(document.address, content, revision.charset, revision.format)
        policies = policies_named(document.collection.policies)
        try:
            made = prepare(source, revision.content_hash, self.ways, policies)
        except Unreadable as error:
            yield Finding(place, f"the parser that has read it can no longer ({error})", "manage.py ingest")
            return
        with pipeline() as connection:
            locked = Document.objects.select_for_update(of=("self",), no_key=True).filter(pk=document.pk).first()
            if locked is None or not Revision.objects.filter(pk=revision_id).exists():
                return
            problems = [*_about(revision, made), *_nodes(connection, revision_id, made)]
            if problems:  # all else is told by positions in the tree
                pass
            elif locked.current_id == revision_id:
                problems = list(self._current(connection, revision, made))
            else:
                problems = list(_old(connection, revision_id, made))
        repair = partial(revision_rederive, revision_id=revision_id)
        for number, problem in enumerate(problems):
            yield Finding(place, problem, REPAIR, repair=None if number else repair)

    def due(self) -> Iterator[Finding]:
        """What is not wrong, and left to do."""
        for name, count in self.older.items():
            problem = f"{count} documents were read by an older parser"
            yield Finding(name, problem, f'manage.py ingest PATH --collection "{name}", again', is_damage=False)
        for slug, count in self.switched.items():
            problem = f"{count} documents have the contexts of other policies than are on"
            yield Finding(slug, problem, f"manage.py index contexts {slug}", is_damage=False)
        if self.wordless:
            problem = f"it does not know {self.wordless} documents, such as those taken in before there was full text"
            remedy = "manage.py index build NAME"
            yield Finding("full text", problem, remedy, is_damage=False, repair=write_missing_wordings)

    def _current(self, connection: sa.Connection, revision: Revision, made: Prepared) -> Iterator[str]:
        collection = revision.document.collection
        yield from _seeds(connection, revision.pk, made)
        stored = _told(read_contexts(connection, revision.pk))
        problems = [*_contexts(connection, revision.pk, made, stored), *_definitions(connection, revision.pk, made)]
        if not problems:
            problems += self._wordings(connection, revision, made)
            for way in self.ways:
                problems += _units(connection, way, revision.pk, made, stored)
        elif _by_other_policies(connection, revision.pk, made, stored):
            self.switched[collection.slug] = self.switched.get(collection.slug, 0) + 1
            return
        yield from problems

    def _wordings(self, connection: sa.Connection, revision: Revision, made: Prepared) -> Iterator[str]:
        held = sa.select(sa.literal(1)).where(wording.c.revision_id == revision.pk).limit(1)
        if made.wordings and connection.execute(held).first() is None:
            self.wordless += 1
            return
        wrong = differing_wordings(
            connection,
            revision_id=revision.pk,
            collection_id=revision.document.collection_id,
            configuration=language_of(made.tree),
            wordings=made.wordings,
        )
        if wrong:
            yield f"full text knows {wrong} of its blocks otherwise than they are"


def usable(ways: Sequence[Index]) -> tuple[list[Index], list[Finding]]:
    """The indexes whose model can be had, so that what they hold can be compared; and what is to say of the others."""
    found, findings = [], []
    for way in ways:
        try:
            embedder_of(way)
        except (OtherModel, ModelError) as error:
            remedy = f"another SPIRE_EMBEDDER, or manage.py index build NAME and manage.py index drop {way.name}"
            findings.append(Finding(f"index {way.name}", f"its vectors cannot be compared: {error}", remedy))
        else:
            found.append(way)
    return found, findings


def _about(revision: Revision, made: Prepared) -> Iterator[str]:
    wanted = (made.tree.title, made.tree.language, sum(1 for _ in made.tree.sentences()))
    if (revision.title, revision.language, revision.sentences) != wanted:
        yield "its title, its language or the number of its sentences is not that of its bytes"


def _nodes(connection: sa.Connection, revision_id: int, made: Prepared) -> Iterator[str]:
    stored = read_node_rows(connection, revision_id)
    if not stored:
        yield "its tree is missing"
        return
    differing, first = 0, ""
    for wanted, held in zip_longest(node_rows(revision_id, made.tree, made.tokens), stored):
        if wanted != held:
            differing += 1
            first = first or _difference(wanted, held)
    if differing:
        yield f"its tree is not that of its bytes: {differing} nodes differ, the first one {first}"


def _difference(wanted: Sequence[object] | None, held: Sequence[object] | None) -> str:
    known = wanted or held or ()
    path = str(known[NODE_COLUMNS.index("path")]).partition(".")[2] or "root"
    if wanted is None or held is None:
        return f"at {path}, which is {'missing' if held is None else 'too much'}"
    names = [name for name, one, other in zip(NODE_COLUMNS, wanted, held, strict=True) if one != other]
    return f"at {path} in its {', '.join(names)}"


def _seeds(connection: sa.Connection, revision_id: int, made: Prepared) -> Iterator[str]:
    rows = connection.execute(
        sa.select(seed.c.position, seed.c.digest).where(seed.c.revision_id == revision_id).order_by(seed.c.position)
    )
    stored = [(position, None if digest is None else bytes(digest)) for position, digest in rows]
    positions = [position for position, _ in made.seeds]
    digests = digests_of(made.tree, [made.tree.nodes[position] for position in positions])
    if stored != list(zip(positions, digests, strict=True)):
        yield f"its seeds are not those of its bytes ({len(stored)} instead of {len(positions)}, or others)"


def _told(contexts: Sequence[object]) -> list[Told]:
    return [
        tuple(zip(entry.policies, entry.positions, entry.tokens, strict=True))  # type: ignore[attr-defined]
        for entry in contexts
    ]


def _placed(connection: sa.Connection, revision_id: int, stored: Sequence[Told]) -> dict[int, Told | None]:
    """The context of each stored seed, by position; None where its number stands for none."""
    rows = connection.execute(sa.select(seed.c.position, seed.c.context).where(seed.c.revision_id == revision_id))
    return {position: stored[number] if 0 <= number < len(stored) else None for position, number in rows}


def _contexts(connection: sa.Connection, revision_id: int, made: Prepared, stored: Sequence[Told]) -> Iterator[str]:
    distinct = _told(made.contexts.distinct)
    wanted = {position: distinct[number] for position, number in made.seeds}
    placed = _placed(connection, revision_id, stored)
    wrong = sum(placed.get(position) != context for position, context in wanted.items())
    if wrong:
        yield f"the contexts of {wrong} of its seeds are not those that its policies find"


def _definitions(connection: sa.Connection, revision_id: int, made: Prepared) -> Iterator[str]:
    if _defined(connection, revision_id) != set(glossary_entries(made.tree, made.policies)):
        yield "its definitions are not those of its bytes"


def _defined(connection: sa.Connection, revision_id: int) -> set[tuple[str, int]]:
    rows = connection.execute(
        sa.select(definition.c.term, definition.c.position).where(definition.c.revision_id == revision_id)
    )
    return {(term, position) for term, position in rows}


def _by_other_policies(connection: sa.Connection, revision_id: int, made: Prepared, stored: Sequence[Told]) -> bool:
    """Whether a collection's switches explain what is stored: all that the policies find that are always on is there."""
    always = {policy.name for policy in POLICIES}

    def kept(context: Told | None) -> list[tuple[str, int, int]] | None:
        return None if context is None else [place for place in context if place[0] in always]

    distinct = _told(made.contexts.distinct)
    placed = _placed(connection, revision_id, stored)
    everything = set(glossary_entries(made.tree, (*POLICIES, *optional_policies())))
    return _defined(connection, revision_id) in (set(), everything) and all(
        kept(placed.get(position)) == kept(distinct[number]) for position, number in made.seeds
    )


def _units(
    connection: sa.Connection, way: Index, revision_id: int, made: Prepared, stored: Sequence[Told]
) -> Iterator[str]:
    table, plan = way.table, made.plans[way.id]
    rows = connection.execute(
        sa.select(table.c.positions, table.c.hash, table.c.tokens, table.c.block, table.c.context)
        .where(table.c.revision_id == revision_id)
        .order_by(table.c.ordinal)
    ).all()
    if not rows and not way.complete:
        return
    if len(rows) != len(plan.units):
        yield f"index {way.name} holds {len(rows)} vectors of it instead of {len(plan.units)}"
        return
    contexts = Contexts(made.tokens)
    blocks = blocks_of(made.tree, [unit.nodes[0].position for unit in plan.units])
    wrong = 0
    for row, unit, digest in zip(rows, plan.units, plan.hashes, strict=True):
        positions = [node.position for node in unit.nodes]
        own = sum(made.tokens[position] for position in positions)
        told = _told([contexts.distinct[contexts.number(unit.context)]])[0]
        is_same = (list(row.positions), bytes(row.hash), row.tokens) == (positions, digest, own)
        # An index that is older than full text knows no blocks yet.
        is_same = is_same and row.block in (None, blocks.get(positions[0]))
        wrong += not (is_same and 0 <= row.context < len(stored) and stored[row.context] == told)
    if wrong:
        yield f"{wrong} of its vectors in index {way.name} are of other texts, places or contexts than it has"


def _old(connection: sa.Connection, revision_id: int, made: Prepared) -> Iterator[str]:
    """A revision that is no longer current keeps its tree; its contexts are those of the policies of its time."""
    yield from _seeds(connection, revision_id, made)
    stored = _told(read_contexts(connection, revision_id))
    places = {position for context in stored for _, position, _ in context}
    if None in _placed(connection, revision_id, stored).values() or not places <= set(range(len(made.tree.nodes))):
        yield "seeds of it have contexts that are not there"
