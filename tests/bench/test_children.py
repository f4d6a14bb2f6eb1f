"""evidence.bench.children: a parser may raise, hang or crash, and only its own figures suffer."""

from __future__ import annotations

import pytest

from evidence.bench.children import Child
from evidence.bench.parsers import OURS, Page
from tests.bench.stand_ins import CannotLoad, Dies, Hangs, Raises

LAMPS = Page("lamps.html", b"<p>Lamps are at desk B.</p>")
TEA = Page("tea.html", b"<p>Tea is at ten.</p>")


def test_a_page_is_timed_in_a_process_whose_memory_is_known() -> None:
    with Child(OURS) as child:
        timed = child.time(TEA)
    assert timed.counts is not None
    assert timed.counts.sentences == 1
    assert timed.seconds > 0
    assert 5 < child.loaded <= child.peak


@pytest.mark.parametrize(
    ("parser", "error"),
    [(Raises(), "RuntimeError: no lamps here"), (Dies(), "its process died (3)"), (Hangs(), "no end after 1 s")],
)
def test_a_parser_that_fails_on_one_page_goes_on_with_the_next(parser: Raises, error: str) -> None:
    with Child(parser, longest=1) as child:
        assert child.time(LAMPS).error == error
        assert (child.time(LAMPS).seconds == 1) is isinstance(parser, Hangs)
        assert child.time(TEA).counts is not None
        assert child.pieces(LAMPS).error == error


def test_a_parser_that_cannot_be_loaded_is_named() -> None:
    with pytest.raises(OSError, match="stand-in could not be loaded: ImportError: a library that it needs is broken"):
        Child(CannotLoad()).__enter__()
