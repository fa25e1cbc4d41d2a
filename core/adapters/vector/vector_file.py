"""Vectors as 16-bit floats in a file without a name: it ends with the process, whatever ends that.

What was read lately stays in memory that nothing else needs. The file is read and written and not mapped, so a full
or broken disk is an ``OSError``.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from core.adapters.vector.arrays import Halves
from core.adapters.vector.arrays import Ids as Rows
from core.ports import Vector

MOST_BETWEEN = 8
"""Rows that nobody asked for and that are read with those around them, which takes less than reading twice."""


class VectorFile:
    """Numbered rows of ``dimension`` 16-bit floats; every method raises ``OSError`` where the disk does."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self._dimension = dimension
        self._row_bytes = 2 * dimension

    def write(self, rows: Rows, vectors: Halves) -> None:
        """Put ``(n, dimension)`` vectors into these rows, those that follow each other at once."""
        for run in _runs(rows, 0):
            write_at(self._file.fileno(), vectors[run].tobytes(), int(rows[run.start]) * self._row_bytes)

    def read(self, rows: Rows) -> Vector:
        """Return ``(n, dimension)`` 32-bit floats in the order of the rows."""
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        runs = _runs(ordered, MOST_BETWEEN)
        found = np.empty((len(rows), self._dimension), dtype=np.float32)
        if 2 * len(runs) > len(rows):
            found[order] = self._each(ordered)
        else:
            for run in runs:
                first, last = int(ordered[run.start]), int(ordered[run.stop - 1])
                found[order[run]] = self._got(first, last - first + 1)[ordered[run] - first]
        return found

    def wipe(self, rows: Rows) -> None:
        """Overwrite the rows, so that the disk keeps nothing of what was deleted."""
        self.write(np.sort(rows), np.zeros((len(rows), self._dimension), dtype=np.float16))

    def _each(self, rows: Rows) -> Halves:
        number, size, read = self._file.fileno(), self._row_bytes, os.pread
        return self._halves(b"".join([read(number, size, at) for at in (rows * size).tolist()]), len(rows))

    def _got(self, row: int, count: int) -> Halves:
        return self._halves(os.pread(self._file.fileno(), count * self._row_bytes, row * self._row_bytes), count)

    def _halves(self, content: bytes, count: int) -> Halves:
        if len(content) < count * self._row_bytes:
            raise OSError("the file of vectors is shorter than what was written into it")
        return np.frombuffer(content, dtype=np.float16).reshape(count, self._dimension)


def write_at(file: int, content: bytes, at: int) -> None:
    """Write all of the bytes at a place of an open file. Raises: ``OSError``."""
    left = memoryview(content)
    while left:
        written = os.pwrite(file, left, at)
        left, at = left[written:], at + written


def _runs(rows: Rows, between: int) -> list[slice]:
    """Return the stretches of sorted rows in which no more than so many are missing from one to the next."""
    ends = (np.flatnonzero(np.diff(rows) > between + 1) + 1).tolist()
    return [slice(start, end) for start, end in zip([0, *ends], [*ends, len(rows)], strict=True) if start < end]
