from __future__ import annotations

import re

import pytest
from django.test import Client

INLINE = re.compile(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", re.IGNORECASE)


@pytest.mark.parametrize("address", ["/login/", "/nothing/"])
def test_pages_without_a_script_allow_none_at_all(signed_in: Client, address: str) -> None:
    response = signed_in.get(address)
    policy = response["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy
    assert not INLINE.search(response.content.decode())


def test_the_question_box_runs_files_of_ours_only(signed_in: Client) -> None:
    response = signed_in.get("/")
    policy = response["Content-Security-Policy"]
    assert "script-src 'self'; connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert not INLINE.search(response.content.decode())


def test_the_admin_runs_its_own_files_only(administrator: Client) -> None:
    policy = administrator.get("/admin/")["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


def test_a_forged_form_is_refused_with_a_page_that_helps() -> None:
    client = Client(enforce_csrf_checks=True)
    response = client.post("/login/", {"username": "reader"})
    assert response.status_code == 403
    assert "Send it again" in response.content.decode()
    assert not INLINE.search(response.content.decode())
