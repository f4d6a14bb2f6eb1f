"""The experiments on a miniature: what each system sends, what it is worth, and the whole run with its report."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from evidence.bench.quality.cache import CachedEmbedder
from evidence.bench.quality.catalogue import systems
from evidence.bench.quality.chunks import sections, windows
from evidence.bench.quality.corpus import Corpus
from evidence.bench.quality.data import DataError, Gold, Page, Question, Set
from evidence.bench.quality.measures import Marks, mark
from evidence.bench.quality.run import Run
from evidence.bench.quality.spire import Spire
from evidence.bench.quality.statistics import mean, paired, ratio, separation
from evidence.bench.quality.systems import System, best, fused
from evidence.language.embedder import Window
from evidence.language.tokens import count
from evidence.tree.html import parse
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, TABLE

TINS = TABLE.replace(b"<td>Tea leaves", b'<td id="tea">Tea leaves')
PAGES = (Page("gate.html", GATE), Page("kitchen.html", KITCHEN), Page("tins.html", TINS))
QUESTIONS = (
    Question(
        "when does Team North close the gate",
        (Gold("gate.html", ("Team North closes the gate at six each evening.",)),),
    ),
    Question("what is in the red tin", (Gold("kitchen.html", ("Coffee is in the red tin.",)),)),
    Question("Tins: what does the tin Blue hold", (Gold("tins.html", anchor="tea"),)),
    Question("who sold the company", ()),
)
MINIATURE = Set("miniature", "three pages", PAGES, QUESTIONS)
CHUNKS = {"passages-100", "passages-256", "passages-context", "sections", "bm25-passages", "langchain", "docling"}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus(MINIATURE, QUESTIONS, WordEmbedder())


def marks(system: System, corpus: Corpus, budget: int) -> list[Marks]:
    system.prepare(corpus)
    return [mark(answer, asked, corpus) for asked in corpus.asked for answer in system.answers(asked, [budget])]


@pytest.mark.parametrize("system", systems(["all"]), ids=lambda system: system.name)
def test_every_system_answers_within_its_budget_and_counts_what_it_sends(system: System, corpus: Corpus) -> None:
    """A baseline or an ablation that is given more tokens than another."""
    system.prepare(corpus)
    for asked in corpus.asked:
        for budget, answer in zip((15, 40, 400), system.answers(asked, (15, 40, 400)), strict=True):
            assert answer.tokens <= budget
            assert answer.tokens <= sum(count(part.text) + 2 for part in answer.sent)
            assert all(cited.part.document == answer.sent[cited.within].document for cited in answer.cited)
            if cells := [part.places for part in answer.sent if part.places is not None]:
                held = frozenset.union(*cells)
                assert all((cited.part.places or frozenset()) <= held for cited in answer.cited)


def test_spire_cites_the_sentence_and_the_cell_with_its_headers(corpus: Corpus) -> None:
    """The measures themselves: an answer that is right in everything."""
    north, red, tea, _ = marks(Spire("spire", ""), corpus, 400)
    assert north.useful == north.found == north.gold == red.useful == 1
    assert (tea.useful, tea.cells, tea.complete) == (1, 1, 1)


def test_a_cell_without_its_headers_is_useful_and_not_complete(corpus: Corpus) -> None:
    """Context that is left out, and nobody sees the loss."""
    (no_context,) = systems(["no-context"])
    bare = marks(no_context, corpus, 400)[2]
    assert (bare.useful, bare.complete) == (1, 0)


def test_excerpts_that_are_not_united_pay_for_what_they_share_again(corpus: Corpus) -> None:
    """The tokens that uniting saves."""
    assert all(one.repeated == 0 for one in marks(Spire("spire", ""), corpus, 400))
    apart = marks(Spire("apart", "", is_united=False), corpus, 400)
    assert all(one.repeated > 0 for one in apart)
    assert apart[0].citations == marks(Spire("spire", ""), corpus, 400)[0].citations


def citations(corpus: Corpus, **changes: Any) -> int:
    return marks(Spire("", "", **changes), corpus, 60)[0].citations


def test_what_ends_early_or_drops_duplicates_cites_less(corpus: Corpus) -> None:
    """A parameter that does nothing, and an ablation that says so."""
    filled = citations(corpus)
    assert citations(corpus, passes_over=0) <= filled
    assert marks(Spire("", "", alike=0.3), corpus, 400)[0].citations < marks(Spire("", ""), corpus, 400)[0].citations
    assert citations(corpus, local=1) <= filled


def test_windows_overlap_and_hold_every_word() -> None:
    """Words at the seams of a baseline that are lost, which would make it look worse than it is."""
    tree = parse(GATE)
    said = [sentence.text for sentence in tree.sentences() if sentence.parent and sentence.parent.tag != "title"]
    cut = [text.split() for text, _ in windows(12, 0.25)(PAGES[0], tree)]
    joined = cut[0]
    for before, after in pairwise(cut):
        shared = next(n for n in range(len(after), -1, -1) if before[len(before) - n :] == after[:n])
        assert shared
        joined = joined + after[shared:]
    assert joined == " ".join(said).split()


def test_a_section_begins_with_its_heading_in_each_of_its_pieces() -> None:
    """A section that is cut in two, the second half without a word on what it is about."""
    cut = [text for text, _ in sections(14)(PAGES[0], parse(GATE))]
    assert len(cut) > 3
    assert sum(text.startswith("North ") for text in cut) == 2


def test_rankings() -> None:
    """Ties that fall otherwise on another machine."""
    assert best(np.array([0.5, 0.9, 0.5, 0.1]), 3) == [1, 0, 2]
    assert best(np.array([]), 3) == []
    assert [number for number, _ in fused([(1.0, [1, 2, 3]), (0.5, [3])], 2)] == [3, 1]


def test_estimates() -> None:
    """Figures that no formula stands behind."""
    assert mean([1.0, 0.0]).value == 0.5
    assert ratio([1.0, 1.0], [2.0, 6.0]).value == 0.25
    assert ratio([0.0], [0.0]).value == 0.0
    surely = paired([1.0] * 20, [0.0] * 20)
    assert surely.low == surely.value == 1.0
    assert surely.p < 0.01
    assert paired([1.0, 0.0], [0.0, 1.0]).p == 1.0
    assert separation([2.0, 3.0], [1.0, 2.0]) == 0.875


def test_what_was_embedded_is_read_back(tmp_path: Path) -> None:
    """An hour of embedding, done again after a kill."""
    words = WordEmbedder()
    done: list[int] = []
    first = CachedEmbedder(words, tmp_path / "vectors.sqlite", done.append)
    texts, window = ["tea", "milk", "tea"], Window("tins", ("tea", "milk"))
    vectors = [first.embed_passages(texts), *first.embed_windows([window])]
    assert sum(done) == 3
    first.close()
    words.embedded.clear()
    again = CachedEmbedder(words, tmp_path / "vectors.sqlite")
    for one, other in zip(vectors, [again.embed_passages(texts), *again.embed_windows([window])], strict=True):
        assert np.array_equal(one, other)
    assert words.embedded == []
    assert np.allclose(vectors[0], words.embed_passages(texts), atol=1e-3)
    assert again.embed_passages([]).shape == (0, 256)
    again.close()


def run(folder: Path, names: Sequence[str], questions: int = 0) -> Run:
    return Run(systems(names), (50, 100), questions, WordEmbedder(), folder)


def test_a_finished_system_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of an hour that was killed in its last minute."""
    first = list(run(tmp_path, ["spire"]).results([MINIATURE]))
    prepared: list[str] = []
    original: Callable[[Spire, Corpus], None] = Spire.prepare
    monkeypatch.setattr(Spire, "prepare", lambda self, corpus: (prepared.append(self.name), original(self, corpus)))
    again = list(run(tmp_path, ["spire", "local"]).results([MINIATURE]))
    assert prepared == ["local"]
    assert again[0] == first[0]
    fewer = list(run(tmp_path, ["spire"], questions=2).results([MINIATURE]))
    assert len(fewer[0].marks[50]) == 2


def test_the_command_writes_a_report_of_a_teams_own_pages(
    tmp_path: Path, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole way, from a folder and a file to a page and figures."""
    monkeypatch.setattr("evidence.bench.quality.command.embedder_named", lambda name: embedder)
    (tmp_path / "pages").mkdir()
    for page in PAGES:
        (tmp_path / "pages" / page.address).write_bytes(page.data)
    asked = tmp_path / "asked.jsonl"
    asked.write_text(
        '{"question": "what is in the red tin", "document": "kitchen.html", "gold": ["Coffee is in the red tin."]}\n'
        '{"question": "<who> sold the company", "gold": []}\n'
    )
    given = ["bench", "quality", "--own", str(tmp_path / "pages"), str(asked), "--cache", str(tmp_path / "cache")]
    call_command(*given, "--systems", "spire,passages-100", "--budgets", "100", "--json")
    figures = json.loads(capsys.readouterr().out)
    assert [(line["system"], line["useful"]) for line in figures["lines"]] == [("spire", 1), ("passages-100", 1)]
    report = (tmp_path / "cache" / "quality.html").read_text()
    assert "<svg" in report
    assert "<script" not in report
    assert "Coffee is in the red tin." in report
    with pytest.raises(CommandError, match="there is no system 'x'"):
        call_command(*given, "--systems", "x")


def test_a_folder_without_sets_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="none of the sets"):
        call_command("bench", "quality", "--data", str(tmp_path))


def test_gold_in_a_page_that_is_not_there_is_told() -> None:
    question = Question("when", (Gold("night.html", ("noon",)),), "asked.jsonl, line 7")
    with pytest.raises(DataError, match="line 7: there is no page 'night.html'"):
        Corpus(MINIATURE, [question], WordEmbedder())
