"""What is sent to Milvus: rows, and filters.

Milvus Lite checks little, so that what a server would refuse is made right here: texts are cut by bytes, rows are
sent in bounded batches, and filters are built from integers and fixed words only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from core.model import Part
from core.ports import StoredRows, VectorRow

TEXT_BYTES = 65_535
SOURCE_BYTES = 255
BATCH_BYTES = 16 * 1024 * 1024
"""Text of the rows that are sent in one request; a server takes 64 MB at most."""
FILTER_IDS = 4_096


def as_row(row: VectorRow) -> dict[str, Any]:
    """Return the row as Milvus takes it, its texts cut to the size of their fields."""
    return {
        "id": int(row.chunk_id),
        "embedding": np.asarray(row.vector, dtype=np.float32),
        "text": cut(row.text, TEXT_BYTES),
        "source": cut(row.source, SOURCE_BYTES),
        "part": row.part.value,
        "doc_id": int(row.doc_id),
        "fingerprint": int(row.fingerprint),
    }


def as_stored(rows: Sequence[Mapping[str, Any]]) -> StoredRows:
    """Return rows with ``id``, ``part`` and ``fingerprint``, as Milvus gives them, as arrays."""
    return StoredRows(
        np.array([row["id"] for row in rows], dtype=np.int64),
        np.array([row["fingerprint"] for row in rows], dtype=np.int64),
        np.array([row["part"] == Part.HEAD.value for row in rows], dtype=np.bool_),
    )


def cut(text: str, limit_bytes: int) -> str:
    """Return the longest start of the text that fits, ending between characters."""
    return text.encode("utf-8", "replace")[:limit_bytes].decode("utf-8", "ignore")


def batches(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows in requests of bounded size."""
    batch: list[dict[str, Any]] = []
    size_bytes = 0
    for row in rows:
        batch.append(row)
        size_bytes += 4 * len(row["text"]) + row["embedding"].nbytes
        if size_bytes >= BATCH_BYTES:
            yield batch
            batch, size_bytes = [], 0
    if batch:
        yield batch


def slices(ids: Sequence[int]) -> Iterator[list[int]]:
    """Yield the ids in lists of bounded length."""
    for start in range(0, len(ids), FILTER_IDS):
        yield [int(number) for number in ids[start : start + FILTER_IDS]]


def filters(parts: Sequence[Part], doc_ids: Sequence[int] | None) -> list[str]:
    """Filter expressions that together let through the rows asked for, each of bounded length."""
    wanted = set(parts)
    part = "" if wanted == set(Part) else f'part == "{next(iter(wanted)).value}"'
    if doc_ids is None:
        return [part]
    lists = [f"doc_id in [{', '.join(map(str, numbers))}]" for numbers in slices(sorted(set(doc_ids)))]
    return [f"{part} and {listed}" if part else listed for listed in lists]
