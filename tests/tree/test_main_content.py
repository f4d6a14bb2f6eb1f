from __future__ import annotations

import pytest
from hypothesis import given

from evidence.tree.apart_names import reason_of_class, reason_of_id
from evidence.tree.document import Document
from evidence.tree.html import parse
from evidence.tree.main_content import apart_reasons
from tests.tree.strategies import pages

PROSE = "<p>The gate closes at six each evening, and the porter rings the bell twice.</p>"
LINKS = "<ul><li><a href=a>Start</a><li><a href=b>Holidays</a><li><a href=c>Expenses</a></ul>"
TEXT = f"<h1>Gate</h1>{PROSE * 4}"


def apart(page: str) -> dict[str, str]:
    """The sentences of a page that are apart from its main content, each with the reason."""
    document = parse(page.encode(), "page.html")
    reasons = apart_reasons(document)
    return {
        sentence.text: reasons[sentence.position] for sentence in document.sentences() if reasons[sentence.position]
    }


def reasons(page: str) -> set[str]:
    return set(apart(page).values())


@pytest.mark.parametrize(
    ("furniture", "reason"),
    [
        (f"<nav>{LINKS}</nav>", "navigation"),
        (f"<div role=navigation><div>{LINKS}</div></div>", "navigation"),
        (f"<div class='md-sidebar md-sidebar--primary'>{LINKS}</div>", "sidebar"),
        (f"<div id=leftSidebar>{LINKS}</div>", "sidebar"),
        (f"<table><tr><td class=sidebar>{LINKS}</td><td>{TEXT}</td></tr></table>", "sidebar"),
        ("<div role=banner>Acme intranet</div>", "page header"),
        ("<header><a href=/>Acme</a> intranet</header>", "page header"),
        ("<div class=site-header>Acme intranet</div>", "page header"),
        ("<div role=search><form><label>Find</label><input></form></div>", "search form"),
        ("<form class=searchform><label>Find</label><input></form>", "search form"),
        ("<ol class=breadcrumb><li><a href=/>Home</a><li>Gate</ol>", "breadcrumbs"),
        ("<div class=navheader><p><a href=a>Prev</a> Gates</p></div>", "previous and next page"),
        ("<div id=toc><ul><li><a href='#x'>Bells</a></ul></div>", "table of contents"),
        ("<div class=toplang><p>Languages: <a href=de>de</a></p></div>", "choice of language"),
        ("<a class=skip-link href='#main'>Skip to content</a><p class=skip-link>Skip</p>", "skip link"),
        ("<div id=cookie-consent-banner><p>We use cookies to count who reads this.</p></div>", "cookie notice"),
        ("<div role=dialog><p>Subscribe to the letter that the gatekeepers write each month.</p></div>", "dialog"),
        ("<div class=advertisement>Buy bells</div>", "advertisement"),
        ("<div aria-hidden=true>chevron_right</div>", "decoration"),
    ],
)  # fmt: skip
def test_what_a_page_declares_to_be_furniture_is_apart(furniture: str, reason: str) -> None:
    """Menus among the results of every question."""
    assert reason in reasons(f"<title>T</title><body>{furniture}{TEXT}")
    assert not any("gate closes" in text for text in apart(f"<title>T</title><body>{furniture}{TEXT}"))


@pytest.mark.parametrize(
    ("furniture", "reason"),
    [
        ("<footer><p>© Acme, Bell Street 1</p></footer>", "page footer"),
        ("<div class=footer>Last changed on Monday</div>", "page footer"),
        ("<div role=contentinfo>© Acme</div>", "page footer"),
        ("<div class=share-buttons>Tell others</div>", "share buttons"),
        ("<div class=edit-this-page><a href=e>Edit this page</a></div>", "edit link"),
        (f"<section class=related-posts><h2>More</h2>{LINKS}</section>", "related pages"),
        ("<p><a href=a>Prev</a> | <a href=b>Up</a> | <a href=c>Next</a></p>", "previous and next page"),
        ("<p><a href=a>« Zurück</a> <a href=c>Weiter »</a></p>", "previous and next page"),
    ],
)
def test_what_stands_below_the_text_is_apart(furniture: str, reason: str) -> None:
    """The same copyright line as evidence for everything."""
    assert reasons(TEXT + furniture) == {reason}


@pytest.mark.parametrize(
    "content",
    [
        "<article><header><h1>Gate</h1><p>In short: it closes at six.</p></header>" + PROSE + "</article>",
        # The title and lead of a page, in a header outside of the article.
        "<header><h1>Gate</h1><p>In short, the gate closes at six, and opens again at seven.</p></header><article>"
        + PROSE * 3
        + "</article>",
        f"<main><h1>Gate</h1>{PROSE}<aside><p>Note: the bell is loud.</p></aside></main>",
        f"<article><h1>Gate</h1>{PROSE}<aside><p>Note: the bell is loud.</p></aside></article>",
        f"<h1>Gate</h1>{PROSE}<aside class=note><p>Note: the bell is loud.</p></aside>{PROSE}",
        f"<article>{PROSE}<footer><p>Written by the porter.</p></footer></article>",
        f"<blockquote>{PROSE}<footer>The porter</footer></blockquote>{PROSE}",
        f"<div class=content-header><p>Valid from May.</p></div>{TEXT}",
        f"<div id=header><h1>git(1)</h1><h2>NAME</h2><p>git - the tracker</p></div>{TEXT}",
        f"<div class='page-header'><h1>Gate</h1><p>Valid from May.</p></div>{PROSE}",
        f"<div class='has-sidebar layout'>{TEXT}</div>",
        f"<div class='content-sidebar-wrap'>{TEXT}</div>",
        f"<div class='bellow-site-header'>{TEXT}</div>",
        f"<div class='left-sidebar'>{TEXT}</div>",
        f"<div class=sidebar>{TEXT}</div>",
        f"<section id=sidebar><h2>The sidebar</h2>{PROSE}</section>{TEXT}",
        f"<div class=section id=navigation><h2>Navigation</h2>{PROSE}</div>{TEXT}",
        f"<div class='sect2' id=footer><h2>The footer</h2><p>It holds the date.</p></div>{TEXT}",
        f"<div id=gdpr-intro class=cookie-policy>{TEXT}</div>",
        f"<div class=footnotes><p>1. See the bell.</p></div>{TEXT}",
        f"<p class=MsoHeader>All of this text was written in a word processor, with the style for headers.</p>{PROSE}",
        f"<div class=menu><h2>Monday</h2><p>Soup.</p></div>{TEXT}",
        f"<p>Put it in the sidebar.</p>{TEXT}",
        f"<div aria-hidden=true>{TEXT}</div><div role=dialog>Wait</div>",
        "<form><fieldset><legend>Leave</legend><p><label>First day of leave</label><input></p></fieldset></form>" + TEXT,
        f"<div class=comments><p>The bell is broken since Monday, use the knocker.</p></div>{TEXT}",
        f"{TEXT}<h2>See also</h2>{LINKS}",
        f"<ul><li><a href=a>Abacus</a>: a frame with beads.<li><a href=b>Bell</a>: it rings.</ul>{TEXT}",
        f"<h1>Gate</h1><p>See <a href=a>the rules for gates and doors</a>.</p>{PROSE * 9}",
    ],
)  # fmt: skip
def test_content_stays_content(content: str) -> None:
    """A lead paragraph that is never found is worse than a menu that is."""
    texts = apart(f"<title>T</title><body>{content}")
    assert set(texts.values()) <= {"dialog"}


@pytest.mark.parametrize(
    "page",
    [
        f"<nav>{LINKS}</nav>",
        f"<h1>Contents</h1><div class=toc>{LINKS}</div>",
        f"<nav><a href=x>Home</a></nav><h1>Contents</h1><nav>{LINKS}</nav>",
        "<title>Legal</title><h1>Legal</h1><footer><p>Acme is liable for nothing that rings.</p></footer>",
    ],
)
def test_a_page_that_would_have_nothing_left_keeps_all(page: str) -> None:
    """A page of links that no question finds."""
    assert apart(page) == {}


def test_a_chapter_whose_contents_say_more_than_its_text_keeps_them() -> None:
    """A start page with a line of welcome and two hundred links, of which nothing is searched."""
    page = f"<h1>Manual</h1><p>Welcome to all.</p><div class=toc>{LINKS * 5}</div>"
    assert apart(page) == {}
    assert reasons(page + PROSE * 9) == {"table of contents"}


def test_what_says_more_than_the_rest_is_content_whatever_it_is_called() -> None:
    """The whole article in an aside, and a cookie notice beside it."""
    cookies = "<div class=cookie-banner><p>We use cookies, and we will tell you which, some day.</p></div>"
    page = f"<aside>{TEXT}</aside>{cookies}<main><p>Acme</p></main>"
    assert reasons(page) == {"cookie notice"}


def test_the_page_s_header_is_apart_when_its_title_is_elsewhere() -> None:
    page = f"<header><h1>Acme intranet</h1></header><main>{TEXT}</main>"
    assert apart(page) == {"Acme intranet": "page header"}


def test_around_the_main_part_links_and_small_print_are_apart() -> None:
    """Menus that nothing names, on pages that say what their main part is."""
    page = f"<p><a href=a>Home</a> <a href=b>News</a></p><main>{TEXT}</main><p>© Acme, all rights reserved.</p>"
    assert set(apart(page)) == {"Home News", "© Acme, all rights reserved."}
    lead = "<h1>Gate</h1><p>In short: <a href=x>it closes at six</a>.</p>"
    assert apart(f"{lead}<main>{PROSE * 5}</main>") == {}
    assert apart(f"<main>{PROSE * 5}</main><h2>Exceptions</h2><p>None.</p>") == {}
    assert apart(f"<main>{PROSE}</main>{PROSE * 2}") == {}


def test_a_menu_that_nothing_names_is_apart_before_a_long_text() -> None:
    long = f"<h1>Gate</h1>{PROSE * 12}"
    assert set(apart(LINKS + long).values()) == {"navigation"}
    assert apart(f"<h1>Gate</h1>{LINKS}{PROSE * 12}") == {}
    assert apart(LINKS + TEXT) == {}


def test_a_menu_beside_the_text_in_a_layout_table_is_apart() -> None:
    """Pages from before style sheets, whose menus nothing names."""
    menu = f"<td><p>Menu</p>{LINKS}</td>"
    page = f"<table><tr>{menu}<td><h1>Gate</h1>{PROSE * 9}</td></tr></table>"
    assert set(apart(page)) == {"Menu", "Start", "Holidays", "Expenses"}
    assert apart(page.replace(PROSE * 9, PROSE)) == {}
    data = f"<tr><td><a href=a>Gate {{}}</a></td><td>{PROSE * 9}</td></tr>"
    assert apart(f"<table><tr><th>Where<th>What</tr>{data * 3}</table>") == {}


def test_marks_are_outermost_and_every_node_below_has_the_reason() -> None:
    """A menu within a footer that is counted, or shown, twice."""
    document = parse(f"{TEXT}<footer><nav>{LINKS}</nav><div class=cookie-notice>Cookies</div></footer>".encode())
    marked = [node for node in document.nodes if "apart" in node.attributes]
    assert [(node.tag, node.attributes["apart"]) for node in marked] == [("footer", "page footer")]
    below = apart_reasons(document)[marked[0].position : marked[0].last + 1]
    assert set(below) == {"page footer"}


def test_the_nodes_of_a_div_have_its_reason_each() -> None:
    document = parse(f"{TEXT}<div class=footer><p>One</p><div><p>Two</p></div></div><p>Three</p>".encode())
    assert [node.content for node in document.nodes if "apart" in node.attributes] == ["One", "Two"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("sidebar", "sidebar"),
        ("LeftSidebar", "sidebar"),
        ("post-navigation", "navigation"),
        ("main-menu", "navigation"),
        ("menu", ""),
        ("lunch-menu", ""),
        ("no-sidebar", ""),
        ("page--with-sidebar", ""),
        ("card-footer", ""),
        ("app-footer", "page footer"),
        ("footnote", ""),
        ("header", ""),
        ("cookie-policy", ""),
        ("gdpr-banner", "cookie notice"),
        ("banner", ""),
        ("social", ""),
        ("social_icons", "share buttons"),
        ("comments", ""),
        ("language-picker", "choice of language"),
        ("a-b", ""),
        ("", ""),
    ],
)
def test_names_count_as_whole_words(name: str, reason: str) -> None:
    """ "foot" in "footnotes", "header" in "belowheader": parts of names have cost other extractors whole articles."""
    assert reason_of_class(f"x {name}") == reason
    assert reason_of_id(name) == reason


@given(pages())
def test_something_is_left_to_search_wherever_there_is_text(page: str) -> None:
    document: Document = parse(page.encode())
    reasons = apart_reasons(document)
    texts = [s for s in document.sentences() if s.parent is not None and s.parent.tag != "title"]
    assert len(reasons) == len(document)
    assert not texts or any(not reasons[s.position] for s in texts)
