"""Where sentences end, in any language: one pass over a text's stops, and rules for those that end nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from evidence.tree.abbreviations import LETTERED, MONTHS, NUMBERED, YEARS, Language, language_named

LONGEST_ENCLOSED = 100
"""Characters. Up to here, brackets and quotation marks hold together what is between them."""

STOPS = ".!?…‽؟۔;;。！？｡．।॥。።။។։"
WIDE = "。！？｡．।॥።။។։؟۔"
GREEK = "\u0370-\u03ff\u1f00-\u1fff"
HAN = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
EMOJI = "\u2600-\u26ff\u2705\u2728\u2763\u2764\u200d\ufe0f\U0001f000-\U0001faff"
CLOSING = r"\"'”’“‘»«›‹)\]}」』）】》〉〕］｣"
OPENING = r"\"'“„‟”‚‘»«›‹(\[{¿¡「『（【《〈〔［｢"

STOP = re.compile(
    rf"""
    (?P<stop> [{STOPS}] (?<![{STOPS}]{{2}}) [{STOPS}]*+ )
    (?:
        # In scripts that need no space after it, it ends a sentence wherever it stands.
        (?<=[{WIDE}]) (?<!\d．) (?P<wide> [{CLOSING}]*+ ) (?:\[[^\[\]\s]{{1,12}}\])* (?:\ ?[{EMOJI}]++)? \s*
        # Elsewhere a space follows, after what closes the sentence with it: quotation marks, footnote marks, emoji.
        | (?: (?<![;;]) | (?<=[{GREEK}][;;]) )
        (?P<closing> [{CLOSING}]*+ (?: \ (?:[»)\]]|'{{1,2}}) (?=\s|$) )* )
        (?P<mark> (?:
            \[[^\[\]\s]{{1,12}}\] | \ \[\d{{1,3}}\](?=\s|$) | [¹²³⁰⁴-⁹*†‡]
            | (?<=[^\W\d_A-Z]{{3}}\.) \d{{1,2}}(?:,\d{{1,2}})* (?=\s)
        )* )
        (?P<emoji> \ ?[{EMOJI}]++(?=\s|$) | \ [:;]-?[)(](?=\s|$) )?
        (?: \s++ | $ )
        # The space is missing: "The end.Next one".
        | (?P<glued> (?<=[^\W\d_A-Z]{{2}}[.!?]) (?=[^\W\d_a-z][^\W\d_A-Z]*+\ ) | (?<=[{HAN}][.!?]) (?=[{HAN}]) )
    )
    """,
    re.VERBOSE,
)
ENCLOSED = re.compile(
    r"""
    [(\[“„«»‘「『（"] (?:
        (?<=\() [^()]{0,N}(?:\([^()]{0,N}\)[^()]{0,N}){0,4}\) | (?<=\[) [^\[\]]{1,N}\]
        | (?<=“) [^“”]{1,N}” | (?<=„) [^„“”]{1,N}[“”] | (?<=«) [^«»]{1,N}» | (?<=») [^«»]{1,N}« | (?<=‘) [^‘’]{1,N}’(?!\w)
        | (?<=「) [^「」]{1,N}」 | (?<=『) [^『』]{1,N}』 | (?<=（) [^（）]{1,N}）
        | (?<=") (?<![^\s(\[—–]") (?=\S) [^"]{1,N}"(?!\w)
    )
    """.replace("N", str(LONGEST_ENCLOSED)),
    re.VERBOSE,
)
LONGEST_WORD = 40
LONGEST_OPENING = 20
SINGLE = (".", "!", "?")
AROUND_WORDS = " " + (CLOSING + OPENING).replace("\\", "")
IS_EMOJI = re.compile(f"[{EMOJI}]")
FIRST_LABEL = re.compile(r"\(?(\d{1,2})[.)] ")
LETTER_OR_DIGIT = re.compile(r"[^\W_]")
TO_NEXT_WORD = re.compile(rf"(?:[\s{OPENING}]|[–—-]++(?=\s)|[–—]++(?=\w))*")
WORD = re.compile(r"[^\W\d_]*+")
BEGINS_NOTHING = frozenset(",;!?…)]}%")
# Sentences that begin with a small letter begin with a name of code: "It is set. max_connections limits …"
IDENTIFIER = re.compile(r"[a-z]+(?:[A-Z0-9_]|\.[a-z]|\()")
DOTTED = re.compile(r"\b(?:[^\W\d_]\.\ ?)+[^\W\d_]$")
ROMAN = re.compile(r"[IVX]+(?!\w)")
LABEL = re.compile(
    rf"""
    (?: (?:(?:{"|".join(sorted(NUMBERED))})\.?\ ?)? \(?(?:\d{{1,3}}(?:\.\d{{1,3}})*[a-z]?|[^\W\d_]|[ivx]{{1,5}})[.)]+\s* )+
    """,
    re.VERBOSE | re.IGNORECASE,
)
# What stands after a quotation where the sentence goes on: "… he asked", 「…」と, “…”他说.
GOES_ON = re.compile(
    r"""
    (?:[^\W\d_]+\ ){0,2}(?:said|says|asked|asks|cried|cries|replied|replies|added|adds|shouted|whispered|answered|called)\b
    | [とっがをはのにでもや、，] | (?:な|だ)[のとっ]
    | [\u4e00-\u9fff]{0,4}?(?:说|說|问|問|想|答道|回答|喊|叫道|笑道|写道|寫道)
    | و?(?:قال|سأل|أجاب|صاح|أضاف|رد)ت?\b | (?:\S+\ )?(?:ने\ )?(?:कहा|पूछा|बोला|बोली|बोले)
    """,
    re.VERBOSE,
)


def boundaries(text: str, language: str = "en", protected: Iterable[tuple[int, int]] = ()) -> list[int]:
    """The offset at which each sentence of the text ends, with the space after it; the last one is the text's length.

    Offsets are code points. No sentence ends inside one of the ``protected`` spans. The language decides on abbreviations
    and ordinals alone: text in any script is cut. Time is linear in the text, whatever its shape.
    """
    length = len(text)
    ends: list[int] = []
    start = furthest = 0
    first_word = -1
    words: Language | None = None
    for stop in STOP.finditer(text):
        end = stop.end()
        if end == length:
            break
        if words is None:
            words = language_named(language)
            holders = _holders(text, protected)
            holder = next(holders, None)
        if first_word < start:
            first_word = _next_word(text, start)
        while holder is not None and holder[0] < end:
            furthest = max(furthest, holder[1])
            holder = next(holders, None)
        if end < furthest or first_word >= stop.start():
            continue
        end = _end(text, start, stop, words)
        if end > start:
            ends.append(end)
            start = end
    if ends and _next_word(text, start) == length:
        ends.pop()
    ends.append(length)
    return ends


def _next_word(text: str, position: int) -> int:
    found = LETTER_OR_DIGIT.search(text, position)
    return found.start() if found else len(text)


def _holders(text: str, protected: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans that no sentence ends in, by where they start: what is protected, what is in brackets or quoted."""
    return iter(sorted([*protected, *(found.span() for found in ENCLOSED.finditer(text))]))


def _end(text: str, start: int, stop: re.Match[str], words: Language) -> int:
    """Where the sentence that began at ``start`` ends at this stop; -1 where it goes on."""
    end = stop.end()
    at = TO_NEXT_WORD.match(text, end).end()  # type: ignore[union-attr]
    following = text[at : at + 1]
    if not following or following in BEGINS_NOTHING:
        return -1
    marks, wide = stop["stop"], stop["wide"]
    if (wide or (stop["closing"] and marks[-1] in "!?")) and GOES_ON.match(text, end):
        return -1
    if wide is not None:
        return -1 if _closes_a_bracket(text, start, wide) else end
    if following in ".:":
        # ".NET", ":hover"
        return end if text[at + 1 : at + 2].isalpha() else -1
    if following.islower() and not (end == at and marks in SINGLE and IDENTIFIER.match(text, at)):
        return -1
    last = stop.start() - (text[stop.start() - 1] == " ")
    begin = max(text.rfind(" ", start, last) + 1, start, last - LONGEST_WORD)
    word = text[begin:last].strip(AROUND_WORDS)
    is_ellipsis = marks[-1] in ".…" and marks != "."
    if (is_ellipsis or _closes_a_bracket(text, start, stop["closing"])) and _is_caseless(following):
        # Where no letter is a capital, these are taken to stand within the sentence.
        return -1
    following = WORD.match(text, at)[0] or following  # type: ignore[index]
    begins = following.lower() in words.beginnings and text[at + 1 : at + 2] != "."
    if stop["glued"] is not None:
        # "The end.Next one", but "os.Path is": only what surely begins a sentence begins one here.
        is_certain = begins and word.isalpha() and not _is_abbreviation(word, words)
        return end if is_certain or following >= "\u3040" else -1
    if stop["mark"] and stop["mark"][0].isdecimal() and _is_abbreviation(word, words):
        return -1
    if marks == ".":
        if stop.end() - start <= LONGEST_WORD and LABEL.fullmatch(text, start, stop.end("closing")):
            return -1
        if words.before_ordinal is None and _is_next_label(text, start, word):
            # A list without stops: "1. Open it 2. Close it".
            return begin
        if not _ends_with(text, start, begin, word, following, begins, words):
            return -1
    elif is_ellipsis:
        # An ellipsis: "Wait... I see", "1 ... 5", "[...] The next".
        if not word and text[max(start, stop.start() - 4) : stop.start()].rstrip(AROUND_WORDS)[-1:] not in SINGLE:
            return -1
        closing = stop["closing"]
        if closing[:1] == "]" if closing else following.isdigit() or following == "I" or text[end] in "([{<-":
            return -1
    elif not word or ((word + marks).lower() in words.may_end and not begins):
        return -1
    if stop["emoji"] and IS_EMOJI.match(text, start):
        # Where an emoji leads the sentence, another leads the next.
        return stop.end("emoji") - len(stop["emoji"].lstrip())
    return end


def _is_abbreviation(word: str, words: Language) -> bool:
    key = word.lower()
    return key in words.before_name or key in words.before_number or key in words.may_end


def _is_next_label(text: str, start: int, word: str) -> bool:
    """Whether this number follows that which the sentence began with."""
    if not word.isdecimal() or len(word) > 2:
        return False
    first = FIRST_LABEL.match(text, start)
    return first is not None and int(word) == int(first[1]) + 1


def _ends_with(text: str, start: int, begin: int, word: str, following: str, begins: bool, words: Language) -> bool:
    """Whether a sentence ends with this word and a full stop, before the word (or sign) that follows."""
    key = word.lower()
    if ".-" in key and key not in words.before_name and key not in words.may_end:
        key = key.rpartition("-")[2]
    before = text[max(start, begin - LONGEST_WORD) : begin].rstrip()
    if len(key) == 1 and before.endswith(".") and (dotted := DOTTED.search(f"{before} {word}")):
        key = dotted[0].replace(" ", "").lower()
    if key in words.before_name:
        return begins and before[-1:].isdigit()
    is_number = following[0].isdigit()
    if key in words.before_number and (is_number or ROMAN.fullmatch(following)):
        return False
    if key in words.may_end:
        return begins or (key in YEARS and begin - start > LONGEST_OPENING)
    if word.isdecimal() or (words.before_ordinal is not None and ROMAN.fullmatch(word)):
        return _ends_with_number(word, before, following, begins, words)
    if DOTTED.fullmatch(key):
        return begins
    if len(word) == 1 and word.isalpha() and word < "\u3040":
        return begins or _ends_with_letter(word, before, is_number)
    return True


def _closes_a_bracket(text: str, start: int, closing: str | None) -> bool:
    """Whether what closes here is a bracket that opened inside the sentence."""
    return closing is not None and closing[:1] in (")", "）") and text[start] not in "(（"


def _is_caseless(word: str) -> bool:
    return word[0].isalpha() and not word[0].islower() and not word[0].isupper()


def _ends_with_number(word: str, before: str, following: str, begins: bool, words: Language) -> bool:
    """Whether a number ends the sentence; else it is an ordinal, or a part of a date: "der 2. Weltkrieg", "3. 10. 2026"."""
    if before.endswith((":", ";")):
        return False
    if len(word) > 3:
        return True
    if following[0].isdigit() or following.lower() in MONTHS:
        return False
    if words.before_ordinal is None:
        return True
    if ROMAN.fullmatch(following):
        return False
    return before.rpartition(" ")[2].lower() not in words.before_ordinal and (begins or not words.nouns_are_capital)


def _ends_with_letter(letter: str, before: str, is_number: bool) -> bool:
    """Whether a single letter ends the sentence: "desk A.", "12 V.", "so do I."; else it is an initial."""
    if before[-1:].isdigit():
        return letter.isupper() and letter not in "NESW"
    if before.rpartition(" ")[2].lower() in LETTERED:
        return True
    return letter == "I" and before[-1:].islower() and not is_number
