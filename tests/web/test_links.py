from __future__ import annotations

from urllib.parse import unquote

import pytest

from evidence.web.links import at_source, inside

SOURCE = "https://intra.example/hr/page.html"


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("#top", "/documents/7/#at-top"),
        ("forms/leave.html", "/documents/7/to/forms/leave.html"),
        ("forms/leave.html?print=1#due", "/documents/7/to/forms/leave.html#at-due"),
        ("/a b.html", "/documents/7/to/a%20b.html"),
        ("https://intra.example/x#y", "https://intra.example/x#y"),
        ("mailto:desk@intra.example", "mailto:desk@intra.example"),
        ("?page=2", None),
    ],
)
def test_a_link_inside_a_document_leads_to_our_page_of_its_target(target: str, shown: str | None) -> None:
    """A relative link left as it is would lead to a page of this site that does not exist."""
    assert inside(7, target) == shown


def test_a_text_fragment_escapes_what_has_a_meaning_in_it() -> None:
    """An unescaped dash or comma makes the browser look for another text, and find nothing."""
    url = at_source(f"{SOURCE}#part", "Well-known, A&B.")
    assert url == f"{SOURCE}#:~:text=Well%2Dknown%2C%20A%26B."


def test_of_a_long_text_its_ends_are_named() -> None:
    text = " ".join(f"word{number}" for number in range(40))
    start, end = at_source(SOURCE, text).partition("#:~:text=")[2].split(",")
    assert (unquote(start), unquote(end)) == (
        "word0 word1 word2 word3 word4",
        "word35 word36 word37 word38 word39",
    )


def test_of_a_row_its_first_cell_is_named() -> None:
    """The cells of a row are no text that stands in the page in one piece."""
    assert at_source(SOURCE, "Norway | 74 | 49") == f"{SOURCE}#:~:text=Norway"


def test_a_file_has_no_source_to_open() -> None:
    assert at_source("travel.html", "Anything.") == ""
