"""URLs: one spelling for each page, and which site a page belongs to."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urljoin, urlsplit

import idna

from evidence.ingest.sources import LONGEST_ADDRESS

DEFAULT_PORTS = {"http": 80, "https": 443}
UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
KEPT = UNRESERVED | frozenset(b"!$&'(),*+;=:@/?")
"""What stands in a path or a query as it is (RFC 3986, 3.3 and 3.4)."""
ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
# A name that ends in a number is an IPv4 address in one of its old notations, to browsers and to the C library.
ENDS_IN_A_NUMBER = re.compile(r"(^|\.)(0x[0-9a-f]*|\d+)$")
NO_HOST_HAS = re.compile(r"[\s%<>\\^|`{}\"#?/]")
CONTROLS = re.compile(r"[\x00-\x20\x7f]+")
NEVER = "is no URL that can be fetched"


class BadUrl(ValueError):
    """A URL that is not fetched, and why."""


def normal(url: str, base: str = "") -> str:
    """The URL in the one spelling that its page is known by; ``base`` is what a relative one stands in.

    Scheme and host in small letters, the host in ASCII (UTS 46) and without a dot at its end, no default port, no
    fragment, no ``.`` and ``..``; percent-encoding as RFC 3986 (6.2.2) has it. The order of a query is kept: servers may
    look at it. BadUrl says what is wrong with one that is not fetched.
    """
    try:
        parts = urlsplit(urljoin(base, CONTROLS.sub(" ", url).strip()))
        port = parts.port
    except ValueError as error:
        raise BadUrl(f"{NEVER}: {error}") from error
    if parts.scheme not in DEFAULT_PORTS:
        raise BadUrl(f"{NEVER}: only http:// and https:// are")
    if "[" in parts.netloc and ":" not in (parts.hostname or ""):
        raise BadUrl(f"{NEVER}: what stands in brackets is no IPv6 address")
    if "@" in parts.netloc:
        raise BadUrl(f"{NEVER}: it holds a user name or a password")
    host = _host(parts.hostname or "")
    place = host if port in (None, DEFAULT_PORTS[parts.scheme]) else f"{host}:{port}"
    path = _without_dots(_escaped(parts.path.replace("\\", "/")))
    query = f"?{_escaped(parts.query)}" if parts.query else ""
    made = f"{parts.scheme}://{place}{path}{query}"
    if len(made) > LONGEST_ADDRESS:
        raise BadUrl(f"{NEVER}: it is longer than {LONGEST_ADDRESS} characters")
    return made


def site_of(url: str) -> str:
    """The host of a normal URL, with its port where that is not the usual one: what a crawl stays on."""
    return urlsplit(url).netloc


def host_of(url: str) -> str:
    """The host of a normal URL; an IPv6 address without its brackets."""
    return urlsplit(url).hostname or ""


def is_below(url: str, prefix: str) -> bool:
    """Whether the path of a normal URL begins with this one. "/docs" holds "/docs" and "/docs/a", not "/docs-old"."""
    path = urlsplit(url).path
    return path.startswith(prefix if prefix.endswith("/") else f"{prefix}/") or path == prefix


def _host(host: str) -> str:
    host = host.removesuffix(".")
    if ":" in host:
        try:
            address = ipaddress.IPv6Address(host)
        except ValueError as error:
            raise BadUrl(f"{NEVER}: {error}") from error
        if address.scope_id:
            raise BadUrl(f"{NEVER}: an address of this machine's own network")
        return f"[{address}]"
    if not host or NO_HOST_HAS.search(host):
        raise BadUrl(f"{NEVER}: it names no host")
    try:
        name = idna.encode(host, uts46=True).decode("ascii") if not host.isascii() else host.lower()
    except idna.IDNAError as error:
        raise BadUrl(f"{NEVER}: its host is no name ({error})") from error
    if ENDS_IN_A_NUMBER.search(name):
        try:
            ipaddress.IPv4Address(name)
        except ValueError as error:
            raise BadUrl(f"{NEVER}: write the address as four decimal numbers") from error
    if len(name) > 253 or any(not 0 < len(label) <= 63 for label in name.split(".")):
        raise BadUrl(f"{NEVER}: its host is no name")
    return name


def _escaped(text: str) -> str:
    """Percent-encoding in one way: what needs none has none, and the digits are capital letters."""
    made = bytearray()
    data = text.encode("utf-8", "replace")
    position = 0
    while position < len(data):
        escape = ESCAPE.match(data, position)
        byte = int(escape[1], 16) if escape else data[position]
        if byte in UNRESERVED or (escape is None and byte in KEPT):
            made.append(byte)
        else:
            made += b"%%%02X" % byte
        position += 3 if escape else 1
    return made.decode("ascii")


def _without_dots(path: str) -> str:
    """RFC 3986, 5.2.4."""
    made: list[str] = []
    parts = path.split("/")
    for part in parts:
        if part == "..":
            if len(made) > 1:
                made.pop()
        elif part != ".":
            made.append(part)
    if parts[-1] in (".", ".."):
        made.append("")
    joined = "/".join(made)
    return joined if joined.startswith("/") else f"/{joined}"
