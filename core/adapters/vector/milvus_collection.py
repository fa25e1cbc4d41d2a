"""The collection of a Milvus Lite folder: what it is made of, and what Milvus Lite needs that a server does not.

``milvus_server`` does the same for a server.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from core.adapters.vector.milvus_lite_server import MilvusLiteServer
from core.adapters.vector.milvus_rows import SOURCE_BYTES, TEXT_BYTES, filters
from core.errors import WrongIndex
from core.model import Part

ROWS_PER_CLUSTER = 39
"""Fewer rows a cluster than FAISS trains with: an approximate search would save nothing and lose neighbours."""


class LiteCollection:
    """A collection that only this process writes and reads."""

    engine = "Milvus Lite IVF_FLAT"

    def __init__(self, server: MilvusLiteServer, name: str, dimension: int, nlist: int, mends: bool) -> None:
        self._server = server
        self._mends = mends
        self._name = name
        self._dimension = dimension
        self._nlist = nlist
        self._buffered = 0

    @property
    def socket(self) -> str:
        return self._server.uri

    def open(self, client: Any) -> None:
        """Make the collection where there is none. Raises: ``WrongIndex``."""
        if client.has_collection(self._name):
            if holds(client, self._name, self._dimension):
                client.load_collection(self._name)
                return
            if not self._mends:
                raise WrongIndex("The vector store was made before its rows had fingerprints.")
            # An empty one is filled from the catalogue.
            client.drop_collection(self._name)
        self._make(client)

    def clear(self, client: Any) -> None:
        client.drop_collection(self._name)
        self._make(client)

    def send(self, _client: Any, rows: list[dict[str, Any]], _timeout_s: float) -> None:
        self._server.write(self._name, rows)

    def wrote(self, client: Any, rows: int) -> None:
        """Have the write buffer indexed once it is large: a search takes ten times longer a row in it."""
        self._buffered += rows
        if self._buffered >= ROWS_PER_CLUSTER * self._nlist:
            client.flush(self._name)
            self._buffered = 0

    def pages(self, client: Any, fields: list[str]) -> Iterator[list[Any]]:
        """Yield all rows; Milvus Lite has neither windows nor an order to read in."""
        for part in Part:
            yield client.query(self._name, filter=filters([part], None)[0], output_fields=fields)

    def expunge(self, _client: Any, chunk_ids: Collection[int]) -> bool:
        self._buffered = 0
        return self._server.expunge(self._name, "id", set(chunk_ids))

    def close(self) -> None:
        self._server.close()

    def _make(self, client: Any) -> None:
        # pymilvus flattens the parameters for a server; Milvus Lite reads only the nested form, and drops the flat one.
        index = ivf_flat(client, {"params": {"nlist": self._nlist}})
        client.create_collection(self._name, schema=schema(client, self._dimension), index_params=index)


def schema(client: Any, dimension: int) -> Any:
    """Return the fields of a collection."""
    from pymilvus import DataType

    made = client.create_schema(auto_id=False, enable_dynamic_field=False)
    made.add_field("id", DataType.INT64, is_primary=True)
    made.add_field("embedding", DataType.FLOAT_VECTOR, dim=dimension)
    made.add_field("text", DataType.VARCHAR, max_length=TEXT_BYTES)
    made.add_field("source", DataType.VARCHAR, max_length=SOURCE_BYTES)
    made.add_field("part", DataType.VARCHAR, max_length=16)
    made.add_field("doc_id", DataType.INT64)
    made.add_field("fingerprint", DataType.INT64)
    return made


def ivf_flat(client: Any, params: dict[str, Any]) -> Any:
    """Return the index of the vectors, which every segment gets when it is sealed."""
    index = client.prepare_index_params()
    index.add_index("embedding", index_type="IVF_FLAT", metric_type="L2", params=params)
    return index


def holds(client: Any, name: str, dimension: int) -> bool:
    """Tell whether rows of the collection have fingerprints. Raises: ``WrongIndex`` for vectors of another model."""
    fields = {field["name"]: field for field in client.describe_collection(name)["fields"]}
    stored = int(fields["embedding"]["params"]["dim"]) if "embedding" in fields else 0
    if stored != dimension:
        raise WrongIndex(f"The vector store holds vectors of {stored} dimensions, and the model gives {dimension}.")
    return "fingerprint" in fields
