from __future__ import annotations

import time
from typing import Any

import pytest

from evidence.language.chat import ChatError, Message, OpenAIChat, Usage
from tests.stub_server import Says, Script, stub

ASKED = [Message("user", "Where are the lamps?")]
SCHEMA = {"type": "object", "properties": {}}


def complete(script: Script | Says | str, *, seconds: float = 20.0, schema: bool = False) -> tuple[str, int]:
    """What a model says, and how many requests it took."""
    with stub(script) as server:
        chat = OpenAIChat(server.url, "stub")
        found = chat.complete(
            ASKED, most_tokens=10, until=time.monotonic() + seconds, schema=SCHEMA if schema else None
        )
        return found.text, len(server.requests)


def test_a_reply_comes_with_what_it_cost() -> None:
    with stub("At desk B.") as server:
        chat = OpenAIChat(server.url, "lamp-1", "key")
        reply = chat.complete(ASKED, most_tokens=10, until=time.monotonic() + 20)
    assert (reply.text, reply.is_whole) == ("At desk B.", True)
    assert (reply.usage.requests, reply.usage.prompt_tokens, reply.usage.reply_tokens) == (1, 100, 10)
    assert server.requests[0]["model"] == "lamp-1"
    assert server.requests[0]["messages"] == [{"role": "user", "content": "Where are the lamps?"}]


@pytest.mark.parametrize(
    "fault",
    [Says(status=500), Says(status=503), Says(status=429, headers={"Retry-After": "0"})],
    ids=["500", "503", "429"],
)
def test_a_server_that_fails_once_is_asked_once_more(fault: Says) -> None:
    """A question unanswered for a moment's overload."""
    assert complete(lambda asked, number: fault if number == 0 else "Here.") == ("Here.", 2)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Says(status=500), "refused: 500"),
        (Says(status=429, headers={"Retry-After": "0"}), "refused: 429"),
        (Says(status=429, headers={"Retry-After": "3600"}), "refused: 429"),
        (Says(status=429, headers={"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}), "refused: 429"),
        (Says(status=401), "refused: 401"),
        (Says(body=b'{"choices": [{"mess'), "can be read|cannot be reached|without content"),
        (Says(body=b'{"choices": []}'), "without content"),
        (Says("Here.", is_cut=True), "can be read|cannot be reached"),
    ],
    ids=["500", "429", "an hour", "a date", "401", "invalid JSON", "no choice", "cut off"],
)
def test_a_server_that_fails_is_an_error_that_says_why(fault: Says, message: str) -> None:
    """An error page, an endless loop, or a wait of an hour, for a server that is down."""
    begun = time.monotonic()
    with pytest.raises(ChatError, match=message):
        complete(fault)
    assert time.monotonic() - begun < 15


def test_a_server_that_is_not_there_is_an_error_that_names_it() -> None:
    chat = OpenAIChat("http://127.0.0.1:9/v1", "stub")
    with pytest.raises(ChatError, match="127.0.0.1:9/v1 cannot be reached"):
        chat.complete(ASKED, most_tokens=10, until=time.monotonic() + 20)


def test_a_slow_server_is_not_waited_for() -> None:
    with pytest.raises(ChatError, match="in time"):
        complete(Says("Here.", after=2), seconds=0.3)
    with pytest.raises(ChatError, match="no time is left"):
        complete("Here.", seconds=-1)


def test_a_server_without_structured_output_is_asked_in_plain_text_from_then_on() -> None:
    """Half of the servers there are, of no use."""
    with stub(lambda asked, number: Says(status=400) if "response_format" in asked else "S1") as server:
        chat = OpenAIChat(server.url, "stub")
        for _ in range(2):
            reply = chat.complete(ASKED, most_tokens=10, until=time.monotonic() + 20, schema=SCHEMA)
            assert reply.text == "S1"
    assert ["response_format" in asked for asked in server.requests] == [True, True, False, False]


def test_the_format_that_a_server_takes_is_kept() -> None:
    """llama-cpp-python's server fails with a 500 over "json_schema", and takes "json_object" with a schema."""
    refused = Says(status=500, body=b'{"error": {"message": "validation error: body, response_format, type"}}')

    def script(asked: dict[str, Any], number: int) -> Says | str:
        return refused if asked["response_format"]["type"] == "json_schema" else "{}"

    with stub(script) as server:
        chat = OpenAIChat(server.url, "stub")
        for _ in range(2):
            chat.complete(ASKED, most_tokens=10, until=time.monotonic() + 20, schema=SCHEMA)
    assert [asked["response_format"]["type"] for asked in server.requests] == [
        "json_schema",
        "json_object",
        "json_object",
    ]


def test_where_the_request_itself_is_refused_schemas_are_not_given_up() -> None:
    """One question that is too long, and every later one without structured output."""
    with stub(lambda asked, number: Says(status=400) if number < 3 else "S1") as server:
        chat = OpenAIChat(server.url, "stub")
        with pytest.raises(ChatError, match="refused: 400"):
            chat.complete(ASKED, most_tokens=10, until=time.monotonic() + 20, schema=SCHEMA)
        chat.complete(ASKED, most_tokens=10, until=time.monotonic() + 20, schema=SCHEMA)
    assert ["response_format" in asked for asked in server.requests] == [True, True, False, True]


def test_a_stream_comes_in_pieces_to_its_end() -> None:
    with stub(Says(chunks=["At ten ", "[", "1].", ""])) as server:
        stream = OpenAIChat(server.url, "stub").stream(ASKED, most_tokens=10, until=time.monotonic() + 20)
        assert list(stream.chunks) == ["At ten ", "[", "1]."]
        assert stream.is_whole
        assert stream.usage.requests == 1


def test_a_stream_that_stops_is_not_whole() -> None:
    """Half an answer that passes for one."""
    for fault in (Says(chunks=["At ten"], is_cut=True), Says(chunks=["At ten"], finish="length")):
        with stub(fault) as server:
            stream = OpenAIChat(server.url, "stub").stream(ASKED, most_tokens=10, until=time.monotonic() + 20)
            assert "".join(stream.chunks) == "At ten"
            assert not stream.is_whole


def test_a_stream_that_drips_ends_in_time() -> None:
    """A page that fills for minutes, a word a second."""
    with stub(Says(chunks=["drip "] * 100, after=0.05)) as server:
        stream = OpenAIChat(server.url, "stub").stream(ASKED, most_tokens=10, until=time.monotonic() + 0.3)
        with pytest.raises(ChatError, match="in time"):
            list(stream.chunks)


def test_lone_surrogates_reach_no_server() -> None:
    with stub("Here.") as server:
        OpenAIChat(server.url, "stub").complete([Message("user", "\ud800?")], most_tokens=1, until=time.monotonic() + 9)
    assert server.requests[0]["messages"][0]["content"] == "??"


def test_usages_add_up() -> None:
    assert Usage(1, 2, 3, 0.5) + Usage(1, 1, 1, 1) == Usage(2, 3, 4, 1.5)
