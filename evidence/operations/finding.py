"""What ``verify`` finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Something that is not as it should be: where, what, and the command that mends it.

    ``is_damage`` is False for what is merely due: work that was interrupted, or that an upgrade left to do. ``repair``,
    where there is one, makes it right from what is there; what it makes is derived, never what people wrote or sent.
    """

    place: str
    problem: str
    remedy: str
    is_damage: bool = True
    repair: Callable[[], object] | None = None

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}. {'Mend it' if self.is_damage else 'Do it'} with: {self.remedy}"


REPAIR = "manage.py verify --repair"
