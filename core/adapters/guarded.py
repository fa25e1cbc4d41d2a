"""Both kinds of index behind circuit breakers: a store that is down, slow or flapping costs a question little time.

Reads and writes have a circuit each: a store that takes no writes can still be searched. Writes wait for the store as
long as its adapter does; reads end after ``timeout_s``, which is how a store that hangs is noticed. Counts and readings
to the end are slow in stores that are well: they may take longer and have circuits of their own, so that none of them
keeps a search away.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

from core.adapters.circuit import Circuit, State
from core.adapters.timed_calls import TimedCalls
from core.model import IndexHit, Part
from core.ports import HeadVector, KeywordIndex, KeywordRow, StoredRows, TermAnalyser, Vector, VectorIndex, VectorRow

T = TypeVar("T")
Index = TypeVar("Index", VectorIndex, KeywordIndex)

_MANY = 10_000
"""Hits from which on a reading is one to the end."""
_LONGER = 5


class _Guard:
    """The circuits of one store, and the threads in which its reads are waited for."""

    def __init__(self, name: str, pause_s: float, timeout_s: float | None) -> None:
        self.reads = Circuit(name, pause_s)
        self.writes = Circuit(name, pause_s)
        self._to_the_end = Circuit(name, pause_s)
        self._counts = Circuit(name, pause_s)
        self._timeout_s = timeout_s
        self._calls = TimedCalls(name)

    @property
    def state(self) -> State:
        """The worse of the states of the circuits of reads and writes."""
        states = {self.reads.state, self.writes.state}
        return next(state for state in (State.OPEN, State.HALF_OPEN, State.CLOSED) if state in states)

    def read(self, act: Callable[[], T], limit: int = 0) -> T:
        """Do ``act`` within the time that ``limit`` hits may take. Raises: ``StoreUnavailable``."""
        if limit > _MANY:
            return self._patiently(self._to_the_end, act)
        with self.reads.call():
            return self._within(1, act)

    def count(self, act: Callable[[], T]) -> T:
        """Do ``act``, whose slowness says nothing of searches. Raises: ``StoreUnavailable``."""
        return self._patiently(self._counts, act)

    def _patiently(self, circuit: Circuit, act: Callable[[], T]) -> T:
        self.reads.refuse_while_open()
        with circuit.call():
            return self._within(_LONGER, act)

    def _within(self, times: int, act: Callable[[], T]) -> T:
        return act() if self._timeout_s is None else self._calls.within(times * self._timeout_s, act)

    def write(self, act: Callable[[], T]) -> T:
        with self.writes.call():
            return act()

    def stream(self, act: Callable[[], Iterator[T]]) -> Iterator[T]:
        """Yield what ``act`` gives; a failure on the way counts."""
        with self.reads.call():
            yield from act()

    def close(self) -> None:
        self._calls.close()


class _Guarded(Generic[Index]):
    """What is guarded alike for both kinds of index; ``timeout_s`` is None for one in this process."""

    _called: ClassVar[str]

    def __init__(self, inner: Index, pause_s: float, timeout_s: float | None = None) -> None:
        self._inner: Index = inner
        self._guard = _Guard(self._called, pause_s, timeout_s)
        self.engine = inner.engine

    @property
    def state(self) -> State:
        return self._guard.state

    def delete(self, chunk_ids: Sequence[int]) -> None:
        self._guard.write(lambda: self._inner.delete(chunk_ids))

    def count(self) -> Mapping[Part, int]:
        counted = self._guard.count(self._inner.count)
        self.engine = self._inner.engine
        return counted

    def ids(self) -> Iterator[tuple[int, Part]]:
        return self._guard.stream(self._inner.ids)

    def stored(self) -> Iterator[StoredRows]:
        return self._guard.stream(self._inner.stored)

    def clear(self) -> None:
        self._guard.write(self._inner.clear)

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        return self._guard.write(lambda: self._inner.expunge(chunk_ids))

    def close(self) -> None:
        self._guard.close()
        self._inner.close()


class GuardedVectorIndex(_Guarded[VectorIndex]):
    """Decorates a ``VectorIndex``."""

    _called = "The vector store"

    def load(self, rows: Iterable[HeadVector], part: Part = Part.HEAD) -> None:
        self._inner.load(rows, part)

    def is_loaded(self, parts: Sequence[Part]) -> bool:
        return self._inner.is_loaded(parts)

    def engine_for(self, parts: Sequence[Part]) -> str:
        return self._inner.engine_for(parts)

    def in_memory(self, chunk_ids: Sequence[int]) -> Mapping[int, Vector]:
        return self._inner.in_memory(chunk_ids)

    def upsert(self, rows: Sequence[VectorRow]) -> None:
        self._guard.write(lambda: self._inner.upsert(rows))
        self.engine = self._inner.engine

    def search(
        self, vector: Vector, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        return self._guard.read(lambda: self._inner.search(vector, limit, parts, doc_ids), limit)


class GuardedKeywordIndex(_Guarded[KeywordIndex]):
    """Decorates a ``KeywordIndex``."""

    _called = "The keyword store"

    def use(self, of_rows: TermAnalyser, of_questions: TermAnalyser) -> None:
        self._inner.use(of_rows, of_questions)

    def upsert(self, rows: Sequence[KeywordRow]) -> None:
        self._guard.write(lambda: self._inner.upsert(rows))

    def snapshot(self) -> object | None:
        return self._inner.snapshot()

    def holding(
        self, term: str, edits: int, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[int]:
        return self._guard.read(lambda: self._inner.holding(term, edits, limit, parts, doc_ids))

    def search(
        self, text: str, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        return self._guard.read(lambda: self._inner.search(text, limit, parts, doc_ids), limit)
