"""The secret key of a site that has not set one."""

import contextlib
import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def secret_key(folder: Path) -> str:
    """The key kept in the data folder, made the first time; only the folder's owner can read it."""
    path = folder / "secret-key"
    try:
        if not path.exists():
            _make(path)
        key = path.read_text()
    except OSError as error:
        raise ImproperlyConfigured(
            f"SPIRE_SECRET_KEY is not set, and there is no key in SPIRE_DATA ({path}: {error.strerror}): set one of them,"
            " SPIRE_SECRET_KEY to 50 or more random characters or SPIRE_DATA to a folder that this user can write to"
        ) from error
    if not key:
        raise ImproperlyConfigured(f"{path} is empty: remove it, and a new key is made (everybody signs in again)")
    return key


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(secrets.token_urlsafe(50))
    # Of two processes that start at once, one makes the key and the other reads it.
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
