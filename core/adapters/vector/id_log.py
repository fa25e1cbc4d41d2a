"""Which place each id was given, in a file that only grows: in the order of their first writing, eight bytes each."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import numpy as np

from core.adapters.vector.arrays import NO_ID, Ids
from core.adapters.vector.slot_table import Slots, SlotTable
from core.adapters.vector.vector_file import write_at

_ID = np.dtype("<i8")


class IdLog:
    """Places of ids, counted from 0; an id keeps its place, whatever becomes of its row."""

    def __init__(self, path: Path) -> None:
        """Open the file, or begin one; what a machine that stopped has left of a half-written id is cut off."""
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self._length = os.fstat(self._file).st_size // _ID.itemsize
        os.ftruncate(self._file, self._length * _ID.itemsize)
        self._slots = SlotTable()
        self._slots.renew(self._all())

    def __len__(self) -> int:
        return self._length

    def find(self, ids: Sequence[int]) -> Slots:
        """Return the place of each id, -1 where it has none."""
        return self._slots.find(ids)

    def append(self, ids: Sequence[int]) -> None:
        """Give these ids, which have none, the next places; they are on the disk when this returns."""
        self._write(ids, self._length)
        os.fsync(self._file)
        self._slots.put(ids, self._length)
        self._length += len(ids)

    def replace(self, parts: Iterable[tuple[int, Sequence[int]]]) -> None:
        """Take these ids for all that there are, given as a first place and those from there on, in order.

        Raises: ``ValueError`` where more ids stand before a place than places.
        """
        given = np.empty(0, dtype=_ID)
        for first, ids in parts:
            missing = np.full(first - len(given), NO_ID, dtype=_ID)
            given = np.concatenate([given, missing, np.array(ids, dtype=_ID)])
        write_whole(self._path, given.tobytes())
        before, self._file = self._file, os.open(self._path, os.O_RDWR)
        os.close(before)
        self._length = len(given)
        self._slots.renew(given)

    def forget(self, ids: Collection[int]) -> None:
        """Overwrite these ids."""
        for slot in self.find(list(ids)).tolist():
            if slot >= 0:
                self._write([NO_ID], slot)
        os.fsync(self._file)
        self._slots.renew(self._all())

    def within(self, first: int, end: int) -> set[int]:
        """Return the ids of the places from one on, before another."""
        return set(self._all()[first:end].tolist())

    def close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def _all(self) -> Ids:
        return np.frombuffer(os.pread(self._file, self._length * _ID.itemsize, 0), dtype=_ID)

    def _write(self, ids: Sequence[int], slot: int) -> None:
        write_at(self._file, np.array(ids, dtype=_ID).tobytes(), slot * _ID.itemsize)


def write_whole(path: Path, content: bytes) -> None:
    """Put a file in the place of another one, as a whole and on the disk. Raises: ``OSError``."""
    draft = path.with_name(f"{path.name}.part")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
