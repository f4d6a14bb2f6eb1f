"""What the class and id names of an element say about its place in the page: names that stand for no content."""

from __future__ import annotations

import re
from functools import lru_cache

NAVIGATION = "navigation"
HEADER = "page header"
FOOTER = "page footer"
SIDEBAR = "sidebar"
BREADCRUMBS = "breadcrumbs"
CONTENTS = "table of contents"
SEARCH = "search form"
COOKIES = "cookie notice"
DIALOG = "dialog"
PAGER = "previous and next page"
EDIT = "edit link"
SKIP = "skip link"
SHARE = "share buttons"
RELATED = "related pages"
LANGUAGES = "choice of language"
ADVERTISEMENT = "advertisement"
COMMENT_FORM = "comment form"
CATEGORIES = "categories"
NOTICE = "notice about the page"
DECORATION = "decoration"
OUTSIDE = "outside the main part"

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
# In such a name the thing is only near, or not there at all: "has-sidebar", "content-sidebar-wrap", "bellow-navbar".
ONLY_NEAR = frozenset(
    """
    no not non has have with without content contents after below beneath before beside above under over hide hides hidden
    show shows toggle layout grid
    """.split()
)


def _names(reason: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), reason)


# Whole names, in lower case. Where a name comes from one program, that program is named beside it.
EXACT: dict[str, str] = {
    **_names(
        NAVIGATION,
        """
        nav navbar topnav sidenav subnav bottomnav navpath nav-path side-nav navrow1 navrow2 navigation-bar
        wy-nav-side wy-nav-top md-tabs md-nav menu-bar nav-wrapper nav-chapters book-summary nav-container
        mw-panel mw-head mw-navigation navbox vertical-navbox navbar-header sidenavbox suitenavwrapper s4-ribbonrow
        ms-core-navigation deltaplaceholderleftnavbar back-to-top backtotop scroll-to-top to-top rst-versions
        skipnav leftnav rightnav navlist mobile-nav global-nav top-nav
        """,
    ),
    # DocBook's rows above and below a page, Sphinx's, Docusaurus's, mdBook's.
    **_names(PAGER, "navheader navfooter pagination pagination-nav pager pagenav prev-next-area rst-footer-buttons"),
    **_names(BREADCRUMBS, "breadcrumb breadcrumbs wy-breadcrumbs breadcrumb-section ms-breadcrumb crumbs"),
    **_names(SIDEBAR, "sidebar sphinxsidebar md-sidebar bd-sidebar sidebar-drawer toc-drawer acs-side-bar rightbar"),
    **_names(HEADER, "site-header masthead md-header bd-header mobile-header global-header topbar top-bar page-header"),
    **_names(FOOTER, "footer site-footer page-footer global-footer md-footer printfooter colophon bottom-bar"),
    **_names(
        CONTENTS,
        "toc table-of-contents tableofcontents table_of_contents on-this-page onthispage page-toc localtoc",
    ),
    **_names(
        SEARCH, "searchbox searchform search-form search-box search-bar searchbar md-search msearchbox inline-search"
    ),
    **_names(
        COOKIES,
        "cookiebanner cookieconsent cookiebar cc-window cybotcookiebotdialog onetrust-banner-sdk onetrust-consent-sdk",
    ),
    **_names(EDIT, "edit-this-page edit-page editlink edit-link theme-edit-this-page md-content__button editsection"),
    **_names(SKIP, "skiplink skip-link skip-links skip-to-content mw-jump-link jump-to-nav md-skip"),
    **_names(SHARE, "sharedaddy addthis_toolbox addtoany_share_save_container social-share post-share share-buttons"),
    **_names(RELATED, "related-posts relatedposts jp-relatedposts yarpp-related related-articles related-pages"),
    **_names(LANGUAGES, "toplang bottomlang lang-switcher language-switcher p-lang"),
    **_names(
        ADVERTISEMENT,
        "advertisement advertisements adsbygoogle google-auto-placed ad-banner ad-slot ad-container ad-unit",
    ),
    **_names(COMMENT_FORM, "comment-respond comment-form commentform"),
    **_names(CATEGORIES, "catlinks"),
    **_names(NOTICE, "ambox"),
}
FIRST_OF_MENU = frozenset(
    "main nav navigation site side sidebar top mobile global user header footer primary secondary burger hamburger".split()
)
FIRST_OF_PAGE = frozenset("site page global wp app docs doc portal web".split())
BARS = frozenset("banner bar consent notice notification popup overlay modal dialog alert".split())
SWITCHES = frozenset("switcher switch selector picker chooser".split())


@lru_cache(maxsize=8192)
def reason_of_class(names: str) -> str:
    """The reason that the value of a ``class`` attribute gives, "" where it gives none."""
    for name in names.split():
        if reason := _reason_of_name(name):
            return reason
    return ""


def reason_of_id(name: str) -> str:
    """The reason that an ``id`` gives. Most ids are those of sections, so only names of many pages count."""
    # Most ids are long, and each is another one: no cache would help.
    return "" if len(name) > 40 else EXACT.get(name.lower(), "") or (_reason_of_name(name) if _may_be(name) else "")


def _may_be(name: str) -> bool:
    return name[-3:].lower() in ENDS


def _reason_of_name(name: str) -> str:
    known = EXACT.get(name.lower())
    if known is not None:
        return known
    words = [word.lower() for word in WORD.findall(name)]
    if len(words) < 2 or not ONLY_NEAR.isdisjoint(words):
        return ""
    return _reason_of_words(words)


def _reason_of_words(words: list[str]) -> str:
    first, last = words[0], words[-1]
    if last in LAST:
        return LAST[last]
    if last == "menu" and first in FIRST_OF_MENU:
        return NAVIGATION
    if last == "footer" and first in FIRST_OF_PAGE:
        return FOOTER
    if last == "header" and first in FIRST_OF_PAGE:
        return HEADER
    if last in BARS and not COOKIE_WORDS.isdisjoint(words):
        return COOKIES
    if last in SWITCHES and first in ("lang", "language", "languages", "locale"):
        return LANGUAGES
    if last in ("buttons", "icons", "links") and first in ("share", "sharing", "social"):
        return SHARE
    return ""


# The last of several words, whatever stands before it: "left-sidebar", "postNavigation".
LAST: dict[str, str] = {
    **_names(NAVIGATION, "navbar nav navigation sidenav topnav subnav"),
    **_names(SIDEBAR, "sidebar sidebars"),
    **_names(BREADCRUMBS, "breadcrumb breadcrumbs"),
    **_names(PAGER, "pagination paginator"),
    **_names(CONTENTS, "toc"),
    **_names(SKIP, "skiplink"),
    **_names(ADVERTISEMENT, "advertisement"),
}
COOKIE_WORDS = frozenset(("cookie", "cookies", "gdpr"))
ENDS = frozenset(
    name[-3:] for name in (*LAST, *BARS, *SWITCHES, "menu", "footer", "header", "buttons", "icons", "links")
)
