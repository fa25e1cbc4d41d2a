"""Whether there is room for a file: what its user may keep, and what the disk holds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.access import current
from core.errors import NO_ROOM, DiskFull, QuotaExceeded, TooLarge

if TYPE_CHECKING:
    from core.catalog.documents.transfers import TransferLedger


class StorageQuota:
    """What may still be stored in the data folder on behalf of whoever acts."""

    def __init__(
        self, ledger: TransferLedger, folder: Path, max_file_bytes: int, quota_bytes: int, min_free_bytes: int
    ) -> None:
        self.max_file_bytes = max_file_bytes
        self._ledger = ledger
        self._folder = folder
        self._quota_bytes = quota_bytes
        self._min_free_bytes = min_free_bytes

    def check(self, size_bytes: int, *, on_disk: int | None = None, except_ids: Sequence[str] = ()) -> None:
        """Refuse a file that is too large, or that there is no room for.

        ``on_disk`` is how much of it is to be written, where not all is; ``except_ids`` are uploads that it takes in.
        Raises: ``TooLarge``, ``QuotaExceeded``, ``DiskFull``.
        """
        if size_bytes > self.max_file_bytes:
            raise TooLarge(f"The file is larger than the limit of {self.max_file_bytes:,} bytes.")
        if self._quota_bytes and size_bytes > self._left(except_ids):
            raise QuotaExceeded(f"You may keep {self._quota_bytes:,} bytes; there is no room for this file.")
        self.check_disk(size_bytes if on_disk is None else on_disk)

    def check_disk(self, size_bytes: int) -> None:
        """Refuse to write so much where the disk would be full after it. Raises: ``DiskFull``."""
        if shutil.disk_usage(self._folder).free - size_bytes < self._min_free_bytes:
            raise DiskFull("There is no room on the disk of the data folder.")

    def max_bytes(self, *, except_ids: Sequence[str] = ()) -> int:
        """Return the size up to which a file of unknown length is taken."""
        return min(self.max_file_bytes, self._left(except_ids)) if self._quota_bytes else self.max_file_bytes

    def too_much(self, size_bytes: int) -> TooLarge:
        """Return the error for a file that turned out longer than ``max_bytes`` allows."""
        if size_bytes > self.max_file_bytes:
            return TooLarge(f"The file is larger than the limit of {self.max_file_bytes:,} bytes.")
        return QuotaExceeded(f"You may keep {self._quota_bytes:,} bytes; there is no room for this file.")

    def _left(self, except_ids: Sequence[str]) -> int:
        who = current()
        return self._quota_bytes - self._ledger.used_bytes(who.user_id, who.name, except_ids=except_ids)


@contextmanager
def disk_errors() -> Iterator[None]:
    """Say of a write for which there is no room that the disk is full. Raises: ``DiskFull``."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFull("There is no room on the disk of the data folder.") from error
        raise
