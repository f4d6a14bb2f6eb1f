"""BM25 over texts, by the library bm25s: what the baselines search with, and what is fused with vectors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evidence.bench.quality.data import DataError


class FullText:
    """Texts to be searched by their words: English stop words left out, words stemmed (Snowball)."""

    def __init__(self, texts: Sequence[str]) -> None:
        try:
            import bm25s
            import Stemmer
        except ImportError as error:
            raise DataError('BM25 needs bm25s and PyStemmer: pip install "spire[bench]"') from error
        # It tells of every index that it builds.
        logging.getLogger("bm25s").setLevel(logging.WARNING)
        stemmer = Stemmer.Stemmer("english")
        self._tokens: Callable[[list[str]], list[list[str]]] = lambda given: bm25s.tokenize(
            given, stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
        )
        self._index = bm25s.BM25()
        self._index.index(self._tokens(list(texts)), show_progress=False)

    def scores(self, question: str) -> Any:
        """The BM25 score of each text; 0 for those that share no word with the question."""
        (tokens,) = self._tokens([question])
        known = [token for token in tokens if token in self._index.vocab_dict]
        if not known:
            return np.zeros(self._index.scores["num_docs"], np.float32)
        return self._index.get_scores(known)
