"""What the tests of files, folders, archives and uploads share: what was read or refused, and ways to pack."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable

from evidence.ingest.sources import Arrival, Refusal, read_upload

PAGE = b"<p>Ask.</p>"
Found = list[Arrival | Refusal]


def taken(found: Iterable[Arrival | Refusal]) -> list[str]:
    return [one.address for one in found if isinstance(one, Arrival)]


def refused(found: Iterable[Arrival | Refusal]) -> dict[str, str]:
    return {one.name: one.reason for one in found if isinstance(one, Refusal)}


def archive(members: Iterable[tuple[str | zipfile.ZipInfo, bytes]]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members:
            file.writestr(name, data)
    return packed.getvalue()


def named(name: str, mode: int = 0) -> zipfile.ZipInfo:
    """A member with exactly this name, which ``writestr`` would tidy."""
    member = zipfile.ZipInfo("x")
    member.filename = name
    member.external_attr = mode << 16
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def upload(name: str, data: bytes) -> Found:
    return list(read_upload(name, io.BytesIO(data)))


def unpacked(*members: tuple[str | zipfile.ZipInfo, bytes]) -> Found:
    return upload("pages.zip", archive(members))
