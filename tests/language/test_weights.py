from __future__ import annotations

from pathlib import Path

import pytest

from evidence.language.embedder import ModelError
from evidence.language.weights import DEFAULT_MODEL, DEFAULT_PACKAGE, fingerprint_of, folder_of


def model_in(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "tokenizer.json").write_text("{}")
    return folder


def test_the_default_model_is_installed_whole() -> None:
    """Other weights under the same name would make vectors that meet those of the true ones."""
    folder = folder_of(DEFAULT_MODEL)
    assert folder is not None
    assert len(fingerprint_of(folder)) == 64


def test_fail_when_the_default_weights_are_damaged(tmp_path: Path) -> None:
    """A download cut short loads as a model with random layers."""
    with pytest.raises(ModelError, match="reinstall"):
        fingerprint_of(model_in(tmp_path / DEFAULT_PACKAGE / "model"))


def test_fail_on_a_folder_without_weights(tmp_path: Path) -> None:
    """The wrong folder of a model is the common mistake."""
    with pytest.raises(ModelError, match="holds no weights"):
        fingerprint_of(tmp_path)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_other_weights_or_another_vocabulary_are_another_model(tmp_path: Path, name: str) -> None:
    """Vectors of two models must never meet in one index."""
    folder = model_in(tmp_path / "model")
    before = fingerprint_of(folder)
    (folder / name).write_text("other")
    assert fingerprint_of(folder) != before


def test_a_name_is_left_to_sentence_transformers() -> None:
    """A site may set any model that it has in its own cache."""
    assert folder_of("intfloat/multilingual-e5-small") is None
