"""The passages that questions have found lately, with whether a view shows them: most are found again soon.

Whatever is written to a table that decides on them makes all of them unknown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from threading import Lock

from core.catalog.documents.views import View
from core.catalog.revisions import Revision
from core.model import Chunk, PlacedChunk

_MOST_VIEWS = 8
_MOST_BYTES = 32_000_000
"""Of all texts together; some twenty thousand passages."""
_BESIDE_TEXT = 1_000
"""Bytes of a passage besides its text, about."""

UNREAD = PlacedChunk(0, 0, "", "", "", 0, Chunk(0, "", 0, 0))
"""Stands for what is not known."""

Passages = dict[int, PlacedChunk | None]


class KnownPassages:
    """Remembers by view what was read of chunks; None is what the view does not show."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._revision: Revision | None = None
        self._views: dict[View, Passages] = {}
        self._bytes: dict[View, int] = {}
        self._changing = Lock()

    def of(self, revision: Revision, view: View) -> Mapping[int, PlacedChunk | None]:
        """Return what is known of a view's chunks at a revision of the tables; more may be known soon."""
        with self._changing:
            self._begin(revision)
            return self._views.get(view, {})

    def add(self, revision: Revision, view: View, read: Iterable[tuple[int, PlacedChunk | None]]) -> None:
        """Remember what was read at a revision, unless there has been another one since."""
        with self._changing:
            if revision != self._revision:
                return
            # The view that was asked of last is forgotten last.
            known = self._views[view] = self._views.pop(view, {})
            held = self._bytes.get(view, 0)
            for chunk_id, placed in read:
                held += _size(placed) - (_size(known[chunk_id]) if chunk_id in known else 0)
                known[chunk_id] = placed
            while held > self._most_bytes:
                oldest = next(iter(known))
                held -= _size(known.pop(oldest))
            self._bytes[view] = held
            while len(self._views) > _MOST_VIEWS or sum(self._bytes.values()) > self._most_bytes:
                first = next(iter(self._views))
                del self._views[first], self._bytes[first]

    def _begin(self, revision: Revision) -> None:
        if revision != self._revision:
            self._revision, self._views, self._bytes = revision, {}, {}


def _size(placed: PlacedChunk | None) -> int:
    return 100 if placed is None else sys.getsizeof(placed.chunk.text) + _BESIDE_TEXT
