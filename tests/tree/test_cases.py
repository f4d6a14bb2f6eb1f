"""The cases of tests/cases, as far as they can be checked on the tree alone.

A folder each: ``input.html`` and ``case.json``, whose ``expect`` says what is right and whose ``checks`` repeat what a
machine can check. Leaves are sentences; the page's own title is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from evidence.tree.context import (
    column_header,
    context_paths,
    headings,
    label,
    list_number,
    row_header,
    term,
)
from evidence.tree.document import Document, Node
from evidence.tree.html import parse
from evidence.tree.markup import Rendering
from evidence.tree.path import PathSet
from evidence.tree.seeds import seed_of
from evidence.tree.subdocument import Subdocument
from evidence.tree.text import to_text

CASES = Path(__file__).parent.parent / "cases"
HUGE_TEXT = CASES / "35-huge-text-node"
LINK = re.compile(r'<a href="([^"]*)">(.*?)</a>', re.DOTALL)

# Checked where there is a database, an archive, a model or a page.
CHECKED_ELSEWHERE = frozenset(
    [
        "budgets",
        "chunks",
        "copies",
        "counts_after",
        "escapes",
        "members",
        "model_replies",
        "model_reply",
        "response_absent",
        "response_headers",
        "urls_refused",
        "versions",
    ]
)
# What the other checks are made on.
GIVEN = frozenset(["encoding", "generate", "no_error", "source_url"])


def leaves(document: Document) -> list[Node]:
    return [leaf for leaf in document.sentences() if leaf.parent is not document.title_node]


def leaf_with(document: Document, text: str) -> Node:
    return next(leaf for leaf in leaves(document) if text in leaf.text)


def texts(nodes: Any) -> list[str]:
    return [node.content for node in nodes]


def check_sentences(document: Document, expected: list[str]) -> None:
    """These are leaves, in this order, each exactly once."""
    assert [leaf.text for leaf in leaves(document) if leaf.text in expected] == expected


def check_contains(document: Document, expected: list[str]) -> None:
    for text in expected:
        assert any(text in leaf.text for leaf in leaves(document)), text


def check_absent(document: Document, unwanted: list[str]) -> None:
    stored = [document.title, *(leaf.text for leaf in document.sentences()), *(n.markup for n in document.sentences())]
    for text in unwanted:
        assert not any(text in kept for kept in stored), text


def check_title(document: Document, expected: str) -> None:
    assert document.title == expected


CONTEXT: dict[str, Callable[[Node], Any]] = {
    "headings": lambda leaf: texts(headings(leaf)),
    "row_headers": lambda leaf: texts(row_header(leaf)),
    "col_headers": lambda leaf: texts(column_header(leaf)),
    "label": lambda leaf: None if (found := label(leaf)) is None else found.content,
    "terms": lambda leaf: texts(term(leaf)),
    "list_number": list_number,
}


def check_context(document: Document, expected: list[dict[str, Any]]) -> None:
    for wanted in expected:
        leaf = leaf_with(document, wanted["text"])
        found = {part: CONTEXT[part](leaf) for part in wanted if part != "text"}
        assert {"text": wanted["text"], **found} == wanted


def check_excerpt(document: Document, expected: dict[str, list[str]]) -> None:
    """The cited seeds with their global context, as HTML and as text."""
    selected = [seed_of(leaf_with(document, text)) for text in expected["selected"]]
    cited = PathSet(seed.path for seed in selected)
    context = PathSet(path for seed in selected for path in context_paths(seed))
    excerpt = Subdocument(document, cited | context).extract()
    for shown in (Rendering(cited=cited, is_excerpt=True).html(excerpt), to_text(excerpt)):
        for text in expected["must_contain"]:
            assert shown.count(text) == 1, text
        for text in expected["must_not_contain"]:
            assert text not in shown


def check_pre(document: Document, expected: list[str]) -> None:
    assert [leaf.text for leaf in leaves(document) if leaf.nearest("pre")] == expected


def check_distinct_addresses(document: Document, expected: list[str]) -> None:
    paths = [leaf_with(document, text).path for text in expected]
    assert len(set(paths)) == len(expected)
    assert [document.at(path).text for path in paths] == expected


def check_links(document: Document, expected: dict[str, str]) -> None:
    found = {shown: unescape(target) for leaf in leaves(document) for target, shown in LINK.findall(leaf.markup)}
    assert {text: found.get(text) for text in expected} == expected


CHECKS: dict[str, Callable[[Document, Any], None]] = {
    "sentences": check_sentences,
    "contains": check_contains,
    "absent": check_absent,
    "title": check_title,
    "context": check_context,
    "excerpt": check_excerpt,
    "pre": check_pre,
    "distinct_addresses": check_distinct_addresses,
    "links": check_links,
}


@pytest.mark.parametrize("case", sorted(path for path in CASES.iterdir() if path.is_dir()), ids=lambda path: path.name)
def test_a_case_is_read_as_it_expects(case: Path) -> None:
    """Each folder is a kind of page that broke a system like this one."""
    checks = json.loads((case / "case.json").read_text("utf-8")).get("checks", {})
    unknown = set(checks) - set(CHECKS) - GIVEN - CHECKED_ELSEWHERE
    assert not unknown, f"{case.name} asks for checks that nobody makes: {unknown}"

    data = (case / "input.html").read_bytes()
    if encoding := checks.get("encoding"):
        data.decode(encoding)
    if filling := checks.get("generate"):
        data = data.replace(filling["replace"].encode(), filling["with"].encode() * filling["times"])
    document = parse(data, checks.get("source_url", "input.html"))

    for key in sorted(set(checks) & set(CHECKS)):
        CHECKS[key](document, checks[key])
    stored = "".join(node.text + node.markup for node in document.nodes)
    assert not re.search("[\0\ufeff\x80-\x9f]", stored)
    assert "encoding" not in checks or "\ufffd" not in stored
    assert parse(data, checks.get("source_url", "input.html")).fingerprint == document.fingerprint


def test_no_check_is_in_two_lists() -> None:
    """A key that is listed as checked elsewhere would hide that it is checked here no more."""
    assert not set(CHECKS) & (GIVEN | CHECKED_ELSEWHERE)


@pytest.mark.parametrize("holder", ["script", "p"])
def test_a_huge_text_does_not_swallow_what_follows(holder: str) -> None:
    """libxml2 ends a page at a text of ten megabytes unless it is told not to, and says nothing."""
    page = (HUGE_TEXT / "input.html").read_text("utf-8")
    filling = json.loads((HUGE_TEXT / "case.json").read_text("utf-8"))["checks"]["generate"]
    page = page.replace("<script>", f"<{holder}>").replace("</script>", f"</{holder}>")
    document = parse(page.replace(filling["replace"], filling["with"] * filling["times"]).encode(), "input.html")
    assert [leaf.text for leaf in leaves(document)][-1] == "Still here."
    fill = sum(leaf.text.count("a") for leaf in leaves(document) if leaf.text != "Still here.")
    assert fill >= filling["times"] if holder == "p" else fill == 0
