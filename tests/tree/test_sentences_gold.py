from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from evidence.tree.boundaries import boundaries

PARAGRAPHS = Path(__file__).parent.parent / "data" / "sentences"
WITHOUT_SPACES = ("ja", "zh")


class Paragraph(NamedTuple):
    """A paragraph of a file: its sentences stand one a line; "~" before one says that no space parts it from the last."""

    language: str
    text: str
    sentences: list[str]
    is_known_wrong: bool


def paragraphs(path: Path) -> Iterator[Paragraph]:
    """The paragraphs of a file; those after "# known wrong" are cut wrongly, and "#it" names the language of one."""
    is_known_wrong = False
    for block in path.read_text("utf-8").strip().split("\n\n"):
        language, lines = path.stem, block.splitlines()
        if lines == ["# known wrong"]:
            is_known_wrong = True
            continue
        if lines[0].startswith("#"):
            language = lines.pop(0)[1:]
        space = "" if language in WITHOUT_SPACES else " "
        text = "".join(line[1:] if line.startswith("~") else space + line for line in lines).strip()
        yield Paragraph(language, text, [line.removeprefix("~") for line in lines], is_known_wrong)


ALL = [paragraph for path in sorted(PARAGRAPHS.glob("*.txt")) for paragraph in paragraphs(path)]


def cut(paragraph: Paragraph) -> list[str]:
    ends = boundaries(paragraph.text, paragraph.language)
    return [paragraph.text[start:end].strip() for start, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize(
    "paragraph", [p for p in ALL if not p.is_known_wrong], ids=lambda p: f"{p.language}: {p.text[:40]}"
)
def test_a_paragraph_is_cut_where_its_reader_would_cut_it(paragraph: Paragraph) -> None:
    """A sentence cut in two, or two taken for one, is a citation that cannot be read alone."""
    assert cut(paragraph) == paragraph.sentences


@pytest.mark.parametrize(
    "paragraph", [p for p in ALL if p.is_known_wrong], ids=lambda p: f"{p.language}: {p.text[:40]}"
)
def test_what_is_known_to_be_wrong_is_still_wrong(paragraph: Paragraph) -> None:
    """What is cut well by now belongs among the others, where it cannot be lost again."""
    assert cut(paragraph) != paragraph.sentences


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "pl", "zh", "ja", "ar", "hi"])
def test_each_main_language_has_its_paragraphs(language: str) -> None:
    assert sum(paragraph.language == language and not paragraph.is_known_wrong for paragraph in ALL) >= 25


def test_a_word_that_is_an_abbreviation_in_law_ends_sentences_elsewhere() -> None:
    """ "Lamps are lit. Lunch is at noon." as one sentence, for the sake of "lit. a"."""
    assert boundaries("Lamps are lit. Lunch is at noon.") == [15, 32]
    assert boundaries("Siehe Art. 6 Abs. 1 lit. a DSGVO. Das gilt.", "de") == [34, 43]
