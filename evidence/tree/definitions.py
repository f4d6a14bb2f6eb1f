"""The terms that a document defines, and where: definition lists, glossary tables and sections, ``dfn``, "X means …"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from evidence.tree.document import Document, Node
from evidence.tree.structure import Structure, grid_of, structure_of
from evidence.tree.tables import rows_of
from evidence.tree.tags import HEADINGS
from evidence.tree.terms import is_term

MOST_OF_A_PAGE = 0.5
FEWEST_TERMS = 3
LONGEST_SECTION_NAME = 80

# How sure it is that this is the definition; of several of one term, the surest is taken, then the first.
LISTED, SAID, SHORT_FORM = range(3)

SECTION = re.compile(
    r"""
    \b(?: definitions? | glossar(?:y|ies) | terminology | defined\ terms | interpretation | abbreviations? | acronyms?
        | following\ (?:terms|expressions)\b.* | vocabulary
        | begriffe | begriffsbestimmungen? | begriffsdefinition(?:en)? | definition(?:en)? | glossar
        | abkürzung(?:en|sverzeichnis)
        | folgende\ begriffe | bezeichnet\ der\ (?:ausdruck|begriff) | bezeichnen\ die\ (?:ausdrücke|begriffe)
        | définitions? | glossaire | abréviations | sigles | on\ entend\ par
        | definici(?:ón|ones) | glosario | abreviaturas | siglas | se\ entenderá\ por
        | definizioni | glossario | abbreviazioni | definicj[ae] | słownik(?:\ pojęć)? | skróty
    )\b | 用語|术语|術語|定义|定義
    """,
    re.IGNORECASE | re.VERBOSE,
)
TERM_COLUMN = re.compile(
    r"(?:defined )?(?:terms?|words?|expressions?|abbreviations?|acronyms?|begriffe?|ausdruck|abkürzung(?:en)?|kürzel"
    r"|termes?|sigles?|abréviations?|términos?|siglas?|abreviaturas?|termin[ei]|sigl[ae]|pojęci[ae]|skróty?)",
    re.IGNORECASE,
)
# As a ``dt`` these name a field of a record, and no term.
FIELDS = frozenset(
    """
    author authors date default description example examples format input license name note notes output owner parameters
    raises rationale result return returns see status summary syntax title type usage value values version warning
    autor beispiel beschreibung datum hinweis status titel typ wert
    """.split()
)

QUOTES = '"“”„‘‚«»‹›'
QUOTED = rf"[{QUOTES}]\s?(?P<term>[^{QUOTES}]{{2,60}}?)\s?[{QUOTES}’]"
VERB = (
    r"(?:means?|shall mean|has the (?:same )?meaning|have the (?:same )?meaning|refers? to|is defined as|are defined as"
    r"|stands for|denotes?|bezeichne[tn]|bedeute[tn]|meint|steht für|im Sinne|désignent?|signifient?|s'entend"
    r"|significan?|designan?|se entenderá|oznacza(?:ją)?)\b"
)
MEANS = re.compile(rf"{QUOTED}(?:\s+\([^()]{{1,40}}\))?(?:,[^,]{{1,60}},)?\s+{VERB}")
# „… bezeichnet der Ausdruck „X“ …", "on entend par « X »", and what contracts write: (the "Agreement").
INTRODUCED = re.compile(
    rf"(?:\b(?:Ausdruck|Begriff|term|expression|terme|término|entend par|entenderá por)\s+"
    rf"|(?<=\s)\((?:[^()]{{0,30}}\s)?(?={QUOTED.replace('?P<term>', '?:')}\))){QUOTED}"
)
BEGINS_QUOTED = re.compile(rf"(?:\(?\w{{1,5}}[).]\s+)?{QUOTED}")
BEGINS_MARKED = re.compile(r"<(?P<tag>b|strong|em|i)>(?P<term>[^<]{2,60}?):?</(?P=tag)>\s*(?:[:–—-]|[^\W\d_])")
BEGINS_PLAIN = re.compile(
    rf"(?:\(?\w{{1,5}}[).]\s+)?(?:(?:An?|The|Der|Die|Das|Eine?|Une?|Le|La|Una?|El)\s+)?"
    rf"(?P<term>\w[^.:;,–—]{{1,59}}?)(?:\s+{VERB}|\s*:\s+\S|\s+[–—-]\s+\S)"
)
DFN = re.compile(r"<dfn(?: title=\"(?P<title>[^\"]*)\")?>(?P<term>.*?)</dfn>")
ABBREVIATION = re.compile(r"<abbr title=\"[^\"]+\">(?P<term>[^<]{2,20})</abbr>")
SHORT = re.compile(r"\(([A-Z][A-Za-z]{0,6}[A-Z])s?\)")
TAGS = re.compile(r"<[^>]*>")
IN_BRACKETS = re.compile(r"(?P<term>[^()]+?)\s+\((?P<other>[^()]+)\)")


class Definition(NamedTuple):
    """A term, the nodes that define it (a ``dt`` and its ``dd``, a sentence, cells), and the range of positions that its
    definition takes."""

    term: str
    nodes: tuple[Node, ...]
    first: int
    last: int
    sureness: int


def definitions(document: Document) -> list[tuple[str, Node]]:
    """The terms that a document defines, each with a node that defines it; a term may have several nodes."""
    return [(found.term, node) for found in find_definitions(document) for node in found.nodes]


def is_glossary(document: Document) -> bool:
    """Whether most of what a page says is definitions of terms, set out as such."""
    listed = [found for found in find_definitions(document) if found.sureness == LISTED]
    if len({found.term for found in listed}) < FEWEST_TERMS:
        return False
    ranges = sorted({(found.first, found.last) for found in listed})
    total = defined = place = 0
    for sentence in document.sentences():
        if sentence.parent is document.title_node:
            continue
        total += len(sentence.text)
        while place < len(ranges) and ranges[place][1] < sentence.position:
            place += 1
        if place < len(ranges) and ranges[place][0] <= sentence.position:
            defined += len(sentence.text)
    return defined > MOST_OF_A_PAGE * total


def find_definitions(document: Document) -> list[Definition]:
    """All definitions of a document, the surest first, those that are equally sure in document order. Found once."""
    found = document.findings.get("definitions")
    if not isinstance(found, tuple):
        named = (d._replace(term=term) for d in _found(document) for term in _names(d.term) if is_term(term))
        ordered = sorted(named, key=lambda definition: (definition.sureness, definition.first))
        distinct = {(definition.term, definition.nodes[0].position): definition for definition in reversed(ordered)}
        found = document.findings["definitions"] = tuple(reversed(distinct.values()))
    return list(found)


def _names(term: str) -> list[str]:
    """The names in what stands as a term: "RTO (recovery time objective)" has two; other brackets are a remark."""
    term = term.strip(" :.\u00a0")
    two = IN_BRACKETS.fullmatch(term)
    if two is None:
        return [term]
    is_short_form = _is_spelled_out(two["term"], two["other"]) or _is_spelled_out(two["other"], two["term"])
    return [two["term"], two["other"]] if is_short_form else [two["term"]]


def _found(document: Document) -> Iterator[Definition]:
    structure = structure_of(document)
    sections = _Sections(document, structure)
    for node in document.nodes:
        if node.tag == "dl":
            yield from _of_list(node)
        elif node.tag == "table":
            yield from _of_table(node, sections)
        elif node.tag in HEADINGS:
            yield from _of_heading(node, structure, sections)
        elif node.is_sentence:
            yield from _of_sentence(node, structure, sections)


class _Sections:
    """Which places are in a section that is called "Definitions", or in a list that is introduced so."""

    def __init__(self, document: Document, structure: Structure) -> None:
        self._structure = structure
        self._known: dict[tuple[int, int], bool] = {}
        self._is_whole_page = _is_about_terms(document.title_node)

    def defining(self, node: Node) -> bool:
        headings, around = self._structure.headings[node.position], self._structure.outside(node)
        key = (id(headings), id(around))
        if key not in self._known:
            self._known[key] = self._is_whole_page or any(map(_is_about_terms, (*headings, *around.labels)))
        return self._known[key]


def _is_about_terms(node: Node | None) -> bool:
    if node is None:
        return False
    said = node.content
    return len(said) <= LONGEST_SECTION_NAME * (2 if node.is_sentence else 1) and SECTION.search(said) is not None


def _of_list(node: Node) -> Iterator[Definition]:
    terms: list[Node] = []
    described: list[Node] = []
    for child in (*node.children, None):
        if child is None or (child.tag == "dt" and described):
            if terms and described:
                for term in terms:
                    said = term.content
                    is_code = _is_code(term)
                    is_word = said.isalpha() and said.islower()
                    if said.strip(" :").casefold() in FIELDS or (is_code and is_word):
                        # A field of a record; or a name that would be found wherever it is a word of the language.
                        continue
                    nodes = (term, described[0])
                    sureness = SAID if is_code else LISTED
                    yield Definition(said, nodes, terms[0].position, described[-1].last, sureness)
            terms, described = [], []
        if child is not None and child.tag == "dt":
            terms.append(child)
        elif child is not None and child.tag == "dd" and child.children:
            described.append(child)


def _is_code(term: Node) -> bool:
    first = next(term.sentences(), None)
    return first is not None and first.markup.startswith(("<code", "<kbd", "<samp", "<var"))


def _of_table(table: Node, sections: _Sections) -> Iterator[Definition]:
    grid = grid_of(table)
    if grid is None:
        return
    column = -1
    for row in rows_of(table):
        placed = grid.row(row)
        if placed is not None and placed.is_header:
            named = [number for number, cell in enumerate(row.children) if TERM_COLUMN.fullmatch(cell.content)]
            column = named[0] if named else column
            continue
        if column < 0:
            if not (sections.defining(table) or _is_about_terms(_caption(table))):
                return
            column = 0
        cells = row.children
        if len(cells) > column + 1 and cells[column].children and cells[column + 1].children:
            nodes = (cells[column], cells[column + 1])
            yield Definition(cells[column].content, nodes, row.position, row.last, LISTED)


def _caption(table: Node) -> Node | None:
    captions = structure_of(table.document).within(table).captions
    return captions[-1] if captions else None


def _of_heading(heading: Node, structure: Structure, sections: _Sections) -> Iterator[Definition]:
    """A heading of a glossary's entry: what stands right under it defines it."""
    nodes = heading.document.nodes
    if not heading.children or heading.last + 1 >= len(nodes) or not sections.defining(heading):
        return
    last = heading.last
    first: Node | None = None
    for position in range(heading.last + 1, len(nodes)):
        active = structure.headings[position]
        if heading not in active or nodes[position].tag in HEADINGS:
            break
        last = position
        if first is None and nodes[position].is_sentence:
            first = nodes[position]
    if first is not None and not _is_about_terms(heading):
        yield Definition(heading.content, (heading, first), heading.position, last, LISTED)


def _of_sentence(sentence: Node, structure: Structure, sections: _Sections) -> Iterator[Definition]:
    text, markup = sentence.text, sentence.markup
    parent = sentence.parent
    if parent is None or parent.tag in ("title", "pre"):
        return
    at = (sentence,), sentence.position, sentence.last
    if "<dfn" in markup:
        for found in DFN.finditer(markup):
            for term in {unescape(found["title"] or ""), unescape(TAGS.sub("", found["term"]))} - {""}:
                yield Definition(term, *at, SAID)
    if parent.tag in HEADINGS:
        return
    if any(quote in text for quote in QUOTES):
        for pattern in (MEANS, INTRODUCED):
            for found in pattern.finditer(text):
                yield Definition(found["term"], *at, SAID)
    if "<abbr" in markup:
        for found in ABBREVIATION.finditer(markup):
            yield Definition(unescape(found["term"]), *at, SHORT_FORM)
    if "(" in text:
        for found in SHORT.finditer(text):
            if _is_spelled_out(found[1], text[: found.start()]):
                yield Definition(found[1], *at, SHORT_FORM)
    if sentence.index == 0 and sections.defining(sentence):
        around = structure.outside(sentence)
        if not around.terms and not around.data_tables and (term := _defined_first(text, markup)):
            yield Definition(term, *at, LISTED)


def _defined_first(text: str, markup: str) -> str:
    """The term that a sentence of a glossary section begins with, if it is set off from what follows."""
    if text.endswith(":"):
        return ""
    for pattern, said in ((BEGINS_QUOTED, text), (BEGINS_MARKED, markup), (BEGINS_PLAIN, text)):
        if (found := pattern.match(said)) is not None:
            return unescape(found["term"])
    return ""


def _is_spelled_out(short: str, before: str) -> bool:
    """Whether the words before an acronym in brackets begin with its letters."""
    letters = [letter.casefold() for letter in short if letter.isupper()]
    if len(letters) < 2:
        return False
    words = re.findall(r"\w+", before)[-2 * len(letters) :]
    for word in reversed(words):
        if letters and word[0].casefold() == letters[-1]:
            letters.pop()
    return not letters
