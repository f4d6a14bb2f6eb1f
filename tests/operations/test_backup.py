from __future__ import annotations

import io
import json
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic import command as alembic
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.db import connection, connections
from django.db.utils import ConnectionHandler

from evidence.configured import pipeline
from evidence.ingest.rebuild import build
from evidence.models import Collection, Document
from evidence.operations import archive
from evidence.operations.archive import BackupError
from evidence.operations.tables import pending_migrations
from evidence.retrieve.pipeline import ask
from evidence.store import dump
from evidence.store.session import with_session_options
from evidence.store.upgrade import configuration
from spire_site.database.settings import database_settings
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, NEW_GATE, TABLE, collection_of, indexes_dropped_afterwards, take_in

QUESTIONS = ("When does Team South open the gate?", "Where is the tea?", "What is in the red tin?", '"brass key" -bell')


@pytest.fixture
def site(transactional_db: None, embedder: WordEmbedder, settings: Any, tmp_path: Path) -> Iterator[Path]:
    """A site with people, groups, old revisions and two indexes; its data folder."""
    settings.SPIRE_DATA = tmp_path / "data"
    (settings.SPIRE_DATA / "models").mkdir(parents=True)
    (settings.SPIRE_DATA / "secret-key").write_text("a key")
    (settings.SPIRE_DATA / "notes.txt").write_text("something")
    group = Group.objects.create(name="Team South")
    User.objects.create_user("reader", password="reader").groups.add(group)
    with indexes_dropped_afterwards():
        take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
        take_in({"tins.html": TABLE}, "Manual")
        take_in({"gate.html": NEW_GATE})
        collection_of("Manual").groups.add(group)
        build("second", model="words", unit="block", encoding="single", context=False)
        yield settings.SPIRE_DATA


@pytest.fixture
def elsewhere(other_server: Path, settings: Any, tmp_path: Path) -> Iterator[Callable[[], Any]]:
    """A context in which the site is another one: an empty database on another server, and an empty data folder."""
    databases = database_settings({}, other_server, durable=False)

    def own(statement: str) -> None:
        other = ConnectionHandler({"default": databases})["default"]
        with other.cursor() as cursor:
            cursor.execute(statement)
        other.close()

    own("CREATE DATABASE restored")
    place = ConnectionHandler({"default": with_session_options(databases | {"NAME": "restored"})})["default"]

    @contextmanager
    def there() -> Iterator[None]:
        here, data = connections["default"], settings.SPIRE_DATA
        connections["default"] = place
        settings.SPIRE_DATA = tmp_path / "other"
        try:
            yield
        finally:
            connections["default"] = here
            settings.SPIRE_DATA = data

    yield there
    place.close()
    own("DROP DATABASE restored")


def command(name: str, *arguments: str | Path) -> str:
    """What the command writes."""
    out = io.StringIO()
    call_command(name, *map(str, arguments), verbosity=0, stdout=out)
    return out.getvalue()


def rows() -> dict[str, list[str]]:
    """Every row of every table, as text."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
            " WHERE schemaname IN ('public', 'spire') ORDER BY 1"
        )
        names = [name for (name,) in cursor.fetchall()]
        found = {}
        for name in names:
            cursor.execute(f"SELECT CAST(held AS text) FROM {name} AS held ORDER BY 1")
            found[name] = [row for (row,) in cursor.fetchall()]
    return found


def definitions() -> list[tuple[str, ...]]:
    """Every index, constraint, trigger and sequence."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 'index', indexdef FROM pg_indexes WHERE schemaname IN ('public', 'spire')"
            " UNION ALL SELECT conrelid::regclass::text, pg_get_constraintdef(pg_constraint.oid) FROM pg_constraint"
            " JOIN pg_namespace ON pg_namespace.oid = connamespace WHERE nspname IN ('public', 'spire')"
            " UNION ALL SELECT 'trigger', pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal"
            " UNION ALL SELECT sequencename::text, last_value::text FROM pg_sequences"
            " UNION ALL SELECT extname::text, extnamespace::regnamespace::text FROM pg_extension"
            " ORDER BY 1, 2"
        )
        return cursor.fetchall()


def answers() -> list[Any]:
    """What is found for the questions, in both indexes, and by whom."""
    found = []
    for index in ("default", "second"):
        for question in QUESTIONS:
            evidence = ask(question, collections=list(Collection.objects.values_list("pk", flat=True)), index=index)
            found.append(
                [(excerpt.address, excerpt.text, excerpt.citations) for excerpt in evidence.excerpts]
                + [evidence.tokens, evidence.likely]
            )
    reader = User.objects.get(username="reader")
    return [found, [document.address for document in Document.objects.visible_to(reader)]]


def test_what_is_restored_is_what_was_there(site: Path, elsewhere: Any, tmp_path: Path) -> None:
    """A backup that is made every night, and lacks what nobody thought of on the day it is needed."""
    told = command("backup", tmp_path / "site.backup")
    assert "Not in it, of the data folder: notes.txt.\n" in told
    before = rows(), definitions(), answers()
    assert len(before[0]) > 20
    with elsewhere():
        assert "is restored" in command("restore", tmp_path / "site.backup")
        assert (rows(), definitions(), answers()) == before
        assert command("verify") == "Nothing is wrong.\n"
        take_in({"new.html": KITCHEN})
        assert command("verify") == "Nothing is wrong.\n"
    data = tmp_path / "other"
    assert (data / "secret-key").read_text() == "a key"
    assert (data / "secret-key").stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in data.iterdir()] == ["secret-key"]
    assert (tmp_path / "site.backup").stat().st_mode & 0o777 == 0o600


def test_a_backup_is_of_one_moment_while_the_site_is_in_use(
    site: Path, elsewhere: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors of a revision that the backup does not have, because it came while the tables were read one by one."""
    before = rows()
    running = dump._running

    def later(name: str, *arguments: Any) -> Any:
        if name == "pg_dump":  # the snapshot is taken, and nothing has been read yet
            worker = threading.Thread(target=change)
            worker.start()
            worker.join()
        return running(name, *arguments)

    def change() -> None:
        take_in({"gate.html": GATE, "new.html": KITCHEN})
        Document.objects.filter(address="tins.html").delete()
        connections.close_all()

    monkeypatch.setattr(dump, "_running", later)
    command("backup", tmp_path / "site.backup")
    assert rows() != before
    with elsewhere():
        command("restore", tmp_path / "site.backup")
        assert rows() == before


def test_nothing_is_restored_over_something(site: Path, tmp_path: Path) -> None:
    """The wrong window, and a site that is gone."""
    before = rows()
    command("backup", tmp_path / "site.backup")
    with pytest.raises(CommandError, match=r"the database is not empty \(it has .*SPIRE_DATA to a new folder"):
        command("restore", tmp_path / "site.backup")
    assert rows() == before


def test_a_backup_replaces_no_file(site: Path, tmp_path: Path) -> None:
    """`backup` typed instead of `restore`: the last good backup replaced by that of an empty site."""
    (tmp_path / "site.backup").write_bytes(b"precious")
    with pytest.raises(CommandError, match="exists already"):
        command("backup", tmp_path / "site.backup")
    assert (tmp_path / "site.backup").read_bytes() == b"precious"
    with pytest.raises(CommandError, match="cannot be written: No such file or directory"):
        command("backup", tmp_path / "nowhere" / "site.backup")


def test_a_backup_that_fails_leaves_no_file(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a backup under the name of a whole one."""
    monkeypatch.setattr(dump, "_dsn", lambda connection: "postgresql://nobody@/nothing?host=/nowhere")
    with pytest.raises(CommandError, match="pg_dump failed: .*nowhere"):
        command("backup", tmp_path / "site.backup")
    assert [entry.name for entry in tmp_path.iterdir()] == ["data"]


def test_a_restore_that_fails_leaves_nothing(
    site: Path, elsewhere: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a site, which cannot be used and into which nothing can be restored."""
    command("backup", tmp_path / "site.backup")
    chunks = archive.Archive.chunks

    def broken(self: archive.Archive, name: str, *arguments: Any) -> Iterator[bytes]:
        for chunk in chunks(self, name, *arguments):
            yield chunk[: len(chunk) * 3 // 4] if armed and name == archive.DATABASE else chunk

    monkeypatch.setattr(archive.Archive, "chunks", broken)
    with elsewhere():
        armed = False
        monkeypatch.setattr(archive.Archive, "check", lambda self, report: None)
        armed = True
        with pytest.raises(CommandError, match="failed"):
            command("restore", tmp_path / "site.backup")
        assert rows() == {}
        assert list((tmp_path / "other").iterdir()) == []
        armed = False
        command("restore", tmp_path / "site.backup")
        assert len(rows()) > 20


def small(path: Path) -> bytes:
    """A file of the form of a backup."""
    with archive.writing(path) as writer:
        writer.add(archive.DATABASE, [b"database" * 10])
        writer.add(f"{archive.FILES}secret-key", [b"key"])
        writer.finish(archive.Manifest("2026-01-01", "0.1.0", 180000, {}, {"evidence": ["0001_first_light"]}, "0001"))
    return path.read_bytes()


def content(path: Path) -> list[bytes]:
    with archive.reading(path) as found:
        found.check()
        return [b"".join(found.chunks(name)) for name in sorted(found.manifest.members)]


def test_a_backup_that_is_cut_anywhere_is_refused(tmp_path: Path) -> None:
    """A disk that was full, and a backup that ends in the middle."""
    whole = small(tmp_path / "whole")
    for length in range(len(whole)):
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(BackupError, match="cut is"):
            content(tmp_path / "cut")


def test_a_backup_with_any_byte_altered_is_refused_or_gives_the_same(tmp_path: Path) -> None:
    """A bit that has turned over, in a document or in a password."""
    whole = small(tmp_path / "whole")
    wanted = content(tmp_path / "whole")
    refused = 0
    for place in range(len(whole)):
        altered = bytearray(whole)
        altered[place] ^= 0x55
        (tmp_path / "altered").write_bytes(altered)
        try:
            assert content(tmp_path / "altered") == wanted
        except BackupError:
            refused += 1
    # Dates and versions of the zip are not looked at.
    assert refused > len(whole) * 0.75


def with_manifest(path: Path, **different: Any) -> Path:
    """A file of the form of a backup whose manifest says something else."""
    small(path)
    with zipfile.ZipFile(path) as found:
        members = {name: found.read(name) for name in found.namelist()}
    manifest = json.loads(members.pop(archive.MANIFEST)) | different
    with zipfile.ZipFile(path, "w") as changed:
        for name, held in members.items():
            changed.writestr(name, held)
        changed.writestr(archive.MANIFEST, json.dumps(manifest))
    return path


@pytest.mark.parametrize(
    ("different", "told"),
    [
        (
            {"migrations": {"evidence": ["0001_first_light", "0999_next"]}},
            r"newer SPIRE .*does not know evidence\.0999_next",
        ),
        ({"pipeline": "9999"}, r"newer SPIRE .*does not know pipeline 9999"),
        ({"format": 2}, "its format is 2, and this SPIRE reads format 1"),
        ({"members": {}}, "other members than it has"),
        ({"unknown": 1}, "no backup of SPIRE"),
    ],
)
def test_a_backup_of_a_newer_spire_is_refused(tmp_path: Path, different: dict[str, Any], told: str) -> None:
    """New tables that old code fills wrongly. It is said before a database is asked."""
    with pytest.raises(CommandError, match=told):
        command("restore", "--check", with_manifest(tmp_path / "newer", **different))


def test_migrations_of_apps_that_are_not_installed_are_no_obstacle(tmp_path: Path) -> None:
    """A site that has switched an optional app off, and can restore nothing."""
    path = with_manifest(tmp_path / "other", migrations={"elsewhere": ["0001_initial"]})
    assert "is whole" in command("restore", "--check", path)


def test_no_place_outside_of_the_data_folder_is_written(tmp_path: Path) -> None:
    """A backup that somebody has prepared, and a file of the system that it replaces."""
    for name in ("files/../secret", "files//etc/passwd", "files/a/../../b", "/etc/passwd", "files/.hidden"):
        with archive.writing(tmp_path / "bad") as writer:
            writer.add(archive.DATABASE, [b"x"])
            writer.add(name, [b"x"])
            writer.finish(archive.Manifest("", "", 1, {}, {}, ""))
        with pytest.raises(BackupError, match="no place in a data folder"), archive.reading(tmp_path / "bad"):
            pass
        (tmp_path / "bad").unlink()


@pytest.mark.parametrize("held", [b"", b"PK", b"no backup", b"\0" * 1000])
def test_what_is_no_backup_is_refused(tmp_path: Path, held: bytes) -> None:
    """A traceback for the wrong file."""
    (tmp_path / "file").write_bytes(held)
    with pytest.raises(CommandError, match="file is no backup of SPIRE"):
        command("restore", "--check", tmp_path / "file")
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        command("restore", "--check", tmp_path / "nothing")


def test_two_backups_do_not_write_one_file(tmp_path: Path) -> None:
    """Two nightly jobs that overlap, and one file of both."""
    refused = pytest.raises(BackupError, match="another backup is writing")
    with archive.writing(tmp_path / "site"), refused, archive.writing(tmp_path / "site"):
        pass


def test_an_older_backup_is_brought_to_the_newest_schema(site: Path, elsewhere: Any, tmp_path: Path) -> None:
    """A backup of before an upgrade that is of no use after it."""
    with pipeline() as borrowed:
        alembic.downgrade(configuration(borrowed), "-1")
    try:
        command("backup", tmp_path / "site.backup")
    finally:
        call_command("migrate", verbosity=0)
    with elsewhere():
        command("restore", tmp_path / "site.backup")
        assert pending_migrations() == []
        assert [document.address for document in Document.objects.all()] == ["gate.html", "kitchen.html", "tins.html"]
