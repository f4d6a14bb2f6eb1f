"""The embedder that runs on torch: any sentence-transformers model, on a GPU where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evidence.language.embedder import ModelError, Spans, Vectors, Window, pooled, readable, spans, unit_length
from evidence.language.weights import fingerprint_of, folder_of

BATCH = 64


class TorchEmbedder:
    """A sentence-transformers model by name or folder."""

    def __init__(self, name: str) -> None:
        from sentence_transformers import SentenceTransformer

        folder = folder_of(name)
        try:
            self._model = SentenceTransformer(str(folder or name), local_files_only=folder is not None)
        except OSError as error:
            raise ModelError(f"the model {name!r} (SPIRE_EMBEDDER) cannot be loaded: {error}") from error
        self.name = name
        self.fingerprint = f"{self._weights(folder)[:40]}-torch"
        self.dimensions = int(self._model.get_embedding_dimension() or 0)
        self.max_tokens = int(self._model.max_seq_length or 512)
        prompts = self._model.prompts
        self._prompts = {
            "query": prompts.get("query") or "",
            "passage": prompts.get("passage") or prompts.get("document") or "",
        }
        self._first, self._last = self._special_tokens()

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in self._ids(texts)]

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._encode(texts, self._prompts["query"])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encode(texts, self._prompts["passage"])

    def embed_windows(self, windows: Sequence[Window]) -> list[Vectors]:
        prompt = self._prompts["passage"]
        ids = iter(self._ids([text for window in windows for text in (prompt + window.context, *window.sentences)]))
        prepared = []
        for window in windows:
            context = next(ids)
            sentences = [next(ids) for _ in window.sentences]
            prepared.append(spans(context, sentences, first=self._first, last=self._last, limit=self.max_tokens))
        found: list[Vectors | None] = [None] * len(prepared)
        order = sorted(range(len(prepared)), key=lambda number: len(prepared[number].ids))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            tokens = self._token_vectors([prepared[number] for number in batch])
            for row, number in enumerate(batch):
                found[number] = pooled(tokens[row, : len(prepared[number].ids)], prepared[number].sentences)
        return [vectors for vectors in found if vectors is not None]

    def _encode(self, texts: Sequence[str], prompt: str) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        given = [prompt + readable(text) for text in texts]
        encoded: Any = self._model.encode(given, batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)
        return unit_length(encoded)

    def _token_vectors(self, batch: Sequence[Spans]) -> Any:
        import torch

        width = max(len(entry.ids) for entry in batch)
        ids = torch.zeros((len(batch), width), dtype=torch.int64)
        mask = torch.zeros_like(ids)
        for row, entry in enumerate(batch):
            ids[row, : len(entry.ids)] = torch.tensor(entry.ids)
            mask[row, : len(entry.ids)] = 1
        device = self._model.device
        with torch.inference_mode():
            transformer: Any = self._model[0]
            features = transformer({"input_ids": ids.to(device), "attention_mask": mask.to(device)})
        tokens = features["token_embeddings"].float().cpu().numpy()
        if tokens.shape[-1] != self.dimensions:
            raise ModelError(
                f"{self.name} changes the size of its vectors after pooling, so it has none for a sentence in a window:"
                " build the index with --encoding single"
            )
        return tokens

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        cut = [readable(text[:20_000]) for text in texts]
        encoded = self._model.tokenizer(cut, add_special_tokens=False, truncation=False, verbose=False)
        return list(encoded["input_ids"])

    def _special_tokens(self) -> tuple[list[int], list[int]]:
        """What the model reads before and after every text: none, one or several tokens."""
        bare: list[int] = self._model.tokenizer("a", add_special_tokens=False)["input_ids"]
        whole: list[int] = self._model.tokenizer("a")["input_ids"]
        start = whole.index(bare[0])
        return whole[:start], whole[start + len(bare) :]

    def _weights(self, folder: Any) -> str:
        if folder is not None:
            return fingerprint_of(folder)
        import hashlib

        # A model from a hub lies in a cache of the library's; its tensors say which it is.
        digest = hashlib.sha256()
        for name, tensor in sorted(self._model.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.float().cpu().numpy().tobytes())
        return digest.hexdigest()
