"""The file of a backup: a zip, not compressed again, of a database dump, files, and a manifest with their checksums."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "database.dump"
FILES = "files/"
CHUNK = 1 << 20
LARGEST_MANIFEST = 10_000_000

Report = Callable[[int], object]
"""Is told how many bytes more are done."""


class BackupError(Exception):
    """Why a backup cannot be made, read or restored, and what to do."""


@dataclass
class Manifest:
    """What a backup holds, and what it was made of. ``migrations`` are Django's by app, ``pipeline`` is Alembic's;
    ``extensions`` have their schema."""

    made: str
    spire: str
    server: int
    extensions: dict[str, str]
    migrations: dict[str, list[str]]
    pipeline: str
    members: dict[str, list[Any]] = field(default_factory=dict)
    format: int = FORMAT


class Writer:
    """Writes the members of a backup one after the other, each as a stream."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._members: dict[str, list[Any]] = {}

    def add(self, name: str, chunks: Iterable[bytes], report: Report = lambda count: None) -> None:
        """A member more, as long as its chunks are."""
        digest, size = hashlib.sha256(), 0
        with self._archive.open(_info(name), "w", force_zip64=True) as member:
            for chunk in chunks:
                member.write(chunk)
                digest.update(chunk)
                size += len(chunk)
                report(len(chunk))
        self._members[name] = [size, digest.hexdigest()]

    def finish(self, manifest: Manifest) -> None:
        """The manifest, which names all members; without it the file is no backup."""
        manifest.members = self._members
        self._archive.writestr(_info(MANIFEST), json.dumps(asdict(manifest), indent=1))


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o600 << 16
    return info


@contextmanager
def writing(path: Path) -> Iterator[Writer]:
    """A new backup. It gets its name when it is whole and on the disk; until then it is FILE.part, for its owner only."""
    if path.exists():
        raise BackupError(f"{path} exists already, and a backup replaces none: give another name, or move it away")
    part = path.with_name(f"{path.name}.part")
    with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError(f"another backup is writing {part}: wait for it, or give another name") from None
        try:
            file.truncate()
            with zipfile.ZipFile(file, "w") as archive:
                yield Writer(archive)
            file.flush()
            os.fsync(file.fileno())
            os.link(part, path)  # unlike a rename, it replaces nothing
        finally:
            part.unlink()


class Archive:
    """A backup that is open for reading."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path = path
        self._archive = archive
        self.manifest = _manifest(archive)

    @property
    def size(self) -> int:
        """The bytes of all members together."""
        return sum(size for size, _ in self.manifest.members.values())

    def names(self) -> list[str]:
        """The files from the data folder."""
        return [name.removeprefix(FILES) for name in self.manifest.members if name.startswith(FILES)]

    def chunks(self, name: str, report: Report = lambda count: None) -> Iterator[bytes]:
        """A member as a stream. BackupError at its end when it is not what was written."""
        wanted = self.manifest.members[name]
        digest, size = hashlib.sha256(), 0
        with _readable(self._path), self._archive.open(name) as member:
            while chunk := member.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)
                report(len(chunk))
                yield chunk
        if [size, digest.hexdigest()] != wanted:
            raise BackupError(f"{self._path} is damaged: {name} is not what was written")

    def check(self, report: Report = lambda count: None) -> None:
        """Read everything once. BackupError when anything is not what was written."""
        for name in self.manifest.members:
            for _ in self.chunks(name, report):
                pass


@contextmanager
def reading(path: Path) -> Iterator[Archive]:
    """An existing backup. BackupError when it is none, or not whole."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}") from error
    with file:
        with _readable(path):
            archive = Archive(path, zipfile.ZipFile(file))
        yield archive


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """What zipfile and json make of a damaged file, said in one way."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        EOFError,
        KeyError,
        NotImplementedError,
        OSError,
        OverflowError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        raise BackupError(f"{path} is no backup of SPIRE, or it is damaged or not whole: {error}") from error


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    """The manifest, checked against what the archive holds."""
    infos = {info.filename: info for info in archive.infolist()}
    about = infos[MANIFEST]
    if about.file_size > LARGEST_MANIFEST or any(info.compress_type for info in infos.values()):
        raise ValueError("SPIRE writes no such zip")
    read = json.loads(archive.read(MANIFEST))
    if read["format"] != FORMAT:
        raise ValueError(f"its format is {read['format']}, and this SPIRE reads format {FORMAT}")
    manifest = Manifest(**read)
    if set(infos) != {MANIFEST, *manifest.members} or DATABASE not in infos:
        raise ValueError("its manifest names other members than it has")
    for name, (size, _) in manifest.members.items():
        if infos[name].file_size != size:
            raise ValueError(f"{name} has {infos[name].file_size} bytes instead of {size}")
        if name != DATABASE and not re.fullmatch(rf"{FILES}(?:[\w-][\w. -]*/)*[\w-][\w. -]*", name):
            raise ValueError(f"{name!r} is no place in a data folder")
    return manifest
