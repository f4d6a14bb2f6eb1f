"""From a trained cross-encoder to the file that the product reads."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import nn

from evidence.bench.judge.training import CrossEncoder
from evidence.language.onnx import quantize

INPUTS = ("input_ids", "token_type_ids")


def export(model: CrossEncoder, weights: Path, target: Path, *, floor: float) -> None:
    """Write the model as int8 ONNX, with the floor among its metadata. It takes inputs without padding."""
    # The exporter knows the older way to compute attention.
    plain = CrossEncoder(weights, attention="eager")
    plain.load_state_dict(model.state_dict())
    plain.eval()
    example = torch.ones((2, 8), dtype=torch.long)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        exported, draft = Path(scratch) / "model.onnx", Path(scratch) / "int8.onnx"
        with warnings.catch_warnings(), torch.no_grad():
            # The tracer warns of every shape that it reads; the older exporter, of being the older one.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                _Probability(plain),
                (example, torch.zeros_like(example)),
                str(exported),
                dynamo=False,
                opset_version=17,
                input_names=list(INPUTS),
                output_names=["probability"],
                dynamic_axes={name: {0: "batch", 1: "length"} for name in INPUTS} | {"probability": {0: "batch"}},
            )
        quantize(exported, draft)
        made = onnx.load(draft)
        entry = made.metadata_props.add()
        entry.key, entry.value = "floor", str(floor)
        onnx.save(made, draft)
        draft.replace(target)


class _Probability(nn.Module):
    def __init__(self, model: CrossEncoder) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Any, types: Any) -> Any:
        return torch.sigmoid(self.model(ids, torch.ones_like(ids), types))
