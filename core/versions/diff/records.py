"""The rows of a comparison as arrays, and the fixed records that they are kept as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.versions.diff.difference import Difference
from core.versions.diff.lines import Lines
from core.versions.diff.measure import Ints, measure
from core.versions.diff.stored_comparison import ADDED, CHANGED, EQUAL, KINDS, REMOVED, ROW


@dataclass(slots=True)
class Rows:
    """One entry a row; ``old`` and ``new`` are indexes of lines, -1 where there is none."""

    change: npt.NDArray[np.uint8]
    old: Ints
    new: Ints
    move: Ints
    differs: npt.NDArray[np.bool_]
    heading: Ints
    words_added: Ints
    words_removed: Ints
    cells_changed: Ints
    both_width: Ints
    marks_at: Ints
    marks_size: Ints
    column: Ints
    """Above 0 for rows of tables that only got or lost whole columns, as ``core.versions.diff.columns`` tells."""
    columns_added: Ints
    columns_removed: Ints

    def __len__(self) -> int:
        return len(self.change)

    @classmethod
    def of(cls, difference: Difference) -> Rows:
        """Return the rows of a difference; what only their words can tell is 0."""
        runs = difference.runs
        counts = np.maximum(runs.old_end - runs.old_start, runs.new_end - runs.new_start)
        change = np.repeat(runs.change.astype(np.uint8), counts)
        within = np.arange(len(change)) - np.repeat(np.cumsum(counts) - counts, counts)
        old = np.where(change == ADDED, -1, np.repeat(runs.old_start, counts) + within)
        new = np.where(change == REMOVED, -1, np.repeat(runs.new_start, counts) + within)
        move = np.zeros(len(change), dtype=np.int64)
        move[change == REMOVED] = difference.old_moves[old[change == REMOVED]]
        move[change == ADDED] = difference.new_moves[new[change == ADDED]]
        zeros = (np.zeros(len(change), dtype=np.int64) for _ in range(10))
        return cls(change, old, new, move, change != EQUAL, *zeros)


@dataclass(frozen=True, slots=True)
class RecordSizes:
    """Per line of a text: where it stands in bytes, how many cells wide it is and how many words it has."""

    at: Ints
    size: Ints
    width: Ints
    words: Ints

    @classmethod
    def of(cls, data: bytes, starts: Ints, ends: Ints) -> RecordSizes:
        found = measure(data, np.stack((starts, ends), axis=1).ravel())
        widths, words = (column.reshape(-1, 2) for column in found)
        return cls(starts, ends - starts, widths[:, 1] - widths[:, 0], words[:, 1] - words[:, 0])


class RecordSide:
    """One text with what its records need of every line; ``headings`` collects the heading paths of both sides."""

    def __init__(self, lines: Lines, headings: dict[tuple[str, ...], int]) -> None:
        self.lines = lines
        places = lines.places
        paths = [headings.setdefault(place.locator.heading_path, len(headings)) for place in places]
        self._joints = lines.joint_lengths() if len(lines) else np.zeros(0, dtype=np.int64)
        self._columns: dict[str, npt.NDArray[Any]] = {
            "joint": self._joints,
            "start": lines.characters,
            "place": lines.place_of,
            "kind": np.array([KINDS.index(place.kind) for place in places], dtype=np.uint8)[lines.place_of],
            "level": np.array([place.level for place in places], dtype=np.uint8)[lines.place_of],
            "heading": np.array(paths, dtype=np.int64)[lines.place_of],
        }

    def column(self, name: str, indexes: Ints) -> npt.NDArray[Any]:
        """Return a column for lines; anything where the index is -1."""
        values = self._columns[name]
        return values[indexes] if len(values) else np.zeros(len(indexes), dtype=np.int64)

    def gathered(self, indexes: Ints) -> tuple[bytes, RecordSizes]:
        """Return the joints and texts of ascending lines, copied in as long stretches as there are."""
        lines = self.lines
        if not len(indexes):
            return b"", RecordSizes.of(b"", indexes, indexes)
        breaks = np.flatnonzero(np.diff(indexes) != 1) + 1
        firsts = indexes[np.concatenate(([0], breaks))]
        lasts = indexes[np.concatenate((breaks - 1, [len(indexes) - 1]))]
        froms = lines.starts[firsts] - self._joints[firsts]
        view = memoryview(lines.data)
        spans = zip(froms.tolist(), lines.ends[lasts].tolist(), strict=True)
        text = b"".join(view[first:last] for first, last in spans)
        sizes = lines.ends[indexes] - lines.starts[indexes]
        ends = np.cumsum(sizes + self._joints[indexes])
        return text, RecordSizes.of(text, ends - sizes, ends)


@dataclass(frozen=True, slots=True)
class Records:
    """Makes the records of rows; ``kept`` are the rows whose old text is kept apart, in order, of ``old_sizes``."""

    rows: Rows
    old: RecordSide
    new: RecordSide
    new_sizes: RecordSizes
    old_sizes: RecordSizes
    kept: Ints

    def part(self, first: int, last: int) -> npt.NDArray[np.void]:
        """Return the records of the rows from ``first`` up to, not including, ``last``."""
        rows, part = self.rows, slice(first, last)
        old, new = rows.old[part], rows.new[part]
        has_old, has_new = old >= 0, new >= 0
        records = np.zeros(last - first, dtype=ROW)
        records["differs"] = rows.differs[part] + rows.column[part]
        for name in ("change", "heading", "move", "both_width", "marks_at", "marks_size"):
            records[name] = getattr(rows, name)[part]
        for name, side, indexes, there in (("old", self.old, old, has_old), ("new", self.new, new, has_new)):
            records[f"{name}_no"] = indexes + 1
            for column in ("joint", "start", "place"):
                records[f"{name}_{column}"] = np.where(there, side.column(column, indexes), 0)
        for column in ("kind", "level"):
            records[column] = np.where(has_new, self.new.column(column, new), self.old.column(column, old))
        low, high = np.searchsorted(self.kept, (first, last))
        kept, equal = self.kept[low:high] - first, rows.change[part] == EQUAL
        for column in ("at", "size", "width"):
            records[f"new_{column}"][has_new] = getattr(self.new_sizes, column)[new[has_new]]
            if column != "at":
                records[f"old_{column}"][equal] = records[f"new_{column}"][equal]
            records[f"old_{column}"][kept] = getattr(self.old_sizes, column)[low:high]
        whole = rows.change[part] != CHANGED
        records["both_width"][whole] = np.maximum(records["old_width"], records["new_width"])[whole]
        return records
