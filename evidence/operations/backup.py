"""Everything that a site cannot make again, in one file, while the site is in use; and a site from such a file."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

from evidence.configured import pipeline
from evidence.operations.archive import DATABASE, FILES, Archive, BackupError, Manifest, Report, reading, writing
from evidence.store import dump
from evidence.store.upgrade import current, knows

KEPT = ("secret-key",)
"""Files and folders of the data folder that a backup takes along. With the key sessions and signed links stay good."""

MADE_AGAIN = ("postgresql", "models", "static", "quality", "tests", "fuzz")
"""Those that are the database itself, or are made again when they are missing."""


def backup(path: Path, *, report: Report = lambda count: None) -> list[str]:
    """Write a site's database and files, as they are at this moment: names in the data folder that are not taken along.

    Readers and writers are not held up. BackupError or DumpError when it cannot be written, and then there is no file.
    """
    with writing(path) as file:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            [snapshot] = cursor.fetchone()
            manifest = _manifest()
            with dump.dump(connection.connection, snapshot) as chunks:
                file.add(DATABASE, chunks, report)
        for kept in _files():
            with kept.open("rb") as source:
                name = kept.relative_to(settings.SPIRE_DATA).as_posix()
                file.add(f"{FILES}{name}", iter(lambda: source.read(1 << 20), b""), report)
        file.finish(manifest)
    known = {*KEPT, *MADE_AGAIN}
    return sorted(entry.name for entry in settings.SPIRE_DATA.iterdir() if entry.name not in known)


def restore(path: Path, *, report: Report = lambda count: None) -> Manifest:
    """Make the site of a backup in this site's empty database and data folder, and bring it to this SPIRE's schema.

    Everything is checked before anything is changed, and then all of it is there or nothing. BackupError or DumpError.
    """
    with reading(path) as archive:
        _refuse_newer_schema(archive.manifest)
        connection.ensure_connection()
        _refuse_full(connection.connection)
        _refuse_older_server(archive.manifest)
        _refuse_other_schemas(archive.manifest)
        archive.check(report)
        settings.SPIRE_DATA.mkdir(parents=True, exist_ok=True)
        for leftover in settings.SPIRE_DATA.glob("restored-*"):  # of a restore that was killed
            shutil.rmtree(leftover)
        with tempfile.TemporaryDirectory(prefix="restored-", dir=settings.SPIRE_DATA) as staged:
            for name in archive.names():
                _unpack(archive, name, Path(staged), report)
            dump.load(connection.connection, archive.chunks(DATABASE, report))
            for name in archive.names():
                target = settings.SPIRE_DATA / name
                target.parent.mkdir(parents=True, exist_ok=True)
                (Path(staged) / name).replace(target)
    call_command("migrate", verbosity=0)
    return archive.manifest


def check(archive: Archive, report: Report = lambda count: None) -> None:
    """Whether this SPIRE can restore a backup, and the file is whole. BackupError when not. Needs no database."""
    _refuse_newer_schema(archive.manifest)
    archive.check(report)


def _manifest() -> Manifest:
    with pipeline() as borrowed:
        revision = current(borrowed)
    with connection.cursor() as cursor:
        cursor.execute("SELECT app, name FROM django_migrations ORDER BY app, name")
        migrations: dict[str, list[str]] = {}
        for app, name in cursor.fetchall():
            migrations.setdefault(app, []).append(name)
        cursor.execute(EXTENSIONS)
        extensions = dict(cursor.fetchall())
    return Manifest(
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        spire=version("spire"),
        server=connection.connection.info.server_version,
        extensions=extensions,
        migrations=migrations,
        pipeline=revision or "",
    )


def _files() -> Iterator[Path]:
    for name in KEPT:
        place = settings.SPIRE_DATA / name
        found = sorted(place.rglob("*")) if place.is_dir() else [place]
        yield from (path for path in found if path.is_file() and not path.is_symlink())


def _unpack(archive: Archive, name: str, folder: Path, report: Report) -> None:
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.touch(mode=0o600)
    with target.open("wb") as file:
        for chunk in archive.chunks(f"{FILES}{name}", report):
            file.write(chunk)


def _refuse_newer_schema(manifest: Manifest) -> None:
    """A newer SPIRE's tables are not for this one; those of an older one are migrated."""
    loader = MigrationLoader(None)
    installed = {config.label for config in apps.get_app_configs()}
    known = {*loader.disk_migrations, *(old for new in loader.replacements.values() for old in new.replaces)}
    unknown = [
        f"{app}.{name}"
        for app, names in manifest.migrations.items()
        for name in names
        if app in installed and (app, name) not in known
    ]
    if manifest.pipeline and not knows(manifest.pipeline):
        unknown.append(f"pipeline {manifest.pipeline}")
    if unknown:
        raise BackupError(
            f"this backup is of a newer SPIRE ({manifest.spire}; this one is {version('spire')} and does not know"
            f" {', '.join(unknown[:3])}): install that version, restore with it"
        )


def _refuse_older_server(manifest: Manifest) -> None:
    there, here = manifest.server // 10000, connection.connection.info.server_version // 10000
    if here < there:
        raise BackupError(
            f"this backup is of PostgreSQL {there}, and the server is {here}: restore into {there} or newer"
        )


EXTENSIONS = """
    SELECT extname, nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
    WHERE extname <> 'plpgsql' ORDER BY extname
"""


def _refuse_other_schemas(manifest: Manifest) -> None:
    """Types are named with their schema. An extension that an administrator made must be where the backup has it."""
    with connection.cursor() as cursor:
        cursor.execute(EXTENSIONS)
        for name, schema in cursor.fetchall():
            wanted = manifest.extensions.get(name, schema)
            if wanted != schema:
                raise BackupError(
                    f"the extension {name} is in the schema {schema}, and the backup has it in {wanted}. Run this first:"
                    f" CREATE SCHEMA IF NOT EXISTS {wanted}; ALTER EXTENSION {name} SET SCHEMA {wanted};"
                )


TABLES = """
    SELECT format('%I.%I', nspname, relname)
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
        AND nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'
        AND NOT EXISTS (
            SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e'
        )
    ORDER BY 1
    LIMIT 4
"""


def _refuse_full(database: psycopg.Connection[Any]) -> None:
    tables = [name for (name,) in database.execute(sql.SQL(TABLES)).fetchall()]
    if tables:
        raise BackupError(
            f"the database is not empty (it has {', '.join(tables[:3])}{' …' if len(tables) > 3 else ''}), and restoring"
            " replaces nothing: set SPIRE_DATA to a new folder, or DATABASE_URL to an empty database"
        )
