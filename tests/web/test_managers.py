"""Managers of a collection: what they may do with theirs, and that they find nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.admin import site
from django.contrib.auth.models import Group, Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from evidence.admin.managed import ManagedAdmin
from evidence.models import Collection, Document, Revision
from tests.handbook import GATE, KITCHEN, collection_of, take_in, work_off
from tests.web.conftest import document_at, seen, select, text_of


@pytest.fixture
def managed(handbook: Collection, client: Client) -> Collection:
    """A collection with a manager, whose browser it is, beside one of others. Each has a document."""
    manager = User.objects.create_user("manager")
    handbook.everyone = False
    handbook.save()
    handbook.managers.add(manager)
    take_in({"gate.html": GATE})
    take_in({"kitchen.html": KITCHEN}, "Kitchens")
    client.force_login(manager)
    return handbook


def listed(client: Client, model: str, **query: Any) -> list[str]:
    page = seen(client.get(reverse(f"admin:evidence_{model}_changelist"), query))
    return [text_of(row) for row in select(page, "#result_list tbody th")]


def test_managers_see_their_collections_and_the_documents_of_these(client: Client, managed: Collection) -> None:
    assert listed(client, "collection") == ["Handbook"]
    assert listed(client, "document") == ["gate.html"]
    # Not by a filter that names another collection either.
    assert listed(client, "document", collection__id__exact=collection_of("Kitchens").pk) == []
    assert listed(client, "document", q="kitchen") == []


def test_the_way_to_the_admin_is_shown_to_managers_only(client: Client, managed: Collection, reader: User) -> None:
    assert "Admin" in text_of(select(seen(client.get("/")), ".site")[0])
    managed.managers.clear()
    assert "Admin" not in text_of(select(seen(client.get("/")), ".site")[0])
    assert client.get(reverse("admin:index"), follow=True).status_code == 404


def test_managers_read_and_ask_what_they_manage(client: Client, managed: Collection) -> None:
    """Whoever decides who reads a collection reads it; a member of no group would upload and not find it."""
    assert "Team North" in client.get("/", {"q": "When does team north close the gate?"}).content.decode()
    assert client.get(reverse("document", args=[document_at("gate.html").pk])).status_code == 200
    assert client.get(reverse("document", args=[document_at("kitchen.html").pk])).status_code == 404


def test_managers_decide_who_reads_and_what_it_is_for(client: Client, managed: Collection) -> None:
    group = Group.objects.create(name="Gardeners")
    form = {"description": "All of it", "groups": [group.pk], "policies": ["definition"], "everyone": "on"}
    assert client.post(reverse("admin:evidence_collection_change", args=[managed.pk]), form).status_code == 302
    managed.refresh_from_db()
    assert (managed.description, managed.everyone, managed.policies) == ("All of it", True, ["definition"])
    assert list(managed.groups.all()) == [group]


def test_managers_change_neither_names_nor_managers(client: Client, managed: Collection) -> None:
    """A name that is refused because it is taken would tell of a collection that is not seen; a manager who makes others
    managers, or a page with everybody's user name, would be more than looking after a collection."""
    other = User.objects.create_user("somebody-else")
    url = reverse("admin:evidence_collection_change", args=[managed.pk])
    page = client.get(url).content.decode()
    assert "somebody-else" not in page
    form = {"name": "Kitchens", "slug": "kitchens", "managers": [other.pk]}
    answer = client.post(url, form)
    assert answer.status_code == 302
    managed.refresh_from_db()
    assert (managed.name, managed.slug) == ("Handbook", "handbook")
    assert [manager.username for manager in managed.managers.all()] == ["manager"]


def test_managers_make_no_collections_and_delete_none(client: Client, managed: Collection) -> None:
    assert client.get(reverse("admin:evidence_collection_add")).status_code == 403
    assert client.post(reverse("admin:evidence_collection_delete", args=[managed.pk])).status_code == 403
    action = {"action": "delete_selected", "_selected_action": [managed.pk], "post": "yes"}
    client.post(reverse("admin:evidence_collection_changelist"), action)
    assert Collection.objects.filter(pk=managed.pk).exists()


def test_an_action_reaches_only_what_is_managed(client: Client, managed: Collection) -> None:
    """The ids in a form are whatever somebody sends."""
    chosen = [document_at("gate.html").pk, document_at("kitchen.html").pk]
    action = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
    client.post(reverse("admin:evidence_document_changelist"), action)
    assert [document.address for document in Document.objects.all()] == ["kitchen.html"]
    both = [managed.pk, collection_of("Kitchens").pk]
    action = {"action": "find_contexts", "_selected_action": both}
    answer = client.post(reverse("admin:evidence_collection_changelist"), action, follow=True)
    assert "Kitchens" not in answer.content.decode()


def test_managers_upload_into_their_collections_only(client: Client, managed: Collection) -> None:
    for name, status in (("Handbook", 302), ("Kitchens", 404)):
        file = SimpleUploadedFile(f"{name}.html", KITCHEN, "text/html")
        url = reverse("admin:evidence_collection_upload", args=[collection_of(name).pk])
        assert client.post(url, {"documents": [file]}).status_code == status
    work_off()
    assert sorted(document.address for document in Document.objects.all()) == [
        "Handbook.html",
        "gate.html",
        "kitchen.html",
    ]


def test_permissions_of_django_open_no_collection(client: Client, handbook: Collection, reader: User) -> None:
    """A permission is for a whole model; a collection that is not seen would be open to whoever has it."""
    collection_of("Kitchens")
    reader.is_staff = True
    reader.save()
    reader.user_permissions.set(Permission.objects.filter(content_type__app_label="evidence"))
    client.force_login(reader)
    assert client.get(reverse("admin:evidence_collection_changelist")).status_code == 403
    assert client.get(reverse("admin:evidence_collection_change", args=[handbook.pk])).status_code == 404


def test_what_managers_see_in_the_admin_is_asked_for_by_managed_by() -> None:
    """A page for a model of ours that shows all of them to whoever gets in."""
    ours = [admin for model, admin in site._registry.items() if model._meta.app_label == "evidence"]
    assert ours
    assert all(isinstance(admin, ManagedAdmin) for admin in ours)


@pytest.mark.parametrize("person", ["reader", "inactive", "manager", "superuser"])
def test_rights_are_the_same_for_collections_documents_and_revisions(managed: Collection, person: str) -> None:
    """One rule, by which each query goes."""
    people = {
        "reader": User.objects.create_user("reader"),
        "inactive": User.objects.create_user("inactive", is_active=False),
        "manager": User.objects.get(username="manager"),
        "superuser": User.objects.create_superuser("superuser"),
    }
    managed.managers.add(people["inactive"])
    expected = {"manager": {"Handbook"}, "superuser": {"Handbook", "Kitchens"}}.get(person, set())
    asked = people[person]
    for found in ("visible_to", "managed_by"):
        assert {one.name for one in getattr(Collection.objects, found)(asked)} == expected
        assert {one.collection.name for one in getattr(Document.objects, found)(asked)} == expected
        assert {one.document.collection.name for one in getattr(Revision.objects, found)(asked)} == expected


def test_a_collection_is_counted_once_however_many_ways_lead_to_it(managed: Collection) -> None:
    manager = User.objects.get(username="manager")
    groups = [Group.objects.create(name=name) for name in ("A", "B")]
    manager.groups.set(groups)
    managed.groups.set(groups)
    assert Collection.objects.visible_to(manager).count() == 1
    assert Document.objects.visible_to(manager).count() == 1
