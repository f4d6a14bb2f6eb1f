from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evidence.models import Source
from tests.handbook import GATE, collection_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("embedder")]


def refresh(*names: str, **options: Any) -> str:
    """What the command writes."""
    out = io.StringIO()
    call_command("refresh", *names, verbosity=0, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def source(tmp_path: Path, settings: Any) -> Source:
    """A folder with one page."""
    settings.SPIRE_FOLDERS = [tmp_path]
    (tmp_path / "gate.html").write_bytes(GATE)
    return Source.objects.create(collection=collection_of(), kind="folder", where=str(tmp_path))


def test_without_a_name_the_sources_are_listed(source: Source) -> None:
    listed = refresh()
    assert f"{source.pk}  Handbook  a folder on the server: " in listed
    assert "only when asked for" in listed


@pytest.mark.parametrize("named", ["Handbook", "handbook", "number"])
def test_a_collection_or_a_source_is_refreshed_by_its_name(source: Source, named: str) -> None:
    assert "1 new; 0 requests, 0 bytes." in refresh(str(source.pk) if named == "number" else named)
    assert "1 unchanged" in refresh("Handbook")


def test_an_unknown_name_is_told(source: Source) -> None:
    """A slip in a crontab that refreshes nothing for a year."""
    with pytest.raises(CommandError, match="no source 'Handbok'"):
        refresh("Handbok")
    with pytest.raises(CommandError, match="no source '999999'"):
        refresh("999999")


def test_only_what_is_due_is_refreshed(source: Source) -> None:
    assert refresh(due=True) == ""
    refresh("Handbook")
    assert refresh("Handbook", due=True) == ""
    Source.objects.update(next_run="2001-01-01T00:00:00Z")
    assert "1 unchanged" in refresh(due=True)
    assert refresh(due=True) == ""


def test_a_source_that_fails_is_told_and_the_others_go_on(source: Source, settings: Any) -> None:
    """A script that goes on as if all were well."""
    broken = Source.objects.create(collection=collection_of(), kind="folder", where="/nowhere/at/all")
    out = io.StringIO()
    with pytest.raises(CommandError, match="1 of the sources"):
        call_command("refresh", "Handbook", verbosity=0, stdout=out)
    assert (
        f"{broken.pk} a folder on the server: /nowhere/at/all: nothing; 0 requests, 0 bytes. Stopped: "
        in out.getvalue()
    )
    assert "1 new" in out.getvalue()
