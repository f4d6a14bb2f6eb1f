"""What the site says of itself while it serves: a line for each event, and all lines of a request under one id.

A question is private: of an address only the path is logged, and no text that anybody has typed.
"""

from __future__ import annotations

import json
import logging
import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextvars import Context, ContextVar, copy_context
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.http import FileResponse, HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase

HEADER = "X-Request-ID"
SANE = re.compile(r"[A-Za-z0-9._:-]{8,64}")
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))} | {0x2028: "\\u2028", 0x2029: "\\u2029"}

log = logging.getLogger(__name__)

_request: ContextVar[dict[str, Any] | None] = ContextVar("request", default=None)
"""What is known of the request that is being answered: its id, and what ``note`` added."""


def note(**facts: Any) -> None:
    """Add figures to the line of the request that is being answered, such as the milliseconds of a question's stages."""
    about = _request.get()
    if about is not None:
        about.update(facts)


class RequestFilter(logging.Filter):
    """Gives each record the id of the request in which it was made, "-" outside of one."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = (_request.get() or {}).get("request", "-")
        return True


class LineFormatter(logging.Formatter):
    """For people. Nothing that comes from outside can begin a line: control characters are written as escapes, and the
    lines of a traceback are set in."""

    def format(self, record: logging.LogRecord) -> str:
        facts = getattr(record, "facts", {})
        said = " ".join([record.getMessage(), *(f"{name}={value}" for name, value in facts.items())])
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        id_ = getattr(record, "request_id", "-")
        lines = [f"{when} {record.levelname} {record.name} [{id_}]: {said}".translate(CONTROLS)]
        if record.exc_info:
            trace = self.formatException(record.exc_info)
            lines += [f"    {line.translate(CONTROLS)}" for line in trace.splitlines()]
        return "\n".join(lines)


class JsonFormatter(logging.Formatter):
    """For machines: an object on a line."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "request": getattr(record, "request_id", "-"),
            "message": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


def requests(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """An id for each request, given back in its response, and a line when it is answered to the end."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(HEADER, "")
        about = {"request": given if SANE.fullmatch(given) else uuid.uuid4().hex}
        began = time.perf_counter()
        token = _request.set(about)
        try:
            response = get_response(request)
            response.headers[HEADER] = about["request"]
            # Files are left to the server, which may have a faster way for them.
            if isinstance(response, StreamingHttpResponse) and not isinstance(response, FileResponse):
                response.streaming_content = _streamed(
                    copy_context(), iter(response), lambda: _tell(request, response, about, began)
                )
            else:
                _tell(request, response, about, began)
            return response
        finally:
            _request.reset(token)

    return middleware


def _streamed(context: Context, parts: Iterator[bytes], at_end: Callable[[], None]) -> Iterator[bytes]:
    """The parts, each made in the context of its request."""
    try:
        while (part := context.run(next, parts, None)) is not None:
            yield part
    finally:
        context.run(at_end)


def _tell(request: HttpRequest, response: HttpResponseBase, about: dict[str, Any], began: float) -> None:
    if request.path_info.startswith(settings.STATIC_URL) and response.status_code < 400:
        return
    facts = {
        "method": request.method,
        "path": request.path_info,
        "status": response.status_code,
        "milliseconds": round((time.perf_counter() - began) * 1000, 1),
        "user": _user_id(request),
        **{name: value for name, value in about.items() if name != "request"},
    }
    log.info("answered", extra={"facts": facts})


def _user_id(request: HttpRequest) -> int | None:
    # Only if somebody has asked who it is: the database is not asked for the log, which also tells that it is down.
    return getattr(getattr(request, "_cached_user", None), "pk", None)


def logging_settings(form: str) -> dict[str, Any]:
    """Django's LOGGING: "json" for machines, else lines for people; on standard error."""
    formatter = JsonFormatter if form == "json" else LineFormatter
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"request": {"()": RequestFilter}},
        "formatters": {"line": {"()": formatter}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["request"]}},
        "root": {"handlers": ["console"], "level": "WARNING"},
        "loggers": {
            __name__: {"level": "INFO"},
            # Django's own handlers would write the same in another form.
            "django": {"handlers": [], "level": "WARNING", "propagate": True},
            # Of what is not found or not allowed, the line of the request tells.
            "django.request": {"level": "ERROR"},
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            "django.server": {"handlers": [], "level": "WARNING", "propagate": True},
            # What gunicorn says of its processes; its requests are told above.
            "gunicorn.error": {"handlers": [], "level": "WARNING", "propagate": True, "qualname": "gunicorn.error"},
        },
    }
