"""Markdown, reStructuredText and plain text: what their writers mean, and what nobody means."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.ingest.readers import Unreadable, tree_of
from evidence.tree.document import Document, Node


def read(kind: str, text: str) -> Document:
    return tree_of(text.encode(), f"page.{kind}", format_name=kind)


def texts(tree: Document) -> list[str]:
    return [sentence.text for sentence in tree.sentences()]


def blocks(tree: Document) -> list[tuple[str, str]]:
    """The blocks that hold sentences, with their text."""
    return [
        (node.tag, " ".join(child.text for child in node.children if child.is_sentence))
        for node in tree.nodes
        if any(child.is_sentence for child in node.children)
    ]


def named(tree: Document, name: str) -> Node:
    return tree.named[name]


# Markdown


def test_front_matter_gives_title_and_language_and_is_no_text() -> None:
    for text in (
        "---\ntitle: 'Gate''s rules' \nlang: de\ntags: [a]\n---\nText.",
        '+++\ntitle = "Gate\'s rules"\nlang = "de"\n+++\nText.',
    ):
        tree = read("markdown", text)
        assert (tree.title, tree.language, texts(tree)[1:]) == ("Gate's rules", "de", ["Text."])


def test_headings_are_named_as_links_within_the_file_name_them() -> None:
    """``[see](#opening-hours)`` would lead nowhere."""
    tree = read("markdown", "# Opening hours!\n\n## Opening hours\n\n## Other {#mine}\n\n[see](#mine)")
    assert named(tree, "opening-hours").tag == "h1"
    assert named(tree, "opening-hours-1").tag == "h2"
    assert named(tree, "mine").content == "Other"


def test_footnotes_are_not_read_under_the_last_heading() -> None:
    tree = read("markdown", "# Gate\n\nIt closes at six.[^1]\n\n# Kitchen\n\nTea.\n\n[^1]: In winter at five.\n")
    note = named(tree, "fn1")
    assert note.content == "In winter at five."
    assert note.ancestors()[1].tag == "section"
    assert named(tree, "kitchen").parent is not note.ancestors()[1]


def test_what_generators_add_to_markdown_is_no_code_and_no_noise() -> None:
    """An admonition's indented text would be a code block, and ``:::`` a word."""
    tree = read("markdown", '!!! note "Careful"\n    Mind the step.\n\n::: tip Good to know\nWater is wet.\n:::\n')
    assert blocks(tree) == [("p", "Careful"), ("p", "Mind the step."), ("p", "Good to know"), ("p", "Water is wet.")]


def test_raw_html_in_markdown_is_read_and_not_trusted() -> None:
    tree = read(
        "markdown", "<script>alert(1)</script>\n\n<table><tr><th>A<tr><td>b</table>\n\n<b onclick=x>Bold</b> text."
    )
    assert blocks(tree) == [("th", "A"), ("td", "b"), ("p", "Bold text.")]


@pytest.mark.parametrize("text", [">" * 10_000 + " x", "".join("  " * level + "- a\n" for level in range(300))])
def test_markdown_that_would_be_cut_is_refused(text: str) -> None:
    """markdown-it leaves out what is nested too deeply, without a word."""
    with pytest.raises(Unreadable, match="more than 80 levels"):
        read("markdown", text)


@pytest.mark.parametrize("text", ["[" * 5_000, "*a " * 5_000, "# a\n\n" * 5_000, "![" * 3_000])
def test_hostile_markdown_is_read_in_time_that_grows_with_it(text: str) -> None:
    assert len(read("markdown", text)) > 1


# reStructuredText


def test_roles_and_directives_of_sphinx_keep_their_words() -> None:
    """Half of all reStructuredText is written for Sphinx; docutils makes error messages of it."""
    tree = read(
        "rst",
        "See :ref:`the gate <gate>` and :py:func:`~os.path.join`.\n\n.. versionadded:: 3.2 The bell.\n\n"
        ".. py:function:: close(gate)\n   :noindex:\n\n   Closes it.\n\n.. toctree::\n\n   a\n   b\n\n"
        ".. mermaid::\n\n   a --> b\n\n.. unknown::\n\n   Body *here*.\n",
    )
    assert blocks(tree) == [
        ("p", "See the gate and join."),
        ("p", "New in version 3.2: The bell."),
        ("dt", "close(gate)"),
        ("p", "Closes it."),
        ("pre", "a --> b"),
        ("p", "Body here."),
    ]


def test_mistakes_in_restructuredtext_are_left_as_text() -> None:
    tree = read("rst", "A *broken and |version| and `nowhere`_.\n\n.. |a| replace:: x |release|\n\nSee |a|.\n")
    assert texts(tree) == ["A *broken and |version| and `nowhere`_.", "See x |release|."]


def test_restructuredtext_reads_no_other_file_and_brings_no_html(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hunter2")
    tree = read(
        "rst",
        f"Text.\n\n.. include:: {secret}\n\n.. literalinclude:: {secret}\n\n.. csv-table:: T\n   :file: {secret}\n\n"
        f".. raw:: html\n   :file: {secret}\n\n.. raw:: html\n\n   <b>raw</b>\n\n"
        f".. image:: {secret}\n   :loading: embed\n\n.. code::\n   :number-lines:\n\n   x\n",
    )
    assert "hunter2" not in " ".join(texts(tree))
    assert "raw" not in " ".join(texts(tree))


def test_what_one_document_defines_ends_with_it() -> None:
    """docutils keeps roles for the whole process: a document would be read differently after another."""
    second = "A :shout:`word`."
    before = read("rst", second).fingerprint
    read("rst", ".. role:: shout(strong)\n\n.. default-role:: shout\n\nA :shout:`word` and `x`.")
    assert read("rst", second).fingerprint == before


def test_a_page_of_restructuredtext_has_no_title_or_language_that_it_does_not_give() -> None:
    tree = read("rst", "Just *words*.")
    assert (tree.title, tree.language) == ("page", "")


DOUBLED = "".join(f".. |a{n}| replace:: |a{n + 1}| |a{n + 1}|\n" for n in range(18)) + ".. |a18| replace:: x\n\n|a0|"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("".join(" " * level + "a\n\n" for level in range(1200)), "nested too deeply"),
        ("|a|\n\n.. |a| replace:: |b|\n.. |b| replace:: |a|\n", "without end"),
        (DOUBLED, "grow without bound"),
        ("a" * 5_000_001, "more than 5 MB"),
    ],
)
def test_restructuredtext_without_end_is_refused(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read("rst", text)


@pytest.mark.parametrize("text", ["*a " * 20_000, "`a " * 20_000, "|a " * 20_000])
def test_inline_markup_without_end_is_text(text: str) -> None:
    """docutils would look for the end of each from there on."""
    assert " ".join(" ".join(texts(read("rst", text))).split()) == text.strip()


# Plain text


def test_an_item_whose_first_line_is_indented_is_read() -> None:
    assert "first" in read("text", "  1. first\nsecond\n").root.content


def test_a_rule_under_a_line_or_capitals_or_a_number_make_a_heading() -> None:
    text = "THE GATE\n\nHours\n=====\nOpen at six.\n\n2.1 Winter\n\n  Open at seven.\n\nNOTE. It is cold.\n"
    assert blocks(read("text", text)) == [
        ("h1", "THE GATE"),
        ("h2", "Hours"),
        ("p", "Open at six."),
        ("h3", "2.1 Winter"),
        ("p", "Open at seven."),
        ("p", "NOTE. It is cold."),
    ]


def test_wrapped_lines_are_joined_and_ended_ones_are_kept_apart() -> None:
    """A sentence across two lines would be two; an address would be one word after another."""
    tree = read(
        "text", "Team North closes the gate at six each evening, and\nrings the bell.\n\nGate Road 5\n12345 Town\n"
    )
    assert texts(tree)[0] == "Team North closes the gate at six each evening, and rings the bell."
    assert "Road 5<br> 12345" in " ".join(sentence.markup for sentence in tree.sentences())


def test_lists_are_found_where_they_are_sure() -> None:
    text = (
        "You need:\n- a key\n- a lamp that is\n  quite long\n  * red\n  * blue\n\n1. Open.\n\n2. Close.\n\n- no list\n"
    )
    tree = read("text", text)
    assert [node.tag for node in tree.nodes if node.tag in ("ul", "ol")] == ["ul", "ul", "ol"]
    assert [node.content for node in tree.nodes if node.tag == "li"] == [
        "a key",
        "a lamp that is quite long red blue",
        "red",
        "blue",
        "Open.",
        "Close.",
    ]


def test_what_is_drawn_keeps_its_lines() -> None:
    text = "Tin     Holds\nBlue    Tea\n\n+---+---+\n| a | b |\n+---+---+\n\nText.\n\n    if (x) { y(); }\n"
    assert [tag for tag, _ in blocks(read("text", text))] == ["pre", "pre", "p", "pre"]


def test_a_page_of_contents_is_navigation() -> None:
    tree = read("text", "1. Gate ........ 3\n2. Kitchen ........ 5\n\nThe gate is closed.\n")
    assert tree.nodes[1].tag == "nav"


@pytest.mark.parametrize("kind", ["text", "markdown", "rst"])
def test_bytes_that_are_no_text_are_refused(kind: str) -> None:
    with pytest.raises(Unreadable, match="is not text"):
        tree_of(bytes(range(256)) * 10, "a", format_name=kind)


@pytest.mark.parametrize("text", ["- a\n\n* b\n\n" * 5_000, ". " * 300_000, "a(" * 300_000, "a" + " " * 300_000 + "b"])
def test_hostile_text_is_read_in_time_that_grows_with_it(text: str) -> None:
    assert len(read("text", text)) > 1


PIECES = st.sampled_from(
    """# |- |* |1. |> |    |\n|\n\n|===|---|`|``|.. |::|:a:`|[^1]|[^1]:|
    |word| Word.|\t|***|<b>|</p>|&amp|+++\n|:::|!!! |\\|_|(
    |{#x}|😀|\f|.. |a| |{{|$$|: """.split("|")
)


@pytest.mark.parametrize("kind", ["text", "markdown", "rst"])
@given(pieces=st.lists(PIECES, max_size=40))
def test_whatever_is_written_is_read_or_refused(kind: str, pieces: list[str]) -> None:
    data = "".join(pieces).encode()
    try:
        tree = tree_of(data, "a", format_name=kind)
    except Unreadable:
        return
    assert tree.fingerprint == tree_of(data, "a", format_name=kind).fingerprint


@given(words=st.lists(st.text("abcdefgh", min_size=1, max_size=9), min_size=1, max_size=60), width=st.integers(46, 90))
def test_text_wrapped_at_any_width_is_the_same_text(words: list[str], width: int) -> None:
    """The law of greedy wrapping: a line is full when the next word had no room."""
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    tree = read("text", "\n".join(lines))
    assert " ".join(texts(tree)).split() == words
    assert "<br>" not in "".join(sentence.markup for sentence in tree.sentences())
