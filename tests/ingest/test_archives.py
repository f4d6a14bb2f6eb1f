"""Archives: each document in them read or refused on its own, and no way out of them."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from evidence.ingest.sources import Arrival, Refusal, read_paths
from tests.ingest.arrivals import PAGE, archive, named, refused, taken, unpacked, upload

PACKED_START = b"PK\x03\x04"
CASE = Path(__file__).parent.parent / "cases" / "51-zip-slip-and-bomb"


def test_the_pages_of_an_archive_are_known_by_their_path_in_it(tmp_path: Path) -> None:
    packed = archive([("a.html", PAGE), ("sub/b.htm", PAGE), ("sub/", b""), ("style.css", b"p {}"), ("é.html", PAGE)])
    (tmp_path / "pages.ZIP").write_bytes(packed)
    assert taken(read_paths([tmp_path / "pages.ZIP"])) == ["a.html", "sub/b.htm", "é.html"]
    assert refused(read_paths([tmp_path / "pages.ZIP"])) == {}


@pytest.mark.usefixtures("small")
def test_an_archive_that_would_write_elsewhere_or_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the page is taken in; each other member is refused by name; nothing is written anywhere."""
    members = json.loads((CASE / "case.json").read_text("utf-8"))["checks"]["members"]
    assert len(members) == 6
    page = (CASE / "input.html").read_bytes()
    packed = archive(
        [
            ("ok/input.html", page),
            (named("../../evil.html"), PAGE),
            (named("/abs.html"), PAGE),
            (named("a\\..\\b.html"), PAGE),
            (named("l.html", stat.S_IFLNK | 0o777), b"/etc/passwd"),
            ("big.html", b"\0" * 200_000_000),
        ]
    )
    monkeypatch.chdir(tmp_path)
    found = upload("pages.zip", packed)
    assert found[0] == Arrival("ok/input.html", page)
    assert taken(found) == ["ok/input.html"]
    out = "has a name that leads out of the archive"
    assert refused(found) == {
        "../../evil.html": out,
        "/abs.html": out,
        "a\\..\\b.html": out,
        "l.html": "is a link, not a file",
        "big.html": "is larger than 1 MB, the limit for one file (SPIRE_LARGEST_FILE)",
    }
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small")
def test_the_size_that_an_archive_declares_is_not_trusted() -> None:
    """A bomb says that it is small."""
    packed = bytearray(archive([("big.html", b"x" * 5_000_000), ("good.html", PAGE)]))
    true_size, said_size = (5_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little")
    assert packed.count(true_size) == 2
    found = upload("pages.zip", bytes(packed.replace(true_size, said_size)))
    assert taken(found) == ["good.html"]
    assert list(refused(found)) == ["big.html"]


@pytest.mark.parametrize(
    "name", ["..html", "a/../../b.html", "C:evil.html", "C:/evil.html", "a.html\0.png", "./../b.html"]
)
def test_names_that_lead_elsewhere(name: str) -> None:
    found = unpacked((named(name), PAGE), ("good.html", PAGE))
    assert "good.html" in taken(found)
    assert all(".." not in Path(address).parts and ":" not in address for address in taken(found))
    assert len(found) == 2


def test_a_member_that_is_damaged_is_refused_alone() -> None:
    packed = bytearray(archive([("bad.html", b"<p>Some text to damage</p>" * 40), ("good.html", PAGE)]))
    packed[60] ^= 0xFF
    found = upload("pages.zip", bytes(packed))
    assert taken(found) == ["good.html"]
    assert list(refused(found)) == ["bad.html"]


def test_a_member_that_is_encrypted_is_refused() -> None:
    packed = bytearray(archive([("secret.html", PAGE)]))
    central = packed.index(b"PK\x01\x02")
    packed[central + 8] |= 1
    assert refused(upload("pages.zip", bytes(packed))) == {"secret.html": "is encrypted"}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_there_twice_is_taken_once() -> None:
    found = unpacked(("a.html", PAGE), ("a.html", b"<p>Other.</p>"), (named("./a.html"), PAGE))
    assert found[0] == Arrival("a.html", PAGE)
    assert taken(found) == ["a.html"]
    assert set(refused(found).values()) == {"is in the archive twice; the first one was taken"}


def test_an_archive_of_too_many_files_is_refused_and_the_limit_is_named(settings: Any) -> None:
    settings.SPIRE_MOST_FILES = 3
    found = unpacked(*((f"{number}.html", PAGE) for number in range(4)))
    assert refused(found) == {"pages.zip": "holds 4 files; the limit is 3 (SPIRE_MOST_FILES). Split it"}


def test_an_archive_in_an_archive_is_left_alone() -> None:
    """It could hold itself."""
    assert unpacked(("inner.zip", archive([("a.html", PAGE)]))) == []


@pytest.mark.parametrize("data", [b"", b"no zip", b"PK\x03\x04rest", archive([("a.html", PAGE)])[:-30]])
def test_what_is_no_archive_is_refused_by_name(data: bytes) -> None:
    (name,) = refused(upload("pages.zip", data))
    assert name == "pages.zip"


def test_an_archive_whose_directory_is_damaged_is_refused() -> None:
    """zipfile raises whatever comes up: a name that is no text, an offset before the file."""
    whole = archive([("é.html", PAGE)])
    for damaged in (whole.replace("é".encode(), b"\xc3("), whole[:-6] + b"\xff\xff\xff\x7f\0\0"):
        found = upload("pages.zip", damaged)
        assert taken(found) == []
        assert len(refused(found)) == 1


def test_a_member_without_a_name_is_left_alone() -> None:
    assert taken(unpacked((named(""), PAGE), ("a.html", PAGE))) == ["a.html"]


@hypothesis_settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=6))
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_damaged_archive_never_raises(changes: list[tuple[int, int]]) -> None:
    packed = bytearray(archive([("a.html", PAGE * 3), ("é/c.html", PAGE), ("d.html", b"<p>x</p>" * 30)]))
    for place, value in changes:
        packed[place % len(packed)] = value
    for one in upload("pages.zip", bytes(packed)):
        assert isinstance(one, Arrival | Refusal)


def test_an_archive_that_cannot_be_opened_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pages.zip"
    path.write_bytes(archive([("a.html", PAGE)]))

    def fail(self: Path, *arguments: Any, **options: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", fail)
    assert refused(read_paths([path])) == {str(path): "cannot be read: Permission denied"}
