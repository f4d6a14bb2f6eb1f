"""An embedder that remembers: what was embedded once is read back, also after a killed run."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from evidence.language.embedder import Embedder, Vectors, Window, unit_length

BATCH = 512
KEY_BYTES = 16

Given = TypeVar("Given")


class CachedEmbedder:
    """An embedder in front of a file of vectors, in half precision as the product's indexes keep them.

    A key covers the model's fingerprint, how the text was given (question, passage or window) and the whole input.
    ``report`` is told how many inputs have been embedded after each batch, when the batch is safe on disk.
    """

    def __init__(self, embedder: Embedder, path: Path, report: Callable[[int], object] = lambda count: None) -> None:
        self.name = embedder.name
        self.fingerprint = embedder.fingerprint
        self.dimensions = embedder.dimensions
        self.max_tokens = embedder.max_tokens
        self._embedder = embedder
        self._report = report
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(path)
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
        )

    def close(self) -> None:
        self._file.close()

    def count(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.count(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._stacked([self._key("query", text) for text in texts], texts, self._embedder.embed_queries)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._stacked([self._key("passage", text) for text in texts], texts, self._embedder.embed_passages)

    def embed_windows(self, windows: Sequence[Window]) -> list[Vectors]:
        keys = [self._key("window", window.context, *window.sentences) for window in windows]
        return self._remembered(keys, windows, self._embedder.embed_windows)

    def _stacked(self, keys: list[bytes], texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors]) -> Vectors:
        found = self._remembered(keys, texts, lambda given: [row[None] for row in embed(given)])
        return np.concatenate(found) if found else np.empty((0, self.dimensions), np.float32)

    def _remembered(
        self, keys: list[bytes], inputs: Sequence[Given], embed: Callable[[Sequence[Given]], Iterable[Vectors]]
    ) -> list[Vectors]:
        known = self._known(keys)
        missing = {key: given for key, given in zip(keys, inputs, strict=True) if key not in known}
        entries = list(missing.items())
        for start in range(0, len(entries), BATCH):
            batch = entries[start : start + BATCH]
            made = {
                key: vectors.astype(np.float16).tobytes()
                for (key, _), vectors in zip(batch, embed([given for _, given in batch]), strict=True)
            }
            with self._file:
                self._file.executemany("INSERT OR IGNORE INTO vector VALUES (?, ?)", made.items())
            known |= made
            self._report(len(batch))
        return [self._read(known[key]) for key in keys]

    def _known(self, keys: list[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), BATCH):
            some = keys[start : start + BATCH]
            marks = ", ".join("?" * len(some))
            found.update(self._file.execute(f"SELECT key, value FROM vector WHERE key IN ({marks})", some))  # noqa: S608
        return found

    def _read(self, value: bytes) -> Vectors:
        return unit_length(np.frombuffer(value, np.float16).astype(np.float32).reshape(-1, self.dimensions))

    def _key(self, *parts: str) -> bytes:
        given = "\0".join((self.fingerprint, *parts)).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(given, digest_size=KEY_BYTES).digest()
