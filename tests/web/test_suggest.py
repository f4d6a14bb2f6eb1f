"""Suggestions while somebody types: what they are, and from whose documents."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from evidence.models import Collection
from evidence.retrieve.suggestions import MOST
from tests.handbook import collection_of, page, take_in
from tests.web.test_rights import SECRET

LEAVE = page(
    "Annual leave",
    **{
        "Leave that is carried over": "Policies on leave are in the handbook. Days carried over expire.",
        "Sick leave": "Set max_leave_days in pg_hba.conf. The policies say ORA-01555.",
    },
)


def suggested(client: Client, typed: str, **query: Any) -> list[str]:
    response = client.get("/suggest/", {"q": typed, **query})
    assert response.status_code == 200
    assert response["Cache-Control"] == "no-store"
    found: list[str] = response.json()["suggestions"]
    return found


@pytest.fixture
def leave(handbook: Collection) -> Collection:
    take_in({"leave.html": LEAVE})
    return handbook


def test_titles_and_headings_that_hold_the_words_are_suggested(signed_in: Client, leave: Collection) -> None:
    assert "Annual leave" in suggested(signed_in, "ann")
    assert "Annual leave" in suggested(signed_in, "annual le")
    assert suggested(signed_in, "sick le") == ["Sick leave"]
    assert suggested(signed_in, "leave carr") == ["leave carried", "Leave that is carried over"]


def test_the_last_word_is_completed_as_texts_have_it(signed_in: Client, leave: Collection) -> None:
    """Full text keeps stems: "polici" is no word that anybody would ask with."""
    assert "Where are the policies" in suggested(signed_in, "Where are the pol")
    assert "Where are the policies" in suggested(signed_in, "Where are the policie")


def test_identifiers_are_completed_letter_by_letter(signed_in: Client, leave: Collection) -> None:
    assert "What is max_leave_days" in suggested(signed_in, "What is max_le")
    assert "pg_hba.conf" in suggested(signed_in, "pg_h")
    assert "ORA-01555" in suggested(signed_in, "ora-0")


@pytest.mark.parametrize(
    "typed",
    [
        "",
        " ",
        "l",
        "\0",
        "%",
        "_%",
        "\\",
        "'",
        "'' | ''",
        ":*",
        "!",
        "-le",
        '"le',
        "@1",
        "=max",
        "a" * 5000,
        "ле",
        "日本",
    ],
)
def test_whatever_is_typed_is_no_query(signed_in: Client, leave: Collection, typed: str) -> None:
    """Signs that mean something to the database, or to full text."""
    assert "Annual leave" not in suggested(signed_in, typed) or "le" in typed


def test_patterns_are_letters(signed_in: Client, leave: Collection) -> None:
    """An underscore stands for itself, not for any letter."""
    assert suggested(signed_in, "maxxleave_") == []
    assert suggested(signed_in, "max_leavexd") == []


def test_there_are_few_and_each_is_there_once(signed_in: Client, handbook: Collection) -> None:
    take_in({f"{n}.html": page(f"Rule {n:03}", **{"Rule of all": f"Rule{n} ruling ruler ruled."}) for n in range(30)})
    found = suggested(signed_in, "rul")
    assert len(found) == MOST
    assert len(set(found)) == len(found)


def test_a_restricted_collection_suggests_nothing(signed_in: Client, reader: User, leave: Collection) -> None:
    """Case 50: no title, no heading, no word; and from the moment of leaving the group, nothing again."""
    group = Group.objects.create(name="HR")
    collection_of("Severance").groups.add(group)
    take_in({"kestrel.html": SECRET}, "Severance")
    for typed in ("kes", "kestrel", "severance pl", "nine mon", "plan kes", "pays ni"):
        for query in ({}, {"collection": "severance"}):
            found = suggested(signed_in, typed, **query)
            assert not [text for text in found if text.casefold() != typed], (typed, found)
    reader.groups.add(group)
    assert suggested(signed_in, "kes") == ["kestrel", "Severance plan Kestrel"]
    reader.groups.clear()
    assert suggested(signed_in, "kes") == []


def test_only_the_chosen_collections_suggest(signed_in: Client, leave: Collection) -> None:
    other = collection_of("Kitchens")
    other.everyone = True
    other.save()
    take_in({"leaves.html": page("Leaves of tea", Tea="Dry them.")}, "Kitchens")
    assert "Leaves of tea" in suggested(signed_in, "lea")
    assert "Leaves of tea" not in suggested(signed_in, "lea", collection="handbook")


def test_what_left_is_suggested_no_more(signed_in: Client, leave: Collection) -> None:
    take_in({"leave.html": page("Holidays", All="Nothing here.")})
    assert suggested(signed_in, "ann") == []
    assert suggested(signed_in, "max_le") == []
