"""Parsers that stand in for others, to see what becomes of their faults. Child processes import them from here."""

from __future__ import annotations

import os
import time
from typing import Any

from evidence.bench.parsers import Counts, Page, Parser, Piece


class StandIn(Parser):
    """Reads every page as its text between tags, one piece."""

    name = "stand-in"
    module = "lxml"
    distribution = "lxml"

    def parse(self, page: Page) -> Any:
        return page.data.decode("utf-8", "replace")

    def counts(self, parsed: Any) -> Counts:
        return Counts(1)

    def pieces(self, parsed: Any, page: Page) -> list[Piece]:
        return [Piece(parsed)]


class Raises(StandIn):
    """Raises on every page that says "Lamps"."""

    def parse(self, page: Page) -> Any:
        if b"Lamps" in page.data:
            raise RuntimeError("no lamps here\nand more that nobody reads")
        return super().parse(page)


class Dies(StandIn):
    """Takes its process with it on every page that says "Lamps"."""

    def parse(self, page: Page) -> Any:
        if b"Lamps" in page.data:
            os._exit(3)
        return super().parse(page)


class Hangs(StandIn):
    """Never ends with a page that says "Lamps"."""

    def parse(self, page: Page) -> Any:
        if b"Lamps" in page.data:
            time.sleep(3600)
        return super().parse(page)


class CannotLoad(StandIn):
    def load(self) -> None:
        raise ImportError("a library that it needs is broken")


class Missing(StandIn):
    name = "missing"
    module = "no_such_module_anywhere"


class TakesText(StandIn):
    """Leaves decoding to its caller."""

    decodes = False

    def parse(self, page: Page) -> Any:
        return page.text
