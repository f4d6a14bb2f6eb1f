from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from evidence.ingest.readers.formats import ENDINGS
from evidence.ingest.sources import KINDS, Arrival, read_paths
from tests.ingest.arrivals import PAGE, refused, taken, unpacked, upload

PACKED_START = b"PK\x03\x04"
CASE = Path(__file__).parent.parent / "cases" / "51-zip-slip-and-bomb"


# Files and folders


def test_the_pages_of_a_folder_are_known_by_their_path_in_it(tmp_path: Path) -> None:
    """Links between them, and the next ingest, find them by it."""
    for name in ("b.html", "a.HTM", "sub/c.xhtml", "sub/deep/d.shtml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(PAGE)
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "html").write_bytes(PAGE)
    found = list(read_paths([tmp_path]))
    assert taken(found) == ["a.HTM", "b.html", "sub/c.xhtml", "sub/deep/d.shtml"]
    assert refused(found) == {}
    assert found[0] == Arrival("a.HTM", PAGE)


def test_a_file_is_known_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "å b.html").write_bytes(PAGE)
    assert list(read_paths([tmp_path / "å b.html"])) == [Arrival("å b.html", PAGE)]


def test_what_cannot_be_read_is_refused_by_name_and_the_rest_goes_on(tmp_path: Path) -> None:
    good = tmp_path / "good.html"
    good.write_bytes(PAGE)
    text = tmp_path / "notes.xyz"
    text.write_bytes(PAGE)
    missing = tmp_path / "missing.html"
    found = list(read_paths([missing, text, good]))
    assert taken(found) == ["good.html"]
    assert refused(found) == {
        str(missing): "there is no such file or folder",
        str(text): f"is in no format that is read: a name ending in {KINDS} or .zip is expected",
    }


@pytest.mark.parametrize("data", [b"", b" \n\t"])
def test_an_empty_file_is_refused(tmp_path: Path, data: bytes) -> None:
    """It would replace a page by nothing."""
    (tmp_path / "empty.html").write_bytes(data)
    assert refused(read_paths([tmp_path])) == {str(tmp_path / "empty.html"): "is empty"}


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"%PDF-1.7 ...", "a PDF"),
        (b"\x89PNG\r\n", "a PNG image"),
        (b"\xff\xd8\xff\xe0", "a JPEG image"),
        (b"GIF89a", "a GIF image"),
        (b"PK\x03\x04", "a zip archive or an office document"),
        (b"\x1f\x8b\x08", "a gzip archive"),
        (b"\x7fELF\x02", "a program"),
    ],
)
def test_another_kind_of_file_under_the_name_of_a_page_is_refused(data: bytes, kind: str) -> None:
    """Its bytes would be indexed as text."""
    assert refused(upload("report.html", data)) == {"report.html": f"is {kind}, not HTML"}


@pytest.mark.usefixtures("small")
def test_a_file_over_the_limit_is_refused_and_the_limit_is_named(tmp_path: Path) -> None:
    (tmp_path / "fits.html").write_bytes(b"x" * 1_000_000)
    (tmp_path / "large.html").write_bytes(b"x" * 1_000_001)
    found = list(read_paths([tmp_path]))
    assert taken(found) == ["fits.html"]
    (reason,) = refused(found).values()
    assert reason == "is larger than 1 MB, the limit for one file (SPIRE_LARGEST_FILE)"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "secret.html"
    page.write_bytes(PAGE)
    page.chmod(0)
    assert refused(read_paths([tmp_path])) == {str(page): "cannot be read: Permission denied"}


def test_a_file_that_fails_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network drive goes away in the middle of an ingest."""
    page = tmp_path / "page.html"
    page.write_bytes(PAGE)
    (tmp_path / "zzz.html").write_bytes(PAGE)
    opened = Path.open

    def fail(self: Path, *arguments: Any, **options: Any) -> Any:
        if self == page:
            raise OSError(5, "Input/output error")
        return opened(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", fail)
    found = list(read_paths([tmp_path]))
    assert taken(found) == ["zzz.html"]
    assert refused(found) == {str(page): "cannot be read: Input/output error"}


def test_links_that_lead_out_of_a_folder_are_refused(tmp_path: Path) -> None:
    """A folder that others write to must not bring in the server's own files."""
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    for folder in (outside, inside):
        folder.mkdir()
        (folder / "page.html").write_bytes(PAGE)
    (inside / "out.html").symlink_to(outside / "page.html")
    (inside / "same.html").symlink_to(inside / "page.html")
    (inside / "folder").symlink_to(outside)
    (inside / "broken.html").symlink_to(inside / "nothing.html")
    found = list(read_paths([inside]))
    assert taken(found) == ["page.html", "same.html"]
    assert refused(found) == {
        str(inside / "broken.html"): "is not a regular file",
        str(inside / "out.html"): "is a link that leads out of the folder",
    }


def test_what_is_no_regular_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    """A named pipe would hold the ingest for ever."""
    os.mkfifo(tmp_path / "pipe.html")
    assert refused(read_paths([tmp_path])) == {str(tmp_path / "pipe.html"): "is not a regular file"}


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """PostgreSQL and every page would raise on it."""
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.html"))).write_bytes(PAGE)
    (tmp_path / "good.html").write_bytes(PAGE)
    found = list(read_paths([tmp_path]))
    assert taken(found) == ["good.html"]
    (name,) = refused(found)
    assert name.endswith("caf\ufffd.html")


def test_a_folder_without_pages_gives_nothing(tmp_path: Path) -> None:
    assert list(read_paths([tmp_path])) == []
    assert list(read_paths([])) == []


# Formats


def test_every_format_that_is_read_is_taken_from_folders_archives_and_uploads(tmp_path: Path) -> None:
    """A document that is left out of a folder without a word is missed only when somebody looks for it."""
    text = b"Team North closes the gate at six each evening."
    files = {f"page{ending}": PACKED_START if ending in (".docx", ".epub") else text for ending in ENDINGS}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    assert sorted(taken(read_paths([tmp_path]))) == sorted(files)
    assert sorted(taken(read_paths([tmp_path / name for name in files]))) == sorted(files)
    assert sorted(taken(unpacked(*files.items()))) == sorted(files)
    assert [taken(upload(name, data)) for name, data in files.items()] == [[name] for name in files]


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.html", PAGE, "html"),
        ("a.html", b"From: <Saved>\nMIME-Version: 1.0\nContent-Type: multipart/related\n\n", "mhtml"),
        ("a.mht", PAGE, "html"),
        ("a.xhtml", b"<p>Ask.</p>", "xhtml"),
        ("a.xhtml", b"<p>Ask.", "html"),
        ("a.MD", b"# Ask", "markdown"),
        ("a.rst.txt", b"Ask", "rst"),
        ("v1.2.txt", b"Ask", "text"),
    ],
)
def test_a_format_is_told_by_the_name_and_the_bytes(name: str, data: bytes, kind: str) -> None:
    """Browsers save MHTML as .html and people rename it back; XHTML as it is in the world is often no XML."""
    assert upload(name, data) == [Arrival(name, data, format=kind)]


def test_documents_that_are_not_read_are_refused_with_the_way_out(tmp_path: Path) -> None:
    """Somebody expects to find what they say, so each is named; pictures and data that come with pages are passed by."""
    names = ["a.pdf", "b.odt", "c.pptx", "d.csv", "e.json", "f.png"]
    for name in names:
        (tmp_path / name).write_bytes(b"x")
    told = refused(read_paths([tmp_path]))
    assert [Path(name).name for name in told] == ["a.pdf", "b.odt", "c.pptx"]
    assert told[str(tmp_path / "a.pdf")].endswith("save it as HTML or .docx from the program that made it")
    assert list(refused(unpacked(*((name, b"x") for name in names)))) == ["a.pdf", "b.odt", "c.pptx"]
    assert "spreadsheet" in refused(upload("d.csv", b"x"))["d.csv"]


def test_what_nobody_wrote_to_be_read_is_passed_by(tmp_path: Path) -> None:
    """Sphinx keeps the source of each page beside it, and each would be found twice."""
    names = ["robots.txt", "_sources/a.rst.txt", "sub/_sources/b.md.txt", "__MACOSX/._a.html", "~$plan.docx"]
    for name in ["a.html", "LICENSE.txt", *names]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(PAGE)
    assert sorted(taken(read_paths([tmp_path]))) == ["LICENSE.txt", "a.html"]
    assert taken(read_paths([tmp_path / "_sources"])) == ["a.rst.txt"]
    assert taken(unpacked(*((name, PAGE) for name in ["a.html", *names]))) == ["a.html"]


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.rst", "a.mhtml"])
def test_a_picture_under_the_name_of_a_text_is_refused(name: str) -> None:
    assert refused(upload(name, b"\x89PNG\r\n"))[name].startswith("is a PNG image, not ")


# Uploads


@pytest.mark.parametrize(
    "name", ["page.html", "folder/page.html", "..\\..\\page.html", "C:\\pages\\page.html", "/page.html"]
)
def test_an_upload_is_known_by_its_own_name(name: str) -> None:
    """Browsers send paths of the sender's machine, and others what they please."""
    assert upload(name, PAGE) == [Arrival("page.html", PAGE)]


@pytest.mark.usefixtures("small")
def test_an_upload_is_checked_as_a_file_is() -> None:
    assert list(refused(upload("a.html", b"x" * 1_000_001))) == ["a.html"]
    assert refused(upload("a", PAGE)) == {
        "a": f"is in no format that is read: a name ending in {KINDS} or .zip is expected"
    }
    assert refused(upload("a.html", b"")) == {"a.html": "is empty"}
