"""A vector index whose rows are also held in memory and searched there: exactly, and by bits where they are many.

Writes go to the inner index first, so that what it acknowledged is durable, then to memory. Searches of a part go to
the inner index until ``load`` of it has ended. Where both parts outgrow the limit the history part is let go, and both
where the head part alone does.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from core.adapters.vector.arrays import Halves
from core.adapters.vector.flat_vectors import FlatVectors
from core.adapters.vector.growing_vectors import GrowingVectors
from core.errors import StoreUnavailable
from core.model import IndexHit, Part
from core.ports import HeadVector, StoredRows, Vector, VectorIndex, VectorRow

ENGINE = FlatVectors.engine
LOAD_BATCH = 4096
LOAD_PATIENCE_S = 3.0
"""How long from its beginning a search waits for the loading of a part; the store may take longer to open.

Half of it where no row has come by then: of very many the first come late, and the last much later.
"""

RESTS_AFTER_S = 600.0
"""How long nothing is asked of an inner index that is put to rest."""

_BESIDE = 256
"""Bytes for the bits and ids of a chunk, beside its vector."""

log = logging.getLogger(__name__)


class HotVectors:
    """Decorates a ``VectorIndex``; ``load`` has to be called once for each part before memory answers.

    In ``folder`` are the files of vectors of large parts; without one all stay in memory. Where its disk fails,
    the inner index answers from then on. ``rest`` puts the inner index to rest and tells whether it rests; it is
    called when nothing was asked of that for a while, and memory answers whatever may be.
    """

    def __init__(
        self,
        inner: VectorIndex,
        dimension: int,
        limit: int = 300_000,
        folder: Path | None = None,
        rest: Callable[[], bool] | None = None,
    ) -> None:
        self._inner = inner
        self._rest = rest
        self._used_at = 0.0
        self._watch: threading.Timer | None = None
        self._watching = threading.Lock()
        self._limit = limit
        self._memory: Mapping[Part, GrowingVectors] = {part: GrowingVectors(dimension, folder) for part in Part}
        """Replaced and never changed: searches go on with what they hold."""
        self._writes = threading.RLock()
        self._loading = {part: threading.Event() for part in Part}
        """Set where no loading of the part is under way."""
        for event in self._loading.values():
            event.set()
        self._began = dict.fromkeys(Part, 0.0)
        """When the last loading of the part began."""
        self._loaded: frozenset[Part] = frozenset()
        self._whole: frozenset[Part] = frozenset()
        """The parts that were loaded and not cleared since."""
        self._written: set[int] = set()
        self.engine = inner.engine

    @staticmethod
    def room(dimension: int) -> int:
        """Return the bytes of memory that a machine has to have for each chunk, of which it takes a quarter."""
        return 4 * (2 * dimension + _BESIDE)

    def load(self, rows: Iterable[HeadVector], part: Part = Part.HEAD) -> None:
        """Take a part into memory; what was written meanwhile wins."""
        self._began[part] = time.monotonic()
        self._loading[part].clear()
        try:
            self._load(rows, part)
        finally:
            self._loading[part].set()

    def _load(self, rows: Iterable[HeadVector], part: Part) -> None:
        remaining = iter(rows)
        while batch := list(islice(remaining, LOAD_BATCH)):
            vectors = np.stack([np.asarray(vector, dtype=np.float16) for _, _, vector in batch])
            with self._writes:
                if part in self._loaded or part not in self._memory:
                    return
                kept = [row for row, (chunk_id, _, _) in enumerate(batch) if chunk_id not in self._written]
                self._put(part, [batch[row][0] for row in kept], [batch[row][1] for row in kept], vectors[kept])
        with self._writes:
            self._finish_loading(part)
            self._whole |= {part}

    def is_loaded(self, parts: Sequence[Part]) -> bool:
        return self._whole.issuperset(parts) and self._answering(parts) is not None

    def engine_for(self, parts: Sequence[Part]) -> str:
        """Name what would answer a search of these parts now."""
        memories = self._answering(parts)
        return self._inner.engine_for(parts) if memories is None else _largest(memories).engine

    def in_memory(self, chunk_ids: Sequence[int]) -> Mapping[int, Vector]:
        found: dict[int, Vector] = {}
        try:
            for memory in self._memory.values():
                if missing := [chunk_id for chunk_id in chunk_ids if chunk_id not in found]:
                    found.update(memory.held(missing))
        except OSError as error:
            self._give_up(error)
        return found

    def upsert(self, rows: Sequence[VectorRow]) -> None:
        with self._writes:
            self._store().upsert(rows)
            last = {row.chunk_id: row for row in rows}
            self._note(last)
            for part in Part:
                own = [row for row in last.values() if row.part is part]
                if own:
                    vectors = np.stack([row.vector for row in own]).astype(np.float16)
                    self._put(part, [row.chunk_id for row in own], [row.doc_id for row in own], vectors)
                # Only now: whoever searches both parts finds a row that moves in one of them at least.
                self._remove(part, [chunk_id for chunk_id, row in last.items() if row.part is not part])

    def delete(self, chunk_ids: Sequence[int]) -> None:
        with self._writes:
            self._store().delete(chunk_ids)
            self._note(chunk_ids)
            for part in Part:
                self._remove(part, chunk_ids)

    def search(
        self, vector: Vector, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        memories = self._answering(parts)
        if memories is None and self._is_loaded_in_time(parts):
            memories = self._answering(parts)
        if memories is not None:
            try:
                return _nearest([memory.search(vector, limit, doc_ids) for memory in memories], limit)
            except OSError as error:
                self._give_up(error)
        try:
            return self._store().search(vector, limit, parts, doc_ids)
        except StoreUnavailable as error:
            if any(not self._loading[part].is_set() for part in parts):
                raise StoreUnavailable(
                    f"The vectors are being taken into memory, {sum(map(len, self._memory.values()))} so far.",
                    remedy="Words answer until that is done; ask again in a moment.",
                ) from error
            raise

    def count(self) -> Mapping[Part, int]:
        return self._store().count()

    def ids(self) -> Iterator[tuple[int, Part]]:
        return self._store().ids()

    def stored(self) -> Iterator[StoredRows]:
        return self._store().stored()

    def clear(self) -> None:
        with self._writes:
            self._store().clear()
            self._whole = frozenset()
            for part, memory in self._memory.items():
                memory.clear()
                self._finish_loading(part)

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        with self._writes:
            return self._store().expunge(chunk_ids)

    def close(self) -> None:
        with self._watching:
            self._rest, watch = None, self._watch
        if watch is not None:
            watch.cancel()
        with self._writes:
            self._let_go(Part)
            self._inner.close()

    def _store(self) -> VectorIndex:
        """Return the inner index, which is being used."""
        self._used_at = time.monotonic()
        self._rest_later()
        return self._inner

    def _rest_later(self) -> None:
        with self._watching:
            if self._rest is not None and self._watch is None:
                self._watch = threading.Timer(RESTS_AFTER_S, self._put_to_rest, (self._rest,))
                self._watch.daemon = True
                self._watch.start()

    def _put_to_rest(self, rest: Callable[[], bool]) -> None:
        """Have the inner index rest, or look again later."""
        self._watch = None
        is_idle = time.monotonic() - self._used_at >= RESTS_AFTER_S
        if not (is_idle and self._answering(tuple(Part)) is not None and rest()):
            self._rest_later()

    def _put(self, part: Part, ids: Sequence[int], doc_ids: Sequence[int], vectors: Halves) -> None:
        memory = self._memory.get(part)
        if memory is None:
            return
        try:
            memory.put(ids, doc_ids, vectors)
        except OSError as error:
            self._give_up(error)
            return
        if len(self._memory[Part.HEAD]) > self._limit:
            self._let_go(Part)
        elif sum(map(len, self._memory.values())) > self._limit:
            self._let_go([Part.HISTORY])
        self._say_engine()

    def _remove(self, part: Part, ids: Sequence[int]) -> None:
        memory = self._memory.get(part)
        if memory is not None and ids:
            try:
                memory.remove(ids)
            except OSError as error:
                self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        with self._writes:
            if self._memory:
                log.warning("vectors in memory: %s, so the vector store answers alone", type(error).__name__)
                self._let_go(Part)

    def _let_go(self, parts: Iterable[Part]) -> None:
        gone = set(parts)
        self._memory = {part: memory for part, memory in self._memory.items() if part not in gone}
        self._say_engine()

    def _is_loaded_in_time(self, parts: Sequence[Part]) -> bool:
        """Wait for what is being loaded, as long as a search may; tell whether something was and is loaded now."""
        awaited = [part for part in parts if not self._loading[part].is_set()]
        return bool(awaited) and all(self._comes(part) for part in awaited)

    def _comes(self, part: Part) -> bool:
        loaded, memory = self._loading[part], self._memory.get(part)
        if loaded.wait(self._left(part, LOAD_PATIENCE_S / 2)):
            return True
        return memory is not None and len(memory) > 0 and loaded.wait(self._left(part, LOAD_PATIENCE_S))

    def _left(self, part: Part, patience_s: float) -> float:
        return max(0.0, self._began[part] + patience_s - time.monotonic())

    def _answering(self, parts: Sequence[Part]) -> list[GrowingVectors] | None:
        memory, wanted = self._memory, set(parts)
        if not wanted or not wanted <= self._loaded & memory.keys():
            return None
        return [memory[part] for part in wanted]

    def _note(self, chunk_ids: Iterable[int]) -> None:
        if not self._loaded.issuperset(self._memory):
            self._written.update(chunk_ids)

    def _finish_loading(self, part: Part) -> None:
        if part in self._memory:
            self._loaded |= {part}
            if self._loaded.issuperset(self._memory):
                self._written = set()
            self._say_engine()

    def _say_engine(self) -> None:
        memory = self._memory.get(Part.HEAD) if Part.HEAD in self._loaded else None
        self.engine = self._inner.engine if memory is None else memory.engine


def _largest(memories: Sequence[GrowingVectors]) -> GrowingVectors:
    return max(memories, key=len)


def _nearest(found: Sequence[list[IndexHit]], limit: int) -> list[IndexHit]:
    """Return the nearest of several searches, each chunk once, ties by id."""
    if len(found) == 1:
        return found[0]
    once = {hit.chunk_id: hit for hits in found for hit in hits}
    return sorted(once.values(), key=lambda hit: (hit.score, hit.chunk_id))[:limit]
