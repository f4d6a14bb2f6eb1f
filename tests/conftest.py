"""What all tests share: hypothesis without deadlines (machines differ), and an embedder that needs no model."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from evidence.language.embedder import Window, unit_length
from evidence.store import embedded

settings.register_profile(
    "spire", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("spire")


class WordEmbedder:
    """Vectors from the words of a text: texts that share words are near. The same text has the same vector, always."""

    name = "words"
    fingerprint = "words-1"
    dimensions = 256
    max_tokens = 256

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def embed_queries(self, texts: Sequence[str]) -> Any:
        return self._vectors(texts)

    def embed_passages(self, texts: Sequence[str]) -> Any:
        self.embedded.extend(texts)
        return self._vectors(texts)

    def embed_windows(self, windows: Sequence[Window]) -> list[Any]:
        self.embedded.extend(sentence for window in windows for sentence in window.sentences)
        return [self._vectors([f"{window.context} {text}" for text in window.sentences]) for window in windows]

    def _vectors(self, texts: Sequence[str]) -> Any:
        vectors = np.full((len(texts), self.dimensions), 1e-3)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                digest = hashlib.blake2b(word.strip(".,:;!?()").encode("utf-8", "replace"), digest_size=4).digest()
                vectors[row, int.from_bytes(digest, "big") % self.dimensions] += 1
        return unit_length(vectors)


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> WordEmbedder:
    """The site's embedder, replaced by one that is instant and knows only words."""
    words = WordEmbedder()
    for place in ("evidence.configured", "evidence.ingest.rebuild"):
        monkeypatch.setattr(f"{place}.embedder_named", lambda name: words)
    return words


@pytest.fixture(scope="module")
def other_server() -> Iterator[Path]:
    """The folder of a PostgreSQL server that is not the tests' own; it does not run yet."""
    folder = Path(tempfile.mkdtemp(prefix="spire-test-"))
    folder.chmod(0o755)
    yield folder / "data"
    embedded.stop(folder / "data")
    shutil.rmtree(folder)
