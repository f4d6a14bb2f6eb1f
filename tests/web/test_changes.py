from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from evidence.models import Collection
from tests.handbook import GATE, NEW_GATE, NEW_SOUTH, collection_of, page, take_in
from tests.web.conftest import document_at, marked, seen, select, text_of

LONG = {f"Part {number}": f"It has {number} rooms. Each of them has a door." for number in range(30)}


def changes(client: Client, **query: object) -> Any:
    return client.get(reverse("changes", args=[document_at("gate.html").pk]), query)


def told(shown: Any) -> list[str]:
    return [text_of(line) for line in select(shown, ".changes li") if "same" not in line.get("class").split()]


def test_what_changed_is_told_sentence_by_sentence(signed_in: Client, handbook: Collection) -> None:
    take_in({"gate.html": GATE})
    take_in(
        {
            "gate.html": NEW_GATE.replace(b" Bring the brass key.", b"").replace(
                b"<h2>South", b"<p>No dogs.</p><h2>South"
            )
        }
    )
    document = seen(signed_in.get(reverse("document", args=[document_at("gate.html").pk])))
    link = [a.get("href") for a in select(document, ".revisions a") if text_of(a) == "what changed"]
    shown = seen(signed_in.get(link[0]))
    assert "1 added, 1 removed, 1 changed" in text_of(select(shown, ".facts")[0])
    assert [text_of(line) for line in select(shown, ".changes .added .is")] == ["No dogs."]
    assert [text_of(line) for line in select(shown, ".changes .removed .was")] == ["Bring the brass key."]
    assert [text_of(word) for word in select(shown, "del")] == ["six"]
    assert [text_of(word) for word in select(shown, "ins")] == ["eight"]
    place = select(shown, ".changes .changed a")[0].get("href")
    assert marked(seen(signed_in.get(place))) == [NEW_SOUTH.split(". ")[0] + "."]
    before = select(shown, ".changes .removed a")[0].get("href")
    assert marked(seen(signed_in.get(before))) == ["Bring the brass key."]


def test_any_two_revisions_can_be_compared(signed_in: Client, handbook: Collection) -> None:
    for hour in (b"six", b"seven", b"eight"):
        take_in({"gate.html": GATE.replace(b"six", hour)})
    assert [text_of(word) for word in select(seen(changes(signed_in)), "del")] == ["seven", "seven"]
    shown = seen(changes(signed_in, **{"from": "1", "to": "3"}))
    assert [text_of(word) for word in select(shown, "ins")] == ["eight", "eight"]
    back = seen(changes(signed_in, **{"from": "3", "to": "1"}))
    assert [text_of(word) for word in select(back, "ins")] == ["six", "six"]
    assert "Nothing has changed" in text_of(seen(changes(signed_in, **{"from": "2", "to": "2"})))


def test_long_unchanged_stretches_are_folded_under_their_number(signed_in: Client, handbook: Collection) -> None:
    """A change that nobody finds among ten thousand sentences; a heading that it stands under, out of sight."""
    take_in({"gate.html": page("Gate", **LONG)})
    take_in({"gate.html": page("Gate", **{**LONG, "Part 20": "It has 20 rooms. Each of them has a gate."})})
    shown = seen(changes(signed_in))
    assert told(shown) == ["changed Each of them has a door.Each of them has a gate."]
    assert len(select(shown, ".changes details")) == 2
    unfolded = [line for line in select(shown, ".changes li") if not line.xpath("ancestor::details")]
    assert len(unfolded) == 5
    assert [text_of(part) for part in select(shown, ".changes .trail span")] == ["Gate"]
    assert sum(int(text_of(summary).split()[0]) for summary in select(shown, ".changes summary")) + 5 == 92


def doors(count: int, verb: str, **other: str) -> bytes:
    """A section for each door, of which the later page says something else."""
    return page("Gate", **{f"Door {number}": f"Door {number} {verb}. Knock." for number in range(count)}, **other)


def test_many_changes_come_in_pages(signed_in: Client, handbook: Collection) -> None:
    """A page of a hundred thousand lines that takes a minute to make, and that no browser shows."""
    take_in({"gate.html": doors(230, "opens")})
    take_in({"gate.html": doors(230, "closes")})
    pages = [seen(changes(signed_in, page=number)) for number in (1, 2, 3)]
    assert [len(told(shown)) for shown in pages] == [100, 100, 30]
    everything = [line for shown in pages for line in told(shown)]
    assert everything == [f"changed Door {n} opens.Door {n} closes." for n in range(230)]
    for shown in pages:
        assert "230 changed" in text_of(select(shown, ".facts")[0])
        assert not select(shown, ".changes details")
    assert [text_of(part) for part in select(pages[1], ".changes .trail span")] == ["Gate", "Door 99"]
    lines = [text_of(line) for shown in pages for line in select(shown, ".changes li")]
    assert len(lines) == 2 + 3 * 230, "the title, the heading, and three lines for each door"
    assert len(set(lines)) == 2 + 2 * 230, "where only Gate and Knock are said more than once"


def test_the_links_between_pages_keep_the_revisions(signed_in: Client, handbook: Collection) -> None:
    for verb in ("opens", "closes", "sticks"):
        take_in({"gate.html": doors(130, verb)})
    shown = seen(changes(signed_in, **{"from": "1", "to": "2", "page": "1"}))
    more = select(shown, ".pages a")
    assert [text_of(link) for link in more] == ["More changes"]
    second = seen(signed_in.get(reverse("changes", args=[document_at("gate.html").pk]) + more[0].get("href")))
    assert told(second)[0] == "changed Door 100 opens.Door 100 closes."
    for odd in ("0", "x", "9" * 30):
        assert changes(signed_in, page=odd).status_code == 200


def test_of_very_many_unchanged_lines_only_the_number_is_told(signed_in: Client, handbook: Collection) -> None:
    """A change in one line of a large page, with all other lines sent along, folded."""
    take_in({"gate.html": doors(40, "opens", Bell="Ring twice.")})
    take_in({"gate.html": doors(40, "opens", Bell="Ring thrice.")})
    shown = seen(changes(signed_in))
    assert told(shown) == ["removed Ring twice.", "added Ring thrice."]
    assert not select(shown, ".changes details")
    assert [text_of(folded) for folded in select(shown, ".changes .folded")] == ["121 unchanged"]
    assert len(select(shown, ".changes li")) == 4


def test_revisions_that_are_too_large_are_not_compared(
    signed_in: Client, handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that holds a worker for minutes and takes its memory."""
    take_in({"gate.html": GATE})
    take_in({"gate.html": NEW_GATE})
    monkeypatch.setattr("evidence.web.changes.MOST_SENTENCES", 10)
    monkeypatch.setattr("evidence.web.changes.read_tree", None)
    shown = seen(changes(signed_in))
    assert "too many to compare" in text_of(select(shown, ".notice")[0])
    assert [link.get("href") for link in select(shown, ".notice a")] == [
        f"/documents/{document_at('gate.html').pk}/?revision={number}" for number in (1, 2)
    ]
    assert "Nothing has changed" not in text_of(shown)


def test_a_first_revision_has_changed_nothing(signed_in: Client, handbook: Collection) -> None:
    take_in({"gate.html": GATE})
    assert "Nothing has changed" in text_of(seen(changes(signed_in)))
    assert "what changed" not in signed_in.get(f"/documents/{document_at('gate.html').pk}/").content.decode()


@pytest.mark.parametrize("number", ["3", "0", "-1", "x", "9" * 30, "١"])
@pytest.mark.parametrize("end", ["from", "to"])
def test_a_revision_that_is_not_there_is_not_found(
    signed_in: Client, handbook: Collection, number: str, end: str
) -> None:
    take_in({"gate.html": GATE})
    assert changes(signed_in, **{end: number}).status_code == 404


def test_changes_of_what_may_not_be_read_are_not_found(signed_in: Client, handbook: Collection) -> None:
    """Case 50."""
    collection_of("Severance").groups.add(Group.objects.create(name="HR"))
    take_in({"gate.html": GATE}, "Severance")
    assert changes(signed_in).status_code == 404
    assert changes(Client())["Location"].startswith("/login/")


def test_nothing_of_a_page_becomes_markup(signed_in: Client, handbook: Collection) -> None:
    take_in({"gate.html": b"<p>Say &lt;img src=x onerror=alert(1)&gt; once.</p>"})
    take_in({"gate.html": b"<p>Say &lt;img src=x onerror=alert(2)&gt; once.</p>"})
    assert "<img" not in changes(signed_in).content.decode()
