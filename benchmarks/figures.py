"""Figures of a round, their units, and what several rounds say: median, lowest and highest."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from benchmarks.benchmark import Unit

_RULES: Mapping[str, Unit] = {
    r"_ms|ms": ("ms", "lower"),
    r"(.*_)?mb_per_s": ("MB/s", "higher"),
    r".*(_per_(cpu_)?s(econd)?|/s)": ("1/s", "higher"),
    r"(.*_)?(s|seconds)|.*_s_per_\d+": ("s", "lower"),
    r"(.*_)?mb": ("MB", "lower"),
    r"kB": ("kB", "lower"),
    r"(size|part|passage)_bytes|original_mb": ("bytes", "neither"),
    r"bytes|.*_bytes|(.*_)?bytes_per_.*|bytes a .*": ("bytes", "lower"),
    r"recall.*|ndcg@.*|mrr@.*|agreement_\d+|contains_gold|same_ten|same_order|shared|.*_kept": ("share", "higher"),
    r"(.*_)?share|unanswered|answerable_insufficient|.*shown_as_supported": ("share", "lower"),
    r"unanswerable_insufficient.*|best_sentence": ("share", "higher"),
    r"times_faster": ("ratio", "higher"),
    r".*ratio.*|per_touched|.*_to_.*": ("ratio", "lower"),
}
_NAMED = tuple((re.compile(rule if not rule.startswith("_") else f".*{rule}"), unit) for rule, unit in _RULES.items())
COUNT: Unit = ("count", "neither")


@dataclass(frozen=True)
class Round:
    """What one run gave: numbers by their paths, what describes them, and the names of what gave no number."""

    values: Mapping[str, float]
    details: Mapping[str, Any]
    not_measured: Sequence[str]


def taken_apart(report: Mapping[str, Any]) -> Round:
    """Tell numbers from descriptions; a number that is not finite is none."""
    leaves = list(_leaves(report, ""))
    numbers = {name: value for name, value in leaves if _is_number(value)}
    return Round(
        {name: value for name, value in numbers.items() if isfinite(value)},
        {name: value for name, value in leaves if name not in numbers and value is not None},
        [name for name, value in leaves if value is None or (name in numbers and not isfinite(value))],
    )


def unit_of(name: str, own: Mapping[str, Unit]) -> Unit:
    """Return the unit of a figure: that of the last part of its path that tells one."""
    for pattern, unit in own.items():
        if re.fullmatch(pattern, name):
            return unit
    if name.endswith("/s"):
        return ("1/s", "higher")
    for part in reversed(name.split("/")):
        for rule, unit in _NAMED:
            if rule.fullmatch(part):
                return unit
    return COUNT


def summarised(rounds: Sequence[Mapping[str, float]], own: Mapping[str, Unit]) -> dict[str, dict[str, Any]]:
    """Return each figure with its unit; one that a round has not given is that of the others."""
    found: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(name for values in rounds for name in values):
        values = [given[name] for given in rounds if name in given]
        unit, better = unit_of(name, own)
        value = statistics.median(values)
        found[name] = {"value": value, "min": min(values), "max": max(values), "unit": unit, "better": better}
    return found


def ratios(own: Sequence[Mapping[str, float]], other: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the median of the ratios of each pair of rounds, where the other figure is not zero."""
    found: dict[str, list[float]] = {}
    for ours, theirs in zip(own, other, strict=True):
        for name in ours:
            if theirs.get(name):
                found.setdefault(name, []).append(ours[name] / theirs[name])
    return {name: statistics.median(values) for name, values in found.items()}


def _leaves(report: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in report.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
