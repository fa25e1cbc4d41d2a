"""The passages of what is shown, as questions of the present see it: most are in memory, as many as there is room for.

Which chunks are shown is told by ``ShownChunks``. What a chunk says and where it stands in a version never changes, so
that passages stay while documents are written and published; whenever chunks are taken out of the catalogue, as by a
purge, all of them are forgotten.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock

import numpy as np

from core.catalog.documents.shown import ShownChunks
from core.catalog.engine import Database
from core.catalog.revisions import Revision, removal_from
from core.catalog.schema import chunks, version_chunks
from core.model import Chunk, PlacedChunk
from core.platform.memory import usable_memory
from core.platform.precedence import give_way

_LEAST_BYTES, _MOST_BYTES = 32_000_000, 128_000_000
"""Of all texts together; some fourteen thousand passages, and fifty-five thousand."""
_SHARE = 200
"""The part of the memory that passages may take between these, one in so many."""
_BESIDE_TEXT = 1_000
"""Bytes of a passage besides its text, about."""
_MOST_ROWS, _MOST_ROWS_ASKED = 20_000, 2_000
"""Chunks of new publications that are taken into account at once, and by a question; the next one goes on."""
_VERSIONS = 20
_REMOVALS = removal_from(chunks), removal_from(version_chunks)
_UNREAD = 0, PlacedChunk(0, 0, "", "", "", 0, Chunk(0, "", 0, 0))
"""Stands for what is not known; no version has this id."""

ReadChunks = Callable[[list[int]], Mapping[int, PlacedChunk]]
ReadVersions = Callable[[list[int]], Sequence[tuple[int, PlacedChunk]]]
"""Reads the passages of versions, each with the id of its version."""


class ShownPassages:
    def __init__(self, database: Database, most_bytes: int | None = None) -> None:
        """``most_bytes`` is what the passages may take; where it is None, as much as the machine has room for."""
        self._database = database
        self._most_bytes = most_bytes or min(max(usable_memory() // _SHARE, _LEAST_BYTES), _MOST_BYTES)
        self._shown = ShownChunks()
        self._removals: Revision | None = None
        self._known: dict[int, tuple[int, PlacedChunk]] = {}
        """Passages by their chunks, with the ids of the versions that they were read of."""
        self._bytes = 0
        self._advancing = Lock()
        self._changing = Lock()

    def find(self, chunk_ids: Sequence[int], sequence: int, read: ReadChunks) -> dict[int, PlacedChunk] | None:
        """Return those of the chunks that are shown at a sequence number; None where memory cannot tell.

        ``read`` gives those of the catalogue that are not in memory.
        """
        removals = self._database.revisions.of(_REMOVALS)
        shown = None if removals is None else self._at(sequence)
        if removals is None or shown is None:
            return None
        known = self._of(removals)
        found: dict[int, PlacedChunk] = {}
        unknown: dict[int, int] = {}
        for chunk_id, version_id in zip(chunk_ids, shown.versions_of(chunk_ids), strict=True):
            if version_id:
                known_of, placed = known.get(chunk_id, _UNREAD)
                if known_of == version_id:
                    found[chunk_id] = placed
                else:
                    unknown[chunk_id] = version_id
        if unknown:
            # What was taken out meanwhile is not found.
            rows = read(list(unknown))
            found.update(rows)
            self._add(removals, ((unknown[chunk_id], placed) for chunk_id, placed in rows.items()))
        return found

    def warm_up(self, sequence: int, read: ReadVersions) -> None:
        """Take into memory what is shown, and as many of its passages as there is room for, the newest first."""
        removals = self._database.revisions.of(_REMOVALS)
        if removals is None:
            return
        while self._shown.sequence < sequence:
            give_way()
            self._advance(sequence, _MOST_ROWS)
        self._of(removals)
        version_ids: list[int] = np.unique(self._shown.version_ids)[::-1].tolist()
        for at in range(0, len(version_ids), _VERSIONS):
            give_way()
            # Before the room is used up: what was read first is forgotten first.
            if self._bytes > 0.95 * self._most_bytes:
                return
            self._add(removals, read(version_ids[at : at + _VERSIONS]))

    def _at(self, sequence: int) -> ShownChunks | None:
        # Who is already at it is not waited for: a question of a hundred chunks is sooner read from the catalogue.
        if self._shown.sequence < sequence and self._advancing.acquire(blocking=False):
            try:
                self._advance_from(sequence, _MOST_ROWS_ASKED)
            finally:
                self._advancing.release()
        shown = self._shown
        return shown if shown.sequence == sequence else None

    def _advance(self, sequence: int, most_rows: int) -> None:
        with self._advancing:
            self._advance_from(sequence, most_rows)

    def _advance_from(self, sequence: int, most_rows: int) -> None:
        if self._shown.sequence < sequence:
            with self._database.read() as tx:
                self._shown = self._shown.later(tx, sequence, most_rows)

    def _of(self, removals: Revision) -> Mapping[int, tuple[int, PlacedChunk]]:
        with self._changing:
            if removals != self._removals:
                self._removals, self._known, self._bytes = removals, {}, 0
            return self._known

    def _add(self, removals: Revision, read: Iterable[tuple[int, PlacedChunk]]) -> None:
        """Remember what was read, unless something was taken out since."""
        with self._changing:
            if removals != self._removals:
                return
            for version_id, placed in read:
                before = self._known.pop(placed.id, None)
                self._bytes += _size(placed) - (0 if before is None else _size(before[1]))
                self._known[placed.id] = version_id, placed
            while self._bytes > self._most_bytes:
                self._bytes -= _size(self._known.pop(next(iter(self._known)))[1])


def _size(placed: PlacedChunk) -> int:
    return sys.getsizeof(placed.chunk.text) + _BESIDE_TEXT
