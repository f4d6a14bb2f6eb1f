from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evidence.models import Collection
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, TABLE, collection_of, page, take_in
from tests.web.conftest import document_at, marked, seen, select, text_of

EMPTY_QUESTIONS = ["", "   ", "\u00ad", "?"]
ODD_QUESTIONS = [
    "gate " * 2000,
    "門はいつ閉まりますか",
    "متى تغلق البوابة؟",
    "🚪",
    "\0gate\0",
    "<script>alert(1)</script>",
    "' OR 1=1 --",
]


def test_who_is_not_signed_in_is_asked_to(client: Client, db: None) -> None:
    response = client.get("/?q=gate")
    assert response.status_code == 302
    assert response["Location"].startswith("/login/?next=")


def test_a_reader_without_collections_is_told_so(signed_in: Client) -> None:
    """An empty page would look like a question without an answer."""
    page = seen(signed_in.get("/", {"q": "gate"}))
    assert "no collection that you may see" in text_of(page)


def test_before_anything_is_indexed_the_page_says_so(signed_in: Client, handbook: Collection, reader: User) -> None:
    """What is wrong with the site is for those who can mend it."""
    assert "An administrator who asks here is told why" in text_of(seen(signed_in.get("/", {"q": "gate"})))
    reader.is_staff = True
    reader.save()
    assert "index" in text_of(select(seen(signed_in.get("/", {"q": "gate"})), ".notice")[0])


def test_evidence_is_shown_with_its_headings_and_links(signed_in: Client, handbook: Collection) -> None:
    take_in({"gate.html": GATE})
    response = signed_in.get("/", {"q": "When does team north close the gate?", "budget": 22})
    page = seen(response)
    assert [text_of(title) for title in select(page, ".result header h2")] == ["Gate"]
    assert [text_of(part) for part in select(page, ".trail span")] == ["Handbook", "North"]
    assert marked(page) == ["Team North closes the gate at six each evening."]
    assert [text_of(word) for word in select(page, ".excerpt mark")] == ["Team", "North", "closes", "gate"]
    link = select(page, ".citations a")[0].get("href")
    opened = seen(signed_in.get(link))
    assert marked(opened) == ["Team North closes the gate at six each evening."]
    assert opened.get_element_by_id(link.partition("#")[2]).get("class") == "cited"
    assert "1 passage in 1 document" in text_of(page)


def test_numbers_of_links_follow_the_order_of_the_marks(signed_in: Client, handbook: Collection) -> None:
    """The style sheet numbers the marks as they come; a link with the same number must lead there."""
    take_in({"gate.html": GATE, "tins.html": TABLE})
    page = seen(signed_in.get("/", {"q": "team gate tin holds tea", "all": "1"}))
    assert len(select(page, ".result")) == 2
    for result in select(page, ".result"):
        marks = [
            " | ".join(text_of(cell) for cell in mark) if mark.tag == "tr" else text_of(mark)
            for mark in select(result, ".cited")
        ]
        links = select(result, ".citations a")
        assert [link.get("title") for link in links] == marks
        assert [text_of(link) for link in links] == [f"Passage {number + 1}" for number in range(len(marks))]


def test_context_is_told_apart_from_what_is_cited(signed_in: Client, handbook: Collection) -> None:
    take_in({"tins.html": TABLE})
    page = seen(signed_in.get("/", {"q": "blue tea leaves", "budget": 60}))
    assert "Tin" in [text_of(context) for context in select(page, ".excerpt th .context")]
    assert marked(page)[0].split() == ["BlueTea", "leaves"] or "Tea leaves" in marked(page)[0]


def test_only_the_chosen_collections_are_asked(signed_in: Client, handbook: Collection) -> None:
    other = collection_of("Kitchen")
    other.everyone = True
    other.save()
    take_in({"gate.html": GATE})
    take_in({"tins.html": KITCHEN}, "Kitchen")
    both = seen(signed_in.get("/", {"q": "tea gate", "all": "1"}))
    assert len(select(both, ".result")) == 2
    assert len(select(both, "input[name=collection][checked]")) == 2
    one = seen(signed_in.get("/", {"q": "tea gate", "all": "1", "collection": "kitchen"}))
    assert [text_of(title) for title in select(one, ".result header h2")] == ["Kitchen"]
    assert [box.get("value") for box in select(one, "input[name=collection][checked]")] == ["kitchen"]


def test_one_collection_leaves_nothing_to_choose(signed_in: Client, handbook: Collection) -> None:
    assert not select(seen(signed_in.get("/")), "input[name=collection]")


@pytest.mark.parametrize("question", EMPTY_QUESTIONS + ODD_QUESTIONS)
def test_any_question_gets_a_normal_page(signed_in: Client, handbook: Collection, question: str) -> None:
    take_in({"gate.html": GATE})
    response = signed_in.get("/", {"q": question})
    assert response.status_code == 200
    assert not re.search(rb"<script(?![^>]*\ssrc=)", response.content)


@pytest.mark.parametrize("budget", ["0", "-1", "x", "", "999999999999", "١٢"])
def test_any_budget_gets_a_normal_page(signed_in: Client, handbook: Collection, budget: str) -> None:
    take_in({"gate.html": GATE})
    assert signed_in.get("/", {"q": "gate", "budget": budget}).status_code == 200


def test_a_budget_too_small_for_anything_finds_nothing(signed_in: Client, handbook: Collection) -> None:
    take_in({"gate.html": GATE})
    assert "Nothing was found" in text_of(seen(signed_in.get("/", {"q": "gate", "budget": "1"})))


def test_what_came_from_the_web_links_to_its_exact_place_there(signed_in: Client, handbook: Collection) -> None:
    take_in({"https://intra.example/gate.html": page("Gate", Bell="Ring twice, then wait - it opens.")})
    shown = seen(signed_in.get("/", {"q": "ring twice"}))
    sources = [link.get("href") for link in select(shown, ".citations a") if "intra.example" in link.get("href")]
    assert sources == ["https://intra.example/gate.html#:~:text=Ring%20twice%2C%20then%20wait%20%2D%20it%20opens."]


def test_questions_are_asked_of_the_address_alone(signed_in: Client) -> None:
    """A page that changes nothing has no business with other methods."""
    assert signed_in.post("/", {"q": "gate"}).status_code == 405


def test_links_stay_short_when_much_is_found(signed_in: Client, handbook: Collection) -> None:
    """A server takes only so long an address, and each link names what it marks."""
    take_in({"bells.html": page("Bells", **{f"Bell {number}": f"Bell {number} rings." for number in range(190)})})
    links = select(seen(signed_in.get("/", {"q": "bell rings", "budget": 20_000, "all": "1"})), ".citations a")
    assert len(links) > 150
    assert max(len(link.get("href")) for link in links) < 2000
    last = links[-1].get("href")
    assert last.partition("#n")[2] in parse_qs(urlsplit(last).query)["cite"]


def test_weaker_passages_are_one_link_away(
    signed_in: Client, handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left out as too weak must be there for whoever wants it, for the same question."""
    monkeypatch.setattr("evidence.web.views.PAGE_FLOOR", 0.99)
    take_in({"gate.html": GATE, "bells.html": page("Bells", **{f"Bell {n}": f"Bell {n} rings." for n in range(30)})})
    strong = seen(signed_in.get("/", {"q": "team north closes the gate", "collection": "handbook"}))
    link = select(strong, ".more a")[0].get("href")
    weaker = seen(signed_in.get(f"/{link}"))
    assert set(marked(strong)) < set(marked(weaker))
    assert select(weaker, "input[type=search]")[0].get("value") == "team north closes the gate"
    assert not select(weaker, ".more a")


def test_a_result_costs_a_bounded_number_of_queries(
    signed_in: Client, handbook: Collection, embedder: WordEmbedder, django_assert_max_num_queries: object
) -> None:
    """Queries that grow with the results would make a good answer slow."""
    take_in({f"gate{number}.html": GATE.replace(b"six", b"%d" % number) for number in range(12)})
    signed_in.get("/", {"q": "gate", "all": "1"})
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        response = signed_in.get("/", {"q": "gate", "all": "1"})
    assert len(select(seen(response), ".result")) > 5
    assert document_at("gate0.html")


def test_each_result_says_why_it_is_there(signed_in: Client, handbook: Collection) -> None:
    """A result that nobody can explain."""
    take_in({"gate.html": GATE})
    found = seen(signed_in.get("/", {"q": "When does team north close the gate?"}))
    why = text_of(select(found, "details.why")[0])
    assert "by meaning 1; by words 1" in why
    assert "close, gate, north, team" in why
    assert "heading: North" in why


def test_the_page_says_when_nothing_seems_to_answer(signed_in: Client, handbook: Collection) -> None:
    """The least bad, shown as if it were an answer."""
    take_in({"gate.html": GATE})
    notice = "Nothing here seems to answer this"
    assert notice in text_of(seen(signed_in.get("/", {"q": "Quarterly revenue of Norwegian fisheries"})))
    assert notice not in text_of(seen(signed_in.get("/", {"q": "When does team north close the gate?"})))


def test_where_nothing_seems_to_answer_only_the_nearest_is_shown(signed_in: Client, handbook: Collection) -> None:
    """Thirty passages about something else below the words that none of them answers."""
    take_in({f"gate{number}.html": GATE for number in range(9)})
    asked = {"q": "Quarterly revenue of Norwegian fisheries"}
    found = seen(signed_in.get("/", asked))
    assert len(select(found, "details.why")) == 3
    assert len(select(seen(signed_in.get("/", asked | {"all": "1"})), "details.why")) > 3


def test_phrases_and_exclusions_are_typed_into_the_question(signed_in: Client, handbook: Collection) -> None:
    """Quotation marks and minus signs that a search box eats."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    assert marked(seen(signed_in.get("/", {"q": 'gate "brass key"'}))) == ["Bring the brass key."]
    assert "North" not in " ".join(marked(seen(signed_in.get("/", {"q": "team gate -north"}))))


def test_filters_are_in_the_form_and_kept(signed_in: Client, handbook: Collection) -> None:
    """A filter that works once, and is gone on the next page."""
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    found = seen(signed_in.get("/", {"q": "gate", "format": ["html"], "since": "2020-01-31", "until": ""}))
    assert select(found, "details.filters")[0].get("open") is not None
    assert [box.get("value") for box in select(found, "input[name=format][checked]")] == ["html"]
    assert select(found, "input[name=since]")[0].get("value") == "2020-01-31"
    more = parse_qs(urlsplit(select(found, ".more a")[0].get("href")).query)
    assert (more["format"], more["since"]) == (["html"], ["2020-01-31"])
    assert select(seen(signed_in.get("/", {"q": "gate", "format": "docx"})), ".result") == []


@pytest.mark.parametrize("given", [{"since": "yesterday"}, {"until": "99999-1-1"}, {"format": "exe"}, {"until": "\0"}])
def test_a_filter_that_is_not_understood_is_told_and_filters_nothing(
    signed_in: Client, handbook: Collection, given: dict[str, str]
) -> None:
    """An error page for a date in another notation; or nothing found, and no word why."""
    take_in({"gate.html": GATE})
    found = seen(signed_in.get("/", {"q": "gate", **given}))
    assert select(found, ".errorlist")
    assert select(found, ".result")
