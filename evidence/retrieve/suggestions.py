"""What a question that is being typed could go on with: words, and titles and headings, from what the reader may see."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evidence.configured import pipeline
from evidence.store.suggest import Found, beginning_with, headings_with
from evidence.tree.sentences import visible
from evidence.tree.words import plain_words

LONGEST_TYPED = 200
SHORTEST = 2
"""Letters with which something is looked for. With one, nearly everything begins."""

MOST = 8
LONGEST_HEADING = 90

LAST_WORD = re.compile(r"[^\W_]+\W*$")
LAST_TOKEN = re.compile(r"\S+$")


def suggestions(typed: str, *, collections: Sequence[int]) -> list[str]:
    """Questions that go on from what is typed, the most telling first, at most ``MOST``: the text with its last word
    completed, and titles and headings that hold all its words. Everything comes from these collections.
    """
    text = visible(typed)[:LONGEST_TYPED].lstrip()
    words = plain_words(text).split()
    token = LAST_TOKEN.search(text)
    last = words.pop() if words and token else ""
    identifier = token[0].casefold() if token and plain_words(token[0]) != token[0].casefold() else ""
    if not collections or max(len(last), len(identifier)) < SHORTEST:
        return []
    # Of "pg_h" the last word is too short, and the identifier is not.
    beginning = last if len(last) >= SHORTEST else ""
    with pipeline() as connection:
        # "max_con" goes on as identifiers do, and "carry-ov" as words do.
        found = beginning_with(connection, "", identifier, collections=collections) if identifier else []
        found = found or beginning_with(connection, beginning, "", collections=collections)
        headings = headings_with(connection, words, last, collections=collections) if beginning else []
    told = [heading for heading in _fitting(headings, words, last) if heading.casefold() != text.casefold()]
    known = {text.casefold(), *(heading.casefold() for heading in told)}
    named = [text[: token.start()] + name for name in _named(found, identifier)] if token else []
    completed = named or [LAST_WORD.sub(word, text) for word in _surfaces(found, beginning)]
    completed = [question for question in dict.fromkeys(completed) if question.casefold() not in known]
    # Half of each, and more of one where there is less of the other.
    return [*completed[: max(MOST // 2, MOST - len(told))], *told][:MOST]


def _surfaces(found: Iterable[Found], beginning: str) -> Iterable[str]:
    """The words as texts have them, by how often their stems stand there: full text keeps stems only."""
    for one in found:
        if not beginning or one.lexeme.startswith("="):
            continue
        words = {word for text in one.examples for word in plain_words(text).split() if word.startswith(beginning)}
        words.discard(beginning)
        if words:
            yield max(sorted(words), key=lambda word: (_shared(word, one.lexeme), -len(word)))


def _named(found: Iterable[Found], beginning: str) -> Iterable[str]:
    """The identifiers as texts have them: full text keeps them without case."""
    for one in found:
        name = one.lexeme[1:]
        if beginning and one.lexeme.startswith("=") and name != beginning:
            places = ((text, text.lower().find(name)) for text in one.examples)
            yield next((text[at : at + len(name)] for text, at in places if at >= 0), name)


def _shared(word: str, stem: str) -> int:
    """How many letters a word begins with as the stem does."""
    pairs = enumerate(zip(word, stem, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(word), len(stem)))


def _fitting(headings: Iterable[str], words: Sequence[str], last: str) -> list[str]:
    """The headings that hold the words and one that begins with the last, each once: those that begin with them first,
    then the shorter ones."""
    typed = " ".join([*words, last])
    fitting: dict[str, str] = {}
    for heading in headings:
        plain = plain_words(heading)
        said = plain.split()
        holds = all(word in said for word in words) and any(word.startswith(last) for word in said)
        if holds and len(heading) <= LONGEST_HEADING:
            fitting.setdefault(plain, " ".join(heading.split()))
    ordered = sorted(fitting, key=lambda plain: (not plain.startswith(typed), len(plain), plain))
    return [fitting[plain] for plain in ordered]
