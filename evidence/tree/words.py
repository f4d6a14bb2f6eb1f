"""Texts as full text sees them: plain words, and identifiers, which are kept whole.

PostgreSQL's parser is given plain words only. What it would cut or mistake (``pg_hba.conf``, ``ORA-01555``, ``15.2.1``,
``--no-verify``) is found here, and indexed whole beside its parts.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST_IDENTIFIER = 200

SIMPLE = "simple"
ENGLISH = "english"
CONFIGURATIONS = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": ENGLISH,
    "es": "spanish",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
"""PostgreSQL 15's configurations of text search by the language's code."""

SCRIPTS = (
    (re.compile(r"[a-zA-ZÀ-ɏ]"), ENGLISH),
    (re.compile(r"[Ѐ-ӿ]"), "russian"),
    (re.compile(r"[Ͱ-Ͽ]"), "greek"),
    (re.compile(r"[؀-ۿ]"), "arabic"),
    (re.compile(r"[ऀ-ॿ]"), "hindi"),
    (re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"), SIMPLE),
)
LETTERS_THAT_TELL = 5000

# Marks are letters in the scripts of India, and accents in those of Europe.
ACCENTS = re.compile(r"[\u0300-\u036f]")
BETWEEN_WORDS = re.compile(r"[^\w\u0900-\u0dff\u0e00-\u0eff]+|_+")
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")

# What never stands within an identifier; "=" parts a setting from its value.
BETWEEN_TOKENS = re.compile(r"""[\s()\[\]{}<>"'`´‘’“”„«»,;|=!?…、。]+""")
ENDING = ".:-/\\&"
LEADING = ":&"
SEPARATORS = re.compile(r"[./\\@:#_~+&-]+")
OF_PARTS = re.compile(r"[/\\@:]+")
FLAG = re.compile(r"--?[A-Za-z][\w-]*")
SHARP = re.compile(r"[A-Za-z]\w*(?:\+\+|#)")


def configuration_of(language: str, text: str) -> str:
    """The name of PostgreSQL's text search configuration for a text: by its declared language, else by its script."""
    if language:
        return CONFIGURATIONS.get(re.split("[-_]", language.lower())[0], SIMPLE)
    counts = [(len(script.findall(text[:LETTERS_THAT_TELL])), name) for script, name in SCRIPTS]
    most, name = max(counts, key=lambda entry: entry[0])
    return name if most else ENGLISH


def plain_words(text: str) -> str:
    """The words of a text with single spaces between: no accents, no case, no signs. Of Chinese and Japanese, which put
    no spaces between words, each two neighbouring characters."""
    folded = unicodedata.normalize("NFC", ACCENTS.sub("", unicodedata.normalize("NFKD", text))).casefold()
    spaced = UNSPACED.sub(lambda run: f" {_pairs(run[0])} ", folded)
    return BETWEEN_WORDS.sub(" ", spaced).strip()


def identifiers(text: str) -> list[str]:
    """The identifiers in a text without case, each once: codes, versions, paths, flags, addresses, names with
    underscores, dots or digits. Of paths and addresses the parts too, as far as they are identifiers."""
    found: dict[str, None] = {}
    for token in BETWEEN_TOKENS.split(text.casefold()):
        token = _bare(token)
        if len(token) < 2 or len(token) > LONGEST_IDENTIFIER or not _is_identifier(token):
            continue
        found[token] = None
        for part in OF_PARTS.split(token):
            part = _bare(part)
            if part != token and len(part) > 1 and _is_identifier(part):
                found[part] = None
    return list(found)


def _bare(token: str) -> str:
    """The token without the marks of the sentence around it."""
    return token.lstrip(LEADING).rstrip(ENDING)


def _is_identifier(token: str) -> bool:
    if FLAG.fullmatch(token) or SHARP.fullmatch(token):
        return True
    pieces = [piece for piece in SEPARATORS.split(token) if piece]
    if not pieces or not all(piece.isalnum() for piece in pieces):
        return any(piece.isalnum() for piece in pieces) and len(pieces) > 1 and ("/" in token or "\\" in token)
    has_digit = any(character.isdigit() for character in token)
    has_letter = any(character.isalpha() for character in token)
    if len(pieces) == 1:
        # A word, or a number; "x86" and "0x80070005" are neither.
        return (has_digit and has_letter) or (token[0] in "./~@#\\" and has_letter and len(pieces[0]) > 1)
    if has_digit:
        return True
    if max(map(len, pieces)) == 1:  # "e.g.", "U.S.", "w/o"
        return False
    return any(sign in token for sign in "._/\\@:#+")  # hyphens alone join words


def _pairs(run: str) -> str:
    return " ".join(run[start : start + 2] for start in range(max(len(run) - 1, 1)))
