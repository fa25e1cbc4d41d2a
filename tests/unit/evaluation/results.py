"""Observations for tests of what is made of them."""

from __future__ import annotations

from core.evaluation.measure import LEGS, RANKS, Observation
from core.model import JudgedQuestion


def observation(
    name: str, value: float = 1.0, *, right: bool = True, answerable: bool = True, insufficient: bool = False
) -> Observation:
    """An observation whose rank measures all have one value."""
    return Observation(
        question=JudgedQuestion(name, "When?", ("a.txt",) if answerable else (), ("noon",), answerable),
        ranks=dict.fromkeys(LEGS, 1 if value else None),
        values={leg: dict.fromkeys(RANKS, value) for leg in LEGS} if answerable else {},
        is_right=right,
        is_insufficient=insufficient,
        answer="noon",
        answer_type="extractive",
        duration_ms=1.0,
    )
