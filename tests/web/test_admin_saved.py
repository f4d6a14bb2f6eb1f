"""Saved questions in the admin."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from evidence.admin.saved import SLOW
from evidence.models import Collection, SavedQuestion
from evidence.retrieve.saving import feedback_save
from tests.handbook import GATE, take_in
from tests.web.conftest import seen, select, text_of

LIST = "admin:evidence_savedquestion_changelist"


@pytest.fixture
def asked(administrator: Client, handbook: Collection, reader: User) -> Collection:
    """Three questions: one disliked, one slow, and one that found nothing."""
    take_in({"gate.html": GATE})
    for question in ("When does team north close the gate?", "ring the bell", "key"):
        administrator.get("/", {"q": question} | ({"budget": "1"} if question == "key" else {}))
    SavedQuestion.objects.filter(question="ring the bell").update(milliseconds=SLOW + 1)
    disliked = SavedQuestion.objects.get(question__startswith="When")
    feedback_save(question=disliked, person=reader, helpful=False, comment="That was last year.")
    return handbook


def listed(client: Client, **filters: str) -> list[str]:
    shown = seen(client.get(reverse(LIST), filters))
    return sorted(text_of(cell) for cell in select(shown, "th.field-question"))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["When does team north close the gate?", "key", "ring the bell"]),
        ({"evidence": "none"}, ["key"]),
        ({"helpful": "no"}, ["When does team north close the gate?"]),
        ({"helpful": "yes"}, []),
        ({"time": "slow"}, ["ring the bell"]),
        ({"q": "last year"}, ["When does team north close the gate?"]),
    ],
)
def test_an_administrator_finds_what_went_wrong(
    administrator: Client, asked: Collection, filters: dict[str, str], expected: list[str]
) -> None:
    assert listed(administrator, **filters) == expected


def test_comments_are_read_where_the_question_is(administrator: Client, asked: Collection) -> None:
    disliked = SavedQuestion.objects.get(question__startswith="When")
    assert "That was last year." in administrator.get(reverse(LIST)).content.decode()
    opened = administrator.get(reverse("admin:evidence_savedquestion_change", args=[disliked.pk]))
    assert "That was last year." in opened.content.decode()
    assert reverse("question", args=[disliked.pk]) in opened.content.decode()


def test_nothing_of_a_question_is_changed_there(administrator: Client, asked: Collection) -> None:
    saved = SavedQuestion.objects.first()
    assert saved is not None
    url = reverse("admin:evidence_savedquestion_change", args=[saved.pk])
    assert administrator.post(url, {"question": "Other"}).status_code == 403
    assert administrator.get(reverse("admin:evidence_savedquestion_add")).status_code == 403


def test_questions_are_deleted_with_all_that_is_theirs(administrator: Client, asked: Collection) -> None:
    chosen = [str(saved.pk) for saved in SavedQuestion.objects.all()]
    form = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
    assert administrator.post(reverse(LIST), form).status_code == 302
    assert not SavedQuestion.objects.exists()


def test_somebody_who_is_no_superuser_sees_none(asked: Collection, reader: User, client: Any) -> None:
    """What others asked, of collections that this person may not see."""
    reader.is_staff = True
    reader.save()
    reader.user_permissions.set(Permission.objects.filter(content_type__app_label="evidence"))
    client = Client()
    client.force_login(reader)
    asked.managers.add(reader)
    assert client.get(reverse("admin:evidence_savedquestion_changelist")).status_code == 403
    saved = SavedQuestion.objects.first()
    assert saved is not None
    shown = client.get(reverse("admin:evidence_savedquestion_change", args=[saved.pk]))
    assert shown.status_code == 404
