"""What is said of wrong settings before anybody is served."""

from __future__ import annotations

from typing import Any

from evidence.checks import language_model_is_named


def test_a_server_without_the_name_of_a_model_is_an_error(settings: Any) -> None:
    """A site that starts, and fails on every page of results."""
    settings.SPIRE_LLM_URL = "http://127.0.0.1:9/v1"
    [error] = language_model_is_named()
    assert "SPIRE_LLM_MODEL" in error.hint
    settings.SPIRE_LLM_MODEL = "a"
    assert language_model_is_named() == []
