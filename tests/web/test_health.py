from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError, connections
from django.test import Client

from evidence.configured import pipeline
from evidence.language.embedder import ModelError
from evidence.store import indexes
from evidence.web import health
from spire_site import gunicorn
from tests.conftest import WordEmbedder
from tests.handbook import GATE, take_in


def test_a_process_that_lives_says_so_without_a_database(client: Client) -> None:
    """A site that is restarted again and again because its database is away. (No test without a mark may ask it.)"""
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert response["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in response


@pytest.mark.django_db
def test_a_new_site_is_ready(client: Client) -> None:
    """A balancer that lets nobody through to upload the first document."""
    assert client.get("/readyz").json() == {"status": "ok"}


@pytest.mark.django_db
def test_a_site_with_documents_is_ready(client: Client, embedder: WordEmbedder) -> None:
    """A watch that cries at a site that answers."""
    take_in({"gate.html": GATE})
    assert client.get("/readyz").status_code == 200


@pytest.mark.django_db
def test_a_process_loads_its_models_before_it_answers(embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first people of the morning, each of whom loads them again, and waits for all the others'."""
    take_in({"gate.html": GATE})
    loaded: list[str] = []
    monkeypatch.setattr(health, "embedder_of", lambda index: loaded.append("embedder"))
    monkeypatch.setattr(health, "judge", lambda: loaded.append("judge"))
    # The test's connection goes on.
    monkeypatch.setattr(connections["default"], "close", lambda: None)
    gunicorn.post_worker_init(object())
    assert loaded == ["embedder", "judge"]


@pytest.mark.django_db
def test_what_fails_is_named_by_a_word_and_no_more(
    client: Client, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A site that is called ready and answers with errors; or a page that tells strangers of hosts and models."""
    take_in({"gate.html": GATE})

    def failing() -> dict[str, Any]:
        response = client.get("/readyz")
        assert response.status_code == 503
        return response.json()

    embedder.fingerprint = "words-2"
    assert failing() == {"status": "failing", "failing": ["embedder"]}

    def missing(found: object) -> None:
        raise ModelError("/secret/place is not there")

    monkeypatch.setattr(health, "embedder_of", missing)
    assert failing() == {"status": "failing", "failing": ["embedder"]}
    with pipeline() as connection:
        indexes.drop(connection, indexes.get(connection))
    assert failing() == {"status": "failing", "failing": ["index"]}
    with pipeline() as connection:
        connection.exec_driver_sql("UPDATE spire.alembic_version SET version_num = '0001'")
    assert failing() == {"status": "failing", "failing": ["migrations"]}


@pytest.mark.django_db
def test_a_database_that_is_away_is_named(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """A traceback for a probe, or an address of a server in its answer."""

    def away() -> bool:
        raise OperationalError("connection to 10.0.0.7 failed")

    away.__name__ = "database"
    monkeypatch.setattr(health, "CHECKS", [away])
    response = client.get("/readyz")
    assert (response.status_code, response.json()) == (503, {"status": "failing", "failing": ["database"]})


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.django_db
def test_a_probe_comes_by_address_and_plain_http(client: Client, settings: Any, path: str) -> None:
    """Containers are probed at 10.x.x.x, which nobody puts into SPIRE_HOSTS, and are killed for a redirect to https."""
    settings.SECURE_SSL_REDIRECT = True
    assert client.get(path, headers={"host": "10.1.2.3:8000"}).status_code == 200
    assert client.head(path).status_code == 200
    assert client.post(path).status_code == 405
