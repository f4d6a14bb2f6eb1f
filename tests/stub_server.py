"""A stub that speaks OpenAI's protocol, and does what servers do on bad days."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Says:
    """One response: a text (or chunks of one), or a fault."""

    text: str = ""
    chunks: Sequence[str] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    after: float = 0.0
    finish: str | None = "stop"
    is_cut: bool = False


Script = Callable[[dict[str, Any], int], Says | str]
"""From a request's body and its number (from 0) to what is said."""


@dataclass
class Stub:
    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    most_at_once: int = 0


@contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[None]:
    """A server that answers until the block ends."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


@contextmanager
def stub(script: Script | Says | str) -> Iterator[Stub]:
    """A server that answers by this script."""
    lock = threading.Lock()
    state = Stub("")
    running = 0

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            nonlocal running
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = len(state.requests)
                state.requests.append(asked)
                running += 1
                state.most_at_once = max(state.most_at_once, running)
            try:
                said = script(asked, number) if callable(script) else script
                self._say(said if isinstance(said, Says) else Says(said), asked)
            except OSError:
                pass  # Who has asked has gone.
            finally:
                with lock:
                    running -= 1

        def _say(self, said: Says, asked: dict[str, Any]) -> None:
            time.sleep(said.after)
            if asked.get("stream") and said.status == 200:
                self._stream(said)
                return
            message = {"role": "assistant", "content": said.text}
            choice = {"index": 0, "message": message, "finish_reason": said.finish}
            usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
            whole = {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "stub",
                "choices": [choice],
                "usage": usage,
            }
            body = json.dumps(whole).encode() if said.body is None else said.body
            self._head(said, "application/json", len(body) + (100 if said.is_cut else 0))
            self.wfile.write(body)

        def _stream(self, said: Says) -> None:
            self._head(said, "text/event-stream", None)
            for text in said.chunks or [said.text]:
                self._event({"delta": {"content": text}, "finish_reason": None})
                time.sleep(said.after)
            if not said.is_cut:
                self._event({"delta": {}, "finish_reason": said.finish})
                self.wfile.write(b"data: [DONE]\n\n")

        def _event(self, choice: dict[str, Any]) -> None:
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "stub"}
            event = json.dumps({**chunk, "choices": [{"index": 0, **choice}]})
            self.wfile.write(f"data: {event}\n\n".encode())
            self.wfile.flush()

        def _head(self, said: Says, kind: str, length: int | None) -> None:
            self.send_response(said.status)
            self.send_header("Content-Type", kind)
            if length is not None:
                self.send_header("Content-Length", str(length))
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as server:
        state.url = f"http://127.0.0.1:{server.server_port}/v1"
        with serving(server):
            yield state


def last_said(asked: dict[str, Any]) -> str:
    """What the last message of a request says."""
    text: str = asked["messages"][-1]["content"]
    return text
