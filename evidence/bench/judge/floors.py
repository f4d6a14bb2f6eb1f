"""How likely to help a candidate must be: what each floor costs in useful citations, and what it saves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evidence.bench.quality.filtered import JudgedSpire
from evidence.bench.quality.spire import Spire
from evidence.bench.quality.systems import System
from evidence.language.judge import Judge, Passage
from evidence.store.statement import TEXT_WEIGHT

FLOORS = (0.001, 0.002, 0.003, 0.005, 0.01, 0.02)


@dataclass
class AtFloor:
    """A judge with another floor; what it said once it remembers, for all floors."""

    judge: Judge
    floor: float
    said: dict[tuple[str, Passage], float] = field(repr=False)

    @property
    def name(self) -> str:
        return self.judge.name

    @property
    def fingerprint(self) -> str:
        return self.judge.fingerprint

    def probabilities(self, question: str, passages: Sequence[Passage]) -> NDArray[np.float32]:
        new = [passage for passage in dict.fromkeys(passages) if (question, passage) not in self.said]
        if new:
            found = self.judge.probabilities(question, new)
            self.said |= {(question, passage): float(value) for passage, value in zip(new, found, strict=True)}
        return np.array([self.said[question, passage] for passage in passages], np.float32)


def systems_at(judge: Judge, floors: Sequence[float] = FLOORS) -> list[System]:
    """SPIRE without its filter, and with it at each floor."""
    said: dict[tuple[str, Passage], float] = {}
    plain = Spire("unfiltered", "SPIRE without its filter", full_text=TEXT_WEIGHT, by_block=True)
    return [
        plain,
        *(
            JudgedSpire(
                f"floor-{floor}",
                f"floor {floor}",
                full_text=TEXT_WEIGHT,
                by_block=True,
                judge=AtFloor(judge, floor, said),
            )
            for floor in floors
        ),
    ]
