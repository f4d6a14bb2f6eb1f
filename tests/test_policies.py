"""The policies of a site: those that it adds, and those that a collection has on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from evidence.configured import optional_policies, policies_named
from evidence.tree.context import OPTIONAL, POLICIES, Policy, global_context
from evidence.tree.document import Node
from evidence.tree.html import parse


def first_sentence(node: Node) -> list[Node]:
    return [next(node.document.sentences())]


status = Policy("status", first_sentence, "The first sentence, which says what holds.", most=1)
twin = Policy("definition", first_sentence)


@pytest.fixture(autouse=True)
def read_anew() -> Iterator[None]:
    """The settings are read once per process."""
    optional_policies.cache_clear()
    yield
    optional_policies.cache_clear()


def test_a_site_adds_policies_by_a_setting(settings: Any) -> None:
    settings.SPIRE_POLICIES = ["tests.test_policies.status"]
    assert optional_policies() == (*OPTIONAL, status)
    document = parse(b"<p>Draft.</p><p>Ask.</p>")
    last = list(document.sentences())[-1]
    assert [(entry.policy, entry.node.text) for entry in global_context(last, policies_named(["status"]))] == [
        ("status", "Draft.")
    ]
    assert global_context(last, policies_named([])) == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("tests.nothing.here", "SPIRE_POLICIES names 'tests.nothing.here', which cannot be imported"),
        ("tests.test_policies.first_sentence", "which is no evidence.tree.context.Policy"),
        ("tests.test_policies.twin", "there is a policy 'definition' already; give it another name"),
    ],
)
def test_a_setting_that_names_no_policy_says_so(settings: Any, path: str, message: str) -> None:
    settings.SPIRE_POLICIES = [path]
    with pytest.raises(ImproperlyConfigured, match=message):
        optional_policies()


def test_a_policy_that_the_site_has_taken_away_is_no_more() -> None:
    """An ingest that fails for a name that a collection still has."""
    assert policies_named(["status"]) == POLICIES
    assert policies_named(["status", "reference"]) == policies_named(["reference"])
