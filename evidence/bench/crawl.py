"""What a crawl costs: a site served on loopback, crawled three times, with some of it changed and gone in between.

Nothing of it stays: the collection is deleted afterwards. The pages are synthetic.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from django.utils import timezone

from evidence.bench.report import Table
from evidence.ingest.fetch.addresses import Allowed
from evidence.ingest.fetch.client import Client
from evidence.ingest.refresh import refresh
from evidence.ingest.refresh.refreshing import agent
from evidence.models import Collection, Source

NAME = "bench of a crawl (may be deleted)"
LOOPBACK = "127.0.0.1"
HOST = "site.example"
LINKS = 10
OUTCOMES = ("new", "changed", "unchanged", "gone", "alias", "failed")


@dataclass
class Shop:
    """A site of numbered pages, each of which leads to ten others, with some broken ends."""

    count: int
    state: dict[int, int] = field(default_factory=dict)
    """How often a page has changed; -1 once it is gone."""

    def answer(self, path: str) -> tuple[int, bytes, str]:
        """Status, body and where a path redirects to."""
        if path == "/robots.txt":
            return 200, b"User-agent: *\nDisallow: /private\n", ""
        if path.startswith("/moved/"):
            return 302, b"", f"/page/{path.rpartition('/')[2]}"
        number = path.rpartition("/")[2] or "0"
        if path.startswith("/broken") or not number.isdigit():
            return 500, b"", ""
        if int(number) >= self.count or self.state.get(int(number), 0) < 0:
            return 404, b"", ""
        return 200, self._page(int(number)), ""

    def _page(self, number: int) -> bytes:
        nearest = range(number * LINKS + 1, min(number * LINKS + LINKS + 1, self.count))
        below = "".join(f'<li><a href="/page/{n}">Item {n}</a></li>' for n in nearest)
        facts = "".join(
            f"<p>Item {number} has the part {number * 7 + line} in its drawer {line}.</p>" for line in range(12)
        )
        broken = '<a href="/broken/1">x</a><a href="/moved/3">y</a><a href="/private/1">z</a>' if number == 0 else ""
        edition = self.state.get(number, 0)
        return (
            f"<!doctype html><title>Item {number}</title><h1>Item {number}</h1><p>Edition {edition} of item {number}.</p>"
            f"{facts}<ul>{below}</ul>{broken}"
        ).encode()


def measure(count: int) -> Iterator[str]:
    """The account of three runs over ``count`` pages: first, nothing changed, and a tenth changed and a tenth gone."""
    shop = Shop(count)
    table = Table(["run", *OUTCOMES, "left", "requests", "bytes", "seconds"])
    Collection.objects.filter(name=NAME).delete()
    collection = Collection.objects.create(name=NAME, slug="bench-crawl")
    now = timezone.now()
    try:
        with _served(shop) as port:
            source = Source.objects.create(
                collection=collection,
                kind=Source.Kind.CRAWL,
                where=f"http://{HOST}:{port}/",
                pause=0,
                most_pages=count + 100,
            )

            def client() -> Client:
                return Client(agent=agent(), allowed=Allowed.read([LOOPBACK]), resolve=lambda host, port: [LOOPBACK])

            def run(name: str, day: int) -> None:
                began = time.perf_counter()
                found = refresh(source, now=now + timedelta(days=day), client=client)
                figures = [found.counts[outcome] for outcome in OUTCOMES]
                seconds = time.perf_counter() - began
                table.add(name, *map(str, (*figures, found.left, found.requests, found.received)), f"{seconds:.1f}")

            run("first", 0)
            run("nothing changed", 1)
            # The last pages lead nowhere: nothing but they themselves goes with them.
            tenth = max(count // 10, 1)
            shop.state = dict.fromkeys(range(1, tenth + 1), 1) | dict.fromkeys(range(count - tenth, count), -1)
            run("a tenth changed, a tenth gone", 2)
            run("the same, eight days later", 10)
    finally:
        collection.delete()
    yield from table.lines()


@contextmanager
def _served(shop: Shop) -> Iterator[int]:
    """Serve the site on loopback; gives its port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, body, place = shop.answer(self.path)
            etag = f'"{sha256(body).hexdigest()[:16]}"'
            if status == 200 and self.headers.get("If-None-Match") == etag:
                status, body = 304, b""
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("ETag", etag)
            if place:
                self.send_header("Location", place)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing: the figures are the account."""

    server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
