"""Numbers and dates of lines that have no partner: they came or went with their line."""

from __future__ import annotations

import time

import numpy as np

from core.versions.diff.difference import Difference
from core.versions.diff.lines import Lines
from core.versions.diff.measure import Ints
from core.versions.diff.records import Rows
from core.versions.diff.stored_comparison import ADDED, REMOVED
from core.versions.diff.values import Changed, changed_values, values_in

Numbered = tuple[int, Changed]
"""The row that a value belongs to, and the value."""

_LONGEST_LINE = 4_000


class UnpairedValues:
    """Reads the lines that were removed or added and not moved, until ``seconds`` are spent or ``most`` are found."""

    def __init__(self, rows: Rows, difference: Difference, seconds: float, most: int) -> None:
        self._ends = time.perf_counter() + seconds
        self._most = most
        self._rows = rows
        self._difference = difference
        self.was_skipped = False

    def found(self) -> list[Numbered]:
        """Return the values, in the order of the rows."""
        rows, old, new = self._rows, self._difference.old, self._difference.new
        removed = self._with_values(old, np.flatnonzero((rows.change == REMOVED) & (rows.move == 0)), rows.old)
        added = self._with_values(new, np.flatnonzero((rows.change == ADDED) & (rows.move == 0)), rows.new)
        sole = [(row, one) for row, text in removed.items() for one in changed_values(text, "", ())]
        sole += [(row, one) for row, text in added.items() for one in changed_values("", text, ())]
        return sorted(sole, key=lambda each: each[0])

    def _with_values(self, lines: Lines, numbers: Ints, places: Ints) -> dict[int, str]:
        """Return the lines that hold a number or a date, by row."""
        texts: dict[int, str] = {}
        for row in numbers.tolist():
            if len(texts) >= self._most or time.perf_counter() > self._ends:
                self.was_skipped = True
                break
            text = lines.text(int(places[row]))
            if len(text) > _LONGEST_LINE:
                self.was_skipped = True
            elif values_in(text):
                texts[row] = text
        return texts
