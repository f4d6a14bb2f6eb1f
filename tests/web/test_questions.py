from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from evidence.models import Collection, Document, Feedback, SavedQuestion
from tests.handbook import GATE, KITCHEN, NEW_GATE, TABLE, case, collection_of, page, take_in
from tests.stub_server import Says, Stub, stub
from tests.web.conftest import marked, seen, select, text_of

QUESTION = "When does team north close the gate?"
NORTH = "Team North closes the gate at six each evening."
SOUTH = "Team South closes the gate at six each morning."
TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]*"')


@pytest.fixture
def gate(handbook: Collection) -> Collection:
    take_in({"gate.html": GATE})
    return handbook


@pytest.fixture
def group(reader: User) -> Group:
    """A group that the reader is in."""
    group = Group.objects.create(name="HR")
    reader.groups.add(group)
    return group


@pytest.fixture
def severance(group: Group, gate: Collection) -> Collection:
    """A collection for this group only."""
    collection_of("Severance").groups.add(group)
    take_in({"kestrel.html": page("Kestrel", Pay="Kestrel pays nine months.")}, "Severance")
    return collection_of("Severance")


def other_client(name: str, *groups: Group, **rights: bool) -> Client:
    """The browser of another person."""
    person = User.objects.create_user(name, **rights)
    person.groups.set(groups)
    client = Client()
    client.force_login(person)
    return client


def ask(client: Client, **query: str) -> str:
    """Asks a question; the address that the page gives it."""
    found = seen(client.get("/", {"q": QUESTION, **query}))
    return select(found, ".saved a")[0].get("href")


def fates(opened: Any) -> list[str]:
    return [text_of(fate) for fate in select(opened, ".since li")]


def test_a_question_opens_again_as_it_was(signed_in: Client, gate: Collection) -> None:
    """Marks, words, headings, links and their numbers, the reasons: all that the page showed."""
    take_in({"tins.html": TABLE, "kitchen.html": KITCHEN})
    asked = {"q": "team gate tin holds tea", "all": "1"}
    found = seen(signed_in.get("/", asked))
    opened = seen(signed_in.get(select(found, ".saved a")[0].get("href")))
    assert len(select(found, ".result")) == 3
    for selector in (".result", "details.why"):
        assert [text_of(part) for part in select(opened, selector)] == [
            text_of(part) for part in select(found, selector)
        ]
    links = [[link.get("href") for link in select(page, ".citations a")] for page in (opened, found)]
    assert links[0] == links[1]
    assert marked(opened) == marked(found)
    assert not select(opened, ".since")


def test_asking_the_same_again_has_the_same_address(signed_in: Client, gate: Collection) -> None:
    assert ask(signed_in) == ask(signed_in)
    assert ask(signed_in, budget="30") != ask(signed_in)
    assert SavedQuestion.objects.count() == 2


@pytest.mark.parametrize("question", ["\0gate\0", "gate " * 2000, "🚪", "<script>alert(1)</script>"])
def test_any_question_can_be_opened_again(signed_in: Client, gate: Collection, question: str) -> None:
    opened = signed_in.get(ask(signed_in, q=question, since="\0", until="2099-01-01", all="1"))
    assert opened.status_code == 200
    assert b"<script" not in opened.content


def test_looking_whether_the_page_is_there_asks_nothing(signed_in: Client, gate: Collection) -> None:
    signed_in.head("/", {"q": QUESTION})
    assert not SavedQuestion.objects.exists()


def test_a_citation_follows_its_sentence(signed_in: Client, handbook: Collection) -> None:
    """Case 41: what is saved must not open on another sentence after the document has changed."""
    first = case(41)
    north, south = (line for line in first.splitlines() if line.startswith(b"<p"))
    take_in({"gate.html": first})
    url = ask(signed_in, budget="20")
    assert marked(seen(signed_in.get(url))) == [NORTH]
    take_in({"gate.html": first.replace(north, b"").replace(south, b"<p>New rule.</p>\n" + south)})
    gone = seen(signed_in.get(url))
    assert marked(gone) == [NORTH], "what was cited is kept"
    assert fates(gone) == [f"No longer in the current version: {NORTH}"]
    assert select(gone, ".since a") == []
    take_in({"gate.html": first.replace(north, b"").replace(south, b"<p>New rule.</p>\n" + south + north)})
    moved = seen(signed_in.get(url))
    assert fates(moved) == ["The same words now stand elsewhere in the current version, or under other headings."]
    place = select(moved, ".since a")[0].get("href")
    assert "revision=3" in place
    assert marked(seen(signed_in.get(place))) == [NORTH]
    take_in({"gate.html": first.replace(b"six each evening", b"eight each evening")})
    changed = seen(signed_in.get(url))
    assert [text_of(word) for word in select(changed, ".since del")] == ["six"]
    assert [text_of(word) for word in select(changed, ".since ins")] == ["eight"]
    assert marked(seen(signed_in.get(select(changed, ".since a")[0].get("href")))) == [NORTH.replace("six", "eight")]
    assert "1 has changed" in text_of(select(changed, ".notice")[0])
    take_in({"gate.html": first + b"<p>One more.</p>"})
    assert not select(seen(signed_in.get(url)), ".since")


def test_a_citation_in_a_document_too_large_to_compare_says_so(
    signed_in: Client, gate: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten documents of a hundred thousand sentences, all read and compared because somebody opens a question."""
    url = ask(signed_in, budget="40")
    take_in({"gate.html": NEW_GATE})
    monkeypatch.setattr("evidence.retrieve.reopening.MOST_SENTENCES", 10)
    monkeypatch.setattr("evidence.retrieve.reopening.read_tree", None)
    opened = seen(signed_in.get(url))
    assert marked(opened)[0] == NORTH, "what was cited is shown"
    assert "too large to say what has become of this" in fates(opened)[0]
    assert select(opened, ".since a")[0].get("href") == reverse("document", args=[Document.objects.get().pk])
    assert "too large to compare" in text_of(select(opened, ".notice")[0])


def test_what_a_deleted_document_said_is_gone(signed_in: Client, handbook: Collection) -> None:
    """Case 54: a saved question that still quotes it, or links to it."""
    take_in({"rota.html": case(54)})
    url = ask(signed_in, q="When does the Quetzal shift start?")
    assert marked(seen(signed_in.get(url))) == ["Quetzal shift starts at four."]
    pk = Document.objects.get(address="rota.html").pk
    Document.objects.all().delete()
    response = signed_in.get(url)
    assert "Quetzal shift starts" not in response.content.decode()
    assert f"/documents/{pk}/" not in response.content.decode()
    assert "1 is removed with its document" in text_of(select(seen(response), ".notice")[0])
    assert "All that it cited is removed." in text_of(seen(response))


def model_says(reply: str) -> Any:
    """A model that picks all that it is shown, and answers with this."""

    def script(asked: dict[str, Any], number: int) -> Says:
        if asked.get("stream"):
            return Says(chunks=[reply])
        return Says(", ".join(sorted(set(re.findall(r"\[(S\d+)\]", asked["messages"][-1]["content"])))))

    return script


@pytest.fixture
def lamps(handbook: Collection, settings: Any) -> Iterator[Stub]:
    """Case 42: three sentences, and a model that cites the second and one that is not there."""
    take_in({"desk.html": case(42)})
    with stub(model_says("Lamps [2]. Ladders [7].")) as server:
        settings.SPIRE_LLM_URL, settings.SPIRE_LLM_MODEL = server.url, "stub-lamps"
        yield server


def claims_of(opened: Any) -> list[tuple[str, list[str]]]:
    return [(text_of(claim), [link.get("href") for link in select(claim, "a")]) for claim in select(opened, "p.claim")]


@pytest.mark.parametrize("streamed", [False, True])
def test_an_answer_opens_again_with_the_same_citations(signed_in: Client, lamps: Stub, streamed: bool) -> None:
    """Case 42: the mapping from numbers to sentences is another after a reload, or a model is asked once more."""
    asked = {"q": "Where are the lamps?"}
    if streamed:
        response = signed_in.get("/answer/", asked, headers={"accept": "text/event-stream"})
        url = re.findall(r'"saved": "(.*?)"', b"".join(response).decode())[0]
    else:
        written = seen(signed_in.get("/answer/", asked))
        url = select(written, ".saved a")[0].get("href")
    requests = len(lamps.requests)
    opened = seen(signed_in.get(url))
    (first, links), (second, none) = claims_of(opened)
    assert (first, second, none) == ("Lamps. [2]", "Ladders. no source", [])
    assert marked(seen(signed_in.get(links[0]))) == ["Lamps are at desk B."]
    assert len(lamps.requests) == requests
    if not streamed:
        assert claims_of(written) == claims_of(opened)
    saved = SavedQuestion.objects.get(pk=url.split("/")[2])
    assert saved.ended == "answered"


def test_an_answer_from_a_deleted_document_is_gone(signed_in: Client, lamps: Stub) -> None:
    url = select(seen(signed_in.get("/answer/", {"q": "Where are the lamps?"})), ".saved a")[0].get("href")
    Document.objects.all().delete()
    response = signed_in.get(url)
    assert "Lamps" not in response.content.decode()
    assert "2 sentences of it are removed with what they cited" in text_of(seen(response))


def test_who_may_see_all_that_was_searched_may_open_it(signed_in: Client, severance: Collection, group: Group) -> None:
    """Case 50: the words of a document in a saved question, to somebody who may not read it."""
    url = ask(signed_in, q="How many months does Kestrel pay?")
    assert "nine months" in signed_in.get(url).content.decode()
    assert "nine months" in other_client("colleague", group).get(url).content.decode()
    assert "nine months" in other_client("root", is_superuser=True).get(url).content.decode()
    outsider = other_client("outsider")
    one = {"X-Request-ID": "the-same-for-both"}
    hidden, unknown = (outsider.get(path, headers=one) for path in (url, f"/questions/{uuid4()}/"))
    assert hidden.status_code == unknown.status_code == 404
    assert TOKEN.sub(b"", hidden.content) == TOKEN.sub(b"", unknown.content)
    assert dict(hidden.headers) == dict(unknown.headers)
    for post in ("feedback", "delete"):
        assert outsider.post(f"{url}{post}", {"helpful": "no"}).status_code == 404
    for path in (url, f"/questions/{uuid4()}/"):
        assert Client().get(path)["Location"].startswith("/login/")
    assert Client().get("/questions/")["Location"].startswith("/login/")


def test_what_was_searched_counts_also_where_nothing_of_it_was_found(
    signed_in: Client, severance: Collection, group: Group
) -> None:
    """A question about a document tells of it, even where the evidence does not cite it."""
    url = ask(signed_in, q=QUESTION, budget="20")
    assert "Kestrel" not in signed_in.get(url).content.decode()
    assert other_client("outsider").get(url).status_code == 404
    of_open = ask(signed_in, q=QUESTION, budget="20", collection="handbook")
    assert other_client("outsider-too").get(of_open).status_code == 200


def test_a_right_that_is_taken_away_closes_it_for_its_asker(
    signed_in: Client, reader: User, severance: Collection, group: Group
) -> None:
    url = ask(signed_in, q="How many months does Kestrel pay?")
    reader.groups.clear()
    assert signed_in.get(url).status_code == 404
    assert "Kestrel" not in signed_in.get("/questions/").content.decode()
    reader.groups.add(group)
    assert signed_in.get(url).status_code == 200


def test_of_a_deleted_collection_only_the_asker_keeps_the_question(
    signed_in: Client, severance: Collection, group: Group
) -> None:
    """With the collection go its rights: a question about it would be open to everybody."""
    url = ask(signed_in, q="How many months does Kestrel pay?", collection="severance")
    severance.delete()
    own = signed_in.get(url)
    assert own.status_code == 200
    assert "nine months" not in own.content.decode()
    assert other_client("colleague", group).get(url).status_code == 404


def test_somebody_who_is_shut_out_sees_none(signed_in: Client, reader: User, gate: Collection) -> None:
    ask(signed_in)
    reader.is_active = False
    assert not SavedQuestion.objects.visible_to(reader).exists()


def test_each_person_says_once_whether_it_helped(signed_in: Client, reader: User, gate: Collection) -> None:
    url = ask(signed_in)
    form = select(seen(signed_in.get(url)), "form.feedback")[0]
    assert form.get("action") == f"{url}feedback"
    assert signed_in.post(form.get("action"), {"helpful": "no", "comment": "Wrong <b>gate</b>."})["Location"] == url
    opened = signed_in.get(url)
    assert "You found it not helpful" in text_of(seen(opened))
    assert "Wrong &lt;b&gt;gate" in opened.content.decode()
    signed_in.post(form.get("action"), {"helpful": "yes", "comment": ""})
    assert [(given.person, given.helpful, given.comment) for given in Feedback.objects.all()] == [(reader, True, "")]
    other = other_client("colleague")
    assert "You found" not in other.get(url).content.decode()
    other.post(form.get("action"), {"helpful": "no"})
    assert Feedback.objects.count() == 2


@pytest.mark.parametrize(
    "given", [{}, {"helpful": "maybe"}, {"helpful": "no", "comment": "\0"}, {"comment": "x" * 5000}]
)
def test_feedback_that_is_not_understood_is_told(signed_in: Client, gate: Collection, given: dict[str, str]) -> None:
    url = ask(signed_in)
    response = signed_in.post(f"{url}feedback", given)
    assert response.status_code == 200
    assert select(seen(response), ".errorlist")
    assert not Feedback.objects.exists()


def test_feedback_takes_a_form_of_ours(reader: User, gate: Collection) -> None:
    """Another site that votes with the reader's name."""
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(reader)
    url = ask(strict)
    assert strict.post(f"{url}feedback", {"helpful": "no"}).status_code == 403
    assert strict.post(f"{url}delete").status_code == 403
    assert strict.get(f"{url}feedback").status_code == strict.get(f"{url}delete").status_code == 405


def test_own_questions_are_listed_newest_first_in_pages(signed_in: Client, gate: Collection) -> None:
    for number in range(23):
        ask(signed_in, q=f"gate {number}")
    ask(other_client("colleague"), q="gate of a colleague")
    first = seen(signed_in.get("/questions/"))
    listed = [text_of(link) for link in select(first, ".questions li a")]
    assert listed == [f"gate {number}" for number in range(22, 2, -1)]
    assert [link.get("href") for link in select(first, ".pages a")] == ["?page=2"]
    second = seen(signed_in.get("/questions/", {"page": "2"}))
    assert [text_of(link) for link in select(second, ".questions li a")] == ["gate 2", "gate 1", "gate 0"]
    for odd in ("0", "x", "99999999999999999999"):
        assert signed_in.get("/questions/", {"page": odd}).status_code == 200


def test_own_questions_can_be_deleted_and_no_others(signed_in: Client, gate: Collection) -> None:
    url = ask(signed_in)
    other = other_client("colleague")
    assert not select(seen(other.get(url)), "form.delete")
    assert other.post(f"{url}delete").status_code == 404
    assert signed_in.post(f"{url}delete")["Location"] == reverse("questions")
    assert signed_in.get(url).status_code == 404
    assert "You have asked nothing yet" in signed_in.get("/questions/").content.decode()


def test_a_page_says_until_when_a_question_is_kept(signed_in: Client, gate: Collection, settings: Any) -> None:
    """Somebody whose link is dead one day, and who was not told."""
    url = ask(signed_in)
    SavedQuestion.objects.update(asked=datetime(2026, 3, 1, 12, tzinfo=UTC))
    form = select(seen(signed_in.get(url)), ".keeping form")[0]
    assert "kept until 1 March 2027" in text_of(form)
    assert "until 1 March 2027" in text_of(seen(signed_in.get("/questions/")))
    kept = signed_in.post(form.get("action"), {"kept": "yes"}, follow=True)
    assert "You keep this question" in text_of(seen(kept))
    assert "until" not in text_of(select(seen(signed_in.get("/questions/")), ".questions .facts")[0])
    assert "until 1 March 2027" in text_of(seen(signed_in.post(form.get("action"), {"kept": "no"}, follow=True)))
    settings.SPIRE_QUESTION_DAYS = 0
    for place in (url, "/questions/"):
        assert "until" not in text_of(seen(signed_in.get(place)))


def test_a_question_that_somebody_else_opened_is_kept(signed_in: Client, gate: Collection) -> None:
    """A link in a wiki that leads nowhere after a year."""
    url = ask(signed_in)
    assert other_client("root", is_superuser=True).get(url).status_code == 200
    signed_in.get(url)
    assert not SavedQuestion.objects.get().shared
    other = other_client("colleague")
    assert not select(seen(other.get(url)), ".keeping")
    assert "as somebody else has opened it" in text_of(seen(signed_in.get(url)))
    assert other.post(f"{url}keep", {"kept": "yes"}).status_code == 404


def test_all_of_ones_own_can_be_deleted_at_once(
    signed_in: Client, reader: User, severance: Collection, group: Group
) -> None:
    """What somebody asked of a collection that they no longer see, and could not delete any more."""
    ask(signed_in, q="How many months does Kestrel pay?")
    ask(other_client("colleague"), q="gate of a colleague")
    reader.groups.clear()
    page = seen(signed_in.get("/questions/"))
    assert signed_in.post(select(page, "details.delete form")[0].get("action"))["Location"] == reverse("questions")
    assert [saved.question for saved in SavedQuestion.objects.all()] == ["gate of a colleague"]
    assert not select(seen(signed_in.get("/questions/")), "details.delete")


def test_a_saved_question_can_be_asked_again_of_what_is_there_today(signed_in: Client, gate: Collection) -> None:
    url = ask(signed_in, format="html", since="2020-01-31")
    take_in({"gate.html": NEW_GATE})
    again = select(seen(signed_in.get(url)), ".facts a")[0].get("href")
    assert "format=html" in again
    found = seen(signed_in.get(again))
    assert select(found, "input[type=search]")[0].get("value") == QUESTION
    assert select(found, "input[name=since]")[0].get("value") == "2020-01-31"


def test_opening_costs_a_bounded_number_of_queries(
    signed_in: Client, handbook: Collection, django_assert_max_num_queries: object
) -> None:
    """Queries that grow with the documents of the evidence."""
    take_in({f"gate{number}.html": GATE.replace(b"six", b"%d" % number) for number in range(12)})
    url = ask(signed_in, q="gate", all="1")
    with django_assert_max_num_queries(20):  # type: ignore[operator]
        assert len(select(seen(signed_in.get(url)), ".result")) > 5
