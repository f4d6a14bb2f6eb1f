"""Whether what a sentence says is in what it cites: its numbers, names and quoted words, by letters. No model judges."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from evidence.retrieve.evidence import Citation, Excerpt
from evidence.tree.document import Document, Node
from evidence.tree.structure import HEADING_SCOPES
from evidence.tree.tags import HEADINGS

NUMBER = re.compile(r"\d+(?:[.,:/'’\u00a0\u202f]\d+)*")
BETWEEN_DIGITS = re.compile(r"(?<=\d)[,'’\u00a0\u202f](?=\d{3}(?!\d))")
QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,300})[\"”“»]")
WORD = re.compile(r"[^\W\d_][\w’'-]*")
NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
# German writes all nouns with a capital: that is no name.
NOUNS_ARE_CAPITAL = ("de", "lb")
NO_NAMES = frozenset(["I", "A", "The"])


def support_of(excerpt: Excerpt, citation: Citation) -> str:
    """What a claim that cites this may take from: the cited text, the title, the headings over it, and what the excerpt
    holds only as context (labels of lists, terms, headers, captions)."""
    tree = excerpt.tree
    node = tree.at(citation.path)
    cited = {part.position for path in excerpt.cited for part in tree.at(path).sentences()}
    context = [
        sentence.text
        for sentence in tree.sentences()
        if sentence.position not in cited and sentence.nearest(*HEADINGS) is None
    ]
    return " \n ".join([excerpt.title, *_headings_over(tree, node), *context, citation.text])


def _headings_over(tree: Document, node: Node) -> list[str]:
    active: list[Node] = []
    for other in tree.nodes:
        if other.position >= node.position:
            break
        if other.tag in HEADINGS:
            active = [*(heading for heading in active if heading.tag < other.tag), other]
    scopes = [(heading, heading.nearest(*HEADING_SCOPES)) for heading in active]
    return [heading.content for heading, scope in scopes if scope is None or scope.last >= node.position]


def missing_from(claim: str, supports: Sequence[str], language: str = "en") -> tuple[str, ...]:
    """The numbers, names and quoted words of a claim that none of the texts holds."""
    text = " \n ".join(supports)
    numbers, words, letters = set(_numbers(text)), {_bare(word) for word in WORD.findall(_folded(text))}, _letters(text)
    missing = [number for number in _numbers(claim, spelled=False) if number not in numbers]
    missing += [quote for quote in QUOTED.findall(claim) if _letters(quote) not in letters]
    if not language.lower().startswith(NOUNS_ARE_CAPITAL):
        missing += [name for name in _names(claim) if _bare(_folded(name)) not in words]
    return tuple(dict.fromkeys(missing))


def _numbers(text: str, *, spelled: bool = True) -> Iterator[str]:
    for found in NUMBER.findall(BETWEEN_DIGITS.sub("", text)):
        yield found.rstrip(".,:/")
    if spelled:
        for word in WORD.findall(text.casefold()):
            if word in NUMBER_WORDS:
                yield NUMBER_WORDS[word]


def _names(claim: str) -> Iterator[str]:
    """Words with a capital, but for the first of the sentence and those of quotations, which are compared whole."""
    bare = QUOTED.sub(" ", claim)
    for number, found in enumerate(WORD.finditer(bare)):
        word = found[0]
        if number and word[0].isupper() and word not in NO_NAMES:
            yield word


def _bare(word: str) -> str:
    return re.sub(r"[’']s?$", "", word).rstrip("s")


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, _folded(text)))
