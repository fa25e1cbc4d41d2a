"""Reading blobs to the end, to tell whether their bytes are those that they are named by."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import IO

from core.model import FileFault

_PIECE_BYTES = 1024 * 1024
_REMEMBERED = 4_096
_TRUSTED_S = 60.0
"""Time for which a file that was read whole, and has not been written to since, is not read again for its hash."""

Pace = Callable[[float], None]
"""Called with the seconds that each piece took, so that whoever reads in the background can rest."""


def at_once(_seconds: float) -> None:
    """Rest not at all."""


def has_hash(file: IO[bytes], sha256: str, pace: Pace = at_once) -> bool:
    """Read a file to its end and tell whether its bytes have this hash. Raises: ``OSError``."""
    summed = hashlib.sha256()
    while True:
        began = time.monotonic()
        piece = file.read(_PIECE_BYTES)
        if not piece:
            return summed.hexdigest() == sha256
        summed.update(piece)
        pace(time.monotonic() - began)


def fault_of(path: Path, sha256: str, pace: Pace = at_once) -> FileFault | None:
    """Tell what is wrong with a file, None where nothing is."""
    try:
        with path.open("rb") as file:
            return None if has_hash(file, sha256, pace) else FileFault.DAMAGED
    except FileNotFoundError:
        return FileFault.MISSING
    except OSError:
        return FileFault.UNREADABLE


class ReadWhole:
    """Remembers for a minute which files were read and found whole, by name, place, size and times."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, tuple[tuple[int, ...], float]] = OrderedDict()
        self._lock = threading.Lock()

    def fault(self, path: Path, sha256: str) -> FileFault | None:
        """Tell what is wrong with a file, None where nothing is."""
        try:
            marks, now = _marks(path), time.monotonic()
        except OSError:
            return fault_of(path, sha256)
        with self._lock:
            seen = self._seen.get(sha256)
        if seen is not None and seen[0] == marks and now - seen[1] < _TRUSTED_S:
            return None
        fault = fault_of(path, sha256)
        if fault is None:
            with self._lock:
                self._seen[sha256] = marks, now
                self._seen.move_to_end(sha256)
                while len(self._seen) > _REMEMBERED:
                    self._seen.popitem(last=False)
        return fault


def _marks(path: Path) -> tuple[int, ...]:
    stat = os.stat(path)
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
