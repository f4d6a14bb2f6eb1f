from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evidence.language.tokens import count
from evidence.models import Document
from tests.conftest import WordEmbedder
from tests.handbook import GATE, KITCHEN, TABLE, take_in

QUESTION = "When does Team South open the gate?"
SENTENCE = "Team South opens the gate at six each morning."


def ask(*arguments: Any, **options: Any) -> str:
    """What the command writes."""
    out = io.StringIO()
    call_command("ask", *arguments, stdout=out, **options)
    return out.getvalue()


def ask_json(*arguments: Any, **options: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ask(*arguments, "--json", **options).splitlines()]


@pytest.fixture
def handbook(db: None, embedder: WordEmbedder) -> None:
    take_in({"gate.html": GATE, "kitchen.html": KITCHEN, "tins.html": TABLE})


@pytest.fixture
def questions(tmp_path: Path) -> Callable[[str], Path]:
    """A function that writes a file of questions."""

    def write(lines: str) -> Path:
        file = tmp_path / "questions.jsonl"
        file.write_text(lines, encoding="utf-8")
        return file

    return write


@pytest.mark.usefixtures("handbook")
def test_the_evidence_is_shown_with_its_address_and_what_it_cost() -> None:
    """Text without a source, which nobody can check."""
    shown = ask(QUESTION)
    assert "gate.html  (revision 1, Handbook)" in shown
    assert SENTENCE in shown
    assert "of 1000 tokens" in shown.splitlines()[-1]


@pytest.mark.usefixtures("handbook")
def test_json_has_the_shape_that_is_promised() -> None:
    """A script that breaks because a key has another name than the README says."""
    (answer,) = ask_json(QUESTION)
    assert list(answer) == ["question", "budget", "tokens", "likely", "documents", "definitions", "milliseconds"]
    assert (answer["question"], answer["budget"]) == (QUESTION, 1000)
    for found in answer["documents"]:
        assert list(found) == [
            "document",
            "revision",
            "title",
            "address",
            "text",
            "html",
            "tokens",
            "citations",
        ]
        assert found["citations"]
        assert {tuple(citation) for citation in found["citations"]} == {("path", "text", "score", "rank", "why")}
    assert all(isinstance(value, float) for value in answer["milliseconds"].values())
    first = answer["documents"][0]
    assert (first["document"], first["revision"]) == (Document.objects.get(address="gate.html").pk, 1)
    assert (first["title"], first["address"]) == ("Gate", "gate.html")
    assert first["citations"][0]["text"] == SENTENCE
    assert SENTENCE in first["text"]
    assert f'<span class="cited">{SENTENCE}</span>' in first["html"]


@pytest.mark.usefixtures("handbook")
@pytest.mark.parametrize("budget", [1, 20, 50, 1000])
def test_json_counts_the_text_that_it_gives(budget: int) -> None:
    """A budget that counts something else than what is sent."""
    (answer,) = ask_json(QUESTION, budget=budget)
    tokens = [count(found["text"]) for found in answer["documents"]]
    assert tokens == [found["tokens"] for found in answer["documents"]]
    assert sum(tokens) == answer["tokens"] <= answer["budget"] == budget


@pytest.mark.usefixtures("handbook")
def test_each_line_of_a_file_is_asked(questions: Callable[[str], Path]) -> None:
    """Twenty questions, of which the first or the last is left out."""
    file = questions(f'{{"question": "{QUESTION}", "answer": "six"}}\n\n{{"question": "Where is the tea?"}}')
    answers = ask_json(file=file)
    assert [answer["question"] for answer in answers] == [QUESTION, "Where is the tea?"]


@pytest.mark.usefixtures("handbook")
@pytest.mark.parametrize("line", ["no json", '"text"', '{"query": "Where?"}', '{"question": 7}', "[]", "null"])
def test_a_bad_line_is_named(questions: Callable[[str], Path], line: str) -> None:
    """A file of a thousand questions, and an error that leaves one guessing which of them it is about."""
    file = questions(f'{{"question": "{QUESTION}"}}\n{line}\n')
    with pytest.raises(CommandError, match=r"questions\.jsonl, line 2: .*question"):
        ask(file=file)


@pytest.mark.usefixtures("handbook")
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A traceback for a typing error in a file's name, or for a file in another encoding."""
    with pytest.raises(CommandError, match=r"missing\.jsonl cannot be read: No such file"):
        ask(file=tmp_path / "missing.jsonl")
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes('{"question": "Caf\u00e9?"}'.encode("latin-1"))
    with pytest.raises(CommandError, match=r"latin\.jsonl is not UTF-8"):
        ask(file=latin)


@pytest.mark.usefixtures("handbook")
def test_questions_can_be_piped_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that must be written only to be read once."""
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({"question": QUESTION})))
    assert [answer["question"] for answer in ask_json("--from", "-")] == [QUESTION]


@pytest.mark.usefixtures("handbook")
def test_a_question_or_a_file_is_asked_for() -> None:
    """Both given, and one of them ignored; or none, and a command that waits for ever."""
    for arguments in ([], [QUESTION, "--from", "questions.jsonl"]):
        with pytest.raises(CommandError, match=r"give a QUESTION, or --from FILE\.jsonl"):
            ask(*arguments)


@pytest.mark.usefixtures("handbook")
def test_a_collection_is_named_by_its_name_or_slug() -> None:
    """A search of everything, where one collection was asked for."""
    take_in({"other.html": GATE}, "Manual")
    for name in ("Manual", "manual"):
        (answer,) = ask_json(QUESTION, collection=[name])
        assert [found["address"] for found in answer["documents"]] == ["other.html"]
    (answer,) = ask_json(QUESTION, collection=["Manual", "Handbook"])
    assert {found["address"] for found in answer["documents"]} == {
        "gate.html",
        "kitchen.html",
        "tins.html",
        "other.html",
    }


@pytest.mark.usefixtures("handbook")
def test_an_unknown_collection_or_index_is_named_with_those_there_are() -> None:
    """An empty answer to a question asked of a collection that does not exist."""
    with pytest.raises(CommandError, match="no collection 'Handbok'; there are: Handbook"):
        ask(QUESTION, collection=["Handbok"])
    with pytest.raises(CommandError, match="no index 'passages'; there are: default"):
        ask(QUESTION, index="passages")


@pytest.mark.usefixtures("handbook")
def test_a_budget_that_holds_nothing_is_refused() -> None:
    """A traceback for --budget 0."""
    with pytest.raises(CommandError, match="give 1 or more"):
        ask(QUESTION, budget=0)


@pytest.mark.usefixtures("handbook")
def test_a_budget_too_small_for_any_excerpt_is_said_to_be_so() -> None:
    """People told that there are no documents, when it is their budget that has no room."""
    assert "budget" in ask(QUESTION, budget=1)


@pytest.mark.usefixtures("handbook")
@pytest.mark.parametrize("question", ["", "  ", "gate " * 2000, "門は何時に開きますか？"])
def test_any_question_is_answered(question: str) -> None:
    """An exit code for an empty question, one of 10,000 characters, or one in another script."""
    (answer,) = ask_json(question)
    assert answer["question"] == question
    assert ask(question)


@pytest.mark.django_db
def test_before_the_first_ingest_the_error_says_how_to_begin(embedder: WordEmbedder) -> None:
    """A traceback on the first day."""
    with pytest.raises(CommandError, match=r"manage\.py ingest"):
        ask(QUESTION)


@pytest.mark.usefixtures("handbook")
def test_an_index_of_a_model_that_has_changed_is_an_error_with_a_remedy(embedder: WordEmbedder) -> None:
    """Case 58: a traceback, or answers by chance, after the model's files were replaced."""
    embedder.fingerprint = "words-2"
    with pytest.raises(CommandError, match=r"manage\.py index build"):
        ask(QUESTION)
