"""A judge of relevance: a small cross-encoder that reads a question and a passage in its context together, offline."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Semaphore
from typing import Any, Protocol

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from evidence.language.embedder import readable
from evidence.language.weights import default_folder, file_hash

WEIGHTS = Path(__file__).parent / "judge.onnx"

QUESTION_TOKENS = 40
"""Of a question so many are read."""

INPUT_TOKENS = 128
"""The longest input: question, context and passage with what stands between them. What is longer is cut: the passage at
its end, the context in its middle, since a title and the nearest heading say most."""

CONTEXT_TOKENS = 40
"""What a long passage leaves to its context."""

LONGEST_TEXT = 4_000
"""Characters of a text that are tokenised."""

SECONDS_IN_LINE = 0.5
"""A processor judges one question at a time; so long does another wait for its turn."""

Passage = tuple[str, str]
"""The text of a unit's global context, and its own."""


class Busy(Exception):
    """So many questions are being judged that this one has waited in vain."""


class Judge(Protocol):
    """Says how likely passages are to help with a question."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def floor(self) -> float:
        """The probability below which a passage is not worth reading."""

    def probabilities(self, question: str, passages: Sequence[Passage]) -> NDArray[np.float32]:
        """For each passage, from 0 to 1. Busy where others keep it from being judged soon."""


class Reader:
    """Questions and passages as a cross-encoder's input, the same when it is trained and when it is used."""

    def __init__(self, tokenizer: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._first, self._between = self._tokenizer.encode("").ids

    def read(self, question: str, passages: Sequence[Passage]) -> list[tuple[list[int], int]]:
        """For each passage the ids of its input, and how many of them are the question's."""
        texts = [question, *(text for passage in passages for text in passage)]
        cut = [readable(text[:LONGEST_TEXT]) for text in texts]
        ids = [encoded.ids for encoded in self._tokenizer.encode_batch_fast(cut, add_special_tokens=False)]
        asked = [self._first, *ids[0][:QUESTION_TOKENS], self._between]
        return [
            (asked + self._passage(context, own, INPUT_TOKENS - len(asked)), len(asked))
            for context, own in zip(ids[1::2], ids[2::2], strict=True)
        ]

    def _passage(self, context: list[int], own: list[int], room: int) -> list[int]:
        own = own[: room - 2 - min(len(context), CONTEXT_TOKENS)]
        room -= len(own) + 2
        if len(context) > room:
            head = room // 2
            context = context[:head] + context[len(context) - (room - head) :]
        return [*context, self._between, *own, self._between]


def load_judge() -> OnnxJudge:
    """The judge that SPIRE brings along. It reads English; judge.md beside its weights says what it was made of."""
    return OnnxJudge("SPIRE's judge of relevance", WEIGHTS, default_folder() / "tokenizer.json")


class OnnxJudge:
    """A cross-encoder on onnxruntime, which holds its floor among its own metadata.

    Each input is a run of its own, as many at once as there are processors: int8 scales an activation by the largest of its
    batch, and alone a passage is judged the same whatever stands beside it.
    """

    def __init__(self, name: str, model: Path, tokenizer: Path) -> None:
        self.name = name
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.enable_mem_pattern = False
        self.fingerprint = file_hash(model)[:12]
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.floor = float(self._session.get_modelmeta().custom_metadata_map["floor"])
        self._reader = Reader(tokenizer)
        self._processors = os.cpu_count() or 1
        # More questions at once are not judged sooner, and pages that take milliseconds would wait for their threads.
        self._turns = Semaphore(self._processors)

    def probabilities(self, question: str, passages: Sequence[Passage]) -> NDArray[np.float32]:
        inputs = self._reader.read(question, passages)
        if not self._turns.acquire(timeout=SECONDS_IN_LINE):
            raise Busy
        try:
            with ThreadPoolExecutor(self._processors) as pool:
                return np.array(list(pool.map(self._one, inputs)), np.float32)
        finally:
            self._turns.release()

    def _one(self, given: tuple[list[int], int]) -> float:
        ids, asked = given
        types = [0] * asked + [1] * (len(ids) - asked)
        output: Any = self._session.run(
            None, {"input_ids": np.array([ids], np.int64), "token_type_ids": np.array([types], np.int64)}
        )
        return float(output[0][0])
