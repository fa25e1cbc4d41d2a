"""Which slot each id has, in twelve bytes an id where a dictionary takes a hundred."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.adapters.vector.arrays import Ids

Slots = npt.NDArray[np.int32]

NOWHERE = -1
MOST_RECENT = 65_536


class SlotTable:
    """Sorted arrays, and a dictionary of what was put since they were; what is put again has its last slot."""

    def __init__(self) -> None:
        self._ids: Ids = np.empty(0, dtype=np.int64)
        self._slots: Slots = np.empty(0, dtype=np.int32)
        self._recent: dict[int, int] = {}

    def put(self, ids: Sequence[int], first: int) -> None:
        """Give these ids the slots from ``first`` on."""
        self._recent.update(zip(ids, range(first, first + len(ids)), strict=True))
        if len(self._recent) > MOST_RECENT:
            self._settle()

    def find(self, ids: Sequence[int]) -> Slots:
        """Return the slot of each id, ``NOWHERE`` where none was put."""
        wanted = np.asarray(ids, dtype=np.int64)
        found = np.full(len(wanted), NOWHERE, dtype=np.int32)
        if len(self._ids):
            places = np.minimum(np.searchsorted(self._ids, wanted), len(self._ids) - 1)
            found = np.where(self._ids[places] == wanted, self._slots[places], found)
        if self._recent:
            recent = (self._recent.get(chunk_id, NOWHERE) for chunk_id in wanted.tolist())
            newer = np.fromiter(recent, dtype=np.int32, count=len(wanted))
            found = np.where(newer == NOWHERE, found, newer)
        return found

    def renew(self, ids: Ids) -> None:
        """Take these ids for all that there are, each with its place as its slot; negative ones are none."""
        order = np.argsort(ids, kind="stable")
        order = order[np.searchsorted(ids[order], 0) :]
        self._ids, self._slots, self._recent = ids[order], order.astype(np.int32), {}

    def _settle(self) -> None:
        ids = np.fromiter(self._recent, dtype=np.int64, count=len(self._recent))
        slots = np.fromiter(self._recent.values(), dtype=np.int32, count=len(self._recent))
        kept = np.isin(self._ids, ids, invert=True)
        ids, slots = np.concatenate([self._ids[kept], ids]), np.concatenate([self._slots[kept], slots])
        order = np.argsort(ids, kind="stable")
        self._ids, self._slots, self._recent = ids[order], slots[order], {}
