from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from evidence.admin import documents as admin_documents
from evidence.ingest.jobs import job_defer
from evidence.models import Collection, Document, Job, JobState, Received, Worker
from tests.handbook import GATE, KITCHEN, collection_of, take_in, work_off
from tests.web.conftest import seen, select, text_of

STATUS = "/status/"


@pytest.fixture
def job(db: None) -> Job:
    return job_defer("contexts", title="Contexts of the handbook", collection=collection_of())


def page_of(client: Client, url: str = STATUS) -> Any:
    response = client.get(url)
    assert response.status_code == 200
    return seen(response)


def test_a_site_without_a_worker_says_so(administrator: Client, job: Job) -> None:
    """Files that were uploaded, and nobody knows why nothing comes of them."""
    assert "none has ever been seen" in text_of(select(page_of(administrator), ".workers")[0])
    Worker.objects.create(name="one", started=now(), seen=now() - timedelta(minutes=2))
    assert "none has been seen since" in text_of(select(page_of(administrator), ".workers")[0])
    Worker.objects.create(name="two", started=now(), seen=now())
    assert text_of(select(page_of(administrator), ".workers")[0]) == "1 worker running."


def test_jobs_are_listed_with_what_came_of_them(administrator: Client, job: Job) -> None:
    job.state, job.done, job.total = JobState.RUNNING, 3, 12
    job.save()
    Job.objects.create(kind="upload", title="Later", state=JobState.FAILED, error="<b>do this</b>", finished=now())
    listed = [text_of(entry) for entry in select(page_of(administrator), ".job")]
    # What runs stands above what has ended, also where that is newer.
    assert listed[0].startswith("Contexts of the handbook running 3 of 12")
    assert "Later failed <b>do this</b>" in listed[1]
    assert select(page_of(administrator), "progress[value=3]")


def test_it_keeps_itself_up_to_date_with_a_script_of_its_own_or_without(administrator: Client, job: Job) -> None:
    response = administrator.get(f"{STATUS}{job.pk}/")
    policy = response["Content-Security-Policy"]
    assert "script-src 'self'; connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert select(seen(response), "noscript meta[http-equiv=refresh]")
    assert select(seen(response), "#live[data-live]")
    Job.objects.update(state=JobState.DONE)
    ended = page_of(administrator, f"{STATUS}{job.pk}/")
    assert not select(ended, "meta[http-equiv=refresh]")
    assert not select(ended, "#live[data-live]")


@pytest.mark.parametrize("url", ["/status/{}/", "/status/{}/retry", "/status/{}/cancel"])
def test_the_jobs_of_others_are_as_unknown_as_none(signed_in: Client, job: Job, url: str) -> None:
    """The name of a file, or of a collection, that somebody must not know of."""
    for pk in (job.pk, 999_999):
        method = signed_in.get if url.endswith("{}/") else signed_in.post
        assert method(url.format(pk)).status_code == 404
    assert signed_in.get(STATUS).status_code == 404
    job.refresh_from_db()
    assert job.state == JobState.WAITING


def test_who_is_not_signed_in_is_sent_to_do_so(client: Client, job: Job) -> None:
    for url in (STATUS, f"{STATUS}{job.pk}/"):
        assert "/login/" in client.get(url)["Location"]


def test_ones_own_jobs_are_seen_and_cancelled(signed_in: Client, reader: User, job: Job) -> None:
    own = job_defer("contexts", title="My own", collection=collection_of("Mine"), asked_by=reader)
    assert [text_of(entry) for entry in select(page_of(signed_in), ".job h2")] == ["My own"]
    assert signed_in.post(reverse("job_cancel", args=[own.pk])).status_code == 302
    own.refresh_from_db()
    assert own.state == JobState.CANCELLED


def test_a_manager_sees_the_jobs_of_theirs_and_nobody_by_a_permission(
    signed_in: Client, reader: User, handbook: Collection, job: Job
) -> None:
    """A permission is for all jobs; their titles name collections."""
    reader.is_staff = True
    reader.save()
    reader.user_permissions.add(Permission.objects.get(codename="view_job"))
    assert signed_in.get(reverse("status")).status_code == 404
    assert signed_in.post(reverse("job_cancel", args=[job.pk])).status_code == 404
    handbook.managers.add(reader)
    page = page_of(signed_in)
    assert "Contexts of the handbook" in text_of(page)
    assert select(page, ".job form")


@pytest.mark.parametrize("action", ["retry", "cancel"])
def test_jobs_are_changed_by_a_form_with_its_token_only(administrator: Client, job: Job, action: str) -> None:
    url = reverse(f"job_{action}", args=[job.pk])
    assert administrator.get(url).status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.get(username="administrator"))
    assert strict.post(url).status_code == 403


def test_a_failed_job_is_retried_by_its_button(administrator: Client, job: Job) -> None:
    Job.objects.update(state=JobState.FAILED)
    (form,) = select(page_of(administrator), ".job form")
    assert administrator.post(form.get("action")).status_code == 302
    job.refresh_from_db()
    assert job.state == JobState.WAITING


def test_the_page_of_a_job_costs_the_same_for_many_files(
    administrator: Client, job: Job, django_assert_max_num_queries: Any
) -> None:
    for number in range(250):
        Received.objects.create(job=job, name=f"{number}.html", content=b"x" * 10, status="new")
    with django_assert_max_num_queries(14):
        page = page_of(administrator, f"{STATUS}{job.pk}/")
    assert len(select(page, ".files tbody tr")) == 200
    assert len(select(page_of(administrator, f"{STATUS}{job.pk}/?page=2"), ".files tbody tr")) == 50


def test_the_admin_lists_jobs_and_acts_on_them(administrator: Client, job: Job) -> None:
    url = reverse("admin:evidence_job_changelist")
    assert "Contexts of the handbook" in text_of(page_of(administrator, url))
    assert administrator.get(reverse("admin:evidence_job_change", args=[job.pk])).status_code == 200
    administrator.post(url, {"action": "cancel", "_selected_action": [job.pk]})
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED
    Job.objects.update(state=JobState.FAILED)
    administrator.post(url, {"action": "retry", "_selected_action": [job.pk]})
    job.refresh_from_db()
    assert job.state == JobState.WAITING


def test_a_large_collection_is_gone_at_once_and_removed_by_a_worker(
    administrator: Client, handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that lasts for minutes; or pages that are found still, and a name that cannot be used again."""
    monkeypatch.setattr(admin_documents, "AT_ONCE", 1)
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    pk = Document.objects.get(address="gate.html").pk
    delete = reverse("admin:evidence_collection_delete", args=[handbook.pk])
    assert administrator.post(delete, {"post": "yes"}).status_code == 302
    assert Document.objects.count() == 2
    assert administrator.get(f"/documents/{pk}/").status_code == 404
    assert "opens the gate at six" not in text_of(page_of(administrator, "/?q=When+does+Team+South+open%3F"))
    assert "Handbook" not in text_of(
        select(page_of(administrator, reverse("admin:evidence_collection_changelist")), "#changelist")[0]
    )
    assert administrator.get(reverse("admin:evidence_collection_upload", args=[handbook.pk])).status_code == 404
    collection_of()
    work_off()
    assert not Document.objects.exists()
    assert not Collection.objects.filter(pk=handbook.pk).exists()
    assert Job.objects.get().state == JobState.DONE


def test_many_documents_are_removed_by_a_worker(
    administrator: Client, handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin_documents, "AT_ONCE", 1)
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN})
    chosen = list(Document.objects.values_list("pk", flat=True))
    form = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
    administrator.post(reverse("admin:evidence_document_changelist"), form)
    assert Document.objects.count() == 2
    work_off()
    assert not Document.objects.exists()


@pytest.mark.parametrize(("action", "kind"), [("find_contexts", "contexts"), ("read_anew", "reread")])
def test_what_takes_long_for_a_collection_is_a_job(
    administrator: Client, handbook: Collection, action: str, kind: str
) -> None:
    take_in({"gate.html": GATE})
    handbook.documents.get().revisions.update(parser="older")
    url = reverse("admin:evidence_collection_changelist")
    response = administrator.post(url, {"action": action, "_selected_action": [handbook.pk]}, follow=True)
    assert "A worker does it" in text_of(seen(response))
    work_off()
    assert list(Job.objects.values_list("kind", "state", "done", "total")) == [(kind, "done", 1, 1)]
