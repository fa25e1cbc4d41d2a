"""What differs between two runs of the same questions, with bootstrap intervals; pure functions of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from core.evaluation.measure import LEGS, RANKS, Observation
from core.model import EvaluationRun, MeasureDifference, RunComparison

RESAMPLES = 2_000
SEED = 20_260_401
FEWEST = 6
"""With fewer questions not even the same difference in all of them is significant (sign test, 2 · 0.5⁵ > 0.05)."""
_AT_ONCE = 2_000_000
_ALIKE = 1e-9

Floats = npt.NDArray[np.float64]
Measure = Callable[[Observation], float]


def paired_intervals(differences: Floats, resamples: int = RESAMPLES, seed: int = SEED) -> tuple[Floats, Floats]:
    """Return the 95 % percentile bootstrap intervals of the means of each column, shapes ``(m,)``.

    *Shapes*: ``differences`` is ``(questions, m)``; all columns are drawn with the same questions, so that they belong
    together. Of fewer than six questions nothing can be said: -1 to 1.
    *Source*: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
    """
    count, columns = differences.shape
    if count < FEWEST:
        return np.full(columns, -1.0), np.full(columns, 1.0)
    random = np.random.default_rng(seed)
    means = np.empty((resamples, columns))
    step = max(1, _AT_ONCE // count)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = random.integers(0, count, size=(rows, count))
        drawn += np.arange(rows)[:, None] * count
        # How often each question was drawn weighs its row: cheaper than to gather the rows themselves.
        times = np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)
        means[start : start + rows] = times @ differences / count
    low, high = np.percentile(means, (2.5, 97.5), axis=0)
    return low, high


def compare(
    old_run: EvaluationRun, new_run: EvaluationRun, old: Sequence[Observation], new: Sequence[Observation]
) -> RunComparison:
    """Compare what the same questions, in the same order, got in two runs."""
    pairs = list(zip(old, new, strict=True))
    judged = [pair for pair in pairs if pair[0].is_judged]
    answerable = [pair for pair in pairs if pair[0].question.answerable and pair[0].question.has_judgement]
    unanswerable = [pair for pair in pairs if not pair[0].question.answerable]
    differences = (
        *_differences(judged, [(leg, name, _rank_measure(leg, name)) for leg in LEGS for name in RANKS]),
        *_differences(
            answerable,
            [
                ("answers", "right", lambda each: float(bool(each.is_right))),
                ("answers", "answerable_insufficient", lambda each: float(each.is_insufficient)),
            ],
        ),
        *_differences(
            unanswerable,
            [("answers", "unanswerable_insufficient", lambda each: float(each.is_insufficient))],
        ),
    )
    return RunComparison(
        old=old_run,
        new=new_run,
        differences=differences,
        better=tuple(after.question.id for before, after in pairs if _gain(before, after) > 0),
        worse=tuple(after.question.id for before, after in pairs if _gain(before, after) < 0),
    )


def _rank_measure(leg: str, name: str) -> Measure:
    return lambda each: each.values[leg][name]


def _differences(
    pairs: Sequence[tuple[Observation, Observation]], measures: Sequence[tuple[str, str, Measure]]
) -> list[MeasureDifference]:
    if not pairs:
        return []
    old = np.array([[measure(before) for _, _, measure in measures] for before, _ in pairs])
    new = np.array([[measure(after) for _, _, measure in measures] for _, after in pairs])
    low, high = paired_intervals(new - old)
    return [
        MeasureDifference(
            name, leg, float(old[:, at].mean()), float(new[:, at].mean()), float(low[at]), float(high[at])
        )
        for at, (leg, name, _) in enumerate(measures)
    ]


def _gain(before: Observation, after: Observation) -> float:
    """Above 0 where a question got better: its answer counts before its ranking."""
    answer = bool(after.is_right) - bool(before.is_right)
    if answer or not before.is_judged:
        return answer
    ranking = after.values["final"]["ndcg_at_10"] - before.values["final"]["ndcg_at_10"]
    return ranking if abs(ranking) > _ALIKE else 0.0
