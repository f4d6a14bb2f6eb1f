"""Coverage-guided fuzzing of the tree on bytes: `python fuzz/fuzz_tree.py CORPUS -max_total_time=600`.

Needs atheris (https://github.com/google/atheris). Everything that evidence.tree does with a page is done with each input,
and laws of tests/tree are checked; a failure is written to crash-* by libFuzzer, to be made a test.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent.parent))
warnings.simplefilter("ignore")

with atheris.instrument_imports(include=["evidence.tree"]):
    from evidence.tree.context import global_context
    from evidence.tree.document import Document
    from evidence.tree.html import parse
    from evidence.tree.markup import Rendering
    from evidence.tree.seeds import seeds
    from evidence.tree.subdocument import prune
    from evidence.tree.text import to_text

CHARSETS = ("", "", "", "utf-8", "windows-1252", "shift_jis", "utf-16", "iso-2022-jp", "gbk", "nonsense")


def expect(holds: bool, law: str) -> None:
    if not holds:
        raise AssertionError(law)


def check(data: bytes) -> None:
    """All that is done with a page, on these bytes; the first one chooses the declared charset and what is cited."""
    choice, page = (data[0], data[1:]) if data else (0, b"")
    document = parse(page, "https://example.org/a.html", charset=CHARSETS[choice % len(CHARSETS)])
    again = Document.from_rows(document.rows(), title=document.title, language=document.language)
    expect(again.fingerprint == document.fingerprint, "records build the same document")
    found = seeds(document)
    for seed in found:
        for entry in global_context(seed):
            expect(document.at(entry.node.path) is entry.node, "paths lead to their nodes")
    cited = found[choice % len(found) :][:2] if found else []
    excerpt = prune(document, [*cited, *(entry.node for seed in cited for entry in global_context(seed))])
    text = to_text(excerpt)
    told = all(sentence.text.split()[0] in text for sentence in excerpt.sentences())
    expect(told, "the text of an excerpt holds its sentences")
    Rendering(is_excerpt=True).html(excerpt)
    Rendering(anchors=True).html(document)


if __name__ == "__main__":
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()
