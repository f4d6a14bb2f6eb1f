"""How likely to help a candidate must be: what each floor costs in useful citations, and what it saves."""

from __future__ import annotations

from collections.abc import Sequence

from evidence.bench.quality.filtered import JudgedSpire, Remembering
from evidence.bench.quality.spire import Spire
from evidence.bench.quality.systems import System
from evidence.language.judge import Judge, Passage
from evidence.store.statement import TEXT_WEIGHT

FLOORS = (0.001, 0.002, 0.003, 0.005, 0.01, 0.02)


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
                judge=Remembering(judge, floor, said),
            )
            for floor in floors
        ),
    ]
