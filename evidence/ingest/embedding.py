"""The vectors of documents: only what an index does not know yet is given to the model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from evidence.configured import embedder_of, pipeline
from evidence.ingest.units import sections_of, units_of
from evidence.language.embedder import Embedder, Vectors, Window, pack
from evidence.store import indexes
from evidence.store.indexes import Index
from evidence.tree.context import POLICIES, Policy
from evidence.tree.document import Document
from evidence.tree.units import Unit, single_text

HASH_BYTES = 16


@dataclass
class Plan:
    """How an index embeds one document: its units, and what the model is given for each.

    ``hashes`` and ``vectors`` go with ``units``. A unit's hash covers all that its vector depends on; two units with the
    same hash have the same vector.
    """

    units: list[Unit]
    singles: list[tuple[int, str]] = field(default_factory=list)
    windows: list[tuple[Window, tuple[int | None, ...]]] = field(default_factory=list)
    hashes: list[bytes] = field(default_factory=list)
    vectors: list[Vectors | str | None] = field(default_factory=list)


def plan(document: Document, index: Index, embedder: Embedder, policies: Sequence[Policy] = POLICIES) -> Plan:
    """What an index has to embed of a document. Rows of tables are always encoded one by one."""
    units = units_of(document, index.unit, policies)
    made = Plan(units, hashes=[b""] * len(units), vectors=[None] * len(units))
    if index.encoding == "shared":
        sections = list(sections_of(document, units, context=index.context))
        for section, windows in zip(
            sections, pack([(section.context, section.pieces) for section in sections], embedder), strict=True
        ):
            start = 0
            for window in windows:
                numbers = section.units[start : start + len(window.sentences)]
                start += len(window.sentences)
                if any(number is not None for number in numbers):
                    made.windows.append((window, numbers))
                for place, number in enumerate(numbers):
                    if number is not None:
                        made.hashes[number] = _hash(str(place), window.context, *window.sentences)
    for number, unit in enumerate(units):
        if not made.hashes[number]:
            text = single_text(unit, context=index.context)
            made.singles.append((number, text))
            made.hashes[number] = _hash(text)
    return made


def embed(plans: Sequence[Plan], index: Index) -> list[int]:
    """Find the vector of every unit of every plan: the index's own where it has it, else the model's. For each plan, how
    many of its units the model was asked for."""
    embedder = embedder_of(index)
    with pipeline() as connection:
        known: dict[bytes, str | Vectors] = dict(
            indexes.known(connection, index, (digest for made in plans for digest in made.hashes))
        )
    asked: set[bytes] = set()
    windows: list[tuple[Window, list[bytes | None]]] = []
    singles: dict[bytes, str] = {}
    for made in plans:
        for window, numbers in made.windows:
            digests = [None if number is None else made.hashes[number] for number in numbers]
            missing = {digest for digest in digests if digest is not None and digest not in known} - asked
            if missing:
                asked |= missing
                windows.append((window, digests))
        for number, text in made.singles:
            if made.hashes[number] not in known:
                singles[made.hashes[number]] = text
    asked |= singles.keys()
    for (_, digests), vectors in zip(windows, embedder.embed_windows([window for window, _ in windows]), strict=True):
        for digest, vector in zip(digests, vectors, strict=True):
            if digest is not None:
                known.setdefault(digest, vector)
    known.update(zip(singles, embedder.embed_passages(list(singles.values())), strict=True))
    for made in plans:
        made.vectors = [known[digest] for digest in made.hashes]
    return [sum(digest in asked for digest in made.hashes) for made in plans]


def _hash(*texts: str) -> bytes:
    given = "\0".join(texts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(given, digest_size=HASH_BYTES).digest()
