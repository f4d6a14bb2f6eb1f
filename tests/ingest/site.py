"""A site on loopback, whose pages a test puts there, changes and takes away; it remembers what it was asked for."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from evidence.ingest.fetch.addresses import Allowed
from evidence.ingest.fetch.client import Client, Patience

LOOPBACK = "127.0.0.1"
NAME = "site.example"
HTML = "text/html; charset=utf-8"
OPENED: list[Client] = []
"""Clients to close when the site closes."""


@dataclass(frozen=True)
class Reply:
    """What a path answers. A body in pieces is sent piece by piece, and ends with the connection."""

    body: bytes | Iterable[bytes] = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    target: str
    headers: Mapping[str, str]
    status: int


class Site:
    """Pages by their path and query. What is not there is a 404."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply | Callable[[], Reply]] = {}
        self.asked: list[Asked] = []
        self.port = 0

    def url(self, target: str = "/", host: str = NAME) -> str:
        return f"http://{host}:{self.port}{target}"

    def page(
        self, target: str, *links: str, says: str = "", head: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        """A page of a title, a sentence and links, with an ETag."""
        listed = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
        says = says or f"This is what {target} has to say."
        body = f"<!doctype html><title>{target}</title>{head}<h1>{target}</h1><p>{says}</p><ul>{listed}</ul>".encode()
        self.put(target, body, **(headers or {}))

    def put(self, target: str, body: bytes, kind: str = HTML, **headers: str) -> None:
        """Bytes of this type, with an ETag; headers are named by keywords ("x_robots_tag")."""
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.replies[target] = Reply(body, headers={"Content-Type": kind, "ETag": etag, **named})

    def redirect(self, target: str, to: str, status: int = 302) -> None:
        self.replies[target] = Reply(status=status, headers={"Location": to})

    def answer(self, target: str, status: int, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.replies[target] = Reply(b"no", status, named)

    def packed(self, target: str, body: bytes) -> None:
        """A page that comes packed by gzip."""
        self.replies[target] = Reply(gzip.compress(body), headers={"Content-Type": HTML, "Content-Encoding": "gzip"})

    def targets(self) -> list[str]:
        """What was asked for since the last time, robots.txt left out."""
        found = [asked.target for asked in self.asked if asked.target != "/robots.txt"]
        self.asked.clear()
        return found

    def reply(self, target: str, headers: Mapping[str, str]) -> Reply:
        found = self.replies.get(target, Reply(b"not here", 404))
        reply = found() if callable(found) else found
        if reply.status == 200 and headers.get("If-None-Match", "") == reply.headers.get("ETag", "-"):
            reply = Reply(status=304, headers={"ETag": reply.headers["ETag"]})
        self.asked.append(Asked(target, dict(headers), reply.status))
        return reply


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    """Serve a site on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            reply = site.reply(self.path, self.headers)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            is_whole = isinstance(reply.body, bytes)
            if is_whole and "Content-Length" not in reply.headers and reply.status != 304:
                self.send_header("Content-Length", str(len(reply.body)))
            if not is_whole:
                self.send_header("Connection", "close")
            self.end_headers()
            try:
                for piece in [reply.body] if is_whole else reply.body:
                    self.wfile.write(piece)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A client that has enough hangs up: nothing to tell."""

    server = Server((LOOPBACK, 0), Handler)
    site.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        while OPENED:
            OPENED.pop().close()
        server.shutdown()
        server.server_close()
        thread.join()


def client(
    *, allowed: Iterable[str] = ("127.0.0.0/8",), resolve: Any = None, tls: Any = None, **patience: float
) -> Client:
    """A client that may ask loopback; ``resolve`` stands for the DNS, and has every name lead there."""
    made = Client(
        agent="SPIRE/test",
        allowed=Allowed.read(allowed),
        patience=Patience(**patience),
        resolve=resolve or (lambda host, port: [LOOPBACK]),
        tls=tls,
    )
    OPENED.append(made)
    return made
