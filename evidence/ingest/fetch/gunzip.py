"""gzip, unpacked piece by piece: whoever reads stops when it is enough, and no more was made."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

PIECE = 262_144
GZIP = 16 + zlib.MAX_WBITS
MOST_MEMBERS = 10_000


class Damaged(Exception):
    """Bytes that are not gzip, or end too early."""


class TooLong(Exception):
    """So many parts that unpacking them would never end."""


def gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """What was packed, in pieces of at most ``PIECE`` bytes; of several members one after the other (RFC 1952)."""
    unpacker = zlib.decompressobj(GZIP)
    members = 0
    is_begun = False
    for chunk in chunks:
        data = chunk
        while data:
            if unpacker.eof:
                members += 1
                # What follows the last member is padding.
                if not data.strip(b"\0"):
                    break
                if members > MOST_MEMBERS:
                    raise TooLong(f"is packed in more than {MOST_MEMBERS} parts")
                unpacker = zlib.decompressobj(GZIP)
            is_begun = True
            try:
                piece = unpacker.decompress(data, PIECE)
            except zlib.error as error:
                raise Damaged(f"it is not gzip ({error})") from error
            data = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            if piece:
                yield piece
    if is_begun and not unpacker.eof:
        raise Damaged("it ends in the middle")
