"""Training: the embedder's own weights, made to read a question and a passage together."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoModel

from evidence.bench.judge.examples import Asking
from evidence.language.judge import Passage, Reader

SEED = 20261130
PASSAGES = 8
"""Of a question in an epoch: a piece of gold, if it has any, and candidates that are none."""
QUESTIONS = 6
"""In a step."""
NEAR = 25
"""Candidates among the first so many are the hard ones; half of those that are learnt are of them."""
FROZEN = 2
"""Layers, from the first on."""
RATE = 5e-5
RATE_OF_HEAD = 1e-3
WARM_UP = 0.06
TOLD = 50
"""Steps between two reports."""

Inputs = Sequence[tuple[list[int], int]]


class CrossEncoder(nn.Module):
    """A BERT, and a line from what it makes of [CLS] and of the mean of all tokens to how likely a passage helps.

    Word vectors and the first layers are left as they are: a few thousand questions would only spoil what the model knows
    of words that they do not hold.
    """

    def __init__(self, weights: Path, *, attention: str = "sdpa") -> None:
        super().__init__()
        self.encoder = AutoModel.from_pretrained(weights, attn_implementation=attention, local_files_only=True).float()
        for part in (self.encoder.embeddings, *self.encoder.encoder.layer[:FROZEN]):
            part.requires_grad_(False)
        self.head = nn.Linear(2 * self.encoder.config.hidden_size, 1)

    def forward(self, input_ids: Any, mask: Any, token_type_ids: Any) -> Any:
        found = self.encoder(input_ids=input_ids, attention_mask=mask, token_type_ids=token_type_ids).last_hidden_state
        kept = mask.unsqueeze(-1).to(found.dtype)
        mean = (found * kept).sum(1) / kept.sum(1)
        return self.head(torch.cat([found[:, 0], mean], dim=1)).squeeze(-1)


@dataclass(frozen=True)
class Lesson:
    """A question with passages, of which the first is gold if ``has_gold``, and the others are not."""

    inputs: list[tuple[list[int], int]]
    has_gold: bool


def train(
    weights: Path, asked: Sequence[Asking], reader: Reader, *, epochs: int, report: Callable[[str], object]
) -> CrossEncoder:
    """The trained model: always the same one for the same examples on the same kind of machine."""
    torch.manual_seed(SEED)
    chance = random.Random(SEED)  # noqa: S311
    model = CrossEncoder(weights)
    head = list(model.head.parameters())
    body = [parameter for parameter in model.encoder.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW([{"params": body, "lr": RATE}, {"params": head, "lr": RATE_OF_HEAD}])
    steps = epochs * math.ceil(len(asked) / QUESTIONS)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _share(step / steps))
    model.train()
    step, lost = 0, 0.0
    for _ in range(epochs):
        for batch in _batches([_lesson(asking, asked, reader, chance) for asking in asked], chance):
            loss = _loss(model, batch)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            step += 1
            lost += loss.item()
            if step % TOLD == 0:
                report(f"step {step} of {steps}, loss {lost / TOLD:.3f}")
                lost = 0.0
    return model.eval()


def _share(done: float) -> float:
    return done / WARM_UP if done < WARM_UP else (1 - done) / (1 - WARM_UP)


def _lesson(asking: Asking, all_asked: Sequence[Asking], reader: Reader, chance: random.Random) -> Lesson:
    gold = [candidate for candidate in asking.candidates if candidate[2]]
    others = [candidate for candidate in asking.candidates if not candidate[2]]
    chosen = [chance.choice(gold)] if gold else []
    hard, easy = others[:NEAR], others[NEAR:]
    wanted = PASSAGES - len(chosen) - 1
    chosen += chance.sample(hard, min(len(hard), (wanted + 1) // 2))
    chosen += chance.sample(easy, min(len(easy), wanted // 2))
    # One that answers another question: what it says of itself is not enough.
    chosen.append(chance.choice(chance.choice(all_asked).candidates))
    passages: list[Passage] = [(candidate[0], candidate[1]) for candidate in chosen]
    return Lesson(reader.read(asking.question, passages), bool(gold))


def _batches(lessons: list[Lesson], chance: random.Random) -> list[list[Lesson]]:
    """Lessons of similar length together, in a random order."""
    chance.shuffle(lessons)
    batches = []
    reach = 20 * QUESTIONS
    for start in range(0, len(lessons), reach):
        some = sorted(lessons[start : start + reach], key=lambda lesson: max(len(ids) for ids, _ in lesson.inputs))
        batches += [some[place : place + QUESTIONS] for place in range(0, len(some), QUESTIONS)]
    chance.shuffle(batches)
    return batches


def _loss(model: CrossEncoder, batch: Sequence[Lesson]) -> Any:
    """Of each passage whether it helps, which makes a probability; and of a question's passages which one does."""
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(*_padded([given for lesson in batch for given in lesson.inputs])).float()
    labels = torch.zeros_like(logits)
    ranking = torch.zeros(())
    start = 0
    for lesson in batch:
        own = logits[start : start + len(lesson.inputs)]
        if lesson.has_gold:
            labels[start] = 1.0
            ranking = ranking + nn.functional.cross_entropy(own[None], torch.zeros(1, dtype=torch.long))
        start += len(lesson.inputs)
    return nn.functional.binary_cross_entropy_with_logits(logits, labels) * 2 + ranking / len(batch)


def _padded(inputs: Inputs) -> tuple[Any, Any, Any]:
    longest = max(len(ids) for ids, _ in inputs)
    ids = torch.zeros((len(inputs), longest), dtype=torch.long)
    mask = torch.zeros_like(ids)
    types = torch.zeros_like(ids)
    for row, (tokens, asked) in enumerate(inputs):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(tokens)] = 1
        types[row, asked : len(tokens)] = 1
    return ids, mask, types
