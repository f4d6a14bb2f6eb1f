from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from evidence.models import Collection
from evidence.tree.html import parse
from tests.handbook import GATE, NEW_GATE, case, page, take_in
from tests.web.conftest import document_at, marked, seen, select, text_of


def path_of(data: bytes, text: str) -> str:
    """Where a sentence stands in a page."""
    return next(str(sentence.path) for sentence in parse(data).sentences() if sentence.text == text)


def show(client: Client, address: str, **query: object) -> object:
    return client.get(reverse("document", args=[document_at(address).pk]), query)


def test_a_document_is_shown_whole_with_its_contents(signed_in: Client, handbook: Collection) -> None:
    take_in({"gate.html": GATE})
    page = seen(show(signed_in, "gate.html"))
    assert "Ring the bell twice." in text_of(select(page, "article")[0])
    entries = select(page, ".contents a")
    assert [text_of(entry) for entry in entries] == ["Gate", "North", "South"]
    for entry in entries:
        assert text_of(page.get_element_by_id(entry.get("href")[1:])) == text_of(entry)
    assert not marked(page)


def test_cited_places_are_marked_by_the_server(signed_in: Client, handbook: Collection) -> None:
    """Without scripts the mark must be in the page that is sent."""
    take_in({"gate.html": GATE})
    first, second = path_of(GATE, "Ring the bell twice."), path_of(GATE, "Bring the brass key.")
    page = seen(show(signed_in, "gate.html", cite=[second, first]))
    assert marked(page) == ["Ring the bell twice.", "Bring the brass key."]
    links = select(page, ".cited-here a")
    assert [link.get("href") for link in links] == [f"#n{first}", f"#n{second}"]
    assert [text_of(page.get_element_by_id(link.get("href")[1:])) for link in links] == marked(page)


@pytest.mark.parametrize("path", ["9.9.9", "x", "-1", "1.", "1" * 400, "9" * 5000, "1.-2", "١"])
def test_a_path_that_is_not_there_is_told_and_no_error(signed_in: Client, handbook: Collection, path: str) -> None:
    take_in({"gate.html": GATE})
    response = show(signed_in, "gate.html", cite=[path, path_of(GATE, "Ring the bell twice.")])
    assert response.status_code == 200  # type: ignore[attr-defined]
    page = seen(response)
    assert "cites 1 place that is not in this revision" in text_of(page)
    assert marked(page) == ["Ring the bell twice."]


def test_an_old_citation_opens_what_it_cited(signed_in: Client, handbook: Collection) -> None:
    """Case 41: after the document has changed, the link must not mark another sentence as if it had been cited."""
    first = case(41)
    take_in({"gate.html": first})
    cited = "Team North closes the gate at six each evening."
    link = {"revision": 1, "cite": path_of(first, cited)}
    north, south = (line for line in first.splitlines() if line.startswith(b"<p"))
    second = first.replace(north, b"").replace(south, b"<p>New rule.</p>\n" + south)
    assert cited not in second.decode()
    take_in({"gate.html": second})
    page = seen(show(signed_in, "gate.html", **link))
    assert marked(page) == [cited]
    assert "This is an older revision" in text_of(page)
    current = seen(show(signed_in, "gate.html"))
    assert cited not in text_of(select(current, "article")[0])
    assert "older revision" not in text_of(select(current, ".about")[0])


def test_revisions_are_listed_and_each_can_be_read(signed_in: Client, handbook: Collection) -> None:
    take_in({"gate.html": GATE})
    take_in({"gate.html": NEW_GATE})
    page = seen(show(signed_in, "gate.html"))
    changes = f"{reverse('changes', args=[document_at('gate.html').pk])}?to=2"
    assert [link.get("href") for link in select(page, ".revisions a")] == ["?revision=2", changes, "?revision=1"]
    assert "at eight" in text_of(select(page, "article")[0])
    assert "at six each morning" in text_of(select(seen(show(signed_in, "gate.html", revision=1)), "article")[0])


@pytest.mark.parametrize("number", ["3", "0", "-1", "x", "9" * 30, "١"])
def test_a_revision_that_is_not_there_is_not_found(signed_in: Client, handbook: Collection, number: str) -> None:
    take_in({"gate.html": GATE})
    assert show(signed_in, "gate.html", revision=number).status_code == 404  # type: ignore[attr-defined]


def test_equal_ids_have_addresses_of_their_own(signed_in: Client, handbook: Collection) -> None:
    """Case 38: by the original's ids, the second of two equal ones could never be opened."""
    take_in({"teams.html": case(38)})
    four, nine = path_of(case(38), "Desk four."), path_of(case(38), "Desk nine.")
    assert four != nine
    page = seen(show(signed_in, "teams.html", cite=nine))
    assert marked(page) == ["Desk nine."]
    assert text_of(page.get_element_by_id(f"n{nine}")) == "Desk nine."


def test_links_are_resolved_as_the_page_resolves_them(signed_in: Client, handbook: Collection) -> None:
    """Case 37: the page's base counts for its links, and not for those within it."""
    address = "https://intra.example/hr/page.html"
    take_in({address: case(37)})
    for shown in (show(signed_in, address), signed_in.get("/", {"q": "leave form", "all": "1"})):
        links = {text_of(link): link.get("href") for link in select(seen(shown), ".tree a")}
        assert links["the leave form"] == "https://intra.example/wiki/en/forms/leave.html"
        assert links["go up"].endswith("#at-top")
        assert "/wiki/" not in links["go up"]


def test_a_relative_link_opens_its_document_at_the_place(signed_in: Client, handbook: Collection) -> None:
    linking = b"<title>Start</title><p>See <a href='../gates/gate.html#north'>the gate</a> for more.</p>"
    target = b"<title>Gate</title><h1>Gate</h1><div id=north><h2>North</h2></div><p>Closes at six.</p>"
    take_in({"start/index.html": linking, "gates/gate.html": target})
    link = select(seen(show(signed_in, "start/index.html")), ".tree a")[0].get("href")
    url, _, fragment = link.partition("#")
    response = signed_in.get(url)
    assert response["Location"] == reverse("document", args=[document_at("gates/gate.html").pk])
    assert seen(signed_in.get(response["Location"])).get_element_by_id(fragment) is not None


@pytest.mark.parametrize("address", ["nowhere.html", "%00", "%F0%9F%9A%AA", "../../admin/"])
def test_a_link_to_what_is_not_held_says_so(signed_in: Client, handbook: Collection, address: str) -> None:
    take_in({"gate.html": GATE})
    response = signed_in.get(f"/documents/{document_at('gate.html').pk}/to/{address}")
    assert response.status_code == 404
    assert "holds no document of that address" in response.content.decode()


def test_the_original_is_inert(signed_in: Client, handbook: Collection) -> None:
    """Case 47: what an uploaded page brings must not run in our origin, load, send or lead away."""
    take_in({"page.html": case(47)})
    response = signed_in.get(reverse("original", args=[document_at("page.html").pk]))
    assert response.content == case(47)
    policy = response["Content-Security-Policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "allow-" not in policy
    assert "form-action 'none'" in policy
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Type"] == "text/html"
    assert response["Referrer-Policy"] == "no-referrer"
    assert response["Cross-Origin-Resource-Policy"] == "same-origin"


def test_nothing_stored_becomes_markup(signed_in: Client, handbook: Collection) -> None:
    """Case 46: text that looks like markup stays text, in excerpts, titles and attributes."""
    take_in({"tags.html": case(46)})
    for response in (signed_in.get("/", {"q": "lantern", "all": "1"}), show(signed_in, "tags.html", cite="1")):
        content = response.content.decode()  # type: ignore[attr-defined]
        for absent in ("<img", "<svg", "onclick=", "javascript:", "<script>"):
            assert absent not in content
        assert all("/static/" in script.get("src") for script in select(seen(response), "script"))
        assert "&lt;img src=x onerror=alert(2)&gt;" in content
        elements = select(seen(response), ".tree *")
        assert not [name for element in elements for name in element.attrib if name.startswith("on")]
    words = [text_of(word) for word in select(seen(signed_in.get("/", {"q": "lantern", "all": "1"})), "mark")]
    assert words == ["lantern"] * 3


def test_hidden_text_is_on_no_page(signed_in: Client, handbook: Collection) -> None:
    """Case 48: what a reader of the original cannot see must not be cited."""
    take_in({"canteen.html": case(48)})
    for response in (signed_in.get("/", {"q": "When is lunch? BANANA", "all": "1"}), show(signed_in, "canteen.html")):
        article = text_of(select(seen(response), ".tree")[0])
        assert "Lunch is at noon." in article
        assert "BANANA" not in article
        assert "canteen is closed" not in article


def test_language_and_direction_are_kept(signed_in: Client, handbook: Collection) -> None:
    """Screen readers and line layout depend on them."""
    arabic = "<html lang=ar><title>باب</title><p dir=rtl>يغلق الباب عند السادسة.</p>".encode()
    take_in({"ar.html": arabic})
    page = seen(show(signed_in, "ar.html"))
    assert select(page, "article[lang=ar]")
    assert select(page, "article p[dir=rtl]")


def test_a_document_is_read_without_its_bytes(
    signed_in: Client, handbook: Collection, django_assert_max_num_queries: object
) -> None:
    """The page is made from the tree; the original may be 64 MB."""
    take_in({"gate.html": page("Gate", Bell="Ring twice.")})
    with django_assert_max_num_queries(9) as queries:  # type: ignore[operator]
        show(signed_in, "gate.html")
    assert not [query for query in queries.captured_queries if '"content"' in query["sql"]]
