"""Writing what differs within changed rows: row by row, or of many short lines together where only a word differs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Protocol

import numpy as np
import numpy.typing as npt

from core.model import Change, Row
from core.versions.diff.columns import ColumnChanges
from core.versions.diff.difference import Difference
from core.versions.diff.measure import Ints, cells, count_words
from core.versions.diff.progress import Progress
from core.versions.diff.records import Rows
from core.versions.diff.short_lines import EndsOfWords, ends_of_words
from core.versions.diff.spans import both_pieces
from core.versions.diff.stored_comparison import ADDED, CHANGED, EQUAL, REMOVED, marks_line
from core.versions.diff.value_patterns import NUMBER_WORDS

Bools = npt.NDArray[np.bool_]

_MANY_ROWS = 2_000
_SLICE_ROWS = 16_384
_TOLD_ROWS = 256
_MOST_SOUGHT = 200_000
"""Changed short lines in which numbers are looked for; a comparison with more says that it left some out."""
_MAY_BE_VALUE = re.compile(rb"[0-9]|\b(?:" + NUMBER_WORDS.encode() + rb")\b", re.IGNORECASE)


class Watcher(Protocol):
    """Is shown changed rows in order, with their numbers, while they are written."""

    was_skipped: bool
    """Whether it wants to see no more of them."""

    def __call__(self, number: int, row: Row) -> None: ...

    def stop(self) -> None:
        """Be told that further rows are not shown."""


class MarkWriter:
    """Writes the marks of all changed rows, and fills what ``rows`` has to tell of them."""

    def __init__(self, file: BinaryIO, difference: Difference, rows: Rows, watch: Watcher, progress: Progress) -> None:
        self._file = file
        self._difference = difference
        self._rows = rows
        self._watch = watch
        self._progress = progress
        self._at = 0
        self._sought = 0
        self._columns = ColumnChanges()

    def write(self) -> None:
        changed = np.flatnonzero(self._rows.change == CHANGED)
        if len(changed) < _MANY_ROWS:
            self._write_each(changed)
        else:
            for numbers, is_in_table in self._stretches(changed):
                if is_in_table:
                    self._write_each(numbers)
                else:
                    self._write_slices(numbers)
        self._columns.mark(self._rows, self._difference)
        self._write_edited_moves()

    def _write_edited_moves(self) -> None:
        """Write what changed in lines that were moved as well; the added row of such a pair counts for both."""
        rows, difference = self._rows, self._difference
        if not difference.edited_moves:
            return
        row_of = [
            {int(places[row]): row for row in np.flatnonzero((rows.change == kind) & (rows.move > 0)).tolist()}
            for kind, places in ((REMOVED, rows.old), (ADDED, rows.new))
        ]
        for old, new in difference.edited_moves.items():
            gone, came = row_of[0][old], row_of[1][new]
            edited = difference.edited_move(old, new)
            self._keep(gone, Row(Change.REMOVED, edited.row.old, None, edited.old_words))
            self._keep(came, Row(Change.ADDED, None, edited.row.new, edited.new_words))
            for counted, segments in ((rows.words_removed, edited.old_words), (rows.words_added, edited.new_words)):
                counted[came] = sum(count_words(each.text) for each in segments if each.change is not Change.EQUAL)
            rows.cells_changed[came] = sum(cell.change is not Change.EQUAL for cell in edited.row.cells)
            if not self._watch.was_skipped:
                self._watch(came, edited.row)

    def _write_slices(self, numbers: Ints) -> None:
        done = 0
        while done < len(numbers):
            # Few at a time until there is no more to be seen in them.
            part = numbers[done : done + (_SLICE_ROWS if self._watch.was_skipped else _MANY_ROWS)]
            self._write_each(part[~self._write_words(part)])
            self._progress(int(part[-1]) / len(self._rows))
            done += len(part)

    def _stretches(self, changed: Ints) -> Iterator[tuple[Ints, bool]]:
        """Yield the changed rows in order, runs that hold rows of tables apart from the others.

        What became of the columns of a table is told from all rows of a run.
        """
        starts = np.concatenate(([0], np.flatnonzero(np.diff(changed) != 1) + 1))
        in_table = self._difference.old.is_table(self._rows.old[changed])
        has_table = np.logical_or.reduceat(in_table, starts)
        borders = starts[np.flatnonzero(np.diff(has_table)) + 1]
        is_table = np.repeat(has_table, np.diff(np.append(starts, len(changed))))
        for numbers in np.split(np.arange(len(changed)), borders):
            yield changed[numbers], bool(is_table[numbers[0]])

    def _write_each(self, numbers: Ints) -> None:
        """Write rows one by one, those that follow each other together."""
        rows = self._rows
        for some in np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1) if len(numbers) else ():
            old_first, old_last, new_first = int(rows.old[some[0]]), int(rows.old[some[-1]]) + 1, int(rows.new[some[0]])
            stretch = self._difference.changed_rows(old_first, old_last, new_first)
            for number, row in zip(some.tolist(), stretch, strict=True):
                _measure(rows, number, row)
                self._columns.see(number, row.cells)
                if row.cells or row.words:
                    self._keep(number, row)
                if rows.differs[number]:
                    self._watch(number, row)
                if number % _TOLD_ROWS == 0:
                    self._progress(number / len(rows))

    def _keep(self, number: int, row: Row) -> None:
        line = marks_line(row)
        self._file.write(line)
        self._rows.marks_at[number], self._rows.marks_size[number] = self._at, len(line)
        self._at += len(line)

    def _write_words(self, numbers: Ints) -> Bools:
        """Write the rows in which one word took another's place and no number is, and return which they were."""
        rows = self._rows
        lines = self._difference.old, self._difference.new
        found = ends_of_words(lines, (rows.old[numbers], rows.new[numbers]))
        is_done = found.is_known
        if not self._watch.was_skipped:
            is_done[self._with_values(numbers[is_done], np.flatnonzero(is_done))] = False
        found = EndsOfWords(
            found.before[is_done], found.removed[is_done], found.added[is_done], found.after[is_done], is_done[is_done]
        )
        done = numbers[is_done]
        texts, which = _marks(found)
        sizes = np.array([len(text) for text in texts], np.int64)[which]
        rows.marks_at[done] = self._at + np.cumsum(sizes) - sizes
        rows.marks_size[done] = sizes
        rows.both_width[done] = found.before + found.removed + found.added + found.after
        rows.words_removed[done] = found.removed > 0
        rows.words_added[done] = found.added > 0
        self._file.write(b"".join([texts[each] for each in which.tolist()]))
        self._at += int(sizes.sum())
        return is_done

    def _with_values(self, numbers: Ints, places: Ints) -> list[int]:
        """Return the places of those rows that may hold a number or a date, as long as those are looked for."""
        rows, old, new = self._rows, self._difference.old, self._difference.new
        left = max(_MOST_SOUGHT - self._sought, 0)
        self._sought += len(numbers)
        if len(numbers) > left:
            self._watch.stop()
        found = []
        for number, place in zip(numbers[:left].tolist(), places[:left].tolist(), strict=True):
            texts = old.bytes(int(rows.old[number])), new.bytes(int(rows.new[number]))
            if any(map(_MAY_BE_VALUE.search, texts)):
                found.append(place)
        return found


def _marks(found: EndsOfWords) -> tuple[list[bytes], Ints]:
    """Return all different lines of marks, as ``marks_line`` writes them, and which of them each row has."""
    columns = found.before, found.removed, found.added, found.after
    packed = sum(
        (column << (16 * place) for place, column in enumerate(columns)), np.zeros(len(found.before), np.int64)
    )
    kinds, which = np.unique(packed, return_inverse=True)
    texts = []
    for kind in kinds.tolist():
        lengths = ((code, kind >> (16 * place) & 0xFFFF) for place, code in enumerate((EQUAL, REMOVED, ADDED, EQUAL)))
        inner = ",".join(f"[{code},{length}]" for code, length in lengths if length)
        texts.append(f'{{"w":[{inner}]}}\n'.encode())
    return texts, which


def _measure(rows: Rows, number: int, row: Row) -> None:
    assert row.old is not None and row.new is not None
    width = removed = added = 0
    for change, text in both_pieces(row.old.text, row.new.text, row.words, row.cells):
        width += cells(text)
        if change == Change.REMOVED.value:
            removed += count_words(text)
        elif change == Change.ADDED.value:
            added += count_words(text)
    rows.both_width[number] = width
    rows.words_removed[number] = removed
    rows.words_added[number] = added
    rows.differs[number] = row.old.text != row.new.text
    rows.cells_changed[number] = sum(cell.change is not Change.EQUAL for cell in row.cells)
