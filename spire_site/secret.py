"""The secret key of a site that has not set one."""

import contextlib
import os
import secrets
from pathlib import Path


def secret_key(folder: Path) -> str:
    """The key kept in the data folder, made the first time; only the folder's owner can read it."""
    path = folder / "secret-key"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f"secret-key.{os.getpid()}"
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(50))
        # Of two processes that start at once, one makes the key and the other reads it.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text()
