"""Searching in a kept comparison: literal text, whatever the case of its letters."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from itertools import islice

import numpy as np

from core.versions.diff.measure import Ints
from core.versions.diff.stored_comparison import EQUAL, StoredComparison

_CHUNK_BYTES = 4 * 1024 * 1024


def find_rows(stored: StoredComparison, text: str, limit: int) -> list[int]:
    """Return the first ``limit`` rows that hold ``text`` on either side, in order."""
    wanted = text.strip("\r\n")
    if not wanted or "\n" in wanted:
        return []
    pattern = re.compile(re.escape(wanted), re.IGNORECASE)
    index = stored.index
    with_new = np.flatnonzero(index["new_no"])
    with_old = np.flatnonzero((index["old_no"] > 0) & (index["change"] != EQUAL))
    found: set[int] = set()
    for data, rows, side in ((stored.new_bytes(), with_new, "new"), (stored.old_bytes(), with_old, "old")):
        starts = np.asarray(index[f"{side}_at"])[rows].astype(np.int64)
        ends = starts + np.asarray(index[f"{side}_size"])[rows]
        found.update(int(rows[row]) for row in islice(_rows_with(pattern, data, starts, ends), limit))
    return sorted(found)[:limit]


def _rows_with(pattern: re.Pattern[str], data: bytes | mmap.mmap, starts: Ints, ends: Ints) -> Iterator[int]:
    """Yield each line that holds a match, once, in order; a match belongs to the line that it begins in."""
    first = 0
    while first < len(starts):
        last = int(np.searchsorted(ends, starts[first] + _CHUNK_BYTES, "right"))
        last = min(max(last, first + 1), len(starts))
        base = int(starts[first])
        text = data[base : int(ends[last - 1])].decode("utf-8", "surrogatepass")
        offset = chars = 0
        seen = -1
        for match in pattern.finditer(text):
            # Bytes are counted from the match before, so that many matches cost one pass.
            offset += len(text[chars : match.start()].encode("utf-8", "surrogatepass"))
            chars = match.start()
            line = first + int(np.searchsorted(starts[first:last], base + offset, "right")) - 1
            if line != seen:
                yield line
                seen = line
        first = last
