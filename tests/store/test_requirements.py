import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest

from evidence.store import embedded, requirements


class Server:
    """A connection to a server of a given version that offers the given extensions."""

    def __init__(self, version, **extensions):
        self.info = SimpleNamespace(server_version=version * 10000)
        self.extensions = [(name, *versions) for name, versions in extensions.items()]

    def execute(self, query, parameters):
        return SimpleNamespace(fetchall=lambda: self.extensions)


@pytest.fixture(scope="module")
def url():
    folder = Path(tempfile.mkdtemp(prefix="spire-test-"))
    folder.chmod(0o755)
    yield embedded.start(folder / "data", durable=False)
    embedded.stop(folder / "data")
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        (Server(14, vector=("0.8.1", None), ltree=("1.2", None)), "PostgreSQL 14; SPIRE needs 15"),
        (Server(16, ltree=("1.2", None)), r"lacks the extension vector.*postgresql-16-pgvector"),
        (Server(16, vector=("0.8.1", None)), r"lacks the extension ltree.*contrib"),
        (Server(15, vector=("0.7.4", None), ltree=("1.2", None)), r"version 0\.7\.4.*pgvector 0\.8 or newer"),
        (Server(15, vector=("0.8.1", "0.5.0"), ltree=("1.2", "1.2")), "ALTER EXTENSION vector UPDATE"),
    ],
)
def test_what_a_server_lacks_is_named_with_the_fix(server, problem):
    """A migration that fails at its tenth statement with "type halfvec does not exist"."""
    with pytest.raises(requirements.MissingRequirementError, match=problem):
        requirements.check(server)


@pytest.mark.parametrize("vector", ["0.8.0", "0.10.2", "1.0"])
def test_newer_versions_will_do(vector):
    """Versions that compare as text: 0.10 is newer than 0.8."""
    requirements.check(Server(18, vector=(vector, None), ltree=("1.3", "1.3")))


def test_the_embedded_server_has_all_that_is_asked(url):
    """A new embedded server whose extensions are older than ours."""
    with psycopg.connect(url) as connection:
        requirements.check(connection)
        requirements.create_extensions(connection)
        requirements.create_extensions(connection)
        requirements.check(connection)


def test_a_role_without_the_right_is_told_what_a_superuser_must_run(url):
    """On a managed server the site's role seldom may create extensions."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("CREATE DATABASE bare")
    with (
        psycopg.connect(url, user="reader", dbname="bare") as connection,
        pytest.raises(requirements.MissingRequirementError, match=r'"bare": CREATE EXTENSION IF NOT EXISTS vector;'),
    ):
        requirements.create_extensions(connection)
