"""Loads the embedder that a site is set to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from evidence.language.embedder import Embedder, ModelError
from evidence.language.weights import folder_of

BACKENDS = ("auto", "onnx", "torch")


def load(name: str, cache: Path, *, backend: str = "auto", report: Callable[[str], None]) -> Embedder:
    """The embedder of this name or folder. "auto" takes torch where there is a GPU, or where the model cannot be
    converted; else int8 on onnxruntime, converted once into ``cache``. ModelError when it cannot be had."""
    from evidence.language import onnx

    if backend not in BACKENDS:
        raise ModelError(f"SPIRE_EMBEDDER_BACKEND is {backend!r}: set it to one of {', '.join(BACKENDS)}")
    folder = folder_of(name)
    can_convert = folder is not None and onnx.suits(folder)
    if backend == "onnx" and not can_convert:
        raise ModelError(
            f"{name!r} cannot be converted (it is no BERT with mean pooling): set SPIRE_EMBEDDER_BACKEND=torch"
        )
    if folder is not None and can_convert and (backend == "onnx" or (backend == "auto" and not _has_gpu())):
        return onnx.OnnxEmbedder(name, folder, cache, report)
    from evidence.language.torch import TorchEmbedder

    return TorchEmbedder(name)


def _has_gpu() -> bool:
    """Whether the driver of an NVIDIA GPU is loaded. Asking torch would cost seconds at each start."""
    return Path("/proc/driver/nvidia/gpus").is_dir()
