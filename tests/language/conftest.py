"""The default model as it runs on processors, converted once for all tests of this room."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.language.load import load
from evidence.language.onnx import OnnxEmbedder
from evidence.language.weights import DEFAULT_MODEL


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def minilm(model_cache: Path) -> OnnxEmbedder:
    loaded = load(DEFAULT_MODEL, model_cache, backend="onnx", report=lambda line: None)
    assert isinstance(loaded, OnnxEmbedder)
    return loaded
