"""What the experiments are made on: pages, questions, and the gold that answers them."""

from __future__ import annotations

from dataclasses import dataclass, field


class DataError(Exception):
    """A set that cannot be read; the message names the file, and the line where there is one."""


@dataclass(frozen=True)
class Gold:
    """One thing that an answer needs, as the data give it: where it stands, and how it is known there.

    ``texts`` are other ways to say it, each the whole text of a place. With ``is_phrase`` a text may be a part of the
    place: every sentence that holds it serves. ``anchor`` is the id of the table cell that holds it, ``path`` its path.
    """

    document: str
    texts: tuple[str, ...] = ()
    is_phrase: bool = False
    anchor: str = ""
    path: str = ""


@dataclass(frozen=True)
class Question:
    """A question, and all that its answer needs; nothing for one that the pages do not answer."""

    text: str
    gold: tuple[Gold, ...]
    origin: str = ""


@dataclass(frozen=True)
class Page:
    """A page of a set: the address it is known by, and its HTML."""

    address: str
    data: bytes


@dataclass(frozen=True)
class Set:
    """The pages of a set, together one collection, and the questions that are asked of all of them."""

    name: str
    about: str
    pages: tuple[Page, ...]
    questions: tuple[Question, ...] = field(repr=False)
