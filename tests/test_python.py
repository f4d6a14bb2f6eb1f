"""What the Pythons that people have can run."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
# ")*+", ")++", ")?+" or "){2}+" after a group that is no character set, and atomic groups.
POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[\d,]+\})\+|\(\?>")


def test_no_group_is_repeated_possessively() -> None:
    """Before Python 3.11.5 (Debian 12 has 3.11.2) such a repetition matches wrongly, or raises SystemError, and no
    sentence was found. Of single characters it is right."""
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "evidence").rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if POSSESSIVE_GROUP.search(line)
    ]
    assert wrong == []
