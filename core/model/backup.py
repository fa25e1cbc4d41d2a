"""Moving house."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BackupReport:
    """What an archive holds, or what came out of it."""

    rows: Mapping[str, int]
    """Rows by table."""
    files: int
    size_bytes: int
    absent: int = 0
    """Files that versions should have and that were lost, or not what they had been, before the archive was made."""
    unfinished_uploads: int = 0
    """Uploads that were under way; they stay behind and begin anew."""
