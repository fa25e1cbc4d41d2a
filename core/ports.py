"""What the pipeline needs from technology, as protocols; every adapter of a port passes the same contract tests.

Policy that all adapters share is stated here once, in the docstrings. Adapters translate their SDK's errors into
``core.errors`` and hold no policy of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from core.model import IndexHit, Part

Vector = npt.NDArray[np.float32]
"""Shape ``(dimension,)`` or ``(n, dimension)``, unit length."""

Progress = Callable[[int, int], None]
"""Called with what is done, of how much."""


class Parser(Protocol):
    """Turns the bytes of one document into blocks, away from the caller's process."""

    def parse(self, source: Path, extension: str, target: Path) -> Mapping[str, Any]:
        """Write the blocks of ``source`` to ``target`` as JSON lines and return the document's metadata.

        Raises: ``UnreadableDocument`` and its kinds. ``target`` is complete or absent.
        """

    def close(self) -> None: ...


class Embedder(Protocol):
    """Turns text into unit vectors of one named space."""

    id: str
    dimension: int

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        """Return ``(n, dimension)`` vectors in the order of ``texts``. Raises: ``ModelUnavailable``."""

    def embed_query(self, text: str) -> Vector:
        """Return a ``(dimension,)`` vector. Raises: ``ModelUnavailable``."""


@dataclass(frozen=True, slots=True)
class VectorRow:
    chunk_id: int
    doc_id: int
    part: Part
    vector: Vector
    text: str
    source: str


class VectorIndex(Protocol):
    """Nearest neighbours by L2 distance.

    A chunk has one row, in one part: an upsert replaces the row wherever it was, so moving a row between the parts is
    an upsert with the other part, and every write can be repeated. A write is durable when it returns. ``search``
    returns the Euclidean distance (not its square), nearest first, ties by id. Raises: ``StoreUnavailable``.
    """

    engine: str

    def engine_for(self, parts: Sequence[Part]) -> str:
        """Name what answers a search of these parts now."""

    def upsert(self, rows: Sequence[VectorRow]) -> None: ...

    def delete(self, chunk_ids: Sequence[int]) -> None: ...

    def search(
        self, vector: Vector, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]: ...

    def count(self) -> Mapping[Part, int]: ...

    def ids(self) -> Iterator[tuple[int, Part]]: ...

    def clear(self) -> None: ...

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        """Remove from the disk what deleted rows have left there; tell whether nothing is left.

        What stays goes when every other row has been written again. Raises: ``StoreUnavailable``.
        """

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class KeywordRow:
    chunk_id: int
    doc_id: int
    part: Part
    text: str
    source: str


class KeywordIndex(Protocol):
    """BM25 (k1 = 1.2, b = 0.75) over the terms of ``core.text.analysis``; statistics are those of the part searched.

    Rows behave as in ``VectorIndex``. ``search`` takes the question as literal text, whatever signs it holds, and
    returns hits with the score of each term, best first, ties by id. No term in common means no hit; an engine that
    cannot answer raises ``StoreUnavailable``, and never returns an empty list instead.
    """

    engine: str

    def upsert(self, rows: Sequence[KeywordRow]) -> None: ...

    def delete(self, chunk_ids: Sequence[int]) -> None: ...

    def search(
        self, text: str, limit: int, parts: Sequence[Part], doc_ids: Sequence[int] | None = None
    ) -> list[IndexHit]: ...

    def count(self) -> Mapping[Part, int]: ...

    def ids(self) -> Iterator[tuple[int, Part]]: ...

    def clear(self) -> None: ...

    def expunge(self, chunk_ids: Collection[int]) -> bool:
        """Remove from the disk what deleted rows have left there, as ``VectorIndex`` does."""

    def close(self) -> None: ...


class BlobStore(Protocol):
    """Immutable bytes named by their SHA-256 in lower-case hexadecimal."""

    def put(self, source: Path, sha256: str) -> None:
        """Take the file ``source``, whose hash is ``sha256``, away from its place; durable when it returns."""

    def path(self, sha256: str) -> Path:
        """Return a file that can be read. Raises: ``NotFound``."""

    def delete(self, sha256: str) -> None: ...
