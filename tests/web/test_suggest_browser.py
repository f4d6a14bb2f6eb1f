"""The suggestions in a real browser: by keyboard, by mouse, and without scripts."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.web.test_browser import chromium, open_site, pytestmark, site

__all__ = ["chromium", "pytestmark", "site"]


def test_a_suggestion_is_taken_by_the_keyboard(chromium: Browser, site: str) -> None:
    """Somebody without a mouse, or with a screen reader: what is active is told, and Escape takes nothing away."""
    opened, complaints = open_site(chromium, site)
    box = opened.get_by_label("Ask a question")
    box.press_sequentially("bel")
    options = opened.get_by_role("option")
    expect(options.first).to_be_visible()
    expect(box).to_have_attribute("aria-expanded", "true")
    box.press("ArrowDown")
    chosen = opened.locator("[role=option][aria-selected=true]")
    expect(chosen).to_have_count(1)
    active = chosen.get_attribute("id") or ""
    text = chosen.inner_text()
    expect(box).to_have_attribute("aria-activedescendant", active)
    box.press("ArrowUp")
    expect(chosen).to_have_count(0)
    box.press("ArrowDown")
    box.press("Enter")
    expect(box).to_have_value(text)
    expect(opened.get_by_role("listbox")).to_be_hidden()
    assert opened.url.endswith("/")
    box.press("Enter")
    expect(opened.locator(".result").first).to_be_visible()
    box = opened.get_by_label("Ask a question")
    box.fill("")
    box.press_sequentially("gat")
    expect(options.first).to_be_visible()
    box.press("Escape")
    expect(opened.get_by_role("listbox")).to_be_hidden()
    expect(box).to_have_value("gat")
    assert complaints == []
    opened.context.close()


def test_a_suggestion_is_taken_by_the_mouse(chromium: Browser, site: str) -> None:
    opened, complaints = open_site(chromium, site, viewport={"width": 320, "height": 640}, color_scheme="dark")
    box = opened.get_by_label("Ask a question")
    box.press_sequentially("tin")
    option = opened.get_by_role("option").first
    text = option.inner_text()
    option.click()
    expect(box).to_have_value(text)
    expect(box).to_be_focused()
    assert complaints == []
    opened.context.close()


def test_who_has_signed_out_meanwhile_just_gets_none(chromium: Browser, site: str) -> None:
    """A page that breaks, or a sign-in page read as suggestions."""
    opened, _ = open_site(chromium, site)
    opened.context.clear_cookies()
    opened.get_by_label("Ask a question").press_sequentially("bel")
    with opened.expect_event("requestfailed", timeout=5000):
        opened.get_by_label("Ask a question").press_sequentially("l")
    expect(opened.get_by_role("listbox")).to_be_hidden()
    opened.context.close()
