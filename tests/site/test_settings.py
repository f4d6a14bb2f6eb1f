"""The settings as a process finds them, by environment variables."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent.parent
PRODUCTION = {"SPIRE_HTTPS": "1", "SPIRE_HOSTS": "search.example.org", "SPIRE_ORIGINS": "https://search.example.org"}


def manage(tmp_path, *arguments, **environment):
    """A command with these variables and no other of ours: its exit status and what it said."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("SPIRE_", "DATABASE_URL"))}
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=PROJECT,
        env=inherited | {"SPIRE_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "spire_site.settings"} | environment,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def test_the_production_settings_pass_djangos_check(tmp_path):
    """A cookie that goes over plain HTTP, found by whoever listens."""
    status, said = manage(tmp_path, "check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert (status, "no issues" in said) == (0, True), said


def test_a_weak_key_fails_the_check(tmp_path):
    """A key that somebody can guess, with which sessions are forged."""
    status, said = manage(
        tmp_path, "check", "--deploy", "--fail-level", "WARNING", SPIRE_SECRET_KEY="secret", **PRODUCTION
    )
    assert status == 1
    assert "security.W009" in said


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"SPIRE_DEBUG": "1", "SPIRE_HOSTS": "search.example.org"}, "unset SPIRE_DEBUG, or unset SPIRE_HOSTS"),
        ({"SPIRE_DATA": "/proc/nothing"}, "SPIRE_SECRET_KEY is not set, and there is no key in SPIRE_DATA"),
        ({"SPIRE_LOG": "xml"}, "set it to json or text"),
    ],
)
def test_what_is_unsafe_or_unclear_does_not_start(tmp_path, environment, told):
    """A site that starts, and shows its settings to everybody."""
    status, said = manage(tmp_path, "check", **environment)
    assert status == 1
    assert told in said.splitlines()[-1]


def test_an_empty_key_is_refused_with_the_way_out(tmp_path):
    """A key that a full disk has cut to nothing."""
    (tmp_path / "secret-key").touch()
    status, said = manage(tmp_path, "check")
    assert status == 1
    assert "remove it, and a new key is made" in said.splitlines()[-1]


def test_a_command_without_its_database_says_so_in_two_lines(tmp_path):
    """A hundred lines of Python, in which nobody finds that the disk is full or the server is down."""
    nowhere = {"DATABASE_URL": "postgresql://spire@127.0.0.1:1/spire"}
    status, said = manage(tmp_path, "index", "list", **nowhere)
    assert status == 1
    assert re.fullmatch(r"the database: .*Connection refused\nWhat was done until then is kept: .*\n", said)
    status, said = manage(tmp_path, "index", "--traceback", "list", **nowhere)
    assert (status, "Traceback" in said) == (1, True)


def test_every_variable_is_in_the_table_of_the_readme():
    """A setting that only those know who read the code."""
    code = "\n".join(
        path.read_text() for path in [*PROJECT.glob("spire_site/**/*.py"), *PROJECT.glob("evidence/**/*.py")]
    )
    read = set(re.findall(r"""(?:environ(?:\.get)?[\[(]|_flag\()["']([A-Z_]+)["']""", code))
    readme = (PROJECT / "README.md").read_text()
    table = readme[readme.index("| variable | meaning | else |") :].partition("\n\n")[0]
    assert {"SPIRE_DATA", "SPIRE_HTTPS", "DATABASE_URL", "SPIRE_LOG"} <= read
    ours = {name for name in read if name.startswith("SPIRE_") or name == "DATABASE_URL"}
    assert ours - set(re.findall(r"`([A-Z_]+)`", table)) == set()
