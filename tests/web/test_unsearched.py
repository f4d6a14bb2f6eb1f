from __future__ import annotations

from django.test import Client
from django.urls import reverse

from evidence.models import Collection, Document
from evidence.retrieve.pipeline import ask
from evidence.store.repeats import FEWEST
from tests.handbook import take_in
from tests.web.conftest import document_at, seen, select, text_of

FOOT = "Nobody may copy this."


def page(number: int) -> bytes:
    menu = "<nav><h2>Pages</h2><ul><li><a href=a>Gate</a><li><a href=b>Bell</a></ul></nav>"
    return f"<body>{menu}<h1>Part {number}</h1><p>It is about thing {number}.</p><p>{FOOT}</p>".encode()


def shown(client: Client, address: str) -> object:
    return seen(client.get(reverse("document", args=[document_at(address).pk])))


def found(question: str, collection: Collection) -> list[str]:
    """The addresses of the documents that a question finds."""
    return [excerpt.address for excerpt in ask(question, collections=[collection.pk]).excerpts]


def test_a_page_says_what_of_it_is_not_searched_and_why(signed_in: Client, handbook: Collection) -> None:
    """A line that is on the page and in no answer, for no reason that anybody can see."""
    take_in({f"{number}.html": page(number) for number in range(FEWEST)})
    first, last = shown(signed_in, "0.html"), shown(signed_in, f"{FEWEST - 1}.html")
    for document in (first, last):
        assert [text_of(words) for words in select(document, "details.apart summary")] == ["Navigation: not searched"]
        assert "Pages" not in [text_of(entry) for entry in select(document, ".contents a")]
    assert [text_of(words) for words in select(last, "span.apart")] == [
        f"{FOOT} (on {FEWEST} of {FEWEST} pages: searched in “Part 0” only)"
    ]
    assert select(first, "span.apart") == []


def test_what_repeats_is_found_once(handbook: Collection) -> None:
    """The same line from each of forty pages."""
    take_in({f"{number}.html": page(number) for number in range(FEWEST)})
    assert found(FOOT, handbook)[0] == "0.html"
    assert sum(FOOT in text for text in _texts(handbook)) == 1


def test_after_the_admin_has_deleted_the_page_it_is_found_on_another(
    administrator: Client, handbook: Collection
) -> None:
    """A line that is on every page, and that nobody finds any more."""
    take_in({f"{number}.html": page(number) for number in range(FEWEST + 2)})
    administrator.post(reverse("admin:evidence_document_delete", args=[document_at("0.html").pk]), {"post": "yes"})
    assert sum(FOOT in text for text in _texts(handbook)) == 1
    chosen = {"action": "delete_selected", "_selected_action": [document_at("1.html").pk], "post": "yes"}
    administrator.post(reverse("admin:evidence_document_changelist"), chosen)
    assert Document.objects.count() == FEWEST
    assert sum(FOOT in text for text in _texts(handbook)) == 1


def _texts(collection: Collection) -> list[str]:
    evidence = ask(FOOT, collections=[collection.pk], budget=5000)
    return [citation.text for excerpt in evidence.excerpts for citation in excerpt.citations]
