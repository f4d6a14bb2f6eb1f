"""What SPIRE asks of a language model, and the client for any server that speaks OpenAI's protocol."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

from evidence.language.embedder import readable

LONGEST_WAIT = 5.0
"""Seconds that a server may ask to wait before the one retry. Who asks for longer is not waited for."""

FIRST_WAIT = 0.5
"""Seconds before the retry where the server says nothing of it."""

REFUSES_FORMATS = frozenset([400, 404, 415, 422, 501])
"""What servers answer that do not know a format of structured output; llama-cpp-python's answers 500, and names it."""


class ChatError(Exception):
    """The language model gave no reply, and why."""


@dataclass(frozen=True)
class Message:
    """What is said to the model, and as whom."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True)
class Usage:
    """What requests have cost. Tokens are those that the server tells of; some tell nothing."""

    requests: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.reply_tokens + other.reply_tokens,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True)
class Reply:
    """What the model says. ``is_whole``: it came to its end by itself."""

    text: str
    usage: Usage
    is_whole: bool = True


@dataclass
class Stream:
    """A reply as it comes: ``chunks`` can be read once; the rest is known afterwards."""

    chunks: Iterator[str]
    usage: Usage = field(default_factory=Usage)
    is_whole: bool = False


class Chat(Protocol):
    """A language model. ``until`` is a time of ``time.monotonic()`` after which no reply is of use; all raise ChatError."""

    name: str

    def complete(
        self, messages: Sequence[Message], *, most_tokens: int, until: float, schema: dict[str, Any] | None = None
    ) -> Reply:
        """The reply, as JSON of this schema where the server can be held to one."""

    def stream(self, messages: Sequence[Message], *, most_tokens: int, until: float) -> Stream:
        """The reply, piece by piece."""


@dataclass
class OpenAIChat:
    """A model on a server that speaks OpenAI's protocol: hosted, vLLM, Ollama, llama.cpp.

    A request that meets a full or failing server (429, 5xx, no connection) is made once more.
    """

    url: str
    name: str
    key: str = ""
    _format: int = field(default=0, init=False)
    """Which of FORMATS the server takes, as far as is known."""

    @cached_property
    def _client(self) -> Any:
        from openai import OpenAI

        # The client wants some key, also for servers that ask for none.
        return OpenAI(base_url=self.url, api_key=self.key or "none", max_retries=0)

    def complete(
        self, messages: Sequence[Message], *, most_tokens: int, until: float, schema: dict[str, Any] | None = None
    ) -> Reply:
        begun = time.monotonic()
        asked = self._asked(messages, most_tokens)
        response = self._held_to(schema, asked, until) if schema is not None else self._sent(asked, until)
        choice = response.choices[0] if response.choices else None
        if choice is None or choice.message is None:
            raise ChatError(f"{self.name} sent a reply without content")
        usage = _usage(response.usage, time.monotonic() - begun)
        return Reply(choice.message.content or "", usage, choice.finish_reason == "stop")

    def _held_to(self, schema: dict[str, Any], asked: dict[str, Any], until: float) -> Any:
        """The response in the first format that the server takes; as plain text where it takes none."""
        for number, held in list(enumerate(FORMATS))[self._format :]:
            try:
                response = self._sent({**asked, "response_format": held(schema)}, until)
            except _Refused:
                continue
            self._format = number
            return response
        # Only if it takes the same without a schema, it was the schema.
        response = self._sent(asked, until)
        self._format = len(FORMATS)
        return response

    def stream(self, messages: Sequence[Message], *, most_tokens: int, until: float) -> Stream:
        begun = time.monotonic()
        response = self._sent({**self._asked(messages, most_tokens), "stream": True}, until)
        stream = Stream(iter(()))
        stream.chunks = self._chunks(response, stream, begun, until)
        return stream

    def _chunks(self, response: Any, stream: Stream, begun: float, until: float) -> Iterator[str]:
        from httpx2 import HTTPError
        from openai import OpenAIError

        stream.usage = Usage(1)
        with closing(response):
            try:
                for chunk in response:
                    if time.monotonic() > until:
                        raise ChatError(f"{self.name} was not done in time")
                    if chunk.usage:
                        stream.usage = _usage(chunk.usage, 0)
                    for choice in chunk.choices[:1]:
                        stream.is_whole = stream.is_whole or choice.finish_reason == "stop"
                        if choice.delta is not None and choice.delta.content:
                            yield choice.delta.content
            except (HTTPError, OpenAIError, ValueError) as error:
                raise ChatError(f"{self.name} broke off: {_said(error)}") from error
            finally:
                stream.usage += Usage(seconds=time.monotonic() - begun)

    def _asked(self, messages: Sequence[Message], most_tokens: int) -> dict[str, Any]:
        said = [{"role": message.role, "content": readable(message.text)} for message in messages]
        return {"model": self.name, "messages": said, "max_tokens": most_tokens, "temperature": 0}

    def _sent(self, asked: dict[str, Any], until: float) -> Any:
        """The server's response, after a retry if need be. _Refused where it does not take what is asked."""
        from httpx2 import HTTPError
        from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

        for is_last in (False, True):
            left = until - time.monotonic()
            if left <= 0:
                raise ChatError(f"no time is left to ask {self.name}")
            try:
                return self._client.chat.completions.create(**asked, timeout=left)
            except APITimeoutError as error:
                raise ChatError(f"{self.name} did not reply in time") from error
            except APIStatusError as error:
                if "response_format" in asked and _is_about_format(error.status_code, error):
                    raise _Refused from error
                wait = _wait(error.response.headers.get("retry-after"))
                can_retry = error.status_code == 429 or error.status_code >= 500
                if is_last or not can_retry or wait > LONGEST_WAIT:
                    raise ChatError(f"{self.name} refused: {error.status_code} {_said(error)}") from error
            except APIConnectionError as error:
                if is_last:
                    raise ChatError(f"{self.url} cannot be reached: {_said(error)}") from error
                wait = FIRST_WAIT
            except (HTTPError, OpenAIError, ValueError) as error:
                raise ChatError(f"{self.name} sent no reply that can be read: {_said(error)}") from error
            time.sleep(max(min(wait, until - time.monotonic()), 0))
        raise AssertionError("the last try returns or raises")


class _Refused(Exception):
    """The server does not take the request as it is."""


def _json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "labels", "strict": True, "schema": schema}}


def _json_object(schema: dict[str, Any]) -> dict[str, Any]:
    """As llama.cpp's servers have it; others that know it ignore the schema."""
    return {"type": "json_object", "schema": schema}


FORMATS = (_json_schema, _json_object)


def _is_about_format(status: int, error: Exception) -> bool:
    return status in REFUSES_FORMATS or (status == 500 and "response_format" in str(error))


def _usage(told: Any, seconds: float) -> Usage:
    if told is None:
        return Usage(1, seconds=seconds)
    return Usage(1, told.prompt_tokens or 0, told.completion_tokens or 0, seconds)


def _wait(header: str | None) -> float:
    """Seconds that a Retry-After asks for; a date, or nonsense, is longer than anyone waits."""
    if header is None:
        return FIRST_WAIT
    return float(header) if header.strip().isascii() and header.strip().isdigit() else LONGEST_WAIT + 1


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
