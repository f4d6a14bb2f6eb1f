"""Sources: the HTML files of folders, archives and uploads, each read or refused on its own."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from django.conf import settings

HTML_ENDINGS = (".html", ".htm", ".xhtml", ".shtml")
MEGABYTE = 1_000_000

LONGEST_ADDRESS = 2000
"""Bytes. PostgreSQL's indexes hold at most 2,704 in a row."""

# What a file is that says it is HTML and is not.
SIGNATURES = (
    (b"%PDF-", "a PDF"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"PK\x03\x04", "a zip archive or an office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
)

# What zipfile raises on archives that are cut or changed (negative offsets and names that are no text are ValueErrors).
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)


@dataclass(frozen=True)
class Source:
    """A page as received: the address it is known by in its collection, its bytes, and the charset its sender declared."""

    address: str
    data: bytes
    charset: str = ""


@dataclass(frozen=True)
class Refusal:
    """Something that was not taken in, and why. ``address`` is that of the page it would have been."""

    name: str
    reason: str
    address: str = ""


def read_paths(paths: Iterable[Path]) -> Iterator[Source | Refusal]:
    """The pages in files, folders and .zip archives. A page of a folder is known by its path within the folder."""
    for path in paths:
        if path.is_dir():
            yield from _read_folder(path)
        elif not path.exists():
            yield Refusal(str(path), "there is no such file or folder")
        elif path.suffix.lower() == ".zip":
            yield from _read_archive_at(path)
        elif path.suffix.lower() in HTML_ENDINGS:
            yield _read_file(path, path.name)
        else:
            yield Refusal(str(path), f"is not HTML: a name ending in {', '.join(HTML_ENDINGS)} or .zip is expected")


def read_upload(name: str, file: BinaryIO) -> Iterator[Source | Refusal]:
    """The pages of one uploaded file: an HTML page, or a .zip of them."""
    name = PurePosixPath(name.replace("\\", "/")).name
    ending = PurePosixPath(name).suffix.lower()
    if ending == ".zip":
        yield from _read_archive(name, file)
    elif ending in HTML_ENDINGS:
        yield _checked(name, name, file.read(_limit() + 1))
    else:
        yield Refusal(name, f"is not HTML: a name ending in {', '.join(HTML_ENDINGS)} or .zip is expected")


def _limit() -> int:
    return int(settings.SPIRE_LARGEST_FILE * MEGABYTE)


def _checked(name: str, address: str, data: bytes) -> Source | Refusal:
    if len(address.encode()) > LONGEST_ADDRESS:
        return Refusal(name, f"has a name of more than {LONGEST_ADDRESS} bytes, folders included; shorten it")
    if len(data) > _limit():
        reason = f"is larger than {settings.SPIRE_LARGEST_FILE} MB, the limit for one file (SPIRE_LARGEST_FILE)"
        return Refusal(name, reason, address)
    if not data.strip():
        return Refusal(name, "is empty", address)
    for signature, kind in SIGNATURES:
        if data.startswith(signature):
            return Refusal(name, f"is {kind}, not HTML", address)
    return Source(address, data)


def _read_file(path: Path, address: str) -> Source | Refusal:
    try:
        if not path.is_file():
            return Refusal(str(path), "is not a regular file", address)
        # The name of a file may be bytes that are no text.
        address.encode()
        with path.open("rb") as file:
            return _checked(str(path), address, file.read(_limit() + 1))
    except UnicodeEncodeError:
        return Refusal(os.fsencode(path).decode("utf-8", "replace"), "has a name that is not UTF-8; rename it")
    except OSError as error:
        return Refusal(str(path), f"cannot be read: {error.strerror}", address)


def _read_folder(folder: Path) -> Iterator[Source | Refusal]:
    unreadable: list[Refusal] = []

    def note(error: OSError) -> None:
        unreadable.append(Refusal(str(error.filename), f"cannot be read: {error.strerror}"))

    root = folder.resolve()
    for parent, folders, names in os.walk(folder, onerror=note):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            if path.suffix.lower() not in HTML_ENDINGS:
                continue
            if path.is_symlink() and not path.resolve().is_relative_to(root):
                yield Refusal(str(path), "is a link that leads out of the folder")
            else:
                yield _read_file(path, path.relative_to(folder).as_posix())
    yield from unreadable


def _read_archive_at(path: Path) -> Iterator[Source | Refusal]:
    try:
        with path.open("rb") as file:
            yield from _read_archive(str(path), file)
    except OSError as error:
        yield Refusal(str(path), f"cannot be read: {error.strerror}")


def _read_archive(name: str, file: BinaryIO) -> Iterator[Source | Refusal]:
    """The pages of an archive. Members are read into memory one by one, never unpacked to disk; their declared sizes
    are not trusted, and reading stops at the limit for one file."""
    try:
        archive = zipfile.ZipFile(file)
    except DAMAGED as error:
        yield Refusal(name, f"is not a zip archive that can be read: {error}")
        return
    with archive:
        members = [member for member in archive.infolist() if not member.filename.endswith("/")]
        if len(members) > settings.SPIRE_MOST_FILES:
            yield Refusal(
                name,
                f"holds {len(members)} files; the limit is {settings.SPIRE_MOST_FILES} (SPIRE_MOST_FILES). Split it",
            )
            return
        seen: set[str] = set()
        for member in members:
            if found := _read_member(archive, member, seen):
                yield found


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, seen: set[str]) -> Source | Refusal | None:
    shown = member.orig_filename.split("\0")[0]
    if not shown.lower().endswith(HTML_ENDINGS):
        return None
    # zipfile hides backslashes and what follows a NUL; the name as the archive has it is the one to judge.
    parts = PurePosixPath(shown).parts
    if "\\" in shown or shown.startswith("/") or ".." in parts or ":" in parts[0] or "\0" in member.orig_filename:
        return Refusal(shown, "has a name that leads out of the archive")
    address = PurePosixPath(shown).as_posix()
    if stat.S_ISLNK(member.external_attr >> 16):
        return Refusal(shown, "is a link, not a file")
    if member.flag_bits & 0x1:
        return Refusal(shown, "is encrypted", address)
    if address in seen:
        return Refusal(shown, "is in the archive twice; the first one was taken")
    seen.add(address)
    try:
        with archive.open(member) as opened:
            return _checked(shown, address, opened.read(_limit() + 1))
    except DAMAGED as error:
        return Refusal(shown, f"cannot be read: {error}", address)
