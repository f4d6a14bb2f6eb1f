"""Readers, an open collection, and pages looked at as trees of elements."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from lxml import html

from evidence.models import Collection, Document
from tests.conftest import WordEmbedder
from tests.handbook import collection_of


@pytest.fixture
def reader(db: None) -> User:
    """Somebody without any special right."""
    return User.objects.create_user("reader", password="reader")


@pytest.fixture
def signed_in(client: Client, reader: User) -> Client:
    """The reader's browser."""
    client.force_login(reader)
    return client


@pytest.fixture
def administrator(client: Client, db: None) -> Client:
    """A superuser's browser."""
    client.force_login(User.objects.create_superuser("administrator"))
    return client


@pytest.fixture
def handbook(db: None, embedder: WordEmbedder) -> Collection:
    """A collection that everyone may read, taken in by an embedder that needs no model."""
    collection = collection_of()
    collection.everyone = True
    collection.save()
    return collection


def document_at(address: str) -> Document:
    """The document of this address."""
    return Document.objects.get(address=address)


def seen(response: Any) -> html.HtmlElement:
    """The page of a response as elements."""
    return html.document_fromstring(response.content.decode())


def text_of(element: Any) -> str:
    """The text of an element, white space collapsed."""
    return " ".join(element.text_content().split())


def select(element: Any, selector: str) -> list[Any]:
    """The elements below that a selector of tags, classes, ids and attributes finds: ``.result h2``, ``input[checked]``."""
    path = "."
    for step in selector.split():
        tag, *tests = re.split(r"(?=[.#\[])", step)
        path += f"//{tag or '*'}" + "".join(_condition(test) for test in tests)
    return element.xpath(path)


def _condition(test: str) -> str:
    if test.startswith("."):
        return f"[contains(concat(' ', @class, ' '), ' {test[1:]} ')]"
    if test.startswith("#"):
        return f"[@id='{test[1:]}']"
    name, _, value = test[1:-1].partition("=")
    return f"[@{name}='{value}']" if value else f"[@{name}]"


def marked(page: Any) -> list[str]:
    """The texts that are marked as cited."""
    return [text_of(element) for element in select(page, ".tree .cited")]
