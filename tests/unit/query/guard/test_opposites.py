"""Words that say the opposite of each other have two sides, and no word of one axis is a side of another."""

from __future__ import annotations

import pytest

from core.query.guard.opposites import POLES


def test_every_axis_has_two_sides() -> None:
    sides: dict[str, set[int]] = {}
    for axis, side in POLES.values():
        sides.setdefault(axis, set()).add(side)
    assert {axis for axis, found in sides.items() if found != {0, 1}} == set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("increase", "decrease"),
        ("enable", "disable"),
        ("possible", "impossible"),
        ("am", "pm"),
        ("male", "female"),
        ("増加", "減少"),
        ("有効", "無効"),
        ("数多い", "数少ない"),
    ],
)
def test_opposites_are_the_sides_of_one_axis(one: str, other: str) -> None:
    assert POLES[one] == (POLES[other][0], 1 - POLES[other][1])
