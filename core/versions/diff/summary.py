"""The summary of a comparison: how much changed and where, which numbers and dates, and what the metadata say."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.model import Change, ChapterChange, MetadataChange, Row, StripCell, Tally, ValueChange
from core.versions.diff.difference import Difference
from core.versions.diff.measure import Ints
from core.versions.diff.records import Rows
from core.versions.diff.rewrapped_values import without_rewrapped
from core.versions.diff.stored_comparison import ADDED, CHANGED, REMOVED
from core.versions.diff.unpaired_values import UnpairedValues
from core.versions.diff.values import Changed, changed_values

STRIP_CELLS = 200
MOST_CHAPTERS = 500
MOST_VALUES = 1_000
_VALUES_SECONDS = 1.5
_COMPARED_METADATA = (
    "title", "subject", "author", "language", "keywords", "pages", "slides", "sheets",
    "created", "modified", "producer", "encoding", "label", "file_name", "size_bytes", "extension",
)  # fmt: skip


@dataclass(slots=True)
class ValueCollector:
    """Collects the numbers and dates that changed while rows are written, within bounds of number and time."""

    found: list[tuple[int, Changed]] = field(default_factory=list)
    was_skipped: bool = False
    _spent: float = 0.0

    def __call__(self, number: int, row: Row) -> None:
        if self.was_skipped:
            return
        began = time.perf_counter()
        self.found += [(number, one) for one in _values_of(row)]
        self._spent += time.perf_counter() - began
        self.was_skipped = len(self.found) >= MOST_VALUES or self._spent > _VALUES_SECONDS

    def stop(self) -> None:
        """Look at no further rows."""
        self.was_skipped = True

    def see_unpaired(self, rows: Rows, difference: Difference) -> None:
        """Collect those of removed and added lines too, each on its one side: no such line became another."""
        left = MOST_VALUES - len(self.found)
        if self.was_skipped or left <= 0:
            return
        leftovers = UnpairedValues(rows, difference, _VALUES_SECONDS - self._spent, MOST_VALUES)
        sole = leftovers.found()
        self.was_skipped = leftovers.was_skipped or len(sole) > left
        self.found = without_rewrapped(self.found + sole, rows, difference)

    def values(self, rows: Rows, headings: Sequence[tuple[str, ...]]) -> tuple[ValueChange, ...]:
        """Return what was found, dates and numbers in the order of the text."""
        return tuple(
            ValueChange(one.kind, one.old, one.new, one.context, number, tuple(headings[int(rows.heading[number])]))
            for number, one in self.found[:MOST_VALUES]
        )


def _values_of(row: Row) -> list[Changed]:
    assert row.old is not None and row.new is not None
    if not row.cells:
        return changed_values(row.old.text, row.new.text, row.words)
    found: list[Changed] = []
    for cell in row.cells:
        if cell.change is Change.CHANGED:
            for one in changed_values(cell.old or "", cell.new or "", cell.words):
                found.append(Changed(one.kind, one.old, one.new, row.new.text[:200]))
    return found


def tally_of(rows: Rows) -> Tally:
    """Count what changed in all rows."""
    return _tallies(rows, np.zeros(len(rows), dtype=np.int64), 1)[0]


def _tallies(rows: Rows, group: Ints, groups: int) -> list[Tally]:
    still = rows.differs & (rows.move == 0) & (rows.column == 0)

    def count(chosen: npt.NDArray[np.bool_]) -> list[int]:
        counts: list[int] = np.bincount(group[chosen], minlength=groups).tolist()
        return counts

    def total(column: Ints) -> list[int]:
        sums: list[int] = np.bincount(group, weights=column, minlength=groups).astype(np.int64).tolist()
        return sums

    columns = (
        count(still & (rows.change == CHANGED)),
        count(still & (rows.change == ADDED)),
        count(still & (rows.change == REMOVED)),
        count((rows.move > 0) & (rows.change == ADDED)),
        total(rows.words_added),
        total(rows.words_removed),
        total(rows.cells_changed),
        total(rows.columns_added),
        total(rows.columns_removed),
    )
    return [Tally(*counts) for counts in zip(*columns, strict=True)]


@dataclass(frozen=True, slots=True)
class Chapters:
    """The sections in which something changed; ``of_heading`` gives each heading path its place among them, or -1."""

    found: tuple[ChapterChange, ...]
    of_heading: list[int]
    was_merged: bool


def chapters_of(rows: Rows, headings: Sequence[tuple[str, ...]]) -> Chapters:
    """Return what changed under each heading, in the order of the first change.

    Where there are very many headings, those below a depth count as the one above them.
    """
    differing = np.flatnonzero(rows.differs)
    used = np.unique(rows.heading[differing]).tolist()
    depth = max((len(headings[number]) for number in used), default=0)
    while depth > 1 and len({headings[number][:depth] for number in used}) > MOST_CHAPTERS:
        depth -= 1
    known: dict[tuple[str, ...], int] = {}
    group_of = np.array([known.setdefault(tuple(path[:depth]), len(known)) for path in headings] or [0], dtype=np.int64)
    groups = group_of[rows.heading]
    tallies = _tallies(rows, groups, len(known) or 1)
    chosen, firsts = np.unique(groups[differing], return_index=True)
    order = np.argsort(firsts)[:MOST_CHAPTERS]
    paths = list(known)
    chapters = tuple(
        ChapterChange(paths[group], int(differing[first]), tallies[group])
        for group, first in zip(chosen[order].tolist(), firsts[order].tolist(), strict=True)
    )
    place = {group: number for number, group in enumerate(chosen[order].tolist())}
    deepest = max((len(headings[number]) for number in used), default=0)
    was_merged = depth < deepest or len(chosen) > MOST_CHAPTERS
    return Chapters(chapters, [place.get(group, -1) for group in group_of[: len(headings)].tolist()], was_merged)


def strip_of(rows: Rows) -> tuple[StripCell, ...]:
    """Return equal shares of the rows for the heat strip, with what changed in each."""
    cells = min(STRIP_CELLS, len(rows))
    if not cells:
        return ()
    borders = np.linspace(0, len(rows), cells + 1).astype(np.int64)
    counted = rows.differs & (rows.column == 0)
    differing = np.flatnonzero(counted)
    next_change = np.searchsorted(differing, borders[:-1])
    sums = {
        code: np.concatenate(([0], np.cumsum(counted & (rows.change == code)))) for code in (CHANGED, ADDED, REMOVED)
    }
    found = []
    for cell in range(cells):
        first, last = int(borders[cell]), int(borders[cell + 1])
        changed, added, removed = (int(sums[code][last] - sums[code][first]) for code in (CHANGED, ADDED, REMOVED))
        at = int(next_change[cell])
        jump = int(differing[at]) if at < len(differing) and differing[at] < last else None
        found.append(StripCell(last - first, changed, added, removed, jump))
    return tuple(found)


def metadata_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[MetadataChange, ...]:
    """Return the metadata that differ, the well-known ones in a fixed order."""
    found = []
    for name in _COMPARED_METADATA:
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        change = Change.ADDED if before is None else Change.REMOVED if after is None else Change.CHANGED
        found.append(MetadataChange(name, change, before, after))
    return tuple(found)
