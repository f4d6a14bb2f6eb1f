"""Markdown: CommonMark with the extensions that documentation is written in."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from evidence.ingest.readers.page import Page, Unreadable, page_of
from evidence.ingest.readers.text import text_of

DEEPEST = 80
"""Levels of blocks, after which markdown-it leaves out the rest: such a file is refused."""

LARGEST = 10_000_000
"""Bytes. markdown-it reads some 400,000 in a second."""

TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?\n)\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
FIELD = re.compile(r"^(title|lang|language)[ \t]*:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
HEADING_ATTRIBUTES = re.compile(r"\s*\{\s*(?:#([\w:.-]+))?[^{}]*\}\s*$")
NO_NAME = re.compile(r"[^\w-]")
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")


def read(data: bytes, charset: str = "") -> Page:
    """HTML of a Markdown file: with tables, footnotes, definition and task lists, admonitions, and raw HTML as it stands.

    The title and language are those of its front matter. Unreadable where blocks are nested more than DEEPEST levels.
    """
    if len(data) > LARGEST:
        raise Unreadable("is more than 10 MB of Markdown: split it, or make HTML of it")
    text = text_of(data, charset)
    facts: dict[str, str] = {}
    if found := TOML.match(text):
        facts = _toml(found[1])
        text = text[found.end() :]
    parser = _parser()
    environment: dict[str, Any] = {}
    tokens = parser.parse(text, environment)
    if any(token.level >= DEEPEST - 1 for token in tokens):
        raise Unreadable(f"nests its lists and quotations more than {DEEPEST} levels deep")
    if tokens and tokens[0].type == "front_matter":
        facts = _yaml(tokens[0].content)
    # What stands at the end for all of a page must not be read under its last heading.
    notes = next((place for place, token in enumerate(tokens) if token.type == "footnote_block_open"), len(tokens))
    body = parser.renderer.render(tokens[:notes], parser.options, environment)
    footnotes = parser.renderer.render(tokens[notes:], parser.options, environment)
    return Page(page_of(body, footnotes, title=facts.get("title", ""), language=facts.get("language", "")))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": DEEPEST}).enable(["table", "strikethrough"])
    parser.use(front_matter_plugin).use(footnote_plugin).use(deflist_plugin).use(tasklists_plugin).use(admon_plugin)
    parser.use(container_plugin, "container", validate=lambda parameters, markup: True, render=_container)
    parser.add_render_rule("footnote_anchor", _nothing)
    parser.core.ruler.before("inline", "heading_attributes", _heading_attributes)
    parser.core.ruler.push("heading_names", _heading_names)
    return parser


def _container(renderer: Any, tokens: Sequence[Token], index: int, options: Any, environment: Any) -> str:
    """``::: tip Title`` as other generators show it: its title in front of what it holds."""
    token = tokens[index]
    if token.nesting < 0:
        return "</div>\n"
    title = token.info.strip().partition(" ")[2].strip().strip("[]")
    return f"<div>\n<p>{escape(title)}</p>\n" if title else "<div>\n"


def _nothing(*arguments: Any) -> str:
    """The arrow back from a footnote is not its text."""
    return ""


def _heading_attributes(state: StateCore) -> None:
    """``## Gate {#gate}``: the braces name the heading and are no part of it."""
    for opening, inline in _headings(state.tokens):
        if inline.content.endswith("}") and (found := HEADING_ATTRIBUTES.search(inline.content)):
            inline.content = inline.content[: found.start()]
            if found[1]:
                opening.attrSet("id", found[1])


def _heading_names(state: StateCore) -> None:
    """Name each heading as GitHub does, which is how links within a file name it; of equal ones the second is "gate-1"."""
    taken: dict[str, int] = {}
    for opening, inline in _headings(state.tokens):
        if opening.attrGet("id"):
            continue
        text = "".join(child.content for child in inline.children or [] if child.type in ("text", "code_inline"))
        name = NO_NAME.sub("", text.strip().lower().replace(" ", "-"))
        number = taken[name] = taken.get(name, -1) + 1
        if name:
            opening.attrSet("id", f"{name}-{number}" if number else name)


def _headings(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            yield token, tokens[place + 1]


def _yaml(text: str) -> dict[str, str]:
    """The plain fields at the top of YAML that say something of the page; the rest of it is for other programs."""
    found = {name.lower(): value for name, value in FIELD.findall(text)}
    return _facts({name: _unquoted(value) for name, value in found.items()})


def _toml(text: str) -> dict[str, str]:
    try:
        return _facts(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return {}


def _facts(fields: dict[str, Any]) -> dict[str, str]:
    facts = {"title": str(fields.get("title", ""))}
    language = str(fields.get("lang") or fields.get("language") or "")
    if LANGUAGE.fullmatch(language):
        facts["language"] = language
    return facts


def _unquoted(value: str) -> str:
    for quote in "\"'":
        if len(value) > 1 and value[0] == quote == value[-1]:
            return value[1:-1].replace(quote * 2 if quote == "'" else '\\"', quote)
    return value.split(" #")[0].strip()
