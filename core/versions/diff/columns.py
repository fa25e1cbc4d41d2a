"""Columns that came into a table or left it: rows that differ in nothing else are no changes of their own."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from core.model import CellPair, Change
from core.versions.diff.difference import Difference
from core.versions.diff.measure import Ints
from core.versions.diff.records import Rows

PART, FIRST = 1, 2
"""What ``Rows.column`` says of a row that only has such columns; ``FIRST`` of the first one of its table."""

_NEARLY_ALL = 0.9
_FEWEST_ROWS = 2

_Column = tuple[bool, int]
"""Whether it was added, and its number on the side that has it."""
_Signature = tuple[frozenset[_Column], int]
"""The columns on one side only, and how many of the other cells differ; -1 where columns are in another order."""


class ColumnChanges:
    """Is shown the cells of every changed row of a table, and marks the rows that whole columns explain."""

    def __init__(self) -> None:
        self._known: dict[_Signature, int] = {}
        self._rows: list[int] = []
        self._signatures: list[int] = []

    def see(self, number: int, cells: Sequence[CellPair]) -> None:
        """Take note of the cells of row ``number``; rows come in order."""
        if cells:
            self._rows.append(number)
            self._signatures.append(self._known.setdefault(_signature(cells), len(self._known)))

    def mark(self, rows: Rows, difference: Difference) -> None:
        """Fill ``column``, ``columns_added`` and ``columns_removed``; cells of such columns are no changed cells."""
        signatures = list(self._known)
        if not any(columns for columns, _ in signatures):
            return
        tables = _tables(rows, difference)
        sizes = np.bincount(tables[tables >= 0])
        seen: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for number, signature in zip(self._rows, self._signatures, strict=True):
            seen[int(tables[number])].append((number, signature))
        for table, found in seen.items():
            needed = max(_NEARLY_ALL * int(sizes[table]), _FEWEST_ROWS)
            counts: Counter[_Column] = Counter()
            for signature, times in Counter(signature for _, signature in found).items():
                counts.update(dict.fromkeys(signatures[signature][0], times))
            whole = frozenset(column for column, count in counts.items() if count >= needed)
            if whole:
                _mark_table(rows, whole, [(number, signatures[signature]) for number, signature in found])


def _signature(cells: Sequence[CellPair]) -> _Signature:
    columns = frozenset(
        (cell.change is Change.ADDED, (cell.new_column if cell.change is Change.ADDED else cell.old_column) or 0)
        for cell in cells
        if cell.old_column is None or cell.new_column is None
    )
    places = [cell.old_column for cell in cells if cell.old_column is not None and cell.new_column is not None]
    others = sum(cell.change is Change.CHANGED for cell in cells)
    return columns, others if others or places == sorted(places) else -1


def _mark_table(rows: Rows, whole: frozenset[_Column], found: Sequence[tuple[int, _Signature]]) -> None:
    first = FIRST
    for number, (columns, others) in found:
        rows.cells_changed[number] -= len(columns & whole)
        if columns and columns <= whole and others == 0:
            rows.column[number] = first
            first = PART
    added = sum(is_added for is_added, _ in whole)
    rows.columns_added[found[0][0]] = added
    rows.columns_removed[found[0][0]] = len(whole) - added


def _tables(rows: Rows, difference: Difference) -> Ints:
    """Return for each row with two sides in tables the number of its table, else -1."""
    old, new = difference.old, difference.new
    numbers: dict[str, int] = {}
    heads = [
        np.array([numbers.setdefault(place.header, len(numbers)) for place in side.places], np.int64)
        for side in (old, new)
    ]
    has_old, has_new = rows.old >= 0, rows.new >= 0
    in_table = np.zeros(len(rows), bool)
    in_table[has_old] = old.is_table(rows.old[has_old])
    in_table[has_new] = new.is_table(rows.new[has_new])
    both = np.flatnonzero(in_table & has_old & has_new)
    blocks = np.cumsum(~in_table)[both]
    keys = np.stack((blocks, heads[0][old.place_of[rows.old[both]]], heads[1][new.place_of[rows.new[both]]]), axis=1)
    tables: Ints = np.full(len(rows), -1, np.int64)
    if len(both):
        tables[both] = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
    return tables
