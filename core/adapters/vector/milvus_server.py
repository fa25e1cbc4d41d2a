"""The collection of a Milvus server, behind an alias, written and read by several processes.

What is written can be found by every process when the write returns: it ends with one query of consistency *strong*,
after which the server has taken in all that was sent before. Searches need not wait then (measured on 2.3.5, 20,000
rows: 7 ms instead of the 200 ms of a strong search; without the query 10 of 10 rows were missed straight after).

Head and history are told apart by a scalar field and not by partitions: a row that moves is one write that replaces it
instead of two between which it is in both, and a search costs the same (`benchmarks.milvus_parts`, 20,000 rows: p50 6.1
and 5.8 ms, 200 rows moved in 158 and 176 ms, recall@50 1.0 in both).

The server indexes each sealed segment by itself, so that the number of clusters follows from the size of a segment and
not of the collection. Of 3,925 sentences of the question sets under the packaged model, and 200 of their questions, 10
of 128 clusters hold .88 of the true 50 nearest, 16 hold .954 and 20 hold .973; of 2,304 sentences .84, .91 and .95: the
more rows, the fewer clusters are needed (`benchmarks.clusters`). 250 clusters, four times the root of the rows, found
little more for the same work (.965 for 13 % of the rows). So 20 of 128 are looked into, and all of them below 39 rows a
cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from core.adapters.vector.milvus_collection import holds, ivf_flat, schema
from core.adapters.vector.milvus_rows import filters
from core.errors import WrongIndex
from core.model import Part

PAGE = 16_384
"""Rows of one answer: a server refuses larger windows."""
STRONG = "Strong"
LOADING_S = 600.0
"""Time in which a collection of any size is taken into the memory of the server."""


class ServerCollection:
    """``name`` is an alias; the rows lie in ``<name>_rows_<n>``, of which a new one takes the place when emptied."""

    engine = "Milvus IVF_FLAT"

    def __init__(self, address: str, name: str, dimension: int, nlist: int, timeout_s: float) -> None:
        self.socket = address
        self._name = name
        self._dimension = dimension
        self._nlist = nlist
        self._timeout_s = timeout_s

    def open(self, client: Any) -> None:
        """Make the collection where there is none, and load it. Raises: ``WrongIndex``."""
        if not client.has_collection(self._name):
            first = f"{self._name}_rows_1"
            try:
                self._make(client, first)
                client.create_alias(first, self._name, timeout=self._timeout_s)
            except Exception:
                # Another process that opens it at the same time may have been faster.
                if not client.has_collection(self._name):
                    raise
        if not holds(client, self._name, self._dimension):
            raise WrongIndex(
                f"The collection {self._name} was not made by EvoRAG, or before its rows had fingerprints.",
                remedy="Give another name in EVORAG_INDEX_NAME, or remove the collection.",
            )
        client.load_collection(self._name, timeout=LOADING_S)

    def clear(self, client: Any) -> None:
        """Put an empty collection behind the alias; who searches meanwhile finds either of the two."""
        old = client.describe_collection(self._name)["collection_name"]
        new = f"{self._name}_rows_{int(old.rpartition('_')[2]) + 1}"
        if client.has_collection(new):
            # Left by one who was ended between two of these steps.
            client.drop_collection(new)
        self._make(client, new)
        client.alter_alias(new, self._name, timeout=self._timeout_s)
        client.drop_collection(old, timeout=self._timeout_s)

    def send(self, client: Any, rows: list[dict[str, Any]], timeout_s: float) -> None:
        client.upsert(self._name, rows, timeout=timeout_s)

    def forget(self, client: Any, ids: list[int], timeout_s: float) -> None:
        client.delete(self._name, ids=ids, timeout=timeout_s)

    @contextmanager
    def searched(self, _client: Any) -> Iterator[list[str]]:
        """Give what is searched: the collection behind the alias."""
        yield [self._name]

    def count(self, client: Any, level: str) -> Mapping[Part, int]:
        return {part: self._count_of(client, filters([part], None)[0], level) for part in Part}

    def _count_of(self, client: Any, expression: str, level: str) -> int:
        rows = client.query(
            self._name,
            filter=expression,
            output_fields=["count(*)"],
            consistency_level=level,
            timeout=self._timeout_s,
        )
        return int(rows[0]["count(*)"])

    def wrote(self, client: Any) -> None:
        """Wait until every process can find what was written, and none what was deleted."""
        client.query(
            self._name, filter="id == 0", output_fields=["id"], consistency_level=STRONG, timeout=self._timeout_s
        )

    def pages(self, client: Any, fields: list[str]) -> Iterator[list[Any]]:
        """Yield all rows in the order of their ids."""
        self.wrote(client)
        above = "id >= -9223372036854775807"
        while rows := client.query(
            self._name, filter=above, output_fields=fields, limit=PAGE, iterator="True", timeout=self._timeout_s
        ):
            yield rows
            above = f"id > {max(row['id'] for row in rows)}"

    def expunge(self, client: Any, _chunk_ids: Collection[int]) -> bool:
        """Ask for the segments to be written anew without deleted rows, which the server does in its own time."""
        client.flush(self._name, timeout=self._timeout_s)
        client.compact(self._name, timeout=self._timeout_s)
        return True

    def close(self) -> None:
        """Leave the server as it is."""

    def _make(self, client: Any, name: str) -> None:
        """Make the collection, or what one who was ended while making it has left out."""
        if not client.has_collection(name):
            client.create_collection(name, schema=schema(client, self._dimension), consistency_level="Session")
        client.create_index(name, ivf_flat(client, {"nlist": self._nlist}), timeout=self._timeout_s)
        client.load_collection(name, timeout=LOADING_S)
