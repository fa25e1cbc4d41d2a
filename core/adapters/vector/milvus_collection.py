"""What a collection is made of, in a Milvus Lite folder or on a server."""

from __future__ import annotations

from typing import Any

from core.adapters.vector.milvus_rows import SOURCE_BYTES, TEXT_BYTES
from core.errors import WrongIndex

ROWS_PER_CLUSTER = 39
"""Fewer rows a cluster than FAISS trains with: an approximate search would save nothing and lose neighbours."""


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
