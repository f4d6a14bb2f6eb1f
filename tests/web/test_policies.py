"""Optional policies, switched in the admin, and what a page shows of them."""

from __future__ import annotations

from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from evidence.models import Collection, Job
from tests.handbook import page, take_in, work_off
from tests.ingest.test_recontext import RULES, policies_in
from tests.web.conftest import seen, select, text_of

WORDS = b"<title>Words</title><h1>Words</h1><dl>" + b"".join(
    b"<dt>%s<dd>Whoever holds all keys after dusk, appointed yearly by an assembly of members." % term
    for term in (b"Warden", b"Deputy", b"Janitor")
)


def change(client: Client, collection: Collection, *policies: str) -> str:
    """What the admin says when these policies are ticked and the form is saved."""
    form = {"name": collection.name, "slug": collection.slug, "description": "", "everyone": "on", "policies": policies}
    url = reverse("admin:evidence_collection_change", args=[collection.pk])
    return text_of(seen(client.post(url, form, follow=True)))


def test_policies_are_ticked_each_with_what_it_does(administrator: Client, handbook: Collection) -> None:
    url = reverse("admin:evidence_collection_change", args=[handbook.pk])
    form = seen(administrator.get(url))
    boxes = select(form, "input[name=policies]")
    assert [(box.get("value"), box.get("checked")) for box in boxes] == [("definition", None), ("reference", None)]
    assert "definition: Terms that a sentence uses bring their definition" in text_of(form)
    change(administrator, handbook, "reference")
    handbook.refresh_from_db()
    assert handbook.policies == ["reference"]
    assert len(select(seen(administrator.get(url)), "input[name=policies][checked]")) == 1


def test_whoever_switches_a_policy_is_told_how_it_takes_effect(administrator: Client, handbook: Collection) -> None:
    """A switch that seems to do nothing."""
    assert "The policies hold for" not in change(administrator, handbook, "reference")
    take_in({"rules.html": RULES})
    assert "manage.py index contexts handbook" in change(administrator, handbook, "definition")
    assert "The policies hold for" not in change(administrator, handbook, "definition")
    assert "definition" not in policies_in("rules.html")
    action = {"action": "find_contexts", "_selected_action": [handbook.pk]}
    answer = administrator.post(reverse("admin:evidence_collection_changelist"), action, follow=True)
    assert "A worker does it: Find contexts anew: Handbook" in text_of(seen(answer))
    work_off()
    assert Job.objects.get().summary == "the contexts of 1 documents are found anew"
    assert "definition" in policies_in("rules.html")


def test_only_who_may_change_a_collection_finds_contexts_anew(
    client: Client, reader: User, handbook: Collection
) -> None:
    reader.is_staff = True
    reader.save()
    reader.user_permissions.add(Permission.objects.get(codename="view_collection"))
    client.force_login(reader)
    assert "find_contexts" not in client.get(reverse("admin:evidence_collection_changelist")).content.decode()


def test_definitions_stand_below_the_results_and_are_not_numbered(signed_in: Client, handbook: Collection) -> None:
    """A definition that looks like an answer."""
    handbook.policies = ["definition"]
    handbook.save()
    others = {f"Part {number}": f"The warden opens the gate at {number}." for number in range(12)}
    take_in({"rules.html": page("Rules", **others), "words.html": WORDS})
    found = seen(signed_in.get("/", {"q": "When does the warden open the gate?"}))
    (definition,) = select(found, ".definition")
    assert "Whoever holds all keys" in text_of(definition)
    assert not select(definition, ".citations")
    handbook.policies = []
    handbook.save()
    assert not select(seen(signed_in.get("/", {"q": "When does the warden open the gate?"})), ".definition")
