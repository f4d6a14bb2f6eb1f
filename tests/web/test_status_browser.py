"""The status page in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from evidence.ingest.jobs import job_defer
from evidence.models import Job, JobState
from tests.handbook import collection_of
from tests.web.test_browser import chromium, open_site, pytestmark, site

__all__ = ["chromium", "pytestmark", "site"]


@pytest.mark.parametrize("is_scripted", [True, False])
def test_the_status_keeps_itself_up_to_date(chromium: Browser, site: str, is_scripted: bool) -> None:
    """A page that says "waiting" for as long as somebody looks at it."""
    job = job_defer("contexts", title="Contexts", collection=collection_of())
    opened, complaints = open_site(chromium, site, java_script_enabled=is_scripted)
    opened.goto(f"/status/{job.pk}/")
    expect(opened.locator(".job .state")).to_have_text("waiting")
    Job.objects.update(state=JobState.DONE, done=7, total=7, summary="<b>all</b> is well")
    expect(opened.locator(".job .state")).to_have_text("done 7 of 7 <b>all</b> is well", timeout=30_000)
    assert complaints == []
