"""The policy "definition": a term that a sentence uses brings its definition from elsewhere in the document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from evidence.tree.definitions import SHORT_FORM, Definition, find_definitions
from evidence.tree.document import Document, Node
from evidence.tree.terms import Terms, words_of

MOST_TERMS = 3
"""Terms of a seed that are explained: those that the fewest sentences use."""

COMMON_SHARE = 0.1
COMMON = 20
"""A term in more sentences than this, and in more than a tenth of them, is what the page is about."""


def definition(node: Node) -> Iterable[Node]:
    """The definitions of the terms that a node uses, the rarest terms first."""
    glossary = glossary_of(node.document)
    used: dict[int, None] = {}
    for sentence in node.sentences():
        used.update(dict.fromkeys(glossary.uses.get(sentence.position, ())))
    explained = [number for number in used if not _explains_itself(node, glossary.definitions[number])]
    explained.sort(key=lambda number: glossary.sentences[number])
    return [found for number in explained[:MOST_TERMS] for found in glossary.definitions[number].nodes]


class Glossary:
    """The definitions of a document, and which sentences use their terms."""

    def __init__(self, document: Document) -> None:
        chosen: dict[tuple[str, ...], Definition] = {}
        for found in find_definitions(document):
            chosen.setdefault(words_of(found.term), found)
        self.definitions = list(chosen.values())
        self.uses: dict[int, list[int]] = {}
        """For the position of a sentence the terms that it uses, but for those that are too common to need a word."""

        self.sentences: Counter[int] = Counter()
        """In how many sentences each term stands."""

        if chosen:
            self._find_uses(document, Terms(chosen))

    def _find_uses(self, document: Document, terms: Terms) -> None:
        total = 0
        for sentence in document.sentences():
            total += 1
            if sentence.parent is not None and sentence.parent.tag == "pre":
                continue
            if found := terms.found_in(sentence.text):
                self.uses[sentence.position] = found
                self.sentences.update(found)
        most = max(COMMON, COMMON_SHARE * total)
        common = {number for number, count in self.sentences.items() if count > most}
        if common:
            self.uses = {
                position: rest
                for position, found in self.uses.items()
                if (rest := [number for number in found if number not in common])
            }


def glossary_of(document: Document) -> Glossary:
    """The glossary of a document, made when it is first asked for."""
    found = document.findings.get("glossary")
    if not isinstance(found, Glossary):
        found = document.findings["glossary"] = Glossary(document)
    return found


def _explains_itself(node: Node, definition: Definition) -> bool:
    """Whether the node stands in the definition, or has the long form of an abbreviation by it as its title."""
    if definition.first <= node.last and node.position <= definition.last:
        return True
    shown = f">{definition.term}</abbr>"
    return definition.sureness == SHORT_FORM and any(shown in sentence.markup for sentence in node.sentences())
