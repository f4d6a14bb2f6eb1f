"""One page in every format: what is found, and under which headings, must not depend on the program that wrote it."""

from __future__ import annotations

import pytest

from evidence.ingest.readers import FORMATS, parser_of, tree_of
from evidence.tree.context import global_context
from evidence.tree.document import Document
from evidence.tree.html import PARSER_VERSION
from evidence.tree.seeds import seeds
from tests.ingest.files import (
    BULLETS,
    NUMBERS,
    chapter,
    docx_parts,
    epub_parts,
    mhtml,
    packed,
    paragraph,
    run,
    table,
)

BODY = """<h1>Handbook</h1>
<h2>Gate</h2>
<p>Team North closes the gate at six. See <a href="https://example.org/plan">the plan</a> for winter.</p>
<p>You need:</p>
<ul><li>a key</li><li>a lamp</li></ul>
<h2>Kitchen</h2>
<p>Tea is made as follows:</p>
<ol><li>Boil the water.</li><li>Wait.</li></ol>
<p>What the tins hold:</p>
<table><thead><tr><th>Tin</th><th>Holds</th></tr></thead><tbody><tr><td>Blue</td><td>Tea leaves</td></tr>
<tr><td>Red</td><td>Coffee beans</td></tr></tbody></table>
<p>The timer runs this program:</p>
<pre>wait(5)
ring()</pre>
"""
HTML = f"<!DOCTYPE html><title>Handbook</title>{BODY}".encode()

MARKDOWN = """---
title: Handbook
---
# Handbook

## Gate

Team North closes the gate at six. See [the plan](https://example.org/plan)
for winter.

You need:

- a key
- a lamp

## Kitchen

Tea is made as follows:

1. Boil the water.
2. Wait.

What the tins hold:

| Tin  | Holds        |
|------|--------------|
| Blue | Tea leaves   |
| Red  | Coffee beans |

The timer runs this program:

```
wait(5)
ring()
```
"""

RST = """
========
Handbook
========

Gate
====

Team North closes the gate at six. See `the plan <https://example.org/plan>`_
for winter.

You need:

* a key
* a lamp

Kitchen
=======

Tea is made as follows:

1. Boil the water.
2. Wait.

What the tins hold:

====  ============
Tin   Holds
====  ============
Blue  Tea leaves
Red   Coffee beans
====  ============

The timer runs this program::

  wait(5)
  ring()
"""

TEXT = """HANDBOOK

GATE
----

Team North closes the gate at six. See the plan for
winter.

You need:
- a key
- a lamp

KITCHEN
-------

Tea is made as follows:

1. Boil the water.
2. Wait.

What the tins hold:

Tin     Holds
Blue    Tea leaves
Red     Coffee beans

The timer runs this program:

    wait(5)
    ring()
"""

DOCX = packed(
    docx_parts(
        paragraph("Handbook", "Title")
        + paragraph("Gate", "heading1")
        + paragraph(
            f'{run("Team North closes the gate at six. See ")}<w:hyperlink r:id="plan">{run("the plan")}</w:hyperlink>'
            + run(" for winter.")
        )
        + paragraph("You need:")
        + paragraph("a key", numbering=(BULLETS, 0))
        + paragraph("a lamp", numbering=(BULLETS, 0))
        + paragraph("Kitchen", "heading1")
        + paragraph("Tea is made as follows:")
        + paragraph("Boil the water.", numbering=(NUMBERS, 0))
        + paragraph("Wait.", numbering=(NUMBERS, 0))
        + paragraph("What the tins hold:")
        + table([["Tin", "Holds"], ["Blue", "Tea leaves"], ["Red", "Coffee beans"]])
        + paragraph("The timer runs this program:")
        + paragraph("wait(5)", "SourceCode")
        + paragraph("ring()", "SourceCode"),
        title="A title that nobody changed",
        links={"plan": "https://example.org/plan"},
    )
)

GATE, KITCHEN = BODY.split("<h2>Kitchen</h2>")
FILES = {
    "html": HTML,
    "xhtml": chapter(BODY).replace("<title/>", "<title>Handbook</title>").encode(),
    "mhtml": mhtml(f"<title>Handbook</title>{BODY}"),
    "markdown": MARKDOWN.encode(),
    "rst": RST.encode(),
    "text": TEXT.encode(),
    "docx": DOCX,
    "epub": packed(
        epub_parts({"one.xhtml": chapter(GATE), "two.xhtml": chapter(f"<h2>Kitchen</h2>{KITCHEN}")}, title="Handbook")
    ),
}

EXPECTED = [
    (("Handbook", "Gate"), "Team North closes the gate at six."),
    (("Handbook", "Gate"), "See the plan for winter."),
    (("Handbook", "Gate"), "You need:"),
    (("Handbook", "Gate", "You need:"), "a key"),
    (("Handbook", "Gate", "You need:"), "a lamp"),
    (("Handbook", "Kitchen"), "Tea is made as follows:"),
    (("Handbook", "Kitchen", "Tea is made as follows:"), "Boil the water."),
    (("Handbook", "Kitchen", "Tea is made as follows:"), "Wait."),
    (("Handbook", "Kitchen"), "What the tins hold:"),
    (("Handbook", "Kitchen", "What the tins hold:", "Tin Holds"), "Blue Tea leaves"),
    (("Handbook", "Kitchen", "What the tins hold:", "Tin Holds"), "Red Coffee beans"),
    (("Handbook", "Kitchen"), "The timer runs this program:"),
    (("Handbook", "Kitchen", "The timer runs this program:"), "wait(5)\nring()"),
]


def found_in(tree: Document) -> list[tuple[tuple[str, ...], str]]:
    return [(tuple(entry.node.content for entry in global_context(seed)), seed.content) for seed in seeds(tree)]


def tree(kind: str) -> Document:
    return tree_of(FILES[kind], "handbook/page.file", format_name=kind)


def test_every_format_has_a_file_here() -> None:
    assert FILES.keys() == FORMATS.keys()


@pytest.mark.parametrize("kind", [name for name in FILES if name != "text"])
def test_the_same_page_is_found_in_the_same_context_in_every_format(kind: str) -> None:
    """What Word calls Heading 1 is a section of its title; what a book has in two files is one document."""
    assert found_in(tree(kind)) == EXPECTED


def test_plain_text_has_the_same_headings_lists_and_code() -> None:
    """A table that is drawn with spaces is kept as it is drawn: its cells would be guesses."""
    upper = [
        (tuple(entry.upper() if entry in ("Handbook", "Gate", "Kitchen") else entry for entry in context), text)
        for context, text in EXPECTED
    ]
    drawn = "Tin     Holds\nBlue    Tea leaves\nRed     Coffee beans"
    upper[9:11] = [(("HANDBOOK", "KITCHEN", "What the tins hold:"), drawn)]
    assert found_in(tree("text")) == upper


@pytest.mark.parametrize("kind", FILES)
def test_the_title_is_found(kind: str) -> None:
    assert tree(kind).title.casefold() == "handbook"


@pytest.mark.parametrize("kind", [name for name in FILES if name != "text"])
def test_links_are_kept(kind: str) -> None:
    markup = next(sentence.markup for sentence in tree(kind).sentences() if "plan" in sentence.text)
    assert '<a href="https://example.org/plan">the plan</a>' in markup


@pytest.mark.parametrize("kind", FILES)
def test_the_same_bytes_give_the_same_tree(kind: str) -> None:
    assert tree(kind).fingerprint == tree(kind).fingerprint


def test_what_made_a_tree_names_the_versions_it_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new library may make another tree of the same bytes, and citations into the old one would be wrong."""
    assert parser_of("html") == PARSER_VERSION
    assert all(parser_of(name).startswith(f"{PARSER_VERSION}+1") for name in FORMATS if name != "html")
    parser_of.cache_clear()
    monkeypatch.setattr("evidence.ingest.readers.formats.version", lambda name: f"new-{name}")
    assert parser_of("docx") == f"{PARSER_VERSION}+1 new-mammoth"
    parser_of.cache_clear()
