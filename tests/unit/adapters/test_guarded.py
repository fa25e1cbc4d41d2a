"""Guarded indexes keep the contracts, and a store that is down, slow or flapping costs a question little."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.adapters.circuit import State
from core.adapters.guarded import GuardedKeywordIndex, GuardedVectorIndex
from core.adapters.keyword.memory import MemoryKeywordIndex
from core.adapters.vector.memory import MemoryVectorIndex
from core.errors import StoreUnavailable
from core.model import Part
from tests.ailing import Ailing
from tests.contracts.keyword_index import KeywordIndexContract, row
from tests.contracts.vector_index import DIMENSION, VectorIndexContract
from tests.waiting import until

HEAD = [Part.HEAD]


class TestGuardedKeywordIndex(KeywordIndexContract):
    @pytest.fixture
    def index(self) -> Iterator[GuardedKeywordIndex]:
        index = GuardedKeywordIndex(MemoryKeywordIndex(), pause_s=60, timeout_s=60)
        yield index
        index.close()


class TestGuardedVectorIndex(VectorIndexContract):
    @pytest.fixture
    def index(self) -> Iterator[GuardedVectorIndex]:
        index = GuardedVectorIndex(MemoryVectorIndex(DIMENSION), pause_s=60, timeout_s=60)
        yield index
        index.close()


@pytest.fixture
def store() -> Iterator[Ailing]:
    store = Ailing(MemoryKeywordIndex())
    yield store
    store.recover()


def guarded(store: Ailing, *, pause_s: float = 60, timeout_s: float | None = None) -> GuardedKeywordIndex:
    index = GuardedKeywordIndex(store, pause_s, timeout_s)
    index.upsert([row(1, "medlar")])
    return index


def found(index: GuardedKeywordIndex) -> list[int]:
    return [hit.chunk_id for hit in index.search("medlar", 5, HEAD)]


def test_a_store_that_is_down_is_asked_once_in_a_pause(store: Ailing) -> None:
    index = guarded(store)
    store.fails = {"search"}
    for _ in range(20):
        with pytest.raises(StoreUnavailable, match="is ailing"):
            found(index)
    assert store.asked["search"] == 1
    assert index.state is State.OPEN


def test_a_store_that_hangs_is_given_up_and_then_left_alone(store: Ailing) -> None:
    index = guarded(store, timeout_s=0.05)
    store.hangs = {"search"}
    with pytest.raises(StoreUnavailable, match=r"did not answer within 0\.05 s"):
        found(index)
    with pytest.raises(StoreUnavailable, match="left alone"):
        found(index)
    assert store.asked["search"] == 1
    index.close()


def test_a_store_that_hung_for_many_answers_once_it_is_well(store: Ailing) -> None:
    index = guarded(store, pause_s=0, timeout_s=0.02)
    store.hangs = {"search"}
    for _ in range(40):
        with pytest.raises(StoreUnavailable):
            found(index)
    store.recover()
    index._guard._timeout_s = 60
    assert found(index) == [1]
    index.close()


def test_a_store_that_is_back_is_used_again(store: Ailing) -> None:
    index = guarded(store, pause_s=0)
    store.fails = {"search"}
    with pytest.raises(StoreUnavailable):
        found(index)
    store.recover()
    assert found(index) == [1]
    assert index.state is State.CLOSED


def test_a_store_that_takes_no_writes_is_searched_all_the_same(store: Ailing) -> None:
    index = guarded(store)
    store.fails = {"upsert"}
    with pytest.raises(StoreUnavailable):
        index.upsert([row(2, "quince")])
    assert found(index) == [1]
    assert index.state is State.OPEN


def read_to_the_end(index: GuardedKeywordIndex) -> object:
    return index.search("medlar", 10_000_000, HEAD)


def count(index: GuardedKeywordIndex) -> object:
    return index.count()


@pytest.mark.parametrize(("method", "act"), [("search", read_to_the_end), ("count", count)])
def test_what_may_take_long_keeps_no_search_away_and_is_not_begun_again_at_once(
    store: Ailing, method: str, act: Callable[[GuardedKeywordIndex], object]
) -> None:
    index = guarded(store, timeout_s=0.01)
    store.hangs = {method}
    with pytest.raises(StoreUnavailable, match=r"did not answer within 0\.05 s"):
        act(index)
    with pytest.raises(StoreUnavailable, match="left alone"):
        act(index)
    assert store.asked[method] == 1
    assert index.state is State.CLOSED
    store.recover()
    index._guard._timeout_s = 60
    assert found(index) == [1]
    index.close()


@pytest.mark.parametrize("act", [read_to_the_end, count])
def test_what_may_take_long_is_not_begun_while_searches_fail(
    store: Ailing, act: Callable[[GuardedKeywordIndex], object]
) -> None:
    index = guarded(store)
    store.fails = {"search"}
    with pytest.raises(StoreUnavailable):
        found(index)
    asked = store.asked.total()
    with pytest.raises(StoreUnavailable, match="left alone"):
        act(index)
    assert store.asked.total() == asked


def test_closing_ends_the_wait_for_a_store_that_hangs(store: Ailing) -> None:
    index = guarded(store, timeout_s=60)
    store.hangs = {"search"}
    with ThreadPoolExecutor() as threads:
        asking = threads.submit(found, index)
        until(lambda: store.asked["search"])
        index.close()
        with pytest.raises(StoreUnavailable, match="closed"):
            asking.result(60)
    with pytest.raises(StoreUnavailable, match="closed"):
        index.count()


HANGING = """
import threading
from core.adapters.timed_calls import TimedCalls
from core.errors import StoreUnavailable

try:
    TimedCalls("The store").within(0.01, threading.Event().wait)
except StoreUnavailable as error:
    print(error.message)
"""


def test_a_process_ends_although_a_store_hangs() -> None:
    ended = subprocess.run([sys.executable, "-c", HANGING], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "The store did not answer within 0.01 s.\n"


def test_a_stream_that_cannot_be_read_counts_as_a_failure(store: Ailing) -> None:
    index = guarded(store)
    store.fails = {"stored"}
    with pytest.raises(StoreUnavailable):
        list(index.stored())
    assert index.state is State.OPEN
