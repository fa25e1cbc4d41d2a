"""The middle one of values that do not count alike."""

from __future__ import annotations

from collections.abc import Iterable


def weighted_median(values: Iterable[tuple[float, float]]) -> float:
    """Return the value that half of all weight has at most, of values each with its weight; 0 of none."""
    ordered = sorted(values)
    left = sum(weight for _, weight in ordered) / 2
    for value, weight in ordered:
        left -= weight
        if left <= 0:
            return value
    return 0.0
