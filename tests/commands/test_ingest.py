from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evidence.models import Collection, Document, Revision
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, NEW_GATE, TABLE
from tests.ingest.test_readers import FILES

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("embedder")]


def ingest(*paths: Path, collection: str = "Handbook", **options: Any) -> str:
    """What the command writes."""
    out = io.StringIO()
    call_command("ingest", *map(str, paths), collection=collection, verbosity=0, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of three pages, one of them in a folder of its own, and of something else."""
    pages = tmp_path / "pages"
    (pages / "doors").mkdir(parents=True)
    (pages / "doors" / "gate.html").write_bytes(GATE)
    (pages / "kitchen.htm").write_bytes(KITCHEN)
    (pages / "tins.xhtml").write_bytes(TABLE)
    (pages / "notes.json").write_bytes(b"{}")
    return pages


def addresses() -> set[str]:
    return set(Document.objects.values_list("address", flat=True))


def test_a_folder_is_taken_in_by_the_paths_within_it(folder: Path) -> None:
    """Pages of two folders that have the same name, of which one is lost."""
    assert ingest(folder) == "Handbook: 3 new; 23 sentences, 8 embedded.\n"
    assert addresses() == {"doors/gate.html", "kitchen.htm", "tins.xhtml"}


def test_a_file_and_an_archive_are_taken_in_together(folder: Path, tmp_path: Path) -> None:
    """Only the first of several paths read."""
    with zipfile.ZipFile(tmp_path / "pages.zip", "w") as archive:
        archive.write(folder / "kitchen.htm", "rooms/kitchen.htm")
        archive.write(folder / "tins.xhtml", "rooms/tins.xhtml")
    ingest(folder / "doors" / "gate.html", tmp_path / "pages.zip")
    assert addresses() == {"gate.html", "rooms/kitchen.htm", "rooms/tins.xhtml"}


def test_again_on_the_same_input_it_does_nothing_and_says_so(folder: Path) -> None:
    """A nightly run of which nobody can tell whether it did anything."""
    ingest(folder)
    assert ingest(folder) == "Nothing to do: all 3 documents are in 'Handbook' already, unchanged.\n"
    assert Revision.objects.count() == 3


def test_a_changed_file_becomes_a_new_revision(folder: Path, embedder: WordEmbedder) -> None:
    """A correction that is on the intranet, and not in the answers; or a whole folder paid for because of it."""
    ingest(folder)
    (folder / "doors" / "gate.html").write_bytes(NEW_GATE)
    embedder.embedded.clear()
    assert ingest(folder) == "Handbook: 1 changed, 2 unchanged; 8 sentences, 2 embedded.\n"
    assert len(embedder.embedded) == 2
    revisions = Document.objects.get(address="doors/gate.html").revisions
    assert list(revisions.values_list("number", flat=True)) == [2, 1]


def test_a_refused_file_is_named_and_the_rest_goes_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A script that goes on as if all were in; or one broken file that keeps the others out, and nobody knows which."""
    (folder / "broken.html").write_bytes(b"%PDF-1.7")
    (folder / "empty.html").write_bytes(b"  ")
    out = io.StringIO()
    with pytest.raises(CommandError, match="2 refused, as listed above; the rest was taken in") as caught:
        call_command("ingest", str(folder), collection="Handbook", verbosity=0, stdout=out)
    assert caught.value.returncode == 1
    assert out.getvalue() == "Handbook: 3 new, 2 refused; 23 sentences, 8 embedded.\n"
    told = capsys.readouterr().err
    assert f"refused: {folder / 'broken.html'}: is a PDF, not HTML\n" in told
    assert f"refused: {folder / 'empty.html'}: is empty\n" in told
    assert len(addresses()) == 3


def test_a_missing_path_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A traceback for a typing error, or silence."""
    with pytest.raises(CommandError, match="1 refused"):
        ingest(folder / "gates", folder)
    assert f"refused: {folder / 'gates'}: there is no such file or folder\n" in capsys.readouterr().err
    assert len(addresses()) == 3


def test_a_folder_without_html_is_an_error(tmp_path: Path) -> None:
    """The wrong folder given, and a command that says that all is well."""
    with pytest.raises(CommandError, match=r"found no documents there: names ending in \.html"):
        ingest(tmp_path)


def test_a_collection_is_made_once_and_found_by_name_or_slug(folder: Path) -> None:
    """A second collection for each spelling of the first one's name."""
    for name in ("Staff handbook", "  Staff   handbook ", "staff-handbook"):
        ingest(folder, collection=name)
    with pytest.raises(CommandError, match="another collection has the slug 'staff-handbook'"):
        ingest(folder, collection="STAFF handbook")
    collection = Collection.objects.get()
    assert (collection.name, collection.slug, collection.everyone) == ("Staff handbook", "staff-handbook", False)


def test_a_new_collection_is_open_to_everyone_only_if_told_so(folder: Path) -> None:
    """Pages of a team that everybody reads, because they were taken in from the command line."""
    ingest(folder, collection="Closed")
    ingest(folder, collection="Open", everyone=True)
    ingest(folder, collection="Closed", everyone=True)
    assert dict(Collection.objects.values_list("name", "everyone")) == {"Closed": False, "Open": True}


@pytest.mark.parametrize("name", ["", "   ", "?!", "x" * 201])
def test_a_name_that_is_no_name_is_refused(folder: Path, name: str) -> None:
    """A collection without a name or an address, which the admin cannot open."""
    with pytest.raises(CommandError, match="is no name for a collection"):
        ingest(folder, collection=name)
    assert not Collection.objects.exists()


def test_an_index_of_a_model_that_has_changed_is_an_error_with_a_remedy(folder: Path, embedder: WordEmbedder) -> None:
    """Case 58: vectors of a new model written among those of the old one."""
    ingest(folder / "kitchen.htm")
    embedder.fingerprint = "words-2"
    with pytest.raises(CommandError, match=r"manage\.py index build"):
        ingest(folder)
    assert addresses() == {"kitchen.htm"}


def test_documents_of_other_formats_in_a_folder_are_taken_in(folder: Path) -> None:
    """What a team writes is in Word and Markdown as often as in HTML."""
    (folder / "plan.docx").write_bytes(FILES["docx"])
    (folder / "doors" / "read.me.md").write_bytes(FILES["markdown"])
    (folder / "broken.epub").write_bytes(b"x")
    with pytest.raises(CommandError, match="1 refused"):
        ingest(folder)
    assert addresses() == {"doors/gate.html", "kitchen.htm", "tins.xhtml", "plan.docx", "doors/read.me.md"}
