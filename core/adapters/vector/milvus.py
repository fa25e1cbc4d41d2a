"""The vector index in Milvus: a folder served by Milvus Lite in this process, or a server by URL."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from core.adapters.vector.milvus_collection import ROWS_PER_CLUSTER
from core.adapters.vector.milvus_lite_server import is_of_the_system
from core.adapters.vector.milvus_lite_shards import LiteShards
from core.adapters.vector.milvus_rows import as_row, as_stored, batches, filters, slices
from core.adapters.vector.milvus_server import ServerCollection
from core.errors import EvoRAGError, IndexLost, StoreUnavailable, WrongIndex
from core.model import IndexHit, Part
from core.ports import HeadVector, StoredRows, Vector, VectorRow

log = logging.getLogger(__name__)

COLLECTION = "rag_kb"
LARGEST_LIMIT = 16_384
NLIST = 128
SERVER_NPROBE = 20
TIE_MARGIN = 16
"""Hits read beyond the limit, so that equal distances at its edge are told apart by id."""
COUNT_AGE_S = 60.0
LITE_TIMEOUT_S = 3_600.0
"""A folder's own server cannot be away, and takes minutes for what a million rows need when it is opened."""

MEMORY_BYTES = 4 << 30

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Clusters:
    """The parameters of IVF_FLAT; without ``nprobe`` all clusters of a folder are probed, and ``SERVER_NPROBE``."""

    nlist: int | None = None
    nprobe: int | None = None


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long an index is waited for, in seconds."""

    attempts: int = 3
    pause_s: float = 5.0
    timeout_s: float = 30.0
    search_timeout_s: float = 30.0


_CLUSTERS = Clusters()
_PATIENCE = Patience()


class MilvusVectorIndex:
    """Rows of a collection, IVF_FLAT by L2; ``address`` is a folder or an ``http(s)://`` URL."""

    def __init__(
        self,
        address: str | Path,
        dimension: int,
        *,
        name: str = COLLECTION,
        token: str = "",
        clusters: Clusters = _CLUSTERS,
        patience: Patience = _PATIENCE,
        mends: bool = True,
        memory: int = MEMORY_BYTES,
    ) -> None:
        """Open the index; a folder's of before fingerprints is emptied where this ``mends``, or is ``WrongIndex``.

        ``memory`` are the bytes that this machine has, of which the rows of a folder take a share.
        """
        self._address = address
        self._mends = mends
        self._memory = memory
        self._is_embedded = isinstance(address, Path) or "://" not in address
        self._name = name
        self._dimension = dimension
        self._nlist = clusters.nlist or NLIST
        usual = self._nlist if self._is_embedded else SERVER_NPROBE
        self._nprobe = min(clusters.nprobe or usual, self._nlist)
        self._timeout_s = LITE_TIMEOUT_S if self._is_embedded else patience.timeout_s
        self._search_timeout_s = patience.search_timeout_s
        self._write_lock = threading.Lock()
        self._counts = dict.fromkeys(Part, 0)
        self._counted = 0.0
        self._collection: LiteShards | ServerCollection | None = None
        self._client: Any = None
        self.engine = LiteShards.engine if self._is_embedded else ServerCollection.engine
        self._connect(token, patience.attempts, patience.pause_s)

    def load(self, rows: Iterable[HeadVector], part: Part = Part.HEAD) -> None:
        """Do nothing: Milvus is what is searched."""

    def is_loaded(self, parts: Sequence[Part]) -> bool:
        return False

    def engine_for(self, parts: Sequence[Part]) -> str:
        """Name what answers a search of these parts."""
        return self.engine

    def in_memory(self, chunk_ids: Sequence[int]) -> Mapping[int, Vector]:
        return {}

    def upsert(self, rows: Sequence[VectorRow]) -> None:
        last = {row.chunk_id: row for row in rows}
        if not last:
            return
        with self._write_lock:
            for batch in batches([as_row(row) for row in last.values()]):
                self._call(partial(self._send, batch))
            self._call(lambda client: self._of().wrote(client))
            for row in last.values():
                self._counts[row.part] += 1

    def delete(self, chunk_ids: Sequence[int]) -> None:
        with self._write_lock:
            for ids in slices(chunk_ids):
                self._call(partial(self._forget, ids))
            if chunk_ids:
                self._call(lambda client: self._of().wrote(client))

    def search(
        self, vector: Vector, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        if limit < 1 or not parts or (doc_ids is not None and not doc_ids):
            return []
        # Clusters are probed before the filter is applied: with few rows, or few that pass, all have to be.
        is_narrow = doc_ids is not None or self._are_few(parts)
        found: list[tuple[int, float]] = self._call(
            lambda client: self._found(
                client, vector, min(limit + TIE_MARGIN, LARGEST_LIMIT), parts, doc_ids, is_narrow
            )
        )
        ranked = sorted((max(0.0, square) ** 0.5, chunk_id) for chunk_id, square in found)
        ranked.sort(key=lambda hit: (round(hit[0], 6), hit[1]))
        return [IndexHit(chunk_id, distance) for distance, chunk_id in ranked[:limit]]

    def count(self) -> Mapping[Part, int]:
        return self._count("Strong")

    def ids(self) -> Iterator[tuple[int, Part]]:
        for rows in self._pages(["id", "part"]):
            yield from ((int(row["id"]), Part(row["part"])) for row in rows)

    def stored(self) -> Iterator[StoredRows]:
        yield from map(as_stored, self._pages(["id", "part", "fingerprint"]))

    def clear(self) -> None:
        with self._write_lock:
            self._call(lambda client: self._of().clear(client))
            self._counts = dict.fromkeys(Part, 0)

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        """Have the files written anew without the rows; a server does it in its own time.

        Raises: ``IndexLost`` where the files of the other rows are damaged; ``StoreUnavailable``.
        """
        try:
            with self._write_lock:
                return self._call(lambda client: self._of().expunge(client, chunk_ids))
        except StoreUnavailable as error:
            if self._is_embedded and error.__cause__ is not None and not is_of_the_system(error.__cause__):
                raise IndexLost("The files of the vector store are damaged.") from error
            raise

    def close(self) -> None:
        with self._write_lock:
            client, self._client = self._client, None
            if client is not None:
                client.close()
            collection, self._collection = self._collection, None
            if collection is not None:
                collection.close()

    def _connect(self, token: str, attempts: int, pause_s: float) -> None:
        is_damaged = False
        for attempt in range(1, attempts + 1):
            try:
                self._open(token)
                return
            except WrongIndex:
                self.close()
                raise
            except Exception as error:
                self.close()
                if self._is_embedded and self._mends and not is_damaged and not is_of_the_system(error):
                    # Nobody else has the folder, and its rows are in the catalogue: it is filled again.
                    log.warning("the files of the vector store are damaged and written anew (%s)", type(error).__name__)
                    is_damaged = True
                    shutil.rmtree(self._address)
                    continue
                if attempt == attempts:
                    raise StoreUnavailable(
                        f"The vector store could not be opened, tried {attempts} times: {type(error).__name__}."
                    ) from error
                time.sleep(pause_s)

    def _open(self, token: str) -> None:
        from pymilvus import MilvusClient

        # Importing it sets its loggers, which name hosts and write whole requests.
        for logger in ("pymilvus", "pymilvus.milvus_client"):
            logging.getLogger(logger).setLevel(logging.CRITICAL)
        if self._is_embedded:
            self._collection = LiteShards(
                Path(self._address), self._name, self._dimension, self._nlist, self._mends, self._memory
            )
        else:
            self._collection = ServerCollection(
                str(self._address), self._name, self._dimension, self._nlist, self._timeout_s
            )
        self._client = MilvusClient(uri=self._collection.socket, token=token, timeout=self._timeout_s)
        self._collection.open(self._client)
        if not self._is_embedded:
            self.count()

    def _are_few(self, parts: Sequence[Part]) -> bool:
        """Tell whether the parts have too few rows for clusters; others may write those of a server, counted beside."""
        if self._nprobe == self._nlist:
            return True
        if time.monotonic() - self._counted > COUNT_AGE_S:
            self._counted = time.monotonic()
            threading.Thread(target=self._count_again, name="evorag-count", daemon=True).start()
        return sum(self._counts[part] for part in set(parts)) < ROWS_PER_CLUSTER * self._nlist

    def _count_again(self) -> None:
        with suppress(StoreUnavailable):
            self._count("Session")

    def _count(self, level: str) -> Mapping[Part, int]:
        counts = self._call(lambda client: self._of().count(client, level))
        self._counts, self._counted = dict(counts), time.monotonic()
        return counts

    def _found(
        self,
        client: Any,
        vector: Vector,
        wanted: int,
        parts: Sequence[Part],
        doc_ids: Sequence[int] | None,
        is_narrow: bool,
    ) -> list[tuple[int, float]]:
        query = np.asarray(vector, dtype=np.float32).tolist()
        probed = self._nlist if is_narrow else self._nprobe
        found: list[tuple[int, float]] = []
        with self._of().searched(client) as names:
            for name, expression in product(names, filters(parts, doc_ids)):
                hits = self._nearest(client, name, query, wanted, expression, probed)
                if len(hits) < wanted and probed < self._nlist:
                    hits = self._nearest(client, name, query, wanted, expression, self._nlist)
                found.extend(hits)
        return found

    def _nearest(
        self, client: Any, name: str, query: list[float], limit: int, expression: str, nprobe: int
    ) -> list[tuple[int, float]]:
        results = client.search(
            name,
            data=[query],
            anns_field="embedding",
            limit=limit,
            filter=expression,
            search_params={"metric_type": "L2", "params": {"nprobe": nprobe}},
            timeout=self._search_timeout_s,
        )
        return [(int(hit["id"]), float(hit["distance"])) for hit in results[0]]

    def _pages(self, fields: list[str]) -> Iterator[list[Any]]:
        pages = self._call(lambda client: self._of().pages(client, fields))
        while (page := self._call(lambda _: next(pages, None))) is not None:
            yield page

    def _send(self, rows: list[dict[str, Any]], client: Any) -> None:
        self._of().send(client, rows, self._timeout_s)

    def _forget(self, ids: list[int], client: Any) -> None:
        self._of().forget(client, ids, self._timeout_s)

    def _of(self) -> LiteShards | ServerCollection:
        if self._collection is None:
            raise StoreUnavailable("The vector store is closed.")
        return self._collection

    def _call(self, action: Callable[[Any], Result]) -> Result:
        client = self._client
        if client is None:
            raise StoreUnavailable("The vector store is closed.")
        try:
            return action(client)
        except EvoRAGError:
            raise
        except Exception as error:
            raise StoreUnavailable(f"The vector store failed: {type(error).__name__}.") from error
