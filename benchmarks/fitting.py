"""The two small models behind the constants of ``core/query``: a conditional logit and a logistic regression.

Both are regularised on standardised features and weigh every question set alike, however many questions it has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Row = dict[str, float]


@dataclass(frozen=True)
class Group:
    """The candidates of one question: features, and which of them hold the answer."""

    rows: Sequence[Row]
    right: Sequence[bool]
    set_name: str


def conditional_logit(groups: Sequence[Group], names: Sequence[str], ridge: float = 1e-3, steps: int = 1500) -> Row:
    """Fit weights that make the right candidates of each group likely; groups without a right one say nothing."""
    groups = [group for group in groups if any(group.right) and len(group.rows) > 1]
    features = _matrix([row for group in groups for row in group.rows], names)
    middle, spread = features.mean(0), features.std(0) + 1e-9
    x = (features - middle) / spread
    right = np.array([flag for group in groups for flag in group.right])
    starts = np.cumsum([0] + [len(group.rows) for group in groups[:-1]])
    member = np.repeat(np.arange(len(groups)), [len(group.rows) for group in groups])
    share = _balance([group.set_name for group in groups])

    def gradient(weights: Floats) -> Floats:
        score = x @ weights
        raised = np.exp(score - np.maximum.reduceat(score, starts)[member])
        chance = raised / np.add.reduceat(raised, starts)[member]
        aim = np.where(right, chance, 0.0)
        aim /= np.add.reduceat(aim, starts)[member] + 1e-12
        slope: Floats = x.T @ ((aim - chance) * share[member]) - ridge * weights
        return slope

    weights = _ascend(gradient, len(names), steps)
    return dict(zip(names, (weights / spread).tolist(), strict=True))


def logistic(
    rows: Sequence[Row],
    labels: Sequence[bool],
    set_names: Sequence[str],
    names: Sequence[str],
    ridge: float = 1e-3,
    *,
    by_label: bool = True,
    near: tuple[Row, float] | None = None,
) -> tuple[Row, float]:
    """Fit weights and a bias that tell True from False: weighed alike, without ``by_label`` as often as they are.

    With ``near`` the ridge holds them to those weights, and not to nothing.
    """
    features = _matrix(rows, names)
    middle, spread = features.mean(0), features.std(0) + 1e-9
    x = np.hstack([(features - middle) / spread, np.ones((len(rows), 1))])
    y = np.array(labels, float)
    share = _balance([f"{name} {label}" if by_label else name for name, label in zip(set_names, labels, strict=True)])
    held = np.append(np.full(len(names), ridge), 0.0)
    before, bias = near or ({}, 0.0)
    base = np.array([before.get(name, 0.0) for name in names])
    known = features @ base + bias

    def gradient(weights: Floats) -> Floats:
        slope: Floats = x.T @ ((y - 1 / (1 + np.exp(-known - x @ weights))) * share) - held * weights
        return slope

    weights = _ascend(gradient, len(names) + 1, 1500)
    scaled = weights[:-1] / spread
    fitted = dict(zip(names, (base + scaled).tolist(), strict=True))
    return fitted, float(bias + weights[-1] - scaled @ middle)


def area_under_curve(above: Sequence[float] | Floats, below: Sequence[float] | Floats) -> float:
    """Return how often a value of ``above`` is larger than one of ``below``, ties half; nan where there is none."""
    if not len(above) or not len(below):
        return math.nan
    high, low = np.asarray(above)[:, None], np.asarray(below)[None]
    return float((high > low).mean() + (high == low).mean() / 2)


def score(rows: Sequence[Row], weights: Row) -> Floats:
    """Return the weighted sum of each row."""
    return _matrix(rows, list(weights)) @ np.array(list(weights.values()))


def _matrix(rows: Sequence[Row], names: Sequence[str]) -> Floats:
    return np.array([[row[name] for name in names] for row in rows], float).reshape(len(rows), len(names))


def _balance(names: Sequence[str]) -> Floats:
    values, inverse, counts = np.unique(np.array(names), return_inverse=True, return_counts=True)
    share: Floats = 1.0 / (len(values) * counts[inverse])
    return share


def _ascend(gradient: Any, size: int, steps: int) -> Floats:
    """Climb with Adam."""
    weights, speed, size_of = np.zeros(size), np.zeros(size), np.zeros(size)
    for step in range(1, steps + 1):
        slope = gradient(weights)
        speed = 0.9 * speed + 0.1 * slope
        size_of = 0.999 * size_of + 0.001 * slope**2
        weights = weights + 0.03 * (speed / (1 - 0.9**step)) / (np.sqrt(size_of / (1 - 0.999**step)) + 1e-10)
    return weights
