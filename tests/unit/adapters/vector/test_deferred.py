"""A deferred index is opened once, when it is needed, and closing it waits for no opening."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from core.adapters.vector.deferred import DeferredVectorIndex
from core.adapters.vector.memory import MemoryVectorIndex
from core.errors import StoreUnavailable
from core.ports import VectorIndex
from tests.contracts.vector_index import DIMENSION, rows_of, unit_vectors


class Opening:
    """Opens memory indexes, once ``may_end`` is set, and notes what became of them."""

    def __init__(self) -> None:
        self.began, self.may_end = Event(), Event()
        self.opened = 0
        self.closed = 0

    def __call__(self) -> VectorIndex:
        self.began.set()
        self.may_end.wait(60)
        self.opened += 1
        opening = self

        class Noted(MemoryVectorIndex):
            def close(self) -> None:
                opening.closed += 1

        return Noted(DIMENSION)


@pytest.fixture
def opening() -> Opening:
    return Opening()


def test_the_index_is_opened_at_the_first_call_and_once(opening: Opening) -> None:
    opening.may_end.set()
    index = DeferredVectorIndex(opening, "later")
    assert (opening.opened, index.engine) == (0, "later")
    with ThreadPoolExecutor() as threads:
        list(threads.map(lambda _: index.count(), range(8)))
    assert (opening.opened, index.engine) == (1, MemoryVectorIndex.engine)
    index.close()
    index.close()
    assert opening.closed == 1
    with pytest.raises(StoreUnavailable, match="closed"):
        index.count()


def test_what_rests_is_opened_again_for_whoever_comes_and_nobody_is_interrupted(opening: Opening) -> None:
    opening.may_end.set()
    index = DeferredVectorIndex(opening, "later")
    assert index.rest() and opening.opened == 0
    index.upsert(rows_of(unit_vectors(3)))
    reading = index.stored()
    next(reading)
    assert not index.rest() and opening.closed == 0, "somebody reads it"
    assert list(reading) == []
    assert index.rest() and opening.closed == 1
    assert sum(index.count().values()) == 3 and opening.opened == 1, "its rows are known while it rests"
    index.upsert(rows_of(unit_vectors(1)))
    assert (opening.opened, opening.closed) == (2, 1) and sum(index.count().values()) == 1
    assert index.rest() and opening.closed == 2
    index.close()
    assert opening.closed == 2


def test_closing_does_not_wait_for_an_opening_that_hangs_and_what_it_opens_is_closed(opening: Opening) -> None:
    index = DeferredVectorIndex(opening, "later")
    with ThreadPoolExecutor() as threads:
        counting = threads.submit(index.count)
        assert opening.began.wait(60)
        closing = threads.submit(index.close)
        try:
            closing.result(30)
            assert opening.closed == 0
        finally:
            opening.may_end.set()
        with pytest.raises(StoreUnavailable, match="closed"):
            counting.result(60)
    assert (opening.opened, opening.closed) == (1, 1)
