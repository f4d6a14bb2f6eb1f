"""Sources: the documents in folders, archives and uploads, each read or refused on its own."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from django.conf import settings

from evidence.ingest.limits import largest_file, too_large
from evidence.ingest.readers import FORMATS, format_of, refused_name
from evidence.ingest.readers.formats import ENDINGS, by_ending
from evidence.ingest.readers.package import DAMAGED

LONGEST_ADDRESS = 2000
"""Bytes. PostgreSQL's indexes hold at most 2,704 in a row."""

# What a file is that says it is text of some kind and is not.
SIGNATURES = (
    (b"%PDF-", "a PDF"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"PK\x03\x04", "a zip archive or an office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
)

PACKED = ("docx", "epub")
"""Formats that are archives themselves; their readers say what is wrong with them."""

# Sphinx puts a copy of each page's source beside its pages.
SOURCES_OF_PAGES = "_sources"
# Text for programs, and what systems and programs leave behind.
NO_DOCUMENTS = frozenset(("robots.txt", "ads.txt", "security.txt", "requirements.txt", "cmakelists.txt"))
LEFT_BEHIND = ("._", "~$")
KINDS = ", ".join(ending for ending in ENDINGS if ending.count(".") == 1)


@dataclass(frozen=True)
class Arrival:
    """A document as it arrived: the address it is known by in its collection, its bytes, the charset its sender declared,
    and the format that its reader is found by."""

    address: str
    data: bytes
    charset: str = ""
    format: str = "html"


@dataclass(frozen=True)
class Refusal:
    """Something that was not taken in, and why. ``address`` is that of the document it would have been."""

    name: str
    reason: str
    address: str = ""


def read_paths(paths: Iterable[Path]) -> Iterator[Arrival | Refusal]:
    """The documents in files, folders and .zip archives. One of a folder is known by its path within the folder.

    In folders and archives, what is no document is passed by: pictures and data, texts for programs (robots.txt), and
    ``_sources``, where Sphinx keeps the source of each page beside the page. Documents in a format that is not read (PDF,
    presentations …) are refused by name there as well.
    """
    for path in paths:
        if path.is_dir():
            yield from _read_folder(path)
        elif not path.exists():
            yield Refusal(str(path), "there is no such file or folder")
        elif path.suffix.lower() == ".zip":
            yield from _read_archive_at(path)
        elif by_ending(path.name):
            yield _read_file(path, path.name)
        else:
            yield Refusal(str(path), _why_not(path.name))


def read_upload(name: str, file: BinaryIO) -> Iterator[Arrival | Refusal]:
    """The documents of one uploaded file: itself, or those in a .zip."""
    name = PurePosixPath(name.replace("\\", "/")).name
    ending = PurePosixPath(name).suffix.lower()
    if ending == ".zip":
        yield from _read_archive(name, file)
    elif by_ending(name):
        yield checked(name, name, file.read(largest_file() + 1))
    else:
        yield Refusal(name, _why_not(name))


def _why_not(name: str) -> str:
    return refused_name(name) or f"is in no format that is read: a name ending in {KINDS} or .zip is expected"


def _is_passed_by(parts: Sequence[str]) -> bool:
    """Whether a file of a folder or an archive, by its path there, is none that somebody meant to take in."""
    name = parts[-1].lower()
    return name in NO_DOCUMENTS or name.startswith(LEFT_BEHIND) or SOURCES_OF_PAGES in parts[:-1]


def checked(name: str, address: str, data: bytes, *, charset: str = "", format_name: str = "") -> Arrival | Refusal:
    """The document of these bytes, or why it is none; ``format_name`` where not the ending of the address tells it."""
    if len(address.encode()) > LONGEST_ADDRESS:
        return Refusal(name, f"has a name of more than {LONGEST_ADDRESS} bytes, folders included; shorten it")
    if len(data) > largest_file():
        return Refusal(name, too_large(), address)
    if not data.strip():
        return Refusal(name, "is empty", address)
    found = format_of(f"page{FORMATS[format_name].endings[0]}" if format_name else address, data)
    for signature, kind in SIGNATURES:
        if found not in PACKED and data.startswith(signature):
            return Refusal(name, f"is {kind}, not {FORMATS[found].title}", address)
    return Arrival(address, data, charset, found)


def _read_file(path: Path, address: str) -> Arrival | Refusal:
    try:
        if not path.is_file():
            return Refusal(str(path), "is not a regular file", address)
        # The name of a file may be bytes that are no text.
        address.encode()
        with path.open("rb") as file:
            return checked(str(path), address, file.read(largest_file() + 1))
    except UnicodeEncodeError:
        return Refusal(os.fsencode(path).decode("utf-8", "replace"), "has a name that is not UTF-8; rename it")
    except OSError as error:
        return Refusal(str(path), f"cannot be read: {error.strerror}", address)


def _read_folder(folder: Path) -> Iterator[Arrival | Refusal]:
    unreadable: list[Refusal] = []

    def note(error: OSError) -> None:
        unreadable.append(Refusal(str(error.filename), f"cannot be read: {error.strerror}"))

    root = folder.resolve()
    for parent, folders, names in os.walk(folder, onerror=note):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            if _is_passed_by(path.relative_to(folder).parts):
                continue
            if not by_ending(name):
                if reason := refused_name(name, among_others=True):
                    yield Refusal(str(path), reason)
            elif path.is_symlink() and not path.resolve().is_relative_to(root):
                yield Refusal(str(path), "is a link that leads out of the folder")
            else:
                yield _read_file(path, path.relative_to(folder).as_posix())
    yield from unreadable


def _read_archive_at(path: Path) -> Iterator[Arrival | Refusal]:
    try:
        with path.open("rb") as file:
            yield from _read_archive(str(path), file)
    except OSError as error:
        yield Refusal(str(path), f"cannot be read: {error.strerror}")


def _read_archive(name: str, file: BinaryIO) -> Iterator[Arrival | Refusal]:
    """The documents of an archive. Members are read into memory one by one, never unpacked to disk; their declared sizes
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


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, seen: set[str]) -> Arrival | Refusal | None:
    shown = member.orig_filename.split("\0")[0]
    if not shown or _is_passed_by(shown.split("/")):
        return None
    if not by_ending(shown):
        reason = refused_name(shown, among_others=True)
        return Refusal(shown, reason) if reason else None
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
            return checked(shown, address, opened.read(largest_file() + 1))
    except DAMAGED as error:
        return Refusal(shown, f"cannot be read: {error}", address)
