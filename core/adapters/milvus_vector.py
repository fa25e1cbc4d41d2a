"""The vector index in Milvus: a folder served by Milvus Lite in this process, or a server by URL."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from core.adapters.milvus_lite_server import MilvusLiteServer
from core.adapters.milvus_rows import SOURCE_BYTES, TEXT_BYTES, as_row, batches, filters, slices
from core.errors import StoreUnavailable, WrongIndex
from core.model import IndexHit, Part
from core.ports import Vector, VectorRow

COLLECTION = "rag_kb"
LARGEST_LIMIT = 16_384
ROWS_PER_CLUSTER = 39
"""Fewer rows a cluster than FAISS trains with: an approximate search would save nothing and lose neighbours."""
TIE_MARGIN = 16
"""Hits read beyond the limit, so that equal distances at its edge are told apart by id."""

Result = TypeVar("Result")


class MilvusVectorIndex:
    """Rows of the collection ``rag_kb``, IVF_FLAT by L2; ``address`` is a folder or an ``http(s)://`` URL."""

    def __init__(
        self,
        address: str | Path,
        dimension: int,
        *,
        nlist: int = 128,
        nprobe: int = 10,
        attempts: int = 3,
        pause_s: float = 5.0,
        timeout_s: float = 30.0,
    ) -> None:
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
        self._dimension = dimension
        self._nlist = nlist
        self._nprobe = min(nprobe, nlist)
        self._timeout_s = timeout_s
        self._write_lock = threading.Lock()
        self._rows = 0
        self._buffered = 0
        self._server: MilvusLiteServer | None = None
        self._client: Any = None
        embedded = isinstance(address, Path) or "://" not in address
        self.engine = "Milvus Lite IVF_FLAT" if embedded else "Milvus IVF_FLAT"
        self._connect(address, embedded, attempts, pause_s)

    def engine_for(self, parts: Sequence[Part]) -> str:
        """Name what answers a search of these parts."""
        return self.engine

    def upsert(self, rows: Sequence[VectorRow]) -> None:
        with self._write_lock:
            for batch in batches([as_row(row) for row in {row.chunk_id: row for row in rows}.values()]):
                self._call(partial(self._send, batch))
                self._write_out(len(batch))
            self._rows += len(rows)

    def delete(self, chunk_ids: Sequence[int]) -> None:
        with self._write_lock:
            for ids in slices(chunk_ids):
                self._call(partial(self._forget, ids))

    def search(
        self, vector: Vector, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]:
        if limit < 1 or not parts or (doc_ids is not None and not doc_ids):
            return []
        wanted = min(limit + TIE_MARGIN, LARGEST_LIMIT)
        found: list[tuple[int, float]] = []
        for expression in filters(parts, doc_ids):
            # Clusters are probed before the filter is applied: with few rows, or few that pass, all have to be.
            narrow = doc_ids is not None or self._rows < ROWS_PER_CLUSTER * self._nlist
            probed = self._nlist if narrow else self._nprobe
            hits = self._nearest(vector, wanted, expression, probed)
            if len(hits) < wanted and probed < self._nlist:
                hits = self._nearest(vector, wanted, expression, self._nlist)
            found.extend(hits)
        ranked = sorted((max(0.0, square) ** 0.5, chunk_id) for chunk_id, square in found)
        ranked.sort(key=lambda hit: (round(hit[0], 6), hit[1]))
        return [IndexHit(chunk_id, distance) for distance, chunk_id in ranked[:limit]]

    def count(self) -> Mapping[Part, int]:
        counts = {}
        for part in Part:
            rows = self._query(filters([part], None)[0], ["count(*)"])
            counts[part] = int(rows[0]["count(*)"])
        self._rows = sum(counts.values())
        return counts

    def ids(self) -> Iterator[tuple[int, Part]]:
        if self._server is None:
            yield from self._ids_from_server()
            return
        for part in Part:
            yield from ((int(row["id"]), part) for row in self._query(filters([part], None)[0], ["id"]))

    def clear(self) -> None:
        with self._write_lock:
            self._call(lambda client: client.drop_collection(COLLECTION, timeout=self._timeout_s))
            self._call(self._create)
            self._rows = 0

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        """Have the files written anew without the rows; a server does it in its own time."""
        with self._write_lock:
            if self._server is None:
                self._call(lambda client: client.compact(COLLECTION, timeout=self._timeout_s))
                return True
            server, self._buffered = self._server, 0
            return self._call(lambda _: server.expunge(COLLECTION, "id", set(chunk_ids)))

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()
        server, self._server = self._server, None
        if server is not None:
            server.close()

    def _connect(self, address: str | Path, embedded: bool, attempts: int, pause_s: float) -> None:
        for attempt in range(1, attempts + 1):
            try:
                if embedded:
                    self._server = MilvusLiteServer(Path(address))
                self._open(self._server.uri if self._server is not None else str(address))
                return
            except WrongIndex:
                self.close()
                raise
            except Exception as error:
                self.close()
                if attempt == attempts:
                    raise StoreUnavailable(
                        f"The vector store could not be opened, tried {attempts} times: {type(error).__name__}."
                    ) from error
                time.sleep(pause_s)

    def _open(self, uri: str) -> None:
        from pymilvus import MilvusClient

        self._client = MilvusClient(uri=uri, timeout=self._timeout_s)
        if not self._client.has_collection(COLLECTION):
            self._create(self._client)
            return
        fields = {field["name"]: field for field in self._client.describe_collection(COLLECTION)["fields"]}
        stored = int(fields["embedding"]["params"]["dim"])
        if stored != self._dimension:
            raise WrongIndex(
                f"The vector store holds vectors of {stored} dimensions, and the model gives {self._dimension}."
            )
        self._client.load_collection(COLLECTION)
        self.count()

    def _create(self, client: Any) -> None:
        from pymilvus import DataType

        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("embedding", DataType.FLOAT_VECTOR, dim=self._dimension)
        schema.add_field("text", DataType.VARCHAR, max_length=TEXT_BYTES)
        schema.add_field("source", DataType.VARCHAR, max_length=SOURCE_BYTES)
        schema.add_field("part", DataType.VARCHAR, max_length=16)
        schema.add_field("doc_id", DataType.INT64)
        index = client.prepare_index_params()
        # pymilvus flattens the parameters for a server; Milvus Lite reads only the nested form, and drops the flat one.
        clusters: dict[str, Any] = {"nlist": self._nlist}
        nested = {"params": clusters} if self._server is not None else clusters
        index.add_index("embedding", index_type="IVF_FLAT", metric_type="L2", params=nested)
        # Session: a client sees its own writes at once, without waiting for those of others.
        client.create_collection(COLLECTION, schema=schema, index_params=index, consistency_level="Session")

    def _nearest(self, vector: Vector, limit: int, expression: str, nprobe: int) -> list[tuple[int, float]]:
        query = np.asarray(vector, dtype=np.float32).tolist()
        results = self._call(
            lambda client: client.search(
                COLLECTION,
                data=[query],
                anns_field="embedding",
                limit=limit,
                filter=expression,
                search_params={"metric_type": "L2", "params": {"nprobe": nprobe}},
                timeout=self._timeout_s,
            )
        )
        return [(int(hit["id"]), float(hit["distance"])) for hit in results[0]]

    def _ids_from_server(self) -> Iterator[tuple[int, Part]]:
        """Read in windows, which Milvus Lite does not offer and a server demands."""
        rows = self._call(
            lambda client: client.query_iterator(
                COLLECTION, batch_size=4096, filter="", output_fields=["id", "part"], timeout=self._timeout_s
            )
        )
        try:
            while batch := self._call(lambda _: rows.next()):
                yield from ((int(row["id"]), Part(row["part"])) for row in batch)
        finally:
            rows.close()

    def _write_out(self, rows: int) -> None:
        """Have Milvus Lite index its write buffer, in which a search takes ten times longer a row."""
        self._buffered += rows
        if self._server is not None and self._buffered >= ROWS_PER_CLUSTER * self._nlist:
            self._call(lambda client: client.flush(COLLECTION, timeout=self._timeout_s))
            self._buffered = 0

    def _send(self, rows: list[dict[str, Any]], client: Any) -> None:
        client.upsert(COLLECTION, rows, timeout=self._timeout_s)

    def _forget(self, ids: list[int], client: Any) -> None:
        client.delete(COLLECTION, ids=ids, timeout=self._timeout_s)

    def _query(self, expression: str, fields: list[str]) -> list[Any]:
        rows: list[Any] = self._call(
            lambda client: client.query(COLLECTION, filter=expression, output_fields=fields, timeout=self._timeout_s)
        )
        return rows

    def _call(self, action: Callable[[Any], Result]) -> Result:
        client = self._client
        if client is None:
            raise StoreUnavailable("The vector store is closed.")
        try:
            return action(client)
        except Exception as error:
            raise StoreUnavailable(f"The vector store failed: {type(error).__name__}.") from error
