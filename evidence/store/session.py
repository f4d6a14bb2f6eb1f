"""What a connection that searches is opened with."""

from __future__ import annotations

from typing import Any

SESSION_OPTIONS = "-c hnsw.iterative_scan=relaxed_order -c hnsw.ef_search=800 -c hnsw.max_scan_tuples=10000 -c jit=off"
"""A scan of an index goes on until enough rows have passed the filter by collection, or it has seen so many. Compiling
(jit) takes longer than any of these queries; PostgreSQL would, for the branch of a search that hardly ever runs."""


def with_session_options(database: dict[str, Any]) -> dict[str, Any]:
    """A database's settings (as Django has them) with the session options added to its own."""
    options = database.get("OPTIONS", {})
    return {**database, "OPTIONS": {**options, "options": f"{options.get('options', '')} {SESSION_OPTIONS}".strip()}}
