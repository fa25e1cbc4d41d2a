"""Rows are counted seldom where that takes long, and nobody waits for a store that does not answer."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event

import pytest

from core.errors import StoreUnavailable
from core.indexes.row_counts import RowCounts
from core.model import Part


class Store:
    """Has as many rows as it was counted; a count takes ``takes_s`` of its clock, and waits while it ``hangs``."""

    def __init__(self) -> None:
        self.now = 0.0
        self.takes_s = 0.0
        self.counted = 0
        self.fails = False
        self.goes_on = Event()
        self.goes_on.set()

    def count(self) -> Mapping[Part, int]:
        self.goes_on.wait(60)
        self.counted += 1
        self.now += self.takes_s
        if self.fails:
            raise StoreUnavailable("The store is ailing.")
        return {Part.HEAD: self.counted, Part.HISTORY: 0}


@pytest.fixture
def store() -> Store:
    return Store()


def test_a_count_that_took_long_is_told_for_some_seconds(store: Store) -> None:
    counts = RowCounts(60, lambda: store.now)
    store.takes_s = 2.3
    assert [counts.of(store) for _ in range(3)] == [1, 1, 1]
    store.now += 5
    assert counts.of(store) == 2


def test_a_quick_store_is_counted_each_time(store: Store) -> None:
    counts = RowCounts(60, lambda: store.now)
    assert [counts.of(store) for _ in range(3)] == [1, 2, 3]


def test_a_failure_is_told_at_once_and_not_kept(store: Store) -> None:
    counts = RowCounts(60, lambda: store.now)
    assert counts.of(store) == 1
    store.fails = True
    with pytest.raises(StoreUnavailable, match="ailing"):
        counts.of(store)
    store.fails = False
    assert counts.of(store) == 3


def test_nobody_waits_for_a_store_that_hangs_and_it_is_asked_once(store: Store) -> None:
    counts = RowCounts(0.01, lambda: store.now)
    store.goes_on.clear()
    for _ in range(3):
        with pytest.raises(StoreUnavailable, match="in time"):
            counts.of(store)
    store.goes_on.set()
    counts._wait_s = 60
    assert counts.of(store) <= 2


def test_while_a_store_is_slow_the_last_number_is_told(store: Store) -> None:
    counts = RowCounts(60, lambda: store.now)
    assert counts.of(store) == 1
    counts._wait_s = 0.01
    store.goes_on.clear()
    assert [counts.of(store) for _ in range(3)] == [1, 1, 1]
    store.goes_on.set()
