from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evidence.language.embedder import SPECIAL_TOKENS, WINDOW_TOKENS, Window, pack, pooled, readable, spans
from tests.conftest import WordEmbedder


def words(number: int) -> str:
    return " ".join(["word"] * number)


def packed(context: str, sentences: Sequence[str]) -> list[Window]:
    (windows,) = pack([(context, sentences)], WordEmbedder())
    return windows


@given(context=st.integers(0, 300), sizes=st.lists(st.integers(0, 200), max_size=40))
def test_every_sentence_is_in_one_window_in_order(context: int, sizes: list[int]) -> None:
    """A sentence that no window holds would never be found."""
    sentences = [words(size) for size in sizes]
    windows = packed(words(context), sentences)
    assert [sentence for window in windows for sentence in window.sentences] == sentences
    assert all(window.context == words(context) and window.sentences for window in windows)


@given(sizes=st.lists(st.integers(1, 120), min_size=1, max_size=40))
def test_a_window_of_several_sentences_keeps_the_limit(sizes: list[int]) -> None:
    """The model would silently cut what is beyond it."""
    for window in packed(words(20), [words(size) for size in sizes]):
        total = SPECIAL_TOKENS + 20 + sum(len(sentence.split()) for sentence in window.sentences)
        assert total <= WINDOW_TOKENS or len(window.sentences) == 1


def test_windows_of_a_section_are_of_like_size() -> None:
    """A full window and one with a last short sentence would leave that sentence without its neighbours."""
    assert [len(window.sentences) for window in packed("", [words(10)] * 17)] == [9, 8]


def test_a_model_with_a_short_window_gets_short_windows() -> None:
    """A model that reads 64 tokens would otherwise see the beginning of each window only."""
    short = WordEmbedder()
    short.max_tokens = 64
    (windows,) = pack([(words(4), [words(10)] * 20)], short)
    assert max(len(window.sentences) for window in windows) == 5


def test_no_sections_and_sections_without_sentences_have_no_windows() -> None:
    """A page without running text is still a page."""
    assert pack([], WordEmbedder()) == []
    assert pack([("Title.", [])], WordEmbedder()) == [[]]


@given(
    context=st.lists(st.just(7), max_size=80),
    sentences=st.lists(st.lists(st.integers(10, 20), min_size=1, max_size=40), min_size=1, max_size=20),
)
def test_spans_point_at_their_own_tokens_within_the_limit(context: list[int], sentences: list[list[int]]) -> None:
    """A span that is off by one would mix in a neighbour's tokens; an empty one has no mean."""
    made = spans(context, sentences, first=[1], last=[2], limit=64)
    assert len(made.ids) <= 64
    assert (made.ids[0], made.ids[-1]) == (1, 2)
    for sentence, (start, end) in zip(sentences, made.sentences, strict=True):
        assert start < end
        assert made.ids[start:end] == sentence[: end - start]


def test_a_long_context_is_cut_before_a_sentence() -> None:
    """A page title of a thousand words must not push out what is to be found."""
    made = spans([7] * 100, [[10] * 20], first=[1], last=[2], limit=32)
    assert made.ids == [1, *[7] * 10, *[10] * 20, 2]


def test_more_sentences_than_tokens_stay_within_the_limit() -> None:
    """One token more than the model has positions for is an error of its runtime."""
    made = spans([], [[10]] * 100, first=[1], last=[2], limit=64)
    assert len(made.ids) == 64
    assert len(made.sentences) == 100


def test_a_text_without_tokens_has_a_vector_of_length_one() -> None:
    """pgvector does not index a vector of zeros: the unit would be lost without a word."""
    vectors = pooled(np.array([[3.0, 4.0], [3.0, 4.0]], np.float32), [(0, 2), (1, 1)])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)


def test_lone_surrogates_become_text() -> None:
    """Tokenizers raise on them, and one broken page would end an ingest."""
    assert readable("a\ud800b é") == "a?b é"
