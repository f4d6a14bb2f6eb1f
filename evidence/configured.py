"""What the settings configure, made once per process: the embedder, the policies, and the way to the pipeline's tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache

import sqlalchemy as sa
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection, transaction
from django.utils.module_loading import import_string

from evidence.language.chat import Chat, OpenAIChat
from evidence.language.embedder import Embedder
from evidence.language.judge import Judge, load_judge
from evidence.language.load import load
from evidence.store.connection import borrow
from evidence.store.indexes import Index
from evidence.tree.context import OPTIONAL, Policy, policies_for

FILTERS = ("offline", "none")


class OtherModel(Exception):
    """An index was made by a model that is not the one that can be loaded now."""


@contextmanager
def pipeline() -> Iterator[sa.Connection]:
    """SQLAlchemy on Django's connection, in one transaction with what Django does there."""
    with transaction.atomic():
        connection.ensure_connection()
        with borrow(connection.connection) as borrowed:
            yield borrowed


@lru_cache(maxsize=1)
def optional_policies() -> tuple[Policy, ...]:
    """The policies that a collection may switch on: ours, and those that the site adds by SPIRE_POLICIES."""
    found = list(OPTIONAL)
    for path in settings.SPIRE_POLICIES:
        try:
            policy = import_string(path)
        except ImportError as error:
            raise ImproperlyConfigured(f"SPIRE_POLICIES names {path!r}, which cannot be imported: {error}") from error
        if not isinstance(policy, Policy):
            raise ImproperlyConfigured(f"SPIRE_POLICIES names {path!r}, which is no evidence.tree.context.Policy")
        if policy.name in [other.name for other in found]:
            raise ImproperlyConfigured(
                f"SPIRE_POLICIES names {path!r}, and there is a policy {policy.name!r} already; give it another name"
            )
        found.append(policy)
    return tuple(found)


def policies_named(names: Iterable[str]) -> tuple[Policy, ...]:
    """The policies of a collection with these optional ones on. A name that a site has taken off its settings is no more."""
    optional = optional_policies()
    return policies_for({policy.name for policy in optional}.intersection(names), optional)


@lru_cache(maxsize=4)
def embedder_named(name: str) -> Embedder:
    """The embedder of this name or folder, loaded once per process."""
    return load(
        name,
        settings.SPIRE_DATA / "models",
        backend=settings.SPIRE_EMBEDDER_BACKEND,
        report=lambda line: print(line, file=sys.stderr),  # noqa: T201
    )


def embedder_of(index: Index) -> Embedder:
    """The embedder that made an index. OtherModel when its weights, or the way they run, are not what they were:
    vectors of two models are never compared."""
    found = embedder_named(index.model)
    if found.fingerprint != index.fingerprint:
        raise OtherModel(
            f"index {index.name!r} was made by {index.model} as {index.fingerprint[:12]}, and this is"
            f" {found.fingerprint[:12]}: build a new index with it (manage.py index build NAME), or set"
            " SPIRE_EMBEDDER_BACKEND back"
        )
    return found


@lru_cache(maxsize=1)
def judge() -> Judge | None:
    """The filter that reads candidates without a language model, loaded once per process; None where a site wants none."""
    if settings.SPIRE_FILTER not in FILTERS:
        raise ImproperlyConfigured(f"SPIRE_FILTER is {settings.SPIRE_FILTER!r}: set it to {' or '.join(FILTERS)}")
    return load_judge() if settings.SPIRE_FILTER == "offline" else None


def chat() -> Chat | None:
    """The language model that the site is set to; None where it has none."""
    if not settings.SPIRE_LLM_URL:
        return None
    if not settings.SPIRE_LLM_MODEL:
        raise ImproperlyConfigured(
            "SPIRE_LLM_URL is set, and SPIRE_LLM_MODEL is not: name the model that the server has"
        )
    return _chat(settings.SPIRE_LLM_URL, settings.SPIRE_LLM_MODEL, settings.SPIRE_LLM_KEY)


# One for all questions: it keeps connections, and remembers what the server does not take.
@lru_cache(maxsize=4)
def _chat(url: str, name: str, key: str) -> OpenAIChat:
    return OpenAIChat(url, name, key)
