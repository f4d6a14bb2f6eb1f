"""What SPIRE asks of an embedder, and how running text is packed for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

WINDOW_TOKENS = 160
"""Tokens of a window, its context included. Longer ones (to 250) find no more and cost more attention."""


SPECIAL_TOKENS = 2


class ModelError(Exception):
    """A model that cannot be had or used, and what to do about it."""


@dataclass(frozen=True)
class Window:
    """Sentences that are encoded in one pass behind the text of their context."""

    context: str
    sentences: tuple[str, ...]


class Embedder(Protocol):
    """Turns texts into vectors of length 1. Two embedders with the same ``fingerprint`` give the same vectors."""

    name: str
    fingerprint: str
    dimensions: int
    max_tokens: int

    def count(self, texts: Sequence[str]) -> list[int]:
        """The model's own tokens of each text, without the special ones."""

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dimensions): questions, with the prompt that the model has for them."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """(n, dimensions): texts one by one; of one longer than ``max_tokens``, its beginning."""

    def embed_windows(self, windows: Sequence[Window]) -> list[Vectors]:
        """For each window (sentences, dimensions). A sentence's vector is the mean of its own token vectors, after all
        tokens of the window have attended to each other; those of the context are in no mean."""


def pack(
    sections: Sequence[tuple[str, Sequence[str]]], embedder: Embedder, tokens: int = WINDOW_TOKENS
) -> list[list[Window]]:
    """The windows of each section, given as the text of its context and its sentences.

    Sentences stay in order, and a section that needs several windows gets them of about the same size.
    """
    texts = [text for context, sentences in sections for text in (context, *sentences)]
    counts = iter(embedder.count(texts))
    limit = min(tokens, embedder.max_tokens) - SPECIAL_TOKENS
    packed = []
    for context, sentences in sections:
        room = max(limit - next(counts), limit // 2)
        packed.append(_windows(context, sentences, [next(counts) for _ in sentences], room))
    return packed


def _windows(context: str, sentences: Sequence[str], counts: Sequence[int], room: int) -> list[Window]:
    share = sum(counts) / max(math.ceil(sum(counts) / room), 1)
    windows: list[Window] = []
    held: list[str] = []
    size = before = 0
    for sentence, count in zip(sentences, counts, strict=True):
        is_beyond_share = before + count / 2 > share * (len(windows) + 1)
        if held and (size + count > room or is_beyond_share):
            windows.append(Window(context, tuple(held)))
            held, size = [], 0
        held.append(sentence)
        size += count
        before += count
    if held:
        windows.append(Window(context, tuple(held)))
    return windows


@dataclass(frozen=True)
class Spans:
    """A window as token ids, and where each of its sentences is in them (end exclusive)."""

    ids: list[int]
    sentences: list[tuple[int, int]]


def spans(
    context: Sequence[int],
    sentences: Sequence[Sequence[int]],
    *,
    first: Sequence[int],
    last: Sequence[int],
    limit: int,
) -> Spans:
    """The ids of a window between the model's special tokens, at most ``limit`` of them in all.

    What is too long loses the end of the context first, then the end of the text; no sentence is left without a token
    unless there are more sentences than tokens.
    """
    needed = len(first) + sum(map(len, sentences)) + len(last)
    ids = [*first, *context[: max(limit - needed, 0)]]
    places: list[tuple[int, int]] = []
    for number, sentence in enumerate(sentences):
        left = limit - len(last) - len(ids)
        room = max(left - (len(sentences) - number - 1), min(left, 1))
        ids.extend(sentence[:room])
        places.append((len(ids) - len(sentence[:room]), len(ids)))
    ids.extend(last)
    return Spans(ids, places)


def pooled(tokens: NDArray[Any], places: Sequence[tuple[int, int]]) -> Vectors:
    """The mean of the token vectors of each span, made to length 1. A text without tokens gets the whole's mean."""
    means = np.stack([tokens[start:end].mean(axis=0) if end > start else tokens.mean(axis=0) for start, end in places])
    return unit_length(means)


def unit_length(vectors: NDArray[Any]) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)


def readable(text: str) -> str:
    """The text as tokenizers take it: lone surrogates, which are no text, become "?"."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
