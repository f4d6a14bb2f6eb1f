from __future__ import annotations

import io
import re

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command

from evidence.models import Collection, Document, Revision
from tests.conftest import WordEmbedder
from tests.handbook import GATE, take_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("embedder")]


def setup(*arguments: str) -> str:
    """What the command writes."""
    out = io.StringIO()
    call_command("setup", *arguments, stdout=out)
    return out.getvalue()


def test_the_first_setup_makes_an_administrator_and_a_sample() -> None:
    """An empty site, or one that nobody can sign in to, after the README's first command."""
    told = setup()
    found = re.search(r"Sign in as (\S+) with the password (\S+)\n", told)
    assert found
    administrator = get_user_model().objects.get(username=found[1])
    assert administrator.check_password(found[2])
    assert administrator.is_superuser
    collection = Collection.objects.get()
    assert collection.everyone
    assert collection.documents.filter(current__isnull=False).count() == 8
    assert "8 new" in told


def test_again_it_changes_nothing_and_shows_no_password(embedder: WordEmbedder) -> None:
    """A password that is new with each start; a sample that comes back, or is embedded again."""
    setup()
    hashes = list(get_user_model().objects.values_list("password", flat=True))
    embedder.embedded.clear()
    assert setup() == ""
    assert list(get_user_model().objects.values_list("password", flat=True)) == hashes
    assert Revision.objects.count() == 8
    assert embedder.embedded == []


def test_a_sample_that_was_deleted_does_not_come_back_beside_other_collections() -> None:
    """Pages of an invented company in the answers of a real one, after each restart."""
    take_in({"gate.html": GATE})
    setup()
    assert list(Document.objects.values_list("address", flat=True)) == ["gate.html"]


def test_without_a_sample_there_is_only_the_administrator() -> None:
    """A site of one's own that must begin by deleting."""
    assert "password" in setup("--no-sample")
    assert not Collection.objects.exists()
