from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from evidence.models import Collection
from tests.handbook import GATE, collection_of, page, take_in
from tests.stub_server import Says, Stub, last_said, stub
from tests.web.conftest import document_at, seen, select, text_of

QUESTION = "When does Team South open the gate?"
SOUTH = "Team South opens the gate at six each morning."
TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]*"')
SAID = [
    "Team South opens it at six",
    " [",
    "{n}",
    "]. It opens at nine, 9 sharp [{n}]. Nobody ",
    "knows [77]. <b onclick=x>Bold</b> [{n}].",
]


def script(asked: dict[str, Any], number: int) -> Says:
    """Picks the sentence about Team South; then answers from it, well and badly."""
    said = last_said(asked)
    if not asked.get("stream"):
        return Says(", ".join(re.findall(r"\[(S\d+)\] Team South opens", said)) or "none")
    cited = re.search(r"\[(\d+)\] Team South opens", said)
    return Says(chunks=[chunk.replace("{n}", cited[1] if cited else "1") for chunk in SAID])


@pytest.fixture
def model(settings: Any) -> Iterator[Stub]:
    """A language model that the site is set to."""
    with stub(script) as server:
        settings.SPIRE_LLM_URL, settings.SPIRE_LLM_MODEL = server.url, "stub-1"
        yield server


@pytest.fixture
def gate(handbook: Collection) -> Collection:
    take_in({"gate.html": GATE})
    return handbook


def events(response: Any) -> list[tuple[str, dict[str, Any]]]:
    text = b"".join(response.streaming_content).decode()
    assert text.endswith("\n\n")
    return [(name, json.loads(data)) for name, data in re.findall(r"event: (\w+)\ndata: (.*)\n\n", text)]


def streamed(client: Client, **query: str) -> Any:
    return client.get("/answer/", {"q": QUESTION, **query}, headers={"accept": "text/event-stream"})


def test_without_a_language_model_there_is_no_control_and_no_page(signed_in: Client, gate: Collection) -> None:
    """A button that leads nowhere."""
    response = signed_in.get("/", {"q": QUESTION})
    assert "answer" not in response.content.decode().lower().replace("answers", "")
    assert signed_in.get("/answer/", {"q": QUESTION}).status_code == 404


def test_with_one_the_results_offer_an_answer(signed_in: Client, gate: Collection, model: Stub) -> None:
    response = signed_in.get("/", {"q": QUESTION})
    section = select(seen(response), "section.answer")[0]
    assert section.get("data-stream") == select(section, "a")[0].get("href")
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'; connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]*\ssrc=)", response.content.decode())
    assert model.requests == [], "nobody has asked for an answer yet"
    assert select(seen(signed_in.get("/")), "section.answer") == []


def test_the_answer_is_a_finished_page_without_a_script(signed_in: Client, gate: Collection, model: Stub) -> None:
    response = signed_in.get("/answer/", {"q": QUESTION})
    assert "script-src" not in response.headers["Content-Security-Policy"]
    claims = select(seen(response), "p.claim")
    standings = [claim.get("class").removeprefix("claim ") for claim in claims]
    assert standings == ["supported", "doubtful", "unsupported", "doubtful"]
    assert [text_of(said) for said in select(seen(response), "p.claim em")] == [
        "not in the source: 9",
        "no source",
        "not in the source: Bold",
    ]
    assert "<b onclick" not in response.content.decode()
    assert "&lt;b onclick=x&gt;Bold&lt;/b&gt;" in response.content.decode()
    assert "[77]" not in response.content.decode()
    assert [text_of(cited) for cited in select(seen(response), ".excerpt .cited")] == [SOUTH]


def test_a_citation_opens_the_cited_node(signed_in: Client, gate: Collection, model: Stub) -> None:
    link = select(seen(signed_in.get("/answer/", {"q": QUESTION})), "p.claim a")[0]
    opened = seen(signed_in.get(link.get("href").partition("#")[0]))
    assert [text_of(cited) for cited in select(opened, ".tree .cited")] == [SOUTH]
    assert opened.get_element_by_id(link.get("href").partition("#")[2]) is not None


def test_the_stream_says_what_the_page_says(signed_in: Client, gate: Collection, model: Stub) -> None:
    response = streamed(signed_in)
    assert response.headers["Content-Type"] == "text/event-stream"
    assert response.headers["Cache-Control"] == "no-store"
    *claims, (last, end) = events(response)
    assert (last, end) == ("end", {"how": "answered", "says": "", "saved": end["saved"]})
    page_claims = select(seen(signed_in.get("/answer/", {"q": QUESTION})), "p.claim")
    assert [claim["standing"] for _, claim in claims] == [claim.get("class").split()[1] for claim in page_claims]
    first = claims[0][1]
    assert (first["text"], first["says"]) == ("Team South opens it at six.", "")
    assert first["sources"][0]["url"].startswith(f"/documents/{document_at('gate.html').pk}/?revision=1&cite=")
    assert "[" not in "".join(claim["text"] for _, claim in claims)


@pytest.mark.parametrize("accept", ["text/html", "text/event-stream"])
def test_a_collection_that_is_not_seen_is_as_unknown_as_none(
    signed_in: Client, gate: Collection, model: Stub, accept: str
) -> None:
    """Case 50: an answer from what the reader may not read, or a sign that it is there."""
    collection_of("Severance").groups.add(Group.objects.create(name="HR"))
    take_in({"kestrel.html": page("Kestrel", Pay="Team South opens the gate for nine months of pay.")}, "Severance")
    hidden, unknown = (
        signed_in.get("/answer/", {"q": QUESTION, "collection": name}, headers={"accept": accept})
        for name in ("severance", "none-such")
    )
    assert hidden.status_code == unknown.status_code == 404
    assert TOKEN.sub(b"", hidden.content) == TOKEN.sub(b"", unknown.content)
    assert model.requests == []
    signed_in.get("/answer/", {"q": QUESTION})
    assert "nine months" not in json.dumps(model.requests)


def test_an_answer_is_for_readers_who_are_signed_in(client: Client, gate: Collection, model: Stub) -> None:
    assert client.get("/answer/", {"q": QUESTION}).status_code == 302
    assert model.requests == []


@pytest.mark.parametrize("accept", ["text/html", "text/event-stream"])
def test_a_model_that_fails_leaves_what_search_found(
    signed_in: Client, gate: Collection, settings: Any, accept: str
) -> None:
    """An error page in place of the evidence."""
    with stub(Says(status=500)) as server:
        settings.SPIRE_LLM_URL, settings.SPIRE_LLM_MODEL = server.url, "stub-2"
        response = signed_in.get("/answer/", {"q": QUESTION}, headers={"accept": accept})
        if accept == "text/html":
            says = text_of(select(seen(response), ".says")[0])
            assert SOUTH in [text_of(cited) for cited in select(seen(response), ".excerpt .cited")]
        else:
            ((_, end),) = events(response)
            says = end["says"]
    assert says.startswith("The language model gave no answer. The model could not read 1 of the documents")


def test_nothing_kept_is_not_in_these_documents(signed_in: Client, gate: Collection, settings: Any) -> None:
    with stub("none") as server:
        settings.SPIRE_LLM_URL, settings.SPIRE_LLM_MODEL = server.url, "stub-3"
        response = signed_in.get("/answer/", {"q": QUESTION})
    assert text_of(select(seen(response), ".says")[0]) == "Not in these documents."
    assert select(seen(response), "p.claim") == []


def test_the_script_writes_text_only() -> None:
    """A reply of a model, or a quotation of a document, that becomes markup in the page."""
    code = (Path(__file__).parent.parent.parent / "static" / "answer.js").read_text(encoding="utf-8")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", code)


def test_the_answer_keeps_to_the_filters_of_the_question(signed_in: Client, gate: Collection, model: Stub) -> None:
    """An answer from documents that the reader has filtered out."""
    asked = {"q": "When is the gate opened?", "format": "markdown"}
    assert "Not in these documents." in signed_in.get("/answer/", asked).content.decode()
    control = signed_in.get("/", asked | {"format": "html"}).context["answer_url"]
    assert "format=html" in control
