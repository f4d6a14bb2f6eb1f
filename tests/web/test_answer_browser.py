"""The streamed answer in a real browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.stub_server import Says, last_said, stub
from tests.web.test_browser import chromium, open_site, pytestmark, site

__all__ = ["chromium", "pytestmark", "site"]

CHUNKS = ["Team South opens it at six ", "[", "S", "{n}", "].", " <img src=x onerror=alert(1)> Bye [S"]


def script(asked: dict[str, Any], number: int) -> Says:
    """Picks the sentence about Team South; then answers from it in small pieces."""
    said = last_said(asked)
    if not asked.get("stream"):
        return Says(", ".join(re.findall(r"\[(S\d+)\] Team South opens", said)) or "none")
    cited = re.search(r"\[(\d+)\] Team South opens", said)
    return Says(chunks=[chunk.replace("{n}", cited[1] if cited else "1") for chunk in CHUNKS], after=0.05)


@pytest.mark.usefixtures("embedder")
def test_an_answer_is_written_into_the_page_and_its_citation_opens(chromium: Browser, site: str, settings: Any) -> None:
    """Case 44 in the page: no bare bracket ever, one linked citation; and nothing of a reply is markup."""
    with stub(script) as server:
        settings.SPIRE_LLM_URL, settings.SPIRE_LLM_MODEL = server.url, "stub-browser"
        opened, complaints = open_site(chromium, site)
        opened.goto("/?q=When+does+Team+South+open+the+gate%3F")
        opened.get_by_role("link", name="Write an answer").click()
        claims = opened.locator("p.claim")
        expect(claims).to_have_count(2, timeout=30_000)
        expect(claims.first).to_have_text(re.compile(r"^Team South opens it at six\. \[\d+\]$"))
        expect(claims.last).to_have_text("<img src=x onerror=alert(1)> Bye [S no source")
        expect(opened.locator(".says")).to_have_text("")
        assert opened.url.endswith("/?q=When+does+Team+South+open+the+gate%3F")
        link = opened.locator(".answer .saved a").get_attribute("href")
        claims.first.locator("a").click()
        expect(opened.locator(".tree .cited")).to_have_text("Team South opens the gate at six each morning.")
        opened.goto(str(link))
        expect(opened.locator("p.claim").first).to_have_text(re.compile(r"^Team South opens it at six\. \[\d+\]$"))
        expect(opened.get_by_role("button", name="Not helpful")).to_be_visible()
    assert complaints == []
