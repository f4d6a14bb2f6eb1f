from __future__ import annotations

import numpy as np
import pytest

from evidence.language.embedder import ModelError, Window
from evidence.language.onnx import OnnxEmbedder
from evidence.language.torch import TorchEmbedder
from evidence.language.weights import DEFAULT_MODEL, folder_of
from tests.language.test_onnx import SENTENCES


@pytest.fixture(scope="module")
def exact() -> TorchEmbedder:
    return TorchEmbedder(DEFAULT_MODEL)


def test_int8_stays_close_to_the_model_it_was_made_from(exact: TorchEmbedder, minilm: OnnxEmbedder) -> None:
    """A conversion that goes wrong gives vectors all the same."""
    cosines = (exact.embed_passages(SENTENCES) * minilm.embed_passages(SENTENCES)).sum(axis=1)
    assert cosines.min() > 0.97
    window = [Window("Handbook. Leave.", SENTENCES)]
    assert (exact.embed_windows(window)[0] * minilm.embed_windows(window)[0]).sum(axis=1).min() > 0.96


def test_vectors_of_the_two_are_never_taken_for_each_other(exact: TorchEmbedder, minilm: OnnxEmbedder) -> None:
    """An index made by one would be searched with questions of the other."""
    assert exact.fingerprint != minilm.fingerprint
    assert (exact.dimensions, exact.max_tokens) == (minilm.dimensions, minilm.max_tokens)


def test_a_window_is_what_the_definition_says(exact: TorchEmbedder) -> None:
    """Shared-context encoding: one pass over context and sentences as one text, then the mean of each sentence's own
    tokens. Joined before tokenisation, as here, or after it: the tokens are the same."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = folder_of(DEFAULT_MODEL)
    context = "Handbook. Leave."
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        tokens = model(**tokenizer(" ".join([context, *SENTENCES]), return_tensors="pt")).last_hidden_state[0].numpy()
    start = 1 + len(tokenizer(context, add_special_tokens=False)["input_ids"])
    (found,) = exact.embed_windows([Window(context, SENTENCES)])
    for sentence, vector in zip(SENTENCES, found, strict=True):
        end = start + len(tokenizer(sentence, add_special_tokens=False)["input_ids"])
        mean = tokens[start:end].mean(axis=0)
        assert np.allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)
        start = end
    assert start == len(tokens) - 1


def test_padding_and_order_change_nothing(exact: TorchEmbedder) -> None:
    """Windows are sorted by length into batches, and must come back where they belong."""
    windows = [Window("A.", SENTENCES[:1]), Window("B.", SENTENCES), Window("", SENTENCES[1:3])]
    for together, window in zip(exact.embed_windows(windows), windows, strict=True):
        assert np.allclose(together, exact.embed_windows([window])[0], atol=1e-5)


def test_fail_when_token_vectors_have_another_size(exact: TorchEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database would refuse them, after hours of embedding, without saying what to do."""
    monkeypatch.setattr(exact, "dimensions", 512)
    with pytest.raises(ModelError, match="--encoding single"):
        exact.embed_windows([Window("", SENTENCES)])


def test_strange_texts_and_none(exact: TorchEmbedder) -> None:
    """One strange page must not end an ingest."""
    vectors = exact.embed_passages(["", "\ud800\0", "a" * 30_000])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert exact.embed_passages([]).shape == (0, 384)
    assert exact.embed_windows([]) == []
    assert exact.count([]) == []
