"""Room on the disk of the data folder: how much there is, and some that is kept for deleting when there is no other."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from core.errors import NO_ROOM, DiskFull, is_for_want_of_room
from core.model import StoreHealth

T = TypeVar("T")

_SLICES = 4
_MIB = 1024 * 1024
_NOT_WRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


@contextmanager
def starting_on(folder: Path) -> Iterator[None]:
    """Say of a disk that is full, or takes no writes, that nothing can start on it. Raises: ``DiskFull``."""
    try:
        yield
    except OSError as error:
        if error.errno in _NOT_WRITABLE:
            raise DiskFull(
                f"The data folder “{folder}” cannot be written to ({os.strerror(error.errno)}).",
                remedy="Have its disk mounted for writing and the folder be this user's, or choose another folder with "
                "EVORAG_DATA_DIR.",
            ) from error
        if error.errno in NO_ROOM:
            raise DiskFull(f"There is no room on the disk of the data folder “{folder}”.") from error
        raise


class DiskRoom:
    """The room of one data folder. A file in it, ``reserve``, is shortened where deleting finds no other room."""

    def __init__(self, folder: Path, *, reserve_bytes: int, low_bytes: int, min_free_bytes: int) -> None:
        """Keep ``reserve_bytes``; below ``low_bytes`` the disk is nearly full, below ``min_free_bytes`` it is full."""
        self._folder = folder
        self._path = folder / "reserve"
        self._size = reserve_bytes
        self._low = low_bytes
        self._min_free = min_free_bytes
        self._changing = threading.Lock()

    def health(self) -> StoreHealth:
        """Return whether there is room: ``ok``, ``low``, or ``full`` where uploads are refused."""
        state = os.statvfs(self._folder)
        if state.f_flag & os.ST_RDONLY:
            return StoreHealth("disk", "data folder", "full", None, "The disk takes no writes.")
        usage = shutil.disk_usage(self._folder)
        word = "full" if usage.free < max(self._min_free, 1) else "low" if usage.free < self._low else "ok"
        told = f"{usage.free // _MIB:,} of {usage.total // _MIB:,} MiB are free." if word != "ok" else ""
        return StoreHealth("disk", "data folder", word, None, told)

    def refill(self) -> None:
        """Keep the room again that was spent, once there is twice as much."""
        with self._changing, suppress(OSError):
            if not self._size:
                self._path.unlink(missing_ok=True)
                return
            held = self._path.stat().st_size if self._path.exists() else 0
            if held >= self._size or shutil.disk_usage(self._folder).free < 2 * (self._size - held):
                return
            with self._path.open("ab") as file:
                os.posix_fallocate(file.fileno(), 0, self._size)

    def spend(self, act: Callable[[], T]) -> T:
        """Do something that can be repeated, with more and more of the room that is kept where the disk is full."""
        while True:
            try:
                return act()
            except Exception as error:
                if not (is_for_want_of_room(error) and self._release()):
                    raise

    def _release(self) -> bool:
        """Give a part of the room away; tell whether there was any."""
        with self._changing:
            try:
                held = self._path.stat().st_size
                os.truncate(self._path, max(0, held - max(self._size // _SLICES, 1)))
            except OSError:
                return False
            return held > 0
