"""The pages in a real browser: what no test of the answers alone can see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from tests.conftest import WordEmbedder
from tests.handbook import GATE, TABLE, collection_of, page, take_in, work_off
from tests.ingest.workers import empty_queue
from tests.web.conftest import document_at

CHROMIUM = Path("/usr/bin/chromium")
CASES = Path(__file__).parent.parent / "cases"
REDIRECTING = next(CASES.glob("47-*")).joinpath("input.html").read_bytes()
LONG = page("Bells", **{f"Bell {number}": f"Bell {number} rings in room {number * 7}." for number in range(120)})
WIDE = b"<title>Wide</title><h1>Wide</h1><table><tr>%b</tr><tr>%b</tr></table><pre>%b</pre><p>%b</p>" % (
    b"".join(b"<th>Column %d</th>" % number for number in range(30)),
    b"".join(b"<td>wide value %d</td>" % number for number in range(30)),
    b"wide code " * 60,
    b"widewidewide" * 60,
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"needs Chromium at {CHROMIUM} (apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for all tests here."""
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright keeps an event loop in this thread, and Django takes that for code that must not wait.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def site(transactional_db: None, embedder: WordEmbedder, live_server: LiveServer) -> Iterator[str]:
    """The address of a site with a collection for everyone, and nothing left of it afterwards."""
    with empty_queue():
        collection = collection_of()
        collection.everyone = True
        collection.save()
        User.objects.create_superuser("reader", password="reader")
        take_in({"gate.html": GATE, "tins.html": TABLE, "long.html": LONG, "wide.html": WIDE})
        yield live_server.url


def open_site(browser: Browser, site: str, **options: Any) -> tuple[Page, list[str]]:
    """A page of somebody who has signed in, and what the browser complains about."""
    complaints: list[str] = []
    opened = browser.new_context(base_url=site, **options).new_page()
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.goto("/")
    opened.get_by_label("Name").fill("reader")
    opened.get_by_label("Password").fill("reader")
    opened.get_by_role("button", name="Sign in").click()
    return opened, complaints


def test_from_signing_in_to_the_marked_sentence(chromium: Browser, site: str) -> None:
    """A citation that opens its document somewhere else is worth nothing; scripts are off to show that none is needed."""
    opened, complaints = open_site(chromium, site, java_script_enabled=False)
    opened.get_by_label("Ask a question").fill("In which room does bell 41 ring? 287")
    opened.get_by_role("button", name="Ask").click()
    first = opened.locator(".result", has_text="Bells")
    number = first.locator(".cited").all_inner_texts().index("Bell 41 rings in room 287.")
    first.locator(".citations a").nth(number).click()
    target = opened.locator(opened.url.partition("#")[2].replace("n", "#n", 1).replace(".", "\\."))
    assert target.inner_text() == "Bell 41 rings in room 287."
    assert "cited" in (target.get_attribute("class") or "")
    box = target.bounding_box()
    assert box is not None
    assert 0 <= box["y"] < opened.viewport_size["height"]  # type: ignore[index]
    assert complaints == []
    opened.context.close()


def test_marks_carry_the_numbers_of_their_links(chromium: Browser, site: str) -> None:
    opened, _ = open_site(chromium, site)
    opened.goto("/?q=blue+tea+tin&all=1")
    result = opened.locator(".result", has_text="Tins")
    shown = result.locator(".cited").evaluate_all(
        """marks => marks.map(mark => mark.tagName == "TR" ? mark.lastElementChild : mark)
                         .map(numbered => getComputedStyle(numbered, "::after").content)"""
    )
    assert shown
    assert set(shown) == {"counter(cited)"}
    opened.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_pages_fit_and_bring_no_complaint(
    chromium: Browser, site: str, scheme: Any, width: int, tmp_path: Path
) -> None:
    """A page that scrolls sideways on a telephone, or that its own policy blocks, passes every other test."""
    opened, complaints = open_site(chromium, site, color_scheme=scheme, viewport={"width": width, "height": 800})
    collection = collection_of().pk
    ours = {
        "home": "/",
        "results": "/?q=gate+column+value+tea&all=1",
        "document": f"/documents/{document_at('wide.html').pk}/?cite=1.0",
        "long": f"/documents/{document_at('long.html').pk}/?cite=9.9.9",
    }
    admins = {
        "admin": "/admin/",
        "collection": f"/admin/evidence/collection/{collection}/change/",
        "upload": f"/admin/evidence/collection/{collection}/upload/",
        "documents": "/admin/evidence/document/",
    }
    for name, address in (ours | admins).items():
        opened.goto(address)
        opened.screenshot(path=tmp_path / f"{name}-{scheme}-{width}.png")
        sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        if name in ours:
            assert opened.evaluate(sideways) == 0, name
    assert complaints == []
    opened.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_it_is_on(chromium: Browser, site: str, scheme: Any) -> None:
    """WCAG 2 AA asks for a contrast of 4.5; the added context is lighter, and must still be read by everyone."""
    opened, _ = open_site(chromium, site, color_scheme=scheme)
    opened.goto("/?q=blue+tea+team+north+gate&all=1")
    contrasts = opened.evaluate(
        CONTRASTS, [".cited", ".context", ".trail", ".found span", ".citations a", "h2 a", "button"]
    )
    assert set(contrasts) >= {".cited", ".context", ".trail", ".found span", ".citations a", "h2 a", "button"}
    assert {name: ratio for name, ratio in contrasts.items() if ratio < 4.5} == {}
    opened.context.close()


CONTRASTS = """selectors => {
  const channels = colour => colour.match(/[0-9.]+/g).map(Number);
  const light = colour => channels(colour).slice(0, 3).map(value => value / 255)
    .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);
  const ground = element => {
    const colour = getComputedStyle(element).backgroundColor;
    return channels(colour)[3] === 0 && element.parentElement ? ground(element.parentElement) : colour;
  };
  const found = {};
  for (const selector of selectors) {
    for (const element of document.querySelectorAll(selector)) {
      const [dark, bright] = [light(getComputedStyle(element).color), light(ground(element))].sort((a, b) => a - b);
      found[selector] = Math.min(found[selector] ?? 21, (bright + 0.05) / (dark + 0.05));
    }
  }
  return found;
}"""


def test_the_original_runs_loads_and_leads_nowhere(chromium: Browser, site: str) -> None:
    """Case 47, opened as a page of its own: headers that look right are no proof that a browser obeys them."""
    take_in({"page.html": REDIRECTING})
    opened, _ = open_site(chromium, site)
    reached: list[str] = []

    def reach(route: Route) -> None:
        reached.append(route.request.url)
        route.fulfill(body="reached")

    opened.route("https://evil.example/**", reach)
    address = f"{site}/documents/{document_at('page.html').pk}/original"
    opened.goto(address)
    opened.wait_for_timeout(1500)
    assert opened.title() == "Page"
    opened.get_by_role("button", name="Send").click()
    opened.wait_for_timeout(500)
    assert opened.url == address
    assert reached == []
    opened.context.close()


def test_pages_are_uploaded_in_the_browser(chromium: Browser, site: str, tmp_path: Path) -> None:
    opened, complaints = open_site(chromium, site)
    opened.goto("/admin/evidence/collection/")
    opened.get_by_role("link", name="Upload documents").first.click()
    for name, content in {"one.html": GATE, "two.html": b""}.items():
        (tmp_path / name).write_bytes(content)
    opened.get_by_label("Files:").set_input_files([tmp_path / "one.html", tmp_path / "two.html"])
    opened.get_by_role("button", name="Upload").click()
    rows = opened.locator(".files tbody tr")
    expect(rows).to_have_text(["one.htmlwaiting", "two.htmlwaiting"])
    work_off()
    expect(rows).to_have_text(["two.htmlrefused: is empty", "one.htmlnew8"], timeout=30_000)
    opened.screenshot(path=tmp_path / "uploaded.png")
    assert complaints == []
    opened.context.close()
