"""The embedder that runs on processors: a model converted once to int8 ONNX, then without torch."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from evidence.language.embedder import Spans, Vectors, Window, pooled, readable, spans
from evidence.language.weights import files_of, fingerprint_of

CONVERSION = "int8-2"
"""Part of the fingerprint: another way of converting gives other vectors."""

LONGEST_TEXT = 20_000
"""Characters of a text that are tokenised: far more than any model reads."""


class OnnxEmbedder:
    """A BERT-like sentence-transformers model with mean pooling, int8, on onnxruntime.

    Each input is a run of its own, and as many run at once as there are processors. Int8 scales each activation by its
    largest value: in a batch, a text's vector would change with its neighbours (cosine down to .984 on real sentences).
    Alone it is always the same, and faster too: nothing is padded, and activations stay in the processor's cache.
    """

    def __init__(self, name: str, folder: Path, cache: Path, report: Callable[[str], None]) -> None:
        self.name = name
        weights = _remembered_fingerprint(folder, cache)
        self.fingerprint = f"{weights[:40]}-{CONVERSION}"
        converted = cache / f"{self.fingerprint}.onnx"
        if not converted.exists():
            _convert(name, folder, converted, report)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        # A plan of memory is kept for every length ever seen: it saves no time here.
        options.enable_mem_pattern = False
        self._session = onnxruntime.InferenceSession(str(converted), options, providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}
        self.dimensions = int(self._session.get_outputs()[0].shape[-1])
        self.max_tokens = int(_settings(folder / "sentence_bert_config.json")["max_seq_length"])
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        first, last = self._tokenizer.encode("").ids
        self._first, self._last = [first], [last]
        self._processors = os.cpu_count() or 1
        self._prompts = prompts_of(folder)

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in self._ids(texts)]

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._prompts["query"] + text for text in texts])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._prompts["passage"] + text for text in texts])

    def embed_windows(self, windows: Sequence[Window]) -> list[Vectors]:
        prompt = self._prompts["passage"]
        ids = iter(self._ids([text for window in windows for text in (prompt + window.context, *window.sentences)]))
        prepared = []
        for window in windows:
            context = next(ids)
            prepared.append(self._spans(context, [next(ids) for _ in window.sentences]))
        return self._run(prepared)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        # On its own, a text's mean takes in the special tokens too: so the model was trained.
        prepared = []
        for ids in self._ids(texts):
            span = self._spans([], [ids])
            prepared.append(Spans(span.ids, [(0, len(span.ids))]))
        return np.concatenate(self._run(prepared))

    def _spans(self, context: list[int], sentences: list[list[int]]) -> Spans:
        return spans(context, sentences, first=self._first, last=self._last, limit=self.max_tokens)

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        cut = [readable(text[:LONGEST_TEXT]) for text in texts]
        return [encoded.ids for encoded in self._tokenizer.encode_batch_fast(cut, add_special_tokens=False)]

    def _run(self, prepared: Sequence[Spans]) -> list[Vectors]:
        """The pooled vectors of each input."""
        if len(prepared) == 1:
            return [self._run_one(prepared[0])]
        with ThreadPoolExecutor(self._processors) as pool:
            return list(pool.map(self._run_one, prepared))

    def _run_one(self, entry: Spans) -> Vectors:
        ids = np.array([entry.ids], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        output: Any = self._session.run(None, {name: given[name] for name in self._inputs})
        return pooled(output[0][0], entry.sentences)


def suits(folder: Path) -> bool:
    """Whether a model can be converted: a BERT with mean pooling, and nothing after it but a normalisation."""
    if not (folder / "modules.json").is_file() or not (folder / "tokenizer.json").is_file():
        return False
    modules: list[dict[str, str]] = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    kinds = [module["type"].rsplit(".", 1)[-1] for module in modules]
    return (
        kinds[:2] == ["Transformer", "Pooling"]
        and set(kinds[2:]) <= {"Normalize"}
        and _settings(folder / "config.json").get("model_type") == "bert"
        and _settings(folder / "sentence_bert_config.json").get("max_seq_length") is not None
        and _pools_by_mean(_settings(folder / modules[1]["path"] / "config.json"))
    )


def _pools_by_mean(settings: dict[str, Any]) -> bool:
    """Whether the mean of the token vectors is all that is taken, as older and newer models write it."""
    prefix = "pooling_mode_"
    modes = [key.removeprefix(prefix) for key, is_on in settings.items() if key.startswith(prefix) and is_on]
    return modes == ["mean_tokens"] or settings.get("pooling_mode") == "mean"


def prompts_of(folder: Path) -> dict[str, str]:
    """What the model wants to read before a question and before a passage; usually nothing."""
    prompts = _settings(folder / "config_sentence_transformers.json").get("prompts", {})
    return {
        "query": prompts.get("query") or "",
        "passage": prompts.get("passage") or prompts.get("document") or "",
    }


def _settings(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found


def _remembered_fingerprint(folder: Path, cache: Path) -> str:
    """The model's fingerprint, taken once for each state of its files: reading 90 MB is most of a worker's start."""
    state = json.dumps([[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files_of(folder)])
    notes = cache / "fingerprints.json"
    known: dict[str, str] = json.loads(notes.read_text()) if notes.is_file() else {}
    if state not in known:
        known[state] = fingerprint_of(folder)
        _write(notes, json.dumps(known).encode())
    return known[state]


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # A temporary directory, not a temporary file: that one would stay readable by its writer only.
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        draft = Path(scratch) / path.name
        draft.write_bytes(content)
        os.replace(draft, path)


def _convert(name: str, folder: Path, converted: Path, report: Callable[[str], None]) -> None:
    """Write the model's transformer, up to its token vectors, as int8 ONNX. Of two processes, one does it."""
    converted.parent.mkdir(parents=True, exist_ok=True)
    with (converted.parent / "conversion.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if converted.exists():
            return
        report(f"Converting {name} for this processor (once, some seconds) …")
        with tempfile.TemporaryDirectory(dir=converted.parent) as scratch:
            exported = Path(scratch) / "model.onnx"
            _export(folder, exported)
            draft = Path(scratch) / "int8.onnx"
            quantize(exported, draft)
            os.replace(draft, converted)


def _export(folder: Path, exported: Path) -> None:
    import torch
    from transformers import AutoModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    model = AutoModel.from_pretrained(folder, attn_implementation="eager", local_files_only=True).float().eval()
    names = ["input_ids", "attention_mask", "token_type_ids"]
    example = torch.ones((2, 8), dtype=torch.int64)

    class TokenVectors(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: Any, mask: Any, types: Any) -> Any:
            return self.model(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state

    with warnings.catch_warnings(), torch.no_grad():
        # The tracer warns of every shape that it reads; the older exporter, of being the older one.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            TokenVectors(),
            (example, example, torch.zeros_like(example)),
            str(exported),
            dynamo=False,
            opset_version=17,
            input_names=names,
            output_names=["tokens"],
            dynamic_axes={name: {0: "batch", 1: "length"} for name in [*names, "tokens"]},
        )


def quantize(exported: Path, draft: Path) -> None:
    """Write an exported model with int8 weights."""
    import logging

    from onnxruntime.quantization import QuantType, quantize_dynamic

    # It advises a preparation that dynamic quantisation of a transformer gains nothing from.
    logger = logging.getLogger()
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        # Seven bits of each weight: with eight, processors without VNNI overflow, and would give other vectors.
        quantize_dynamic(exported, draft, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8)
    finally:
        logger.setLevel(level)
