"""Tables of a comparison as grids: every column of either side has its place, and each cell knows what it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.ingest.parsers.tables import CELL_JOINT
from core.model import BlockKind, CellPair, Change, Segment
from core.versions.diff.stored_comparison import CHANGES, COLUMN, DIFFERS, EQUAL, KINDS, StoredComparison

_TABLE = KINDS.index(BlockKind.TABLE)
_SAMPLED_ROWS = 200
MOST_COLUMNS = 500

Column = tuple[int | None, int | None]
"""The number of a column in the old and in the new table, from 1."""


@dataclass(frozen=True, slots=True)
class TableRef:
    """A table of the comparison: ``row`` is its first row, ``changed`` counts the rows of it that differ."""

    index: int
    row: int
    rows: int
    changed: int
    path: tuple[str, ...] = ()
    columns_changed: bool = False
    """Whole columns came or went."""


@dataclass(frozen=True, slots=True)
class GridRow:
    row: int
    change: str
    old_no: int | None
    new_no: int | None
    cells: tuple[CellPair, ...]
    move: int | None = None


@dataclass(frozen=True, slots=True)
class TableGrid:
    """Rows ``start`` and on of a table; ``headers`` and each row have one cell for each of ``columns``."""

    ref: TableRef
    columns: int
    headers: tuple[CellPair, ...]
    start: int
    rows: tuple[GridRow, ...]


def tables_of(stored: StoredComparison) -> list[TableRef]:
    """Return the tables in order; neighbours with different header rows are two."""
    index = stored.index
    rows = np.flatnonzero(np.asarray(index["kind"]) == _TABLE)
    if not len(rows):
        return []
    headers = stored.header_numbers()
    of_new = np.where(index["new_no"][rows] > 0, headers["new"][index["new_place"][rows]], -1)
    of_old = headers["old"][index["old_place"][rows]]
    breaks = np.zeros(len(rows), dtype=bool)
    breaks[0] = True
    breaks[1:] = np.diff(rows) != 1
    # A removed row belongs to the table around it; its own header counts where a whole table was removed.
    known = np.maximum.accumulate(np.where((of_new >= 0) | breaks, np.arange(len(rows)), 0))
    header = of_new[known]
    both_known = (header[1:] >= 0) & (header[:-1] >= 0)
    neither = (header[1:] < 0) & (header[:-1] < 0)
    breaks[1:] |= (both_known & (header[1:] != header[:-1])) | (neither & (of_old[1:] != of_old[:-1]))
    firsts = np.flatnonzero(breaks)
    lengths = np.diff(np.concatenate((firsts, [len(rows)])))
    differs = np.asarray(index["differs"])[rows]
    differing = np.add.reduceat((differs == DIFFERS).astype(np.int64), firsts)
    with_columns = np.maximum.reduceat(differs, firsts) >= COLUMN
    return [
        TableRef(number, row, length, changed, tuple(stored.headings[int(index["heading"][row])]), columns)
        for number, (row, length, changed, columns) in enumerate(
            zip(rows[firsts].tolist(), lengths.tolist(), differing.tolist(), with_columns.tolist(), strict=True)
        )
    ]


def table_of(
    stored: StoredComparison, ref: TableRef, moved_to: Mapping[int, int], start: int = 0, end: int | None = None
) -> TableGrid:
    """Return the rows of a table from ``start`` up to, not including, ``end``.

    ``moved_to`` has the other row of each row that was moved: both show what is the same in the two as the same.
    """
    columns = _columns(stored, ref)
    last = ref.rows if end is None else min(end, ref.rows)
    rows = tuple(
        _grid_row(stored, row, columns) if row not in moved_to else _moved_row(stored, row, moved_to[row], columns)
        for row in range(ref.row + max(start, 0), ref.row + last)
    )
    old, new = stored.table_headers(ref.row, ref.row + ref.rows)
    headers = tuple(_pair(column, _split(old), _split(new)) for column in columns)
    return TableGrid(ref, len(columns), headers, max(start, 0), rows)


def _columns(stored: StoredComparison, ref: TableRef) -> list[Column]:
    """Return the columns of both sides in one order: those of the new table, a removed one after its left neighbour."""
    differing = np.flatnonzero(stored.index["marks_size"][ref.row : ref.row + ref.rows])[:_SAMPLED_ROWS] + ref.row
    old_of: dict[int, int] = {}
    old_count = new_count = 0
    gone: set[int] = set()
    for row in differing.tolist():
        for cell in stored.marks(row)[1]:
            old_count, new_count = max(old_count, cell.old_column or 0), max(new_count, cell.new_column or 0)
            if cell.old_column and cell.new_column:
                old_of.setdefault(cell.new_column, cell.old_column)
            elif cell.old_column:
                gone.add(cell.old_column)
    for row in range(ref.row, ref.row + min(ref.rows, _SAMPLED_ROWS)):
        if stored.index["old_no"][row]:
            old_count = max(old_count, stored.old_text(row).count(CELL_JOINT) + 1)
        if stored.index["new_no"][row]:
            new_count = max(new_count, stored.new_text(row).count(CELL_JOINT) + 1)
    taken = set(old_of.values())
    if not taken:
        old_of = {number: number for number in range(1, min(old_count, new_count) + 1) if number not in gone}
        taken = set(old_of.values())
    columns: list[Column] = [(old_of.get(number), number) for number in range(1, new_count + 1)]
    for number in range(1, old_count + 1):
        if number not in taken:
            left = max((at for at, (old, _) in enumerate(columns) if old is not None and old < number), default=-1)
            columns.insert(left + 1, (number, None))
    return columns[:MOST_COLUMNS]


def _grid_row(stored: StoredComparison, row: int, columns: Sequence[Column]) -> GridRow:
    record = stored.index[row]
    old_no, new_no = int(record["old_no"]) or None, int(record["new_no"]) or None
    differs = bool(record["differs"])
    old = _split(stored.old_text(row)) if old_no else []
    new = _split(stored.new_text(row)) if new_no else []
    marked = {cell.new_column: cell.words for cell in stored.marks(row)[1]} if differs and old_no and new_no else {}
    cells = tuple(_pair(column, old, new, marked.get(column[1], ())) for column in columns)
    # A row that only got or lost whole columns is equal but for those cells.
    change = CHANGES[record["change"] if record["differs"] == DIFFERS else EQUAL].value
    return GridRow(row, change, old_no, new_no, cells, int(record["move"]) or None)


def _moved_row(stored: StoredComparison, row: int, other: int, columns: Sequence[Column]) -> GridRow:
    """Return one of the two rows of a move; what was edited in it besides is seen as changed where it is now."""
    record = stored.index[row]
    is_old = bool(record["old_no"])
    old, new = (row, other) if is_old else (other, row)
    before, after = _split(stored.old_text(old)), _split(stored.new_text(new))
    cells = tuple(_pair(column, before, after) for column in columns)
    if is_old:
        cells = tuple(_as_it_was(cell) for cell in cells)
    change = CHANGES[record["change"]].value
    old_no, new_no = int(record["old_no"]) or None, int(record["new_no"]) or None
    return GridRow(row, change, old_no, new_no, cells, int(record["move"]))


def _as_it_was(cell: CellPair) -> CellPair:
    if cell.change is Change.CHANGED:
        return CellPair(Change.REMOVED, cell.old, None, cell.old_column, cell.new_column)
    if cell.change is Change.ADDED:
        return CellPair(Change.EQUAL, None, None, cell.old_column, cell.new_column)
    return cell


def _pair(column: Column, old: Sequence[str], new: Sequence[str], words: tuple[Segment, ...] = ()) -> CellPair:
    before = old[column[0] - 1] if column[0] is not None and column[0] <= len(old) else None
    after = new[column[1] - 1] if column[1] is not None and column[1] <= len(new) else None
    if before is None and after is None:
        change = Change.EQUAL
    elif before is None:
        change = Change.ADDED if after else Change.EQUAL
    elif after is None:
        change = Change.REMOVED if before else Change.EQUAL
    else:
        change = Change.EQUAL if before == after else Change.CHANGED
    return CellPair(change, before, after, *column, words if change is Change.CHANGED else ())


def _split(line: str) -> list[str]:
    return line.split(CELL_JOINT) if line else []
