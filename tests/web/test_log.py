from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory
from django.test.utils import override_settings
from django.urls import path

from evidence.models import Collection
from evidence.web import log
from tests.handbook import GATE, take_in


def crash(request: Any) -> HttpResponse:
    raise ZeroDivisionError("a\n2026-01-01 INFO forged")


def in_threads(request: Any) -> HttpResponse:
    with ThreadPoolExecutor(2) as pool:
        for number in range(2):
            pool.submit(copy_context().run, logging.getLogger("evidence.test").warning, "from thread %d", number)
    return HttpResponse("done")


def streamed(request: Any) -> StreamingHttpResponse:
    def parts() -> Iterator[bytes]:
        for number in range(2):
            log.note(part=number)
            logging.getLogger("evidence.test").warning("part %d", number)
            yield b""
            yield b"part"

    return StreamingHttpResponse(parts())


urlpatterns = [path("crash", crash), path("threads", in_threads), path("streamed", streamed)]
handler404 = "django.views.defaults.page_not_found"


class Lines:
    """What the log takes while a test runs, in one of its forms."""

    def __init__(self, form: str) -> None:
        settings = log.logging_settings(form)
        self._stream = io.StringIO()
        self.handler = logging.StreamHandler(self._stream)
        self.handler.setFormatter(settings["formatters"]["line"]["()"]())
        self.handler.addFilter(log.RequestFilter())

    @property
    def text(self) -> str:
        return self._stream.getvalue()

    @property
    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


@pytest.fixture(params=["json"])
def lines(request: Any) -> Iterator[Lines]:
    taken = Lines(request.param)
    root = logging.getLogger()
    root.addHandler(taken.handler)
    yield taken
    root.removeHandler(taken.handler)


plain = pytest.mark.parametrize("lines", ["text"], indirect=True)
ours = override_settings(ROOT_URLCONF="tests.web.test_log")


@pytest.mark.django_db
def test_a_request_is_one_line_without_its_question(lines: Lines, signed_in: Client, handbook: Collection) -> None:
    """What people ask, in a log that others read and keep; or a line of which one cannot tell whose it was."""
    take_in({"gate.html": GATE})
    response = signed_in.get("/", {"q": "When does the secret gate close?"})
    [entry] = [entry for entry in lines.entries if entry["message"] == "answered"]
    assert "secret" not in lines.text
    assert (entry["method"], entry["path"], entry["status"]) == ("GET", "/", 200)
    assert entry["user"] == int(signed_in.session["_auth_user_id"])
    assert entry["milliseconds"] > 0
    assert {"embed", "search", "excerpt"} <= set(entry["stages"])
    assert entry["request"] == response[log.HEADER]


@pytest.mark.parametrize("given", ["abcdefgh", "01HF7YAT31JZHSMW1CG6Q6B7J7", "a-b_c.d:e" * 7])
def test_a_sane_id_of_a_proxy_is_kept(client: Client, lines: Lines, given: str) -> None:
    """A request that has one name at the proxy and another here."""
    assert client.get("/nothing/", headers={"x-request-id": given})[log.HEADER] == given
    assert {entry["request"] for entry in lines.entries} == {given}


@pytest.mark.parametrize("given", ["", "short", "x" * 65, "with space", 'quote"quote', "line\nline-line", "ä" * 10])
def test_any_other_id_is_replaced(client: Client, given: str) -> None:
    """A header that fills the log or forges a line of it."""
    made = client.get("/healthz/x", headers={"x-request-id": given})[log.HEADER]
    assert re.fullmatch(r"[0-9a-f]{32}", made)


@ours
def test_an_error_has_its_traceback_on_its_line(client: Client, lines: Lines) -> None:
    """A traceback of thirty lines that a collector takes for thirty events of nobody."""
    client.raise_request_exception = False
    response = client.get("/crash")
    error, answered = lines.entries
    assert "ZeroDivisionError" in error["traceback"]
    assert error["level"] == "error"
    assert error["request"] == answered["request"] == response[log.HEADER]
    assert answered["status"] == 500


@ours
@plain
def test_plain_lines_cannot_be_forged(client: Client, lines: Lines) -> None:
    """A line that an attacker wrote, among those that an administrator believes."""
    client.raise_request_exception = False
    client.get("/crash%0A2026-01-01 INFO forged\u2028\x1b[31m")
    client.get("/crash")
    for line in lines.text.splitlines():
        assert line.startswith(("2", "    "))
        assert not re.match(r"2026-01-01 INFO forged", line)
    assert "\\x0a2026-01-01" in lines.text
    assert "\x1b" not in lines.text
    assert "\n    ZeroDivisionError" in lines.text


@ours
def test_threads_of_a_request_log_under_its_id(client: Client, lines: Lines) -> None:
    """What went wrong while a model read for somebody, and nobody knows for whom."""
    given = client.get("/threads")[log.HEADER]
    assert [entry["request"] for entry in lines.entries] == [given] * 3


@ours
def test_a_stream_is_logged_when_it_ends_under_its_id(client: Client, lines: Lines) -> None:
    """An answer of twenty seconds that is logged as one of five milliseconds."""
    response = client.get("/streamed")
    assert lines.entries == []
    assert response.getvalue() == b"partpart"
    assert [entry["message"] for entry in lines.entries] == ["part 0", "part 1", "answered"]
    assert {entry["request"] for entry in lines.entries} == {response[log.HEADER]}
    assert lines.entries[-1]["part"] == 1


@pytest.mark.django_db
@ours
def test_a_stream_that_nobody_reads_to_its_end_is_logged_too(client: Client, lines: Lines) -> None:
    """Readers who go away, and of whom the log knows nothing."""
    response = client.get("/streamed")
    next(iter(response))
    response.close()
    assert lines.entries[-1]["message"] == "answered"


def test_outside_of_a_request_there_is_no_id(lines: Lines) -> None:
    """The id of an earlier request on the lines of a worker."""
    log.note(lost=1)
    logging.getLogger("evidence.test").warning("by itself")
    assert [entry["request"] for entry in lines.entries] == ["-"]


def test_files_of_the_pages_are_not_logged(lines: Lines) -> None:
    """Ten lines for each page, of which nine are a style sheet."""
    answer = log.requests(lambda request: HttpResponse("file"))
    answer(RequestFactory().get("/static/spire.css"))
    assert lines.entries == []
