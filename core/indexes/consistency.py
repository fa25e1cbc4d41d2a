"""Consistency: what a store holds is compared with what the catalogue says that it should hold.

Both are read in streams; some 30 bytes a row are kept. What looks wrong is looked at in the catalogue once more,
because people go on publishing meanwhile: what has changed since, or what the store has yet to be told, is no fault.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.catalog.consistency import IN_EITHER, IN_HEAD, REQUIRED, Expected, Ids, Making
from core.errors import StoreUnavailable
from core.model import Fault, StoreCheck, VersionCheck
from core.ports import KeywordIndex, Progress, StoredRows, VectorIndex

if TYPE_CHECKING:
    from core.catalog import Catalog

_SEEN, _STALE, _MISPLACED, _GOOD = 1, 2, 4, 8
_MOST_VERSIONS = 200
_EXAMPLES = 20


@dataclass(frozen=True, slots=True)
class Watched:
    """A store, and what says by what its rows are made at the moment."""

    index: VectorIndex | KeywordIndex
    making: Callable[[], Making]


@dataclass(frozen=True, slots=True)
class Faults:
    """The ids of the chunks whose rows are wrong, by fault and in order."""

    ids: Mapping[Fault, Ids]
    waiting: int = 0

    def all(self) -> list[int]:
        found: list[int] = np.unique(np.concatenate(list(self.ids.values()))).tolist()
        return found


class ConsistencyChecker:
    """Compares stores with the catalogue; changes nothing."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._table = catalog.consistency

    def check(self, store: str, watched: Watched, progress: Progress | None = None) -> tuple[StoreCheck, Faults]:
        """Return how a store stands, and what is to be mended; a store that does not answer is told by ``error``."""
        started = time.monotonic()
        total, done = 2 * self._table.count(), 0

        def tell(rows: int) -> None:
            nonlocal done
            done += rows
            if progress is not None:
                progress(min(done, total), total)

        making = watched.making()
        expected = self._table.expected(store, making, tell)
        held = _Held(expected)
        try:
            for rows in watched.index.stored():
                held.add(rows)
                tell(len(rows.ids))
        except StoreUnavailable as error:
            seconds = round(time.monotonic() - started, 3)
            none = Faults({fault: np.empty(0, np.int64) for fault in Fault})
            told = StoreCheck(store, watched.index.engine, len(expected.ids), error=error.message, seconds=seconds)
            return told, none
        if watched.making() != making:
            # A vocabulary has taken effect, or began to.
            return self.check(store, watched, progress)
        faults = self._settled(store, making, expected, held.faults())
        wrong, checked, wrong_count = self._versions(expected, held, faults)
        return StoreCheck(
            store,
            watched.index.engine,
            expected=len(expected.ids),
            stored=held.rows,
            missing=len(faults.ids[Fault.MISSING]),
            orphaned=len(faults.ids[Fault.ORPHANED]),
            stale=len(faults.ids[Fault.STALE]),
            misplaced=len(faults.ids[Fault.MISPLACED]),
            waiting=faults.waiting,
            versions_checked=checked,
            versions_wrong=wrong_count,
            versions=wrong,
            examples={fault.value: tuple(map(str, ids[:_EXAMPLES].tolist())) for fault, ids in faults.ids.items()},
            seconds=round(time.monotonic() - started, 3),
        ), faults

    def _settled(self, store: str, making: Making, before: Expected, found: Mapping[Fault, Ids]) -> Faults:
        """Leave out what has changed in the catalogue since it was read, and what the store has yet to be told."""
        suspects = np.unique(np.concatenate(list(found.values())))
        now = self._table.expected_of(store, making, suspects.tolist())
        # What was told meanwhile has left the outbox, and its chunk stands elsewhere than before.
        waiting = self._table.waiting(store)
        old, was = before.places(suspects)
        new, is_there = now.places(suspects)
        changed = was != is_there
        both = was & is_there
        changed[both] = before.flags[old[both]] != now.flags[new[both]]
        left_out = np.union1d(suspects[changed], waiting)
        kept = {fault: np.setdiff1d(ids, left_out, assume_unique=False) for fault, ids in found.items()}
        return Faults(kept, len(waiting))

    def _versions(self, expected: Expected, held: _Held, faults: Faults) -> tuple[tuple[VersionCheck, ...], int, int]:
        """Return the first versions that are wrong, how many were looked at, and how many are wrong."""
        sums = _Sums()
        wrong = {fault: np.zeros(len(expected.ids), np.bool_) for fault in faults.ids}
        for fault, ids in faults.ids.items():
            at, is_there = expected.places(ids)
            wrong[fault][at[is_there]] = True
        for chunk_ids, version_ids in self._table.memberships():
            at, is_there = expected.places(chunk_ids)
            sums.add(version_ids[is_there], at[is_there], expected.fingerprints, held.fingerprints, wrong)
        numbers = sums.wrong()
        return tuple(map(sums.of, numbers[:_MOST_VERSIONS])), sums.count, len(numbers)

    def named(self, checks: Sequence[StoreCheck]) -> tuple[StoreCheck, ...]:
        """Name the documents of checks as they are called now; a version that is gone is left out."""
        names = self._table.names([each.version_id for check in checks for each in check.versions])
        return tuple(
            replace(
                check,
                versions=tuple(
                    replace(each, doc_key=names[each.version_id][0], version=names[each.version_id][1])
                    for each in check.versions
                    if each.version_id in names
                ),
            )
            for check in checks
        )


class _Held:
    """What a store holds, beside what it should hold."""

    def __init__(self, expected: Expected) -> None:
        self._expected = expected
        self._state = np.zeros(len(expected.ids), np.uint8)
        self._orphans: list[Ids] = []
        self.fingerprints = np.zeros(len(expected.ids), np.int64)
        self.rows = 0

    def add(self, rows: StoredRows) -> None:
        self.rows += len(rows.ids)
        at, is_there = self._expected.places(rows.ids)
        if not is_there.all():
            self._orphans.append(rows.ids[~is_there])
        at, made, in_head = at[is_there], rows.fingerprints[is_there], rows.in_head[is_there]
        fresh = made == self._expected.fingerprints[at]
        if len(self._expected.former):
            fresh |= made == self._expected.former[at]
        flags = self._expected.flags[at]
        well_placed = (flags & (IN_HEAD | IN_EITHER) == IN_EITHER) | (in_head == (flags & IN_HEAD > 0))
        # A row that is on its way to being indexed for the first time belongs nowhere yet.
        well_placed |= flags & REQUIRED == 0
        state = np.full(len(at), _SEEN, np.uint8)
        state[~fresh] |= _STALE
        state[~well_placed] |= _MISPLACED
        np.bitwise_or.at(self._state, at, state)
        self.fingerprints[at] = made
        self._tell_twice(at[fresh & well_placed & (flags & REQUIRED > 0)])

    def _tell_twice(self, good: npt.NDArray[np.intp]) -> None:
        """Call a row stale that is there twice although nothing else is wrong with it: it is to be written anew."""
        places, times = np.unique(good, return_counts=True)
        twice = (times > 1) | (self._state[places] & _GOOD > 0)
        self._state[places[twice]] |= _STALE
        self._state[places] |= _GOOD

    def faults(self) -> dict[Fault, Ids]:
        ids, state = self._expected.ids, self._state
        absent = (state & _SEEN == 0) & (self._expected.flags & REQUIRED > 0)
        orphans = np.unique(np.concatenate(self._orphans)) if self._orphans else np.empty(0, np.int64)
        return {
            Fault.MISSING: ids[absent],
            Fault.ORPHANED: orphans,
            Fault.STALE: ids[state & _STALE > 0],
            Fault.MISPLACED: ids[state & _MISPLACED > 0],
        }


class _Sums:
    """Of each version: how many rows it has and how many with each fault, and the sums of their fingerprints."""

    _COUNTED = (Fault.MISSING, Fault.STALE, Fault.MISPLACED)

    def __init__(self) -> None:
        self._ids = np.empty(0, np.int64)
        self._counts = np.zeros((0, 1 + len(self._COUNTED)), np.int64)
        self._marks = np.zeros((0, 2), np.uint64)

    @property
    def count(self) -> int:
        return len(self._ids)

    def add(
        self,
        version_ids: Ids,
        at: npt.NDArray[np.intp],
        expected: Ids,
        held: Ids,
        wrong: Mapping[Fault, npt.NDArray[np.bool_]],
    ) -> None:
        self._know(version_ids)
        rows = np.searchsorted(self._ids, version_ids)
        np.add.at(self._counts[:, 0], rows, 1)
        for column, fault in enumerate(self._COUNTED, start=1):
            np.add.at(self._counts[:, column], rows, wrong[fault][at])
        for column, marks in enumerate((expected, held)):
            np.add.at(self._marks[:, column], rows, marks[at].view(np.uint64))

    def _know(self, version_ids: Ids) -> None:
        """Give every version a row, in the order of their ids, however large these are."""
        known, self._ids = self._ids, np.union1d(self._ids, version_ids)
        if len(self._ids) > len(known):
            fresh = np.searchsorted(known, np.setdiff1d(self._ids, known, assume_unique=True))
            self._counts = np.insert(self._counts, fresh, 0, axis=0)
            self._marks = np.insert(self._marks, fresh, 0, axis=0)

    def wrong(self) -> list[int]:
        found: list[int] = self._ids[self._counts[:, 1:].any(axis=1)].tolist()
        return found

    def of(self, version_id: int) -> VersionCheck:
        row = np.searchsorted(self._ids, version_id)
        rows, missing, stale, misplaced = map(int, self._counts[row])
        expected, held = (f"{int(mark):016x}" for mark in self._marks[row])
        return VersionCheck(
            version_id,
            rows=rows,
            missing=missing,
            stale=stale,
            misplaced=misplaced,
            expected_fingerprint=expected,
            stored_fingerprint=held,
        )
