from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db.utils import ConnectionHandler

from evidence.store import embedded, programs, requirements
from spire_site.database import base
from spire_site.database.settings import database_settings


@pytest.fixture
def connect(django_db_blocker, monkeypatch):
    """A function that gives Django's connection, not yet open, for database settings."""
    monkeypatch.setattr(base, "_checked", set())
    connections = []

    def connect(settings):
        connections.append(ConnectionHandler({"default": settings})["default"])
        return connections[-1]

    with django_db_blocker.unblock():
        yield connect
        for connection in connections:
            connection.close()


def answer(connection, query):
    with connection.cursor() as cursor:
        cursor.execute(query)
        return cursor.fetchone()[0]


def test_the_first_query_starts_the_embedded_server(other_server, connect):
    """`manage.py tree` needs no database and must not start one; everything else must not ask the user to."""
    embedded.stop(other_server)
    connection = connect(database_settings({}, other_server, durable=False))
    assert not embedded.is_running(other_server)
    assert answer(connection, "SELECT current_database()::text") == "spire"
    assert embedded.is_running(other_server)


def test_the_next_connection_starts_a_server_that_was_stopped(other_server, connect):
    """A worker that fails until someone restarts it."""
    connection = connect(database_settings({}, other_server, durable=False))
    connection.ensure_connection()
    connection.close()
    embedded.stop(other_server)
    assert answer(connection, "SELECT 1") == 1


def test_an_embedded_server_that_cannot_start_is_a_matter_of_configuration(other_server, connect, monkeypatch):
    """A traceback from deep inside instead of the advice."""
    monkeypatch.setattr(programs.util, "find_spec", lambda name: None)
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        connect(database_settings({}, other_server.parent / "new", durable=False)).ensure_connection()


def test_a_folder_that_cannot_be_written_to_is_a_matter_of_configuration(connect):
    """A disk that has become read-only, and nothing but "Errno 30" to go by."""
    with pytest.raises(ImproperlyConfigured, match="SPIRE_DATA must lie on a disk that has room and can be written to"):
        connect(database_settings({}, Path("/proc/nothing"), durable=False)).ensure_connection()


def test_database_url_reaches_a_server_of_ones_own(other_server, connect):
    """Settings that look right and connect to something else."""
    url = embedded.start(other_server, durable=False)
    settings = database_settings({"DATABASE_URL": url + "&application_name=own"}, other_server / "unused")
    assert answer(connect(settings), "SHOW application_name") == "own"
    assert not (other_server / "unused").exists()


def test_the_server_is_checked_once_in_a_process(other_server, connect, monkeypatch):
    """A query more with each connection."""
    checks = []
    monkeypatch.setattr(requirements, "check", checks.append)
    settings = database_settings({}, other_server, durable=False)
    for connection in (connect(settings), connect(settings)):
        connection.ensure_connection()
        connection.close()
        connection.ensure_connection()
    assert len(checks) == 1


def test_what_the_server_lacks_is_a_matter_of_configuration(other_server, connect, monkeypatch):
    """A site that runs on a server where its migrations or searches will fail."""
    monkeypatch.setitem(requirements.OLDEST_EXTENSIONS, "vector", (99,))
    connection = connect(database_settings({}, other_server, durable=False))
    for _ in range(2):
        with pytest.raises(ImproperlyConfigured, match="pgvector 99 or newer"):
            connection.ensure_connection()


def test_the_check_leaves_no_transaction_open(other_server, connect):
    """A connection that waits "idle in transaction" blocks migrations."""
    connection = connect(database_settings({}, other_server, durable=False) | {"AUTOCOMMIT": False})
    connection.ensure_connection()
    assert connection.connection.info.transaction_status.name == "IDLE"


def test_dbshell_finds_the_embedded_server(other_server, connect):
    """psql that asks for a server at the usual place."""
    settings = connect(database_settings({}, other_server, durable=False)).settings_dict
    arguments, environment = base.DatabaseClient.settings_to_cmd_args_env(settings, [])
    host = str((other_server / "cluster").resolve())
    assert (arguments, environment) == (["psql", "-U", "spire", "-h", host, "-p", "5432", "spire"], None)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_database_url_is_read_whole(scheme):
    """Percent signs in a password, an IPv6 host, or an option that is dropped in silence."""
    url = f"{scheme}://an%40na:p%2Fw@[::1]:5433/my%20db?sslmode=require&connect_timeout=3"
    settings = database_settings({"DATABASE_URL": url}, Path("unused"))
    assert "EMBEDDED" not in settings
    assert (
        settings
        | {
            "NAME": "my db",
            "USER": "an@na",
            "PASSWORD": "p/w",
            "HOST": "::1",
            "PORT": "5433",
            "OPTIONS": {"sslmode": "require", "connect_timeout": "3"},
        }
        == settings
    )


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("mysql://anna:secret@host/site", "must begin with postgresql://"),
        ("host=localhost password=secret", "must begin with postgresql://"),
        ("postgresql://anna:secret@host", "names no database"),
        ("postgresql://anna:secret@host:port/site", "port is no number"),
        ("postgresql://anna:secret@[::1/site", "DATABASE_URL: "),
        ("postgresql://anna:secret@host/si%zzte", "DATABASE_URL: "),
        ("postgresql://anna:secret@host/site?colour=red", "colour"),
    ],
)
def test_a_malformed_database_url_is_refused_without_telling_its_password(url, problem):
    """An error page or a log that shows the password, or a site that runs on the wrong database."""
    with pytest.raises(ImproperlyConfigured, match=problem) as raised:
        database_settings({"DATABASE_URL": url}, Path("unused"))
    assert "secret" not in str(raised.value)
    assert "postgresql://user:password@host:5432/name" in str(raised.value)


def test_an_empty_database_url_means_the_embedded_server():
    """A compose file that passes variables on, set or not."""
    assert "EMBEDDED" in database_settings({"DATABASE_URL": ""}, Path("data"))
