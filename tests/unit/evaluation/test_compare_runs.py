"""Differences of two runs: their intervals against what is known of them, and which questions got better or worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from core.evaluation.compare_runs import compare, paired_intervals
from core.evaluation.measure import Observation
from core.model import EvaluationRun, JudgedQuestion, MeasureDifference, RunComparison
from tests.unit.evaluation.results import observation

RUN = EvaluationRun("r", "s", "set", datetime(2026, 4, 1, tzinfo=UTC), 1)


def unjudged(name: str, *, insufficient: bool = False) -> Observation:
    """What a question got of which nothing is known that is right."""
    seen = observation(name, insufficient=insufficient)
    return replace(seen, question=JudgedQuestion(name, "When?"), values={}, is_right=None)


def compared(old: Sequence[Observation], new: Sequence[Observation]) -> RunComparison:
    return compare(RUN, RUN, old, new)


def difference(found: RunComparison, leg: str, name: str) -> MeasureDifference:
    return next(each for each in found.differences if (each.leg, each.name) == (leg, name))


def test_interval_of_a_mean_is_that_of_the_normal_distribution() -> None:
    """For many differences the bootstrap comes near mean ± 1.96 · s / √n."""
    differences = np.random.default_rng(5).normal(0.1, 0.5, size=(2_000, 2))
    low, high = paired_intervals(differences, resamples=4_000)
    spread = 1.96 * differences.std(axis=0) / np.sqrt(len(differences))
    np.testing.assert_allclose(low, differences.mean(axis=0) - spread, atol=0.1 * spread.max())
    np.testing.assert_allclose(high, differences.mean(axis=0) + spread, atol=0.1 * spread.max())


def test_interval_of_shares_is_that_of_the_binomial_distribution() -> None:
    """30 of 100 differ: the count among 100 draws has the 2.5 and 97.5 % quantiles 21 and 39."""
    differences = np.array([[1.0]] * 30 + [[0.0]] * 70)
    low, high = paired_intervals(differences, resamples=10_000)
    assert low[0] == pytest.approx(0.21, abs=0.011)
    assert high[0] == pytest.approx(0.39, abs=0.011)


def test_interval_is_the_same_each_time_and_however_it_is_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = np.random.default_rng(1).normal(size=(50, 3))
    first, again = paired_intervals(differences), paired_intervals(differences)
    monkeypatch.setattr("core.evaluation.compare_runs._AT_ONCE", 130)
    divided = paired_intervals(differences)
    for one, two, three in zip(first, again, divided, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_allclose(one, three)


def test_same_difference_everywhere_is_certain_but_not_from_few_questions() -> None:
    low, high = paired_intervals(np.full((6, 1), 0.25))
    assert (low[0], high[0]) == pytest.approx((0.25, 0.25))
    low, high = paired_intervals(np.full((5, 1), 0.25))
    assert low[0] < 0 < high[0]


def test_equal_runs_do_not_differ() -> None:
    results = [observation(str(number), number / 10) for number in range(10)]
    found = compared(results, results)
    assert not [each for each in found.differences if each.is_significant or each.old != each.new]
    assert (found.better, found.worse) == ((), ())


def test_drop_in_most_questions_is_significant() -> None:
    old = [observation(str(number), 1.0) for number in range(30)]
    new = [observation(str(number), 0.5 if number < 20 else 1.0, right=number >= 20) for number in range(30)]
    found = compared(old, new)
    ndcg, right = difference(found, "final", "ndcg_at_10"), difference(found, "answers", "right")
    assert (ndcg.old, ndcg.new) == pytest.approx((1.0, 2 / 3))
    assert ndcg.low <= ndcg.new - ndcg.old <= ndcg.high < 0
    assert ndcg.is_significant and right.is_significant


def test_measures_are_taken_over_the_questions_that_they_are_about() -> None:
    old = [observation("a"), observation("b", answerable=False, right=False)]
    new = [observation("a"), observation("b", answerable=False, right=True, insufficient=True)]
    found = compared(old, new)
    assert (difference(found, "answers", "right").new, difference(found, "final", "recall_at_1").new) == (1.0, 1.0)
    gone = difference(found, "answers", "unanswerable_insufficient")
    assert (gone.old, gone.new) == (0.0, 1.0)
    assert found.better == ("b",)


def test_answer_counts_before_the_ranking() -> None:
    old = [observation("a", 0.5), observation("b", 0.5, right=False), observation("c", 0.5), observation("d", 0.5)]
    new = [observation("a", 1.0, right=False), observation("b", 0.2), observation("c", 0.6), observation("d", 0.4)]
    found = compared(old, new)
    assert (found.better, found.worse) == (("b", "c"), ("a", "d"))


def test_a_question_without_a_judgement_gets_neither_better_nor_worse() -> None:
    old = [observation(str(n), right=n > 2) for n in range(8)]
    new = [observation(str(n)) for n in range(8)]
    plain = compared(old, new)
    found = compared([*old, unjudged("x"), unjudged("y")], [*new, unjudged("x", insufficient=True), unjudged("y")])
    assert found.differences == plain.differences
    assert (found.better, found.worse) == (plain.better, ())
