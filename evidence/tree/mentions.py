"""Mentions of other places in a document's words: "section 2", "§ 4 Abs. 2", "Article 5(1)(b)", "Table 3", "Annex II"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# The kinds of things with numbers, each with the words that name it, as patterns.
KINDS = {
    "section": r"§§?|sections?|sect?\.|abschnitte?n?s?|ziffern?|sección|secciones|secc\.|sekcj[aię]|clauses?|cl\.|rules?",
    "article": r"articles?|art\.|arts\.|artikeln?s?|artículos?|articol[oi]|artykuł(?:u|y|em|ów)?",
    "chapter": r"chapters?|ch\.|chap\.|kapiteln?s?|chapitres?|capítulos?|capitol[oi]|rozdział(?:u|y|ów)?",
    "part": r"parts?|teile?s?|parties?|partes?",
    "annex": r"annex(?:es)?|appendix|appendices|app\.|schedules?|anhang|anhänge|anhangs|anlagen?|annexes?|anexos?"
    r"|allegat[oi]|załącznik(?:u|i)?",
    "table": r"tables?|tab\.|tabellen?|tableaux?|tablas?|tabell[ae]|tabel[ai]",
    "figure": r"figures?|fig\.|figs\.|abbildung(?:en)?|abb\.|figuras?|figur[ae]|rysun(?:ek|ku)",
    "paragraph": r"paragraphs?|paras?\.?|subsections?|absatz|absätzen?|absatzes|abs\.|paragraphes?|alinéas?|apartados?"
    r"|párrafos?|ustęp(?:u|y)?|ust\.",
    "point": r"points?|items?|subparagraphs?|letters?|buchstaben?s?|buchst\.|lit\.|nummern?|nr\.|satz|puntos?|letras?"
    r"|lettres?|pkt\.?",
}
ROMAN = re.compile(r"[ivxlc]+")
NUMBER = r"(?:\d{1,4}(?:\.\d{1,4}){0,5}[a-z]?|[IVXLC]{1,7}|[A-Z](?:\.\d{1,3}){0,3})(?![\w]|\.\d)"
SUB = r"(?:\s?\((?:\d{1,3}[a-z]?|[a-z]{1,5})\))"
# § 4 Abs. 2 Satz 1 Nr. 3 lit. b
GERMAN = (
    r"(?:,?\s(?i:Abs\.|Absatz|Unterabs\.|Nr\.|Nummer|lit\.|Buchst\.|Buchstabe|S\.|Satz|ust\.|pkt)"
    r"\s?(?:\d{1,3}[a-z]?|[a-z])\b\)?)"
)
ONE = rf"{NUMBER}(?:{SUB}|{GERMAN})*"
ONE_OR_SUB = rf"(?:{ONE}|{SUB}+)"
AND = r"\s?(?:,|and|or|to|und|oder|bis|sowie|et|ou|à|y|o|–|-|&)\s?"
MENTION = re.compile(
    r"(?<![\w.])(?i:"
    + "|".join(f"(?P<{kind}>{words})" for kind, words in KINDS.items())
    + rf")(?:\s|(?<=[§.])|(?=\())(?P<numbers>{ONE_OR_SUB}(?:{AND}(?:§\s?)?{ONE_OR_SUB})*)"
)
MAY_MENTION = re.compile(r"[\d§]|\([a-z]{1,5}\)|\b[A-Z]\b|\b[IVXLC]{2}")
"""What every mention holds: most sentences have none of it, and are told apart faster by this."""

NUMBERED = re.compile(ONE_OR_SUB)
PART_OF_A_NUMBER = re.compile(
    rf"({NUMBER})|\(([^()]+)\)|(?i:(?:S\.|Satz)\s?)\d+|(?i:[A-Za-z.]+)\s?(\d{{1,3}}[a-z]?|[a-z])\b"
)

# What follows or stands before the mention of a place in another document.
SAME = (
    r"(?:this|these|the\s+(?:present|same)|dies(?:e[rsmn]?)|vorliegende[rsmn]?|ce(?:tte|t|s)?|présente?s?|este|esta"
    r"|presente)\b"
)
OF = r"\s+(?:of|in|to|der|des|dem|du|de\s+la|de\s+l['’]|de|del|della|dell['’])\s*"
BETWEEN = re.compile(rf"{OF}(?:the\s+|l['’]\s?)?")
OF_A_PLACE = re.compile(rf"{BETWEEN.pattern}(?=(?i:{'|'.join(KINDS.values())})\s?(?:\d|[IVXLC]|[A-Z]\b|\())")
OF_THIS = re.compile(
    rf"{OF}(?i:{SAME}|that\s+(?:section|article|clause|paragraph))|\s+hereof\b|\s+above\b|\s+below\b", re.IGNORECASE
)
OF_ANOTHER = re.compile(
    r"(?:\s+(?:of|der|des|dem|du|del|della|dell['’]|de\s+la|de\s+l['’])\s*\S)"
    r"|\s+(?:thereof|davon)\b"
    r"|,?\s+(?:(?:in\s+(?:the\s+)?)?(?![IVXLC]+\b)[A-ZÄÖÜ][\w-]*[A-ZÄÖÜ][\w-]*\b)"
    r"|,?\s+[A-ZÄÖÜ][a-zäöü]+(?:\s+[A-Z][a-z]+)*\s+(?:Act|Regulations?|Code|Directive|Law|Treaty)\b"
)
ANOTHER_BEFORE = re.compile(
    r"(?:(?![IVXLC]+\b)\b[A-ZÄÖÜ][\w-]*[A-ZÄÖÜ]\w*|\b(?:Act|Regulation|Directive|Code|Law|Treaty|Convention)(?:\s+\d{4})?|\d{2,4}/\d{2,4}(?:/\w+)?)"
    r"['’]?s?,?\s+(?:in\s+|under\s+)?\(?$"
)
THIS_BEFORE = re.compile(rf"\b{SAME}\s+\w+,?\s+\(?$", re.IGNORECASE)


class Mention(NamedTuple):
    """A place that is mentioned: its kind, its number ("" where only a paragraph or point is named), and the numbers of
    the paragraph, point … within it."""

    kind: str
    number: str
    parts: tuple[str, ...]


def mentions(text: str) -> Iterator[Mention]:
    """The places of the same document that a text mentions. Places that it says are in another document are left out."""
    if not MAY_MENTION.search(text):
        return
    held: list[re.Match[str]] = []
    for found in MENTION.finditer(text):
        chained = bool(held) and BETWEEN.fullmatch(text, held[-1].end(), found.start()) is not None
        if not chained:
            for earlier in held:
                yield from _read(earlier, ())
            held = []
        if _is_elsewhere(text, found):
            held = []
            continue
        if OF_A_PLACE.match(text, found.end()):
            held.append(found)
            continue
        # "point (b) of Article 6(1)": the inner place is a part of the outer one.
        inner: tuple[str, ...] = ()
        for earlier in reversed(held):
            inner = (*inner, *(part for place in _read(earlier, ()) for part in _parts(place)))
        held = []
        yield from _read(found, inner)
    for earlier in held:
        yield from _read(earlier, ())


def _parts(place: Mention) -> tuple[str, ...]:
    return (place.number, *place.parts) if place.number else place.parts


def _read(found: re.Match[str], inner: tuple[str, ...]) -> Iterator[Mention]:
    kind = next(kind for kind in KINDS if found[kind])
    for numbered in NUMBERED.finditer(found["numbers"]):
        number = ""
        parts: list[str] = []
        for part in PART_OF_A_NUMBER.finditer(numbered[0]):
            if part[1] and not number and not parts:
                number = part[1]
            elif part[1] or part[2] or part[3]:
                parts.append((part[1] or part[2] or part[3]).casefold())
        if kind in ("paragraph", "point"):
            yield Mention("paragraph", "", tuple([number.casefold(), *parts] if number else parts) + inner)
        else:
            yield Mention(kind, number, (*parts, *inner))


def _is_elsewhere(text: str, found: re.Match[str]) -> bool:
    end = found.end()
    if OF_THIS.match(text, end):
        return False
    before = text[max(found.start() - 40, 0) : found.start()]
    if ANOTHER_BEFORE.search(before) and not THIS_BEFORE.search(before):
        return True
    return OF_A_PLACE.match(text, end) is None and OF_ANOTHER.match(text, end) is not None
