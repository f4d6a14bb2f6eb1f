"""Formats that are zip archives inside: read in memory, up to the limit for one file, whatever the archive declares."""

from __future__ import annotations

import io
import zipfile
import zlib

from lxml import etree
from lxml.etree import _Element as Element

from evidence.ingest.limits import largest_file, too_large
from evidence.ingest.readers.page import Unreadable

# What zipfile raises on archives that are cut or changed (negative offsets and names that are no text are ValueErrors).
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)
MOST_PARTS = 20_000


class Package:
    """The parts of a document that is a zip archive. All parts read count against one limit."""

    def __init__(self, data: bytes) -> None:
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except DAMAGED as error:
            raise Unreadable(f"is damaged: {error}") from error
        self._members = {member.filename: member for member in self._archive.infolist()}
        self._left = largest_file()
        if len(self._members) > MOST_PARTS:
            raise Unreadable(f"is made of {len(self._members)} parts; the limit is {MOST_PARTS}")

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def names(self) -> list[str]:
        """The names of all parts, in the order of the archive."""
        return list(self._members)

    def part(self, name: str) -> bytes:
        """The bytes of a part. Unreadable where it is missing, damaged or encrypted, or leads over the limit."""
        member = self._members.get(name)
        if member is None:
            raise Unreadable(f"is damaged: its part {name} is missing")
        if member.flag_bits & 0x1:
            raise Unreadable("is protected by a password: save it without one")
        try:
            with self._archive.open(member) as opened:
                data = opened.read(self._left + 1)
        except DAMAGED as error:
            raise Unreadable(f"is damaged: its part {name} cannot be read: {error}") from error
        self._left -= len(data)
        if self._left < 0:
            raise Unreadable(f"{too_large()}, once it is unpacked")
        return data

    def xml(self, name: str) -> Element:
        """A part as XML. Entities are never resolved; a part that declares any is refused with its document."""
        return parse_part(self.part(name), name)


def parse_part(data: bytes, name: str) -> Element:
    """A part of a package as XML; Unreadable where it is not well-formed, or declares entities."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise Unreadable(f"is damaged: its part {name} is no XML: {error.msg}") from error
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(declared.iterentities()):  # type: ignore[union-attr]
        raise Unreadable(f"is not safe to read: its part {name} declares entities")
    return root
