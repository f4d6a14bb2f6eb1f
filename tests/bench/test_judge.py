"""Making the filter on a miniature: three small pages, and a BERT of three thin layers without any knowledge."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from django.core.management import CommandError, call_command
from transformers import BertConfig, BertModel

from evidence.bench.judge import command, training
from evidence.bench.judge.examples import HELD_BACK, Asking, askings, file_of, held_back, part_of, read, write
from evidence.bench.judge.export import export
from evidence.bench.judge.training import train
from evidence.bench.quality.corpus import Corpus
from evidence.bench.quality.data import Gold, Page, Question, Set
from evidence.language.judge import OnnxJudge, Reader
from evidence.language.weights import default_folder
from tests.bench.test_quality import MINIATURE, QUESTIONS
from tests.conftest import WordEmbedder

TOKENIZER = default_folder() / "tokenizer.json"
ROOMS = [f"room {number}" for number in range(24)]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The weights of a model that knows nothing, the same each time, with the vocabulary of the default one."""
    folder = tmp_path_factory.mktemp("bert")
    torch.manual_seed(1)
    config = BertConfig(hidden_size=32, num_hidden_layers=3, num_attention_heads=2, intermediate_size=64)
    BertModel(config).save_pretrained(folder)
    (folder / "tokenizer.json").write_bytes(TOKENIZER.read_bytes())
    return folder


@pytest.fixture(scope="module")
def trained(weights: Path) -> training.CrossEncoder:
    """A model that has seen that what helps begins with an opening hour."""
    with pytest.MonkeyPatch.context() as patched:
        # It has nothing to lose, and a few seconds.
        patched.setattr(training, "RATE", 3e-3)
        patched.setattr(training, "RATE_OF_HEAD", 3e-2)
        return train(weights, [asking(room) for room in ROOMS[:18]], Reader(TOKENIZER), epochs=8, report=print)


def asking(room: str) -> Asking:
    others = [
        (room, f"Paint of {room} is {colour}.", False, 0.5) for colour in ("red", "blue", "green", "grey", "white")
    ]
    gold = (room, f"Open from nine until six: {room}.", True, 0.9)
    return Asking("toy", f"When may I enter {room}?", "learn", [*others[:2], gold, *others[2:]], 0)


def probabilities(model: training.CrossEncoder, asked: Asking) -> Any:
    inputs = Reader(TOKENIZER).read(asked.question, [candidate[:2] for candidate in asked.candidates])
    with torch.no_grad():
        return torch.sigmoid(model(*training._padded(inputs))).numpy()


def test_examples_are_what_search_finds_with_its_context(tmp_path: Path) -> None:
    """A filter that learns from passages as it never sees them, or that takes gold for none."""
    found = list(askings(Corpus(MINIATURE, QUESTIONS, WordEmbedder()), QUESTIONS))
    assert [one.question for one in found] == [question.text for question in QUESTIONS]
    gold = [[candidate[:2] for candidate in one.candidates if candidate[2]] for one in found]
    assert [own for ((_, own),) in gold[:2]] == [
        "Team North closes the gate at six each evening.",
        "Coffee is in the red tin.",
    ]
    assert "Tea leaves" in gold[2][0][1]
    assert gold[3] == [], "what nothing answers"
    assert all("Coffee" in context for context, own in gold[1]), "the heading that it stands under"
    path = tmp_path / "askings.jsonl"
    write(path, iter(found))
    assert [json.dumps(one.__dict__) for one in read(path)] == [json.dumps(one.__dict__) for one in found]


def test_gold_that_search_does_not_find_is_learnt_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A filter that only learns of what was easy to find."""
    monkeypatch.setattr("evidence.bench.judge.examples.FOUND", 0)
    found = list(askings(Corpus(MINIATURE, QUESTIONS, WordEmbedder()), QUESTIONS))
    assert [(len(one.candidates), one.missed) for one in found] == [(1, 1), (1, 1), (1, 1), (0, 0)]


def test_other_pages_or_questions_are_other_examples(tmp_path: Path) -> None:
    """Examples of last month's data, learnt from without a word."""
    fewer = replace(MINIATURE, questions=QUESTIONS[1:])
    altered = replace(MINIATURE, pages=(Page("gate.html", b"<p>No gate."), *MINIATURE.pages[1:]))
    assert len({file_of(data, tmp_path) for data in (MINIATURE, fewer, altered, replace(MINIATURE))}) == 3


def test_the_folds_keep_pages_and_questions_apart() -> None:
    """Figures of a filter on what it has learnt by heart."""
    questions = tuple(
        Question(f"question {number} of page {page}", (Gold(f"{page}.html"),))
        for page in range(400)
        for number in (1, 2)
    )
    for name, share in HELD_BACK.items():
        parts = {page: {part_of(name, questions[2 * page + number]) for number in (0, 1)} for page in range(400)}
        assert all(len(part) == 1 for part in parts.values()), "both questions on a page"
        kept = held_back(Set(name, "", (), questions)).questions
        assert set(kept) == {question for question in questions if part_of(name, question) == "held back"}
        assert abs(len(kept) / len(questions) - share) < 0.1
        rest = [part_of(name, question) for question in questions if question not in kept]
        assert set(rest) == ({"learn", "choose"} if share < 1 else set())


def test_training_tells_what_helps_from_what_does_not(trained: training.CrossEncoder, weights: Path) -> None:
    """A training that runs for an hour, and leaves the model as it was."""
    unseen = [asking(room) for room in ROOMS[18:]]
    fresh = training.CrossEncoder(weights).eval()

    def lead(model: training.CrossEncoder) -> float:
        found = [probabilities(model, one) for one in unseen]
        return float(np.mean([one[2] - np.delete(one, 2).max() for one in found]))

    assert lead(fresh) < 0.05 < 0.1 < lead(trained)


def test_words_and_first_layers_stay_as_they_were(trained: training.CrossEncoder, weights: Path) -> None:
    """A few thousand questions that spoil what the model knew of words."""
    before, after = training.CrossEncoder(weights).state_dict(), trained.state_dict()
    same = {name for name, value in before.items() if torch.equal(value, after[name])}
    frozen = {
        name
        for name in before
        if name.startswith(("encoder.embeddings", "encoder.encoder.layer.0.", "encoder.encoder.layer.1."))
    }
    assert frozen <= same
    assert not any(name.startswith("encoder.encoder.layer.2.") for name in same)


def test_what_is_exported_says_what_the_model_says(
    trained: training.CrossEncoder, weights: Path, tmp_path: Path
) -> None:
    """A file whose probabilities are not those that were measured; or without its floor."""
    export(trained, weights, tmp_path / "judge.onnx", floor=0.03)
    judge = OnnxJudge("toy", tmp_path / "judge.onnx", TOKENIZER)
    assert judge.floor == 0.03
    for room in ROOMS:
        asked = asking(room)
        exported = judge.probabilities(asked.question, [candidate[:2] for candidate in asked.candidates])
        assert np.allclose(exported, probabilities(trained, asked), atol=0.05)
    assert [file.name for file in tmp_path.iterdir()] == ["judge.onnx"]


@pytest.fixture
def miniature(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command as it is, with the miniature in place of the sets, of a model, and of what is held back of it."""
    asked = [replace(question, text=f"{question.text} {number}") for number in range(3) for question in QUESTIONS]
    monkeypatch.setattr(command, "read_set", lambda name, folder: replace(MINIATURE, name=name, questions=tuple(asked)))
    monkeypatch.setattr(command, "embedder_named", lambda name: WordEmbedder())
    monkeypatch.setattr(command, "default_folder", lambda: weights)
    monkeypatch.setattr("evidence.bench.judge.examples.CHOOSING", 0.5)


def test_one_command_makes_the_filter(miniature: None, tmp_path: Path) -> None:
    """Steps that only work one by one, by hand."""
    out = tmp_path / "made" / "judge.onnx"
    options = ["--data", str(tmp_path), "--out", str(out), "--cache", str(tmp_path / "cache"), "--epochs", "1"]
    with (tmp_path / "said").open("w") as said:
        call_command("bench", "judge", *options, stdout=said)
    assert "floor-0.002" in (tmp_path / "said").read_text()
    assert 0 <= OnnxJudge("made", out, TOKENIZER).probabilities("When?", [("Gate", "At six.")])[0] <= 1


def test_what_cannot_be_written_is_told_before_an_hour_of_training(miniature: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is a folder: name the file"):
        call_command("bench", "judge", "--data", str(tmp_path), "--out", str(tmp_path))
    (tmp_path / "file").touch()
    with pytest.raises(CommandError, match="exists"):
        call_command("bench", "judge", "--data", str(tmp_path), "--out", str(tmp_path / "file" / "judge.onnx"))
