"""How many rows collections have, known without opening them."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from core.adapters.vector.id_log import write_whole
from core.model import Part


class KeptCounts:
    """How many rows collections have that were not changed since they were counted, also after a restart.

    The file loses a collection before the first change of it, so that one that was killed leaves nothing untrue.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._changes: Counter[int] = Counter()
        self._under_way: Counter[int] = Counter()
        self._known: dict[int, dict[Part, int]] = {}
        with suppress(OSError, ValueError, TypeError, AttributeError):
            read = json.loads(path.read_bytes())
            self._known = {
                int(start): {Part(part): int(rows) for part, rows in of.items()} for start, of in read.items()
            }

    def of(self, start: int) -> Mapping[Part, int] | None:
        with self._lock:
            return self._known.get(start)

    def changes(self, start: int) -> int:
        with self._lock:
            return self._changes[start]

    def keep_one(self, start: int, counted: dict[Part, int], seen: int) -> None:
        """Keep what was counted, unless the collection was changed since ``changes`` told what was ``seen``."""
        with self._lock:
            if self._changes[start] == seen and not self._under_way[start]:
                self._known[start] = counted
                self._write()

    @contextmanager
    def changing(self, start: int) -> Iterator[None]:
        """Have no count of the collection known from here to the end of a change."""
        with self._lock:
            self._under_way[start] += 1
        self.forget(start)
        try:
            yield
        finally:
            self.forget(start)
            with self._lock:
                self._under_way[start] -= 1

    def forget(self, start: int) -> None:
        with self._lock:
            self._changes[start] += 1
            if self._known.pop(start, None) is not None:
                self._write()

    def keep(self, starts: Sequence[int]) -> None:
        """Forget all collections but these."""
        with self._lock:
            if not self._known.keys() <= set(starts):
                self._known = {start: of for start, of in self._known.items() if start in starts}
                self._write()

    def _write(self) -> None:
        told = {str(start): {part.value: rows for part, rows in of.items()} for start, of in self._known.items()}
        try:
            write_whole(self._path, json.dumps(told).encode())
        except OSError:
            self._path.unlink(missing_ok=True)
