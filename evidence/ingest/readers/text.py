"""Plain text: paragraphs, headings, lists and code told apart only where they cannot be mistaken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from evidence.ingest.readers.page import Page, Unreadable, page_of
from evidence.tree.decode import decode

LONGEST_HEADING = 80
DEEPEST_LIST = 10
NARROW = 45
"""Characters. Nobody wraps prose in lines as short as these."""

CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
MOST_CONTROL = 0.01
"""Share of characters that are no text, from which on a file is none. Form feeds and escapes are in many."""

UNDERLINE = re.compile(r"([=\-~^*#+\"'`_])\1{2,}\s*$")
NUMBERED = re.compile(r"(\d{1,3}(?:\.\d{1,3})*)\.?[ \t]+(?=\S)")
ITEM = re.compile(r"([ \t]*)([-*•‣▪–+]|\(?\d{1,3}[.)]|\(?[a-z][.)])([ \t]+)(?=\S)")
OF_CODE = re.compile(r"[=_{}*<>|\\]")
ENDS_A_SENTENCE = re.compile(r"[.!?:;,…。！？][\"'”’»)\]]*$")
ALIGNED = re.compile(r"\S(?: {3,}|\t+)\S")
DRAWN = re.compile(r"\s*(?:[|+]|[─-╿])")
DOT_LEADER = re.compile(r"(?:\. ?){4,}\s*[\divxlc]+\s*$")
CODE = re.compile(
    r"[{};]\s*$|^\s*(?:\$|>>>|#include|def |class |import |return |if \()|\w\(.*\)|\s(?:=|==|->|:=)\s|</?\w+>"
)


@dataclass
class Block:
    """Lines between empty ones, without their common indentation."""

    lines: list[str]
    indent: int


def read(data: bytes, charset: str = "") -> Page:
    """HTML of plain text.

    Empty lines part paragraphs, whose wrapped lines are joined. A short line is a heading where it is underlined, or stands
    alone in capitals or with a section's number; lines with bullets or numbers in sequence are a list; tables drawn with
    characters, aligned columns and indented code keep their lines.
    """
    blocks = list(_blocks(text_of(data, charset)))
    return Page(page_of("".join(_Writer(blocks).html())))


def text_of(data: bytes, charset: str = "") -> str:
    """The text of a file that is nothing else, with ``\\n`` between its lines. Unreadable where the bytes are no text."""
    text = decode(data, charset)
    if len(CONTROL.findall(text)) > MOST_CONTROL * len(text) + 1 or data.count(0) > len(data) // 2 + 1:
        raise Unreadable("is not text: too many of its bytes are no characters")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _blocks(text: str) -> Iterator[Block]:
    lines: list[str] = []
    for line in [*text.replace("\f", "\n\n").split("\n"), ""]:
        line = line.rstrip().expandtabs(8) if line.startswith((" ", "\t")) else line.rstrip()
        if line:
            lines.append(line)
        elif lines:
            indent = min(len(one) - len(one.lstrip()) for one in lines)
            yield Block([one[indent:] for one in lines], indent)
            lines = []


class _Writer:
    """Writes blocks as HTML, each by what it is and what stands beside it."""

    def __init__(self, blocks: list[Block]) -> None:
        self._blocks = blocks
        self._margin = min((block.indent for block in blocks), default=0)
        self._styles: dict[str, int] = {}
        self._has_title = self._begins_with_title()

    def html(self) -> Iterator[str]:
        place = 0
        while place < len(self._blocks):
            block = self._blocks[place]
            style, heading = self._heading(place)
            if heading:
                level = 1 if place == 0 and self._has_title else self._level(style)
                yield f"<h{level}>{escape(heading)}</h{level}>"
                if rest := block.lines[_lines_of_heading(block) or 1 :]:
                    yield from _body(Block(rest, block.indent), self._margin)
                place += 1
            elif not _is_contents(block.lines) and ITEM.match(block.lines[0]) and (items := self._run_of_items(place)):
                yield from _list([line for one in items for line in one])
                place += len(items)
            else:
                yield from _body(block, self._margin)
                place += 1

    def _level(self, style: str) -> int:
        """Headings are as deep as their number says, else as the order in which their styles came; the title is first."""
        if style[0].isdigit():
            return min(int(style) + 1, 6)
        return min(self._styles.setdefault(style, len(self._styles) + 2), 6)

    def _begins_with_title(self) -> bool:
        """Whether the first heading is the title: it has a style of its own, or another heading follows at once."""
        if len(self._blocks) < 2:
            return False
        style, heading = self._heading(0)
        if not heading or style[0].isdigit():
            return False
        return bool(self._heading(1)[1]) or all(
            self._heading(place)[0] != style for place in range(1, len(self._blocks))
        )

    def _heading(self, place: int) -> tuple[str, str]:
        """The style and text of the heading that a block is or begins with."""
        block = self._blocks[place]
        lines = block.lines
        taken = _lines_of_heading(block)
        if taken:
            title = lines[taken - 2].strip()
            return lines[taken - 1].strip()[0] + ("=" if taken == 3 else ""), title
        line = lines[0].strip()
        if len(lines) > 1 or len(line) > LONGEST_HEADING or ENDS_A_SENTENCE.search(line) or ALIGNED.search(line):
            return "", ""
        if numbered := NUMBERED.match(line):
            depth = numbered[1].count(".") + 1
            beside = {self._depth_of_number(place - 1), self._depth_of_number(place + 1)}
            is_section = line[numbered.end()].isupper() and depth not in beside and place + 1 < len(self._blocks)
            return (str(depth), line) if is_section else ("", "")
        letters = [character for character in line if character.isalpha()]
        is_capital = len(letters) >= 4 and line == line.upper() != line.lower() and not OF_CODE.search(line)
        return ("A", line) if is_capital and not ITEM.match(line) else ("", "")

    def _depth_of_number(self, place: int) -> int:
        if not 0 <= place < len(self._blocks):
            return 0
        found = NUMBERED.match(self._blocks[place].lines[0].strip())
        return found[1].count(".") + 1 if found else 0

    def _run_of_items(self, place: int) -> list[list[str]]:
        """The lines of the blocks from here on that are one list; none where this is no list beyond doubt.

        Empty lines may stand between items, and before the further paragraphs of an item, which are indented.
        """
        first = self._blocks[place]
        run: list[list[str]] = []
        marker = ""
        for number in range(place, len(self._blocks)):
            block = self._blocks[number]
            if block.indent < first.indent:
                break
            if block.indent == first.indent:
                found = ITEM.match(block.lines[0])
                if found is None or (marker and not _follows(marker, found[2])):
                    break
                items = (one for line in reversed(block.lines) if (one := ITEM.match(line)))
                marker = next(one[2] for one in items if len(one[1]) <= len(found[1]))
            shift = " " * (block.indent - first.indent)
            run.append([*([""] if run else []), *(shift + line for line in block.lines)])
        return run if _is_list([line for block in run for line in block]) else []


def _lines_of_heading(block: Block) -> int:
    """How many lines of a block are a heading with its line below (2), or also one above (3)."""
    lines = block.lines
    for taken in (3, 2):
        if len(lines) < taken or not UNDERLINE.match(lines[taken - 1]):
            continue
        title, line = lines[taken - 2].strip(), lines[taken - 1].strip()
        is_framed = taken == 2 or UNDERLINE.match(lines[0])
        is_as_long = abs(len(line) - len(title)) <= max(3, len(title) // 2)
        if is_framed and is_as_long and len(title) <= LONGEST_HEADING and any(map(str.isalnum, title)):
            return taken
    return 0


def _body(block: Block, margin: int) -> Iterator[str]:
    """Paragraphs, lists and verbatim lines of a block that is no heading."""
    lines = block.lines
    if _is_contents(lines):
        yield f"<nav><pre>{escape(chr(10).join(lines))}</pre></nav>"
    elif _is_verbatim(lines) or (
        block.indent - margin >= 4 and any(CODE.search(line[:LONGEST_HEADING]) for line in lines)
    ):
        yield f"<pre>{escape(chr(10).join(lines))}</pre>"
    else:
        start = next((place for place, line in enumerate(lines) if ITEM.match(line)), 0)
        if start and _is_list(lines[start:], introduced=lines[start - 1].endswith(":")):
            yield from _paragraphs(lines[:start])
            yield from _list(lines[start:])
        else:
            yield from _paragraphs(lines)


def _is_contents(lines: list[str]) -> bool:
    leaders = sum(1 for line in lines if DOT_LEADER.search(line[-LONGEST_HEADING:]))
    return len(lines) > 1 and leaders * 2 > len(lines)


def _is_verbatim(lines: list[str]) -> bool:
    drawn = sum(1 for line in lines if DRAWN.match(line))
    aligned = sum(1 for line in lines if ALIGNED.search(line.strip()))
    return len(lines) > 1 and (drawn * 2 > len(lines) or aligned * 2 > len(lines))


def _paragraphs(lines: list[str]) -> Iterator[str]:
    """Wrapped lines joined. A line that ends although the next word had room was ended by the writer, as in an address."""
    width = max(map(len, lines))
    is_narrow = width <= NARROW
    parts = [escape(lines[0].strip())]
    for line, following in pairwise(lines):
        is_ended = is_narrow or len(line) + 1 + len(following.split(None, 1)[0]) <= width
        text = escape(following.strip())
        if is_ended and ENDS_A_SENTENCE.search(line) and width > LONGEST_HEADING:
            parts.append(f"</p><p>{text}")
        elif is_ended:
            parts.append(f"<br>{text}")
        elif line.endswith("-") and line[-2:-1].isalpha() and following.strip()[0].islower():
            parts.append(text)
        else:
            parts.append(f" {text}")
    yield f"<p>{''.join(parts)}</p>"


def _is_list(lines: list[str], *, introduced: bool = False) -> bool:
    """Whether the lines are the items of a list: at least two (or one that is introduced), with bullets or in sequence."""
    markers = [found for line in lines if (found := ITEM.match(line))]
    outer = [found[2] for found in markers if len(found[1]) == len(markers[0][1])]
    if len(outer) < (1 if introduced else 2):
        return False
    return all(_follows(before, after) for before, after in pairwise(outer))


def _follows(before: str, after: str) -> bool:
    """Whether an item with one marker can come after one with another."""
    if len(before) == 1 or len(after) == 1:
        return before == after
    return _number(after) == _number(before) + 1


def _number(marker: str) -> int:
    text = marker.strip("().")
    return int(text) if text.isdigit() else ord(text[:1] or "-") - ord("a") + 1


def _list(lines: list[str], depth: int = 0) -> Iterator[str]:
    """The items at the first line's indentation; what is indented deeper belongs to the item before it."""
    first = ITEM.match(lines[0])
    if first is None:
        yield from _paragraphs([line for line in lines if line])
        return
    is_ordered = len(first[2]) > 1
    yield f'<ol start="{_number(first[2])}">' if is_ordered else "<ul>"
    item: list[str] = []
    for line in lines:
        found = ITEM.match(line)
        if found and len(found[1]) <= len(first[1]):
            if item:
                yield from _item(item, depth)
            item = [line[found.end() :]]
        else:
            item.append(line)
    yield from _item(item, depth)
    yield "</ol>" if is_ordered else "</ul>"


def _item(lines: list[str], depth: int) -> Iterator[str]:
    """An item: its paragraphs, and the list in it."""
    inner = next((place for place, line in enumerate(lines) if place and ITEM.match(line)), len(lines))
    if depth >= DEEPEST_LIST or not _is_list(lines[inner:], introduced=True):
        inner = len(lines)
    yield "<li>"
    paragraph: list[str] = []
    paragraphs = []
    for line in [*lines[:inner], ""]:
        if line:
            paragraph.append(line.strip())
        elif paragraph:
            paragraphs.append("".join(_paragraphs(paragraph)))
            paragraph = []
    text = "".join(paragraphs)
    # A single paragraph is the item itself.
    yield text[3:-4] if text.count("<p>") == 1 else text
    if inner < len(lines):
        yield from _list(lines[inner:], depth + 1)
    yield "</li>"
