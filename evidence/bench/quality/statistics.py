"""How sure a mean is: bootstrap intervals over questions, and paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

RESAMPLES = 2000
SEED = 20260301
LEVEL = 95.0


class Estimate(NamedTuple):
    """A value, and the interval that holds it with 95 %."""

    value: float
    low: float
    high: float


class Difference(NamedTuple):
    """The mean of paired differences, its interval, and the probability of one as large if there were none."""

    value: float
    low: float
    high: float
    p: float


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Estimate:
    """The sum of the first by the sum of the second, by bootstrap over questions; with ones below, a mean."""
    above, below = np.asarray(numerators, float), np.asarray(denominators, float)
    if not below.sum():
        return Estimate(0.0, 0.0, 0.0)
    chosen = _chosen(len(above))
    sums = below[chosen].sum(axis=1)
    ratios = above[chosen].sum(axis=1)[sums > 0] / sums[sums > 0]
    low, high = _interval(ratios)
    return Estimate(float(above.sum() / below.sum()), low, high)


def mean(values: Sequence[float]) -> Estimate:
    """The mean over questions."""
    return ratio(values, np.ones(len(values)).tolist())


def paired(values: Sequence[float], others: Sequence[float]) -> Difference:
    """The mean of ``values - others``; p by flipping signs at random (a permutation test, two-sided)."""
    differences = np.asarray(values, float) - np.asarray(others, float)
    if not len(differences):
        return Difference(0.0, 0.0, 0.0, 1.0)
    low, high = _interval(differences[_chosen(len(differences))].mean(axis=1))
    observed = float(differences.mean())
    signs = np.random.default_rng(SEED).choice((-1.0, 1.0), (RESAMPLES, len(differences)))
    as_large = int((np.abs((signs * differences).mean(axis=1)) >= abs(observed) - 1e-12).sum())
    return Difference(observed, low, high, (as_large + 1) / (RESAMPLES + 1))


def separation(scores: Sequence[float], others: Sequence[float]) -> float:
    """The probability that one of the first is above one of the second (the area under the ROC curve); ties count half."""
    first, second = np.asarray(scores, float)[:, None], np.asarray(others, float)[None, :]
    if not first.size or not second.size:
        return float("nan")
    return float(((first > second) + 0.5 * (first == second)).mean())


def _chosen(count: int) -> Any:
    return np.random.default_rng(SEED).integers(0, count, (RESAMPLES, count))


def _interval(values: Any) -> tuple[float, float]:
    low, high = np.percentile(values, [(100 - LEVEL) / 2, (100 + LEVEL) / 2])
    return float(low), float(high)
