"""Numbers and dates of lines that have no partner: of edited lines that also moved, and of lines that came or went."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from rapidfuzz import fuzz, process

from core.versions.diff.difference import Difference
from core.versions.diff.lines import Lines
from core.versions.diff.measure import Ints
from core.versions.diff.records import Rows
from core.versions.diff.stored_comparison import ADDED, REMOVED
from core.versions.diff.values import Changed, changed_values, values_in
from core.versions.diff.words import words_between

Numbered = tuple[int, Changed]
"""The row that a value belongs to, and the value."""

_MOST_LINES = 500
_LIKE = 60.0
_COMPARED_CHARS = 400
_LONGEST_LINE = 4_000


class UnpairedValues:
    """Reads the lines that were removed or added and not moved, until ``seconds`` are spent or ``most`` are found."""

    def __init__(self, rows: Rows, difference: Difference, seconds: float, most: int) -> None:
        self._ends = time.perf_counter() + seconds
        self._most = most
        self._rows = rows
        self._difference = difference
        self.was_skipped = False

    def found(self) -> tuple[list[Numbered], list[Numbered]]:
        """Return the values of lines that became one another, and then those that stand on one side only."""
        rows, old, new = self._rows, self._difference.old, self._difference.new
        removed = self._with_values(old, np.flatnonzero((rows.change == REMOVED) & (rows.move == 0)), rows.old)
        added = self._with_values(new, np.flatnonzero((rows.change == ADDED) & (rows.move == 0)), rows.new)
        changed: list[Numbered] = []
        for gone, come in _like(removed, added):
            changed += [(come, one) for one in self._between(removed.pop(gone), added.pop(come))]
        sole = [(row, one) for row, text in removed.items() for one in changed_values(text, "", ())]
        sole += [(row, one) for row, text in added.items() for one in changed_values("", text, ())]
        return sorted(changed, key=lambda each: each[0]), sorted(sole, key=lambda each: each[0])

    def _between(self, old: str, new: str) -> list[Changed]:
        is_late = time.perf_counter() > self._ends
        return changed_values(old, new, () if is_late else words_between(old, new))

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


def _like(removed: dict[int, str], added: dict[int, str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of rows whose texts are alike, the most alike first; each row is in one pair at most."""
    old, new = list(removed)[:_MOST_LINES], list(added)[:_MOST_LINES]
    if not old or not new:
        return
    alike = process.cdist(
        [removed[row][:_COMPARED_CHARS] for row in old],
        [added[row][:_COMPARED_CHARS] for row in new],
        scorer=fuzz.ratio,
        score_cutoff=_LIKE,
        workers=1,
    )
    first, second = np.nonzero(alike)
    for at in np.argsort(-alike[first, second], kind="stable").tolist():
        if old[first[at]] in removed and new[second[at]] in added:
            yield old[first[at]], new[second[at]]
