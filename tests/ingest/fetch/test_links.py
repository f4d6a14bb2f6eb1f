from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.ingest.fetch.kinds import NotRead, format_of_page, is_worth_asking, media_type_of
from evidence.ingest.fetch.links import Said, said_by

URL = "http://host.example/docs/page"


def said(text: str, **rest: str) -> Said:
    return said_by(text.encode(), URL, **rest)


def test_links_are_found_where_browsers_follow_them() -> None:
    page = """<a href="a#x">a</a><a href=a>again</a><map><area href="/b"></map><a>none</a><a href="">here</a>
    <a href="mailto:x@y.example">m</a><a href="javascript:void(0)">j</a><a rel="x NoFollow" href="/c">c</a>
    <iframe src="/frame"></iframe><img src="/picture.png"><a href="http://[bad">b</a><!-- <a href="/d">d</a> -->"""
    host = "http://host.example"
    assert said(page).links == (f"{host}/docs/a", f"{host}/b", URL, f"{host}/frame")


def test_links_stand_at_the_base_that_the_page_declares() -> None:
    assert said('<base href="/other/"><a href="a">a</a>').links == ("http://host.example/other/a",)


@pytest.mark.parametrize(
    ("text", "header", "noindex", "nofollow"),
    [
        ("<p>x", "", False, False),
        ('<meta name="Robots" content="NOINDEX, nofollow">', "", True, True),
        ("<meta name=robots content=none>", "", True, True),
        ("<meta name=googlebot content=noindex>", "", False, False),
        ("<meta name=spire content=noindex>", "", True, False),
        ("<p>x", "noindex", True, False),
        ("<p>x", "otherbot: noindex, nofollow", False, False),
        ("<p>x", "otherbot: noindex, spire: nofollow", False, True),
        ("<p>x", "unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow", False, True),
    ],
)
def test_what_a_page_asks_of_robots_is_heard(text: str, header: str, noindex: bool, nofollow: bool) -> None:
    found = said(text, header=header)
    assert (found.noindex, found.nofollow) == (noindex, nofollow)


def test_the_first_canonical_address_counts() -> None:
    page = '<link rel=stylesheet href=/x.css><link rel="canonical" href="/one#a"><link rel=canonical href=/two>'
    assert said(page).canonical == "http://host.example/one"


@given(st.binary(max_size=300))
def test_whatever_comes_is_read(data: bytes) -> None:
    """A page of rubbish that ends a crawl."""
    said_by(b"<a href=" + data, URL)


@pytest.mark.parametrize(
    ("url", "content_type", "known"),
    [
        ("/", "text/html; charset=utf-8", "html"),
        ("/x.php", "TEXT/HTML", "html"),
        ("/report.pdf", "text/html", "html"),
        ("/notes.md", "text/plain", "markdown"),
        ("/notes", "text/markdown", "markdown"),
        ("/notes", "text/plain", "text"),
        ("/a.docx", "application/octet-stream", "docx"),
        ("/a", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
        ("/a.html", "", "html"),
        ("/a.epub?download=1", "application/zip", "epub"),
    ],
)
def test_the_format_is_known_by_type_and_ending(url: str, content_type: str, known: str) -> None:
    assert format_of_page(f"http://host.example{url}", media_type_of(content_type)[0]) == known


@pytest.mark.parametrize(
    ("url", "content_type", "reason"),
    [
        ("/a.pdf", "application/pdf", "is a PDF"),
        ("/a.html", "image/png", "is image/png, which is not read"),
        ("/a", "", "is of no type that is said, which is not read"),
        ("/a", "nonsense", "is of no type"),
    ],
)
def test_what_no_reader_knows_is_named(url: str, content_type: str, reason: str) -> None:
    with pytest.raises(NotRead, match=reason):
        format_of_page(f"http://host.example{url}", media_type_of(content_type)[0])


def test_the_charset_of_the_header_is_known() -> None:
    assert media_type_of('text/html; Charset="ISO-8859-1"') == ("text/html", "iso-8859-1")
    assert media_type_of("text/html; charset=") == ("text/html", "")
    assert len(media_type_of(f"text/html; charset={'x' * 500}")[1]) <= 40


def test_pictures_and_programs_are_not_asked_for() -> None:
    asked = {
        name: is_worth_asking(f"http://host.example/{name}")
        for name in (
            "",
            "a",
            "a.html",
            "a.php",
            "a.aspx",
            "a.md",
            "v1.2",
            "a.pdf",
            "a.png",
            "a.css",
            "a.js",
            "a.zip",
            "a.mp4",
            "a.json",
            "a.tar.gz",
        )
    }
    assert [name for name, is_asked in asked.items() if not is_asked] == [
        "a.png",
        "a.css",
        "a.js",
        "a.zip",
        "a.mp4",
        "a.json",
        "a.tar.gz",
    ]
