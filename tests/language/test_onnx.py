from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evidence.language.embedder import Window, pack
from evidence.language.onnx import OnnxEmbedder, suits
from evidence.language.weights import DEFAULT_MODEL, folder_of

SENTENCES = (
    "Employees receive 25 days of paid leave a year.",
    "It may be carried over until the end of March.",
    "The index is dropped when its table is dropped.",
    "On-call engineers acknowledge a page within 15 minutes.",
)
NEEDED = ("modules.json", "config.json", "sentence_bert_config.json", "tokenizer.json", "1_Pooling/config.json")


def test_like_texts_are_near(minilm: OnnxEmbedder) -> None:
    """A wrong vocabulary or pooling still gives vectors, only useless ones."""
    question = minilm.embed_queries(["How many vacation days do I get?"])[0]
    assert (minilm.embed_passages(SENTENCES) @ question).argmax() == 0


def test_a_vector_does_not_depend_on_what_is_embedded_with_it(minilm: OnnxEmbedder) -> None:
    """Vectors are kept by the hash of their text: the same text must have the same one next month."""
    together = minilm.embed_passages([*SENTENCES, "long " * 300, ""])
    alone = np.concatenate([minilm.embed_passages([text]) for text in SENTENCES])
    assert np.array_equal(together[: len(SENTENCES)], alone)
    windows = [Window("Leave.", SENTENCES[:2]), Window("Indexes.", SENTENCES[2:])]
    for several, single in zip(minilm.embed_windows(windows), windows, strict=True):
        assert np.array_equal(several, minilm.embed_windows([single])[0])


def test_a_sentence_in_a_window_knows_its_neighbours(minilm: OnnxEmbedder) -> None:
    """The sentence "It may be carried over" is found by a question about leave only if the window was read as one."""
    question = minilm.embed_queries(["Can paid leave be carried over?"])[0]
    (window,) = minilm.embed_windows([Window("Leave.", SENTENCES[:2])])
    assert window.shape == (2, minilm.dimensions)
    assert window[1] @ question > minilm.embed_passages([SENTENCES[1]])[0] @ question


def test_a_text_that_is_too_long_is_known_by_its_beginning(minilm: OnnxEmbedder) -> None:
    """The model holds 256 tokens, and more would be an error of the runtime."""
    beginning = "word " * (minilm.max_tokens - 2)
    assert np.array_equal(minilm.embed_passages([beginning]), minilm.embed_passages([beginning + "other " * 400]))


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800", "🦆🦆", "مرحبا", "a" * 100_000, "[CLS] [SEP] [MASK]"])
def test_any_text_has_a_vector_of_length_one(minilm: OnnxEmbedder, text: str) -> None:
    """One strange page must not end an ingest, nor one question a page."""
    (window,) = minilm.embed_windows([Window(text, (text, "and after it"))])
    for vectors in (minilm.embed_passages([text]), minilm.embed_queries([text]), window):
        assert vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_nothing_gives_nothing(minilm: OnnxEmbedder) -> None:
    """A page that did not change asks for no vectors."""
    assert minilm.embed_passages([]).shape == (0, minilm.dimensions)
    assert minilm.embed_queries([]).shape == (0, minilm.dimensions)
    assert minilm.embed_windows([]) == []
    assert minilm.count([]) == []


def test_a_section_longer_than_the_model_keeps_every_sentence(minilm: OnnxEmbedder) -> None:
    """The ends of long sections would be missing from the index."""
    (windows,) = pack([("Leave. " * 90, SENTENCES * 12)], minilm)
    vectors = np.concatenate(minilm.embed_windows(windows))
    assert vectors.shape == (48, minilm.dimensions)
    assert np.isfinite(vectors).all()


def test_a_process_that_loads_it_needs_no_torch(minilm: OnnxEmbedder, model_cache: Path) -> None:
    """Each worker would take seconds and half a gigabyte more."""
    program = (
        "import sys; from pathlib import Path; from evidence.language.load import load;"
        f"load({DEFAULT_MODEL!r}, Path({str(model_cache)!r}), backend='onnx', report=print).embed_queries(['a']);"
        "print([name for name in ('torch', 'transformers', 'sentence_transformers', 'onnx') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert done.stderr == ""


def test_it_is_converted_once_and_leaves_no_drafts(minilm: OnnxEmbedder, model_cache: Path) -> None:
    """A half-written model would be loaded by the next process."""
    names = {f"{minilm.fingerprint}.onnx", "conversion.lock", "fingerprints.json"}
    assert {path.name for path in model_cache.iterdir()} == names


def test_only_a_bert_with_mean_pooling_is_converted(tmp_path: Path) -> None:
    """Another model's vectors would come out wrong without an error."""
    source = folder_of(DEFAULT_MODEL)
    assert source is not None
    assert suits(source)
    assert not suits(tmp_path)
    (tmp_path / "1_Pooling").mkdir()
    for name in NEEDED:
        (tmp_path / name).write_bytes((source / name).read_bytes())
    assert suits(tmp_path)
    pooling = json.loads((source / "1_Pooling/config.json").read_text())
    for changes, expected in (
        ({"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}, False),
        ({"pooling_mode_cls_token": True}, False),
        ({"pooling_mode_mean_tokens": False, "pooling_mode": "mean"}, True),
    ):
        (tmp_path / "1_Pooling/config.json").write_text(json.dumps({**pooling, **changes}))
        assert suits(tmp_path) is expected


def test_the_models_own_prompts_are_read_before_texts(minilm: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Models that were trained with prompts find little without them, in windows as in single texts."""
    monkeypatch.setattr(minilm, "_prompts", {"query": "query: ", "passage": "passage: "})
    prompted = (minilm.embed_queries(["a"]), minilm.embed_passages(["a"]), *minilm.embed_windows([Window("b", ("a",))]))
    monkeypatch.setattr(minilm, "_prompts", {"query": "", "passage": ""})
    (window,) = minilm.embed_windows([Window("passage: b", ("a",))])
    plain = (minilm.embed_passages(["query: a"]), minilm.embed_passages(["passage: a"]), window)
    for one, other in zip(prompted, plain, strict=True):
        assert np.array_equal(one, other)


def test_two_processes_at_once_make_one_model(tmp_path: Path) -> None:
    """Workers start together: a half-written model would be loaded, or the work done by each."""
    program = (
        "import sys; from pathlib import Path; from evidence.language.load import load;"
        f"load({DEFAULT_MODEL!r}, Path({str(tmp_path)!r}), backend='onnx', report=print).embed_queries(['a'])"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate() for process in started]
    assert [process.returncode for process in started] == [0, 0]
    assert [errors for _, errors in said] == ["", ""]
    assert "".join(lines for lines, _ in said).count("Converting") == 1
