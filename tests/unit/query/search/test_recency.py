"""The recency multiplier falls by a sixtieth a day, to one half."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.query.search.recency import recency

NOW = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.mark.parametrize(("days", "factor"), [(0, 1.0), (15, 0.75), (30, 0.5), (60, 0.5), (4_000, 0.5), (-3, 1.0)])
def test_age_halves_a_score_at_most(days: int, factor: float) -> None:
    assert recency(NOW - timedelta(days=days), NOW) == pytest.approx(factor)


def test_an_unknown_age_changes_nothing() -> None:
    assert recency(None, NOW) == 1.0
