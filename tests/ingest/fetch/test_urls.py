from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.ingest.fetch.urls import BadUrl, is_below, normal, site_of

TEXTS = st.text(st.sampled_from("aZ09-._~%/?#&=:@ +\\é世\x00\n[]'\"<>é中"), max_size=30)
URLS = st.builds("http://host.example{}{}".format, st.sampled_from(("", "/", ":80", ":8080/", "?")), TEXTS)


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("HTTP://Host.Example:80/a/../b/./c?b=1&a=%7e#part", "http://host.example/b/c?b=1&a=~"),
        ("https://host.example.:443", "https://host.example/"),
        ("https://bücher.example/ä b", "https://xn--bcher-kva.example/%C3%A4%20b"),
        ("http://host.example/%2f%c3%a4?x=%20", "http://host.example/%2F%C3%A4?x=%20"),
        ("http://host.example/a\\b", "http://host.example/a/b"),
        ("http://host.example/../../a/b/..", "http://host.example/a/"),
        ("http://host.example/a?z=1&a=2&z=0", "http://host.example/a?z=1&a=2&z=0"),
        ("http://host.example:8080/", "http://host.example:8080/"),
        ("http://[2606:4700:0::1]/", "http://[2606:4700::1]/"),
        (" http://host.example/a ", "http://host.example/a"),
        ("http://host.example/100%", "http://host.example/100%25"),
    ],
)
def test_a_page_has_one_spelling(written: str, known: str) -> None:
    """A page that is asked for once for each way to write its address, and stands in the collection as often."""
    assert normal(written) == known
    assert normal(known) == known


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host.example/",
        "file:///etc/passwd",
        "//host.example/",
        "javascript:alert(1)",
        "http://",
        "http:///path",
        "http://user:secret@host.example/",
        "http://user@host.example/",
        "http://@host.example/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.0.0.0x1/",
        "http://1.2.3.4.5/",
        "http://[::1%25eth0]/",
        "http://[v1.x]/",
        "http://host.example:99999/",
        "http://host.example:80x/",
        "http://ho%73t.example/",
        "http://a..b/",
        f"http://{'a' * 64}.example/",
        f"http://host.example/{'a' * 2000}",
        "http://host.example\\@127.0.0.1/",
    ],
)
def test_what_is_no_url_of_a_page_is_refused(url: str) -> None:
    """Odd notations by which a check of the host is got around, and the C library understands all the same."""
    with pytest.raises(BadUrl):
        normal(url)


def test_digits_and_dots_of_other_scripts_are_those_of_ascii() -> None:
    """A host that looks like a name, and that IDNA makes an address of."""
    assert normal("http://１.2.3.4/") == "http://1.2.3.4/"
    with pytest.raises(BadUrl):
        normal("http://①②⑦.1/")


@given(URLS)
def test_the_spelling_is_settled_at_once(url: str) -> None:
    """A page that gets another address each time it is listed."""
    try:
        made = normal(url)
    except BadUrl:
        return
    assert normal(made) == made
    assert made.isascii()
    assert not set(' #\\\n\x00"<>') & set(made)
    assert "/../" not in made.partition("?")[0]


@given(TEXTS, TEXTS)
def test_a_link_never_gets_out_unseen(link: str, path: str) -> None:
    """Whatever a link says: it is refused, or its host is plain to see."""
    try:
        made = normal(link, normal(f"http://host.example/{path}"))
    except BadUrl:
        return
    assert made.startswith("http://")
    assert "@" not in site_of(made)


def test_a_prefix_holds_what_is_below_it() -> None:
    assert is_below("http://host.example/docs", "/docs")
    assert is_below("http://host.example/docs/a", "/docs")
    assert is_below("http://host.example/docs/a", "/docs/")
    assert not is_below("http://host.example/docs-old", "/docs")
    assert is_below("http://host.example/", "/")
