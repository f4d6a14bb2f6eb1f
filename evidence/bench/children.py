"""A process of its own for each parser, so that its memory is its own and that it may hang or crash alone."""

from __future__ import annotations

import logging
import multiprocessing
import resource
import sys
import time
import warnings
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from evidence.bench.parsers import Counts, Page, Parser, Piece

LONGEST = 60.0
"""Seconds that a parser may take over one page. Then it counts as failed."""

LONGEST_START = 120.0


class Timed(NamedTuple):
    """A page parsed: processor time in seconds, what came of it, or why nothing did.

    Of a page that had to be ended the time is the limit, and of one that took its process along none is known: 0.
    """

    seconds: float
    counts: Counts | None
    error: str = ""


class Pieces(NamedTuple):
    """What a search would be given of a page, or why nothing."""

    pieces: list[Piece]
    error: str = ""


class Child:
    """A parser in a fresh process. ``with Child(parser) as child`` loads it and ends it."""

    def __init__(self, parser: Parser, *, longest: float = LONGEST) -> None:
        self.parser = parser
        self.loaded = 0.0
        """Megabytes in use once the parser was loaded, before the first page."""

        self.peak = 0.0
        """Megabytes in use at most, up to now; of the last process, where an earlier one had to be ended."""

        self._longest = longest
        self._no_end = f"no end after {longest:.0f} s"
        self._process: Any = None

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def time(self, page: Page) -> Timed:
        """The page parsed and timed."""
        answer = self._ask("time", page)
        if isinstance(answer, Timed):
            return answer
        return Timed(self._longest if answer == self._no_end else 0.0, None, str(answer))

    def pieces(self, page: Page) -> Pieces:
        """The page's pieces."""
        answer = self._ask("pieces", page)
        return answer if isinstance(answer, Pieces) else Pieces([], str(answer))

    def _start(self) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._connection, theirs = spawning.Pipe()
        self._process = spawning.Process(target=_serve, args=(self.parser, theirs), daemon=True)
        self._process.start()
        theirs.close()
        loaded = self._receive(LONGEST_START)
        if not isinstance(loaded, float):
            self._stop()
            raise OSError(f"{self.parser.name} could not be loaded: {loaded}")
        self.loaded = loaded

    def _stop(self) -> None:
        self._connection.close()
        self._process.join(1)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _ask(self, kind: str, page: Page) -> Any:
        """The answer; or what went wrong, as a string, and then the next question goes to a new process."""
        if not self._process.is_alive():
            self._start()
        try:
            self._connection.send((kind, page))
        except BrokenPipeError:
            return self._died()
        answer = self._receive(self._longest)
        if isinstance(answer, str):
            return answer
        found, self.peak = answer
        return found

    def _receive(self, longest: float) -> Any:
        try:
            if self._connection.poll(longest):
                return self._connection.recv()
        except (EOFError, ConnectionResetError):
            return self._died()
        self._process.kill()
        self._process.join()
        return self._no_end

    def _died(self) -> str:
        self._process.join()
        return f"its process died ({self._process.exitcode})"


def _serve(parser: Parser, connection: Connection) -> None:
    """Answer questions until the other side is gone."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    try:
        parser.load()
    except Exception as error:
        # Anything: whatever keeps a parser from loading is the answer.
        connection.send(_said(error))
        return
    connection.send(_memory())
    while True:
        try:
            kind, page = connection.recv()
        except EOFError:
            return
        answer = _answer(parser, kind, page)
        connection.send((answer, _memory()))


def _answer(parser: Parser, kind: str, page: Page) -> Timed | Pieces:
    if not parser.decodes:
        _ = page.text
    begun = time.process_time()
    try:
        parsed = parser.parse(page)
        seconds = time.process_time() - begun
        if kind == "time":
            return Timed(seconds, parser.counts(parsed))
        return Pieces(parser.pieces(parsed, page))
    except Exception as error:
        # Anything: that a parser raises on a page, and what, is what is measured.
        seconds = time.process_time() - begun
        return Timed(seconds, None, _said(error)) if kind == "time" else Pieces([], _said(error))


def _said(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}"


def peak_of(process: int | str) -> float:
    """Megabytes that a process used at most, on Linux; 0 for one that has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    # One that waits to be buried has no memory.
    peak = next((line for line in status.splitlines() if line.startswith("VmHWM")), "VmHWM: 0")
    return int(peak.split()[1]) / 1e3 * 1.024


def _memory() -> float:
    """Megabytes that this process used at most."""
    # What getrusage gives a process begins with that of the process that started it, on Linux.
    if Path("/proc/self/status").exists():
        return peak_of("self")
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / 1e6 if sys.platform == "darwin" else used / 1e3 * 1.024
