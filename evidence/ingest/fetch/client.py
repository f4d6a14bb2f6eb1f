"""One request for one URL: to an address that was checked, within limits of time and size, and with nothing of ours in it.

The name is resolved here, once for each connection; every address it has is checked, and the connection goes to one of
them, while the ``Host`` header and TLS (its name and its certificate) stay those of the URL. A name that leads elsewhere a
moment later (DNS rebinding) changes nothing. Redirects are not followed: who asks looks at each by the same way. No cookies,
no proxies and no passwords from the environment.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpcore2

from evidence.ingest.fetch.addresses import Address, Allowed, is_public
from evidence.ingest.fetch.gunzip import Damaged, TooLong, gunzip
from evidence.ingest.fetch.urls import DEFAULT_PORTS, host_of

CHUNK = 65_536
LOWEST_FREE_PORT = 1024

Resolve = Callable[[str, int], Iterable[str]]
"""From a host and a port to its addresses; OSError when it has none."""


class NotFetched(Exception):
    """Why a page was not fetched, in words for who looks after the source."""


class NotAllowed(NotFetched):
    """An address that is never asked."""


class Unreachable(NotFetched):
    """A site that does not answer, or not as a site does. It may, later."""


class TooLarge(NotFetched):
    """More than the limit, before or after unpacking."""


@dataclass(frozen=True)
class Patience:
    """Seconds for a connection, for the next bytes, and for a whole answer."""

    connect: float = 10
    read: float = 20
    whole: float = 300


def addresses_of(host: str, port: int) -> list[str]:
    """All addresses of a host, as the system resolves it."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


@dataclass
class Answer:
    """What a server answered: its status and headers (names in small letters), and a body that is read when asked for."""

    url: str
    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes] = field(repr=False)
    received: int = 0
    """Bytes of the body, as they came over the wire."""

    @property
    def leads_to(self) -> str:
        """Where a redirect leads; "" for any other answer."""
        return self.headers.get("location", "") if self.status in (301, 302, 303, 307, 308) else ""

    def body(self, limit: int, *, rest_is_left: bool = False) -> bytes:
        """The body, unpacked: TooLarge when it is longer than ``limit`` bytes, unless ``rest_is_left``."""
        encoding = self.headers.get("content-encoding", "identity").strip().lower()
        declared = self.headers.get("content-length", "")
        if declared.isdigit() and int(declared) > limit and not rest_is_left:
            raise TooLarge(f"is longer than {limit} bytes")
        if encoding not in ("identity", "", "gzip", "x-gzip"):
            raise Unreachable(f"came packed as {encoding[:40]!r}, which was not asked for")
        made = bytearray()
        try:
            for chunk in gunzip(self._counted()) if "gzip" in encoding else self._counted():
                made += chunk
                if len(made) > limit:
                    break
        except Damaged as error:
            raise Unreachable(f"came damaged: {error}") from error
        except TooLong as error:
            raise TooLarge(str(error)) from error
        if len(made) > limit and not rest_is_left:
            raise TooLarge(f"is longer than {limit} bytes")
        return bytes(made[:limit])

    def _counted(self) -> Iterator[bytes]:
        with _in_words(self.url):
            for chunk in self.chunks:
                self.received += len(chunk)
                yield chunk


class Client:
    """Sends requests, one after the other; connections are kept for the next one to the same site."""

    def __init__(
        self,
        *,
        agent: str,
        allowed: Allowed = Allowed(),  # noqa: B008 (frozen)
        patience: Patience = Patience(),
        resolve: Resolve = addresses_of,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.agent = agent
        self._patience = patience
        self._network = _CheckedNetwork(allowed, patience, resolve)
        self._pool = httpcore2.ConnectionPool(
            ssl_context=tls, max_connections=4, keepalive_expiry=30, network_backend=self._network
        )

    def close(self) -> None:
        """Close what is open."""
        self._pool.close()

    @contextmanager
    def get(self, url: str, headers: Mapping[str, str] | None = None) -> Iterator[Answer]:
        """The answer to a request for a normal URL; its body is to be read within the context.

        NotAllowed for an address that is never asked, Unreachable where nothing sensible comes back.
        """
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        sent = {
            "Host": parts.netloc,
            "User-Agent": self.agent,
            "Accept": "text/html, application/xhtml+xml, */*;q=0.5",
            "Accept-Encoding": "gzip",
            **(headers or {}),
        }
        request = httpcore2.Request(
            "GET",
            httpcore2.URL(scheme=parts.scheme, host=host_of(url), port=parts.port, target=target),
            headers=[(name.encode("ascii"), value.encode("latin-1", "replace")) for name, value in sent.items()],
            extensions={
                "timeout": {
                    "connect": self._patience.connect,
                    "read": self._patience.read,
                    "write": self._patience.read,
                }
            },
        )
        self._network.deadline = time.monotonic() + self._patience.whole
        with _in_words(url):
            response = self._pool.handle_request(request)
        try:
            yield Answer(url, response.status, _headers(response.headers), iter(response.iter_stream()))
        finally:
            response.close()


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers as text; of one that came twice the values are joined, as HTTP has it."""
    found: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


@contextmanager
def _in_words(url: str) -> Iterator[None]:
    """The client's errors as ours."""
    try:
        yield
    except httpcore2.TimeoutException as error:
        raise Unreachable(f"{host_of(url)} did not answer in time") from error
    except httpcore2.ConnectError as error:
        raise Unreachable(f"{host_of(url)} could not be connected to: {error}") from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, ssl.SSLError) as error:
        raise Unreachable(f"{host_of(url)} broke off: {error or type(error).__name__}") from error


class _CheckedNetwork(httpcore2.NetworkBackend):
    """Connections to addresses that were checked, all within one deadline."""

    def __init__(self, allowed: Allowed, patience: Patience, resolve: Resolve) -> None:
        self._allowed = allowed
        self._patience = patience
        self._resolve = resolve
        self._plain = httpcore2.SyncBackend()
        self.deadline = 0.0

    def left(self, timeout: float | None) -> float:
        """Seconds that the next step may take."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout(f"took longer than {self._patience.whole} s")
        return left if timeout is None else min(left, timeout)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore2.NetworkStream:
        failure: Exception | None = None
        for address in self._checked(host, port):
            try:
                stream = self._plain.connect_tcp(address, port, self.left(timeout), local_address, socket_options)
                return _Stream(stream, self)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore2.ConnectError("it has no address")

    def _checked(self, host: str, port: int) -> list[str]:
        """The addresses of a host. NotAllowed unless each of them may be asked."""
        try:
            found = list(self._resolve(host, port))
        except OSError as error:
            raise Unreachable(f"{host} has no address: {error.strerror or error}") from error
        if self._allowed.host(host):
            return found
        addresses = [ipaddress.ip_address(text) for text in found]
        within = [self._allowed.address(address) for address in addresses]
        for address, is_allowed in zip(addresses, within, strict=True):
            if not is_allowed and not is_public(address):
                raise NotAllowed(_not_public(host, address))
        if port not in DEFAULT_PORTS.values() and port < LOWEST_FREE_PORT and not all(within):
            raise NotAllowed(f"{host}: port {port} is another service's and never asked")
        return found


def _not_public(host: str, address: Address) -> str:
    return (
        f"{host} leads to {address}, which is no public address. Where it is meant, the operator of this server allows it"
        " by SPIRE_FETCH_ALLOW"
    )


class _Stream(httpcore2.NetworkStream):
    """A connection that keeps to the deadline of the request it is used for: a server that sends a byte now and then would
    otherwise never be done."""

    def __init__(self, stream: httpcore2.NetworkStream, network: _CheckedNetwork) -> None:
        self._stream = stream
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._network.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._network.left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, self._network.left(timeout)), self._network)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
