"""End to end with a real language model behind a real server: SPIRE_TEST_GGUF names its file, SPIRE_TEST_LLAMA the Python
that has llama-cpp-python[server]; else this one's."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from evidence.language.chat import OpenAIChat
from evidence.retrieve.answer import Claim, End, answer
from evidence.retrieve.filter import Filter
from evidence.retrieve.library import stored
from evidence.retrieve.pipeline import ask
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, TABLE, collection_of, take_in

SECONDS = 600.0
WEIGHTS = os.environ.get("SPIRE_TEST_GGUF", "")
PYTHON = os.environ.get("SPIRE_TEST_LLAMA", "") or (sys.executable if importlib.util.find_spec("llama_cpp") else "")

pytestmark = [
    pytest.mark.llm,
    pytest.mark.skipif(not WEIGHTS, reason="SPIRE_TEST_GGUF names no file of a language model"),
    pytest.mark.skipif(not PYTHON, reason="llama-cpp-python is not installed (pip install llama-cpp-python[server])"),
]


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIChat]:
    """The model, served for these tests."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [PYTHON, "-m", "llama_cpp.server", "--model", WEIGHTS, "--port", str(port), "--n_ctx", "4096"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield OpenAIChat(f"http://127.0.0.1:{port}/v1", "served")
    finally:
        server.terminate()
        server.wait(30)


@pytest.mark.django_db
def test_a_real_model_picks_what_answers_and_says_it(embedder: WordEmbedder, model: OpenAIChat) -> None:
    """All that a stub cannot be wrong about."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN, "tins.html": TABLE})
    reader = Filter(model, stored, at_once=1, seconds=SECONDS)
    found = ask("When does Team South open the gate?", collections=[collection_of().pk], reader=reader)
    assert found.filtered is not None
    assert found.filtered.failures == {}
    texts = [citation.text for excerpt in found.excerpts for citation in excerpt.citations]
    assert "Team South opens the gate at six each morning." in texts
    *claims, end = answer(found, model, seconds=SECONDS)
    assert isinstance(end, End)
    assert end.how == "answered"
    assert any(isinstance(claim, Claim) and "six" in claim.text for claim in claims)
