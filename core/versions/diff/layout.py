"""From rows to screen lines: how many lines each takes, and what a line shows.

Every line of the grid has the same height; a row that is wider than its column takes several of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.model import BlockKind, CellPair
from core.model.codec import to_dict
from core.versions.diff.folding import Bools, ViewOptions, chosen_rows, items_of
from core.versions.diff.measure import Ints
from core.versions.diff.spans import Piece, both_pieces, new_pieces, old_pieces
from core.versions.diff.stored_comparison import CHANGES, COLUMN, EQUAL, KINDS, StoredComparison
from core.versions.diff.wrapping import cut


@dataclass(frozen=True, slots=True)
class ScreenLine:
    """One line of the grid: a piece of a row, or the sign that ``fold`` rows from ``row`` on are folded away."""

    position: int
    row: int
    change: str
    kind: str
    path: tuple[str, ...] = ()
    line: int = 0
    count: int = 1
    level: int = 0
    heading: bool = False
    fold: int | None = None
    fold_changed: int = 0
    old_no: int | None = None
    new_no: int | None = None
    old: tuple[Piece, ...] = ()
    new: tuple[Piece, ...] = ()
    merged: tuple[Piece, ...] = ()
    move: int | None = None
    move_target: int | None = None
    edited: bool = False
    """The line was moved, and its pieces say what was edited in it besides."""
    cells: tuple[CellPair, ...] = ()
    columns_only: bool = False
    """The row only got or lost whole columns of its table: it is drawn as changed, but is no change of its own."""

    def as_dict(self) -> dict[str, Any]:
        """The line as plain data for JSON."""
        plain: dict[str, Any] = to_dict(self)
        return plain


class RowView:
    """The screen lines of a comparison, laid out once; lines are filled in when they are asked for."""

    def __init__(self, stored: StoredComparison, options: ViewOptions, moved_to: dict[int, int]) -> None:
        self._stored = stored
        self._options = options
        self._moved_to = moved_to
        chosen = chosen_rows(stored, options)
        self.items = items_of(stored, options, chosen)
        self._ends: Ints = np.cumsum(self.items.lines)
        self.total = int(self._ends[-1]) if len(self._ends) else 0
        self.changes: list[int] = self._starts_of_changes(chosen)

    def _starts_of_changes(self, chosen: Bools) -> list[int]:
        items = self.items
        is_change = (chosen[items.row] & (items.hidden == 0)) | (items.hidden_changed > 0)
        starts = is_change.copy()
        # A run goes on where the row before it is shown and differs too.
        starts[1:] &= ~(is_change[:-1] & (np.diff(items.row) == 1) & (items.hidden[1:] == 0) & (items.hidden[:-1] == 0))
        found: list[int] = (self._ends - items.lines)[starts].tolist()
        return found

    def lines(self, start: int, end: int) -> list[ScreenLine]:
        """Return the screen lines from ``start`` up to, not including, ``end``."""
        start, end = max(start, 0), min(end, self.total)
        found: list[ScreenLine] = []
        if start >= end:
            return found
        item = int(np.searchsorted(self._ends, start, "right"))
        at = int(self._ends[item] - self.items.lines[item])
        while at < end:
            lines = self._lines_of(item, at)
            found.extend(lines[max(start - at, 0) : end - at])
            at += len(lines)
            item += 1
        return found

    def position_of(self, row: int) -> int | None:
        """Return the first line of a row, or of the fold that hides it; None where the view leaves it out."""
        item = int(np.searchsorted(self.items.row, row, "right")) - 1
        if item < 0:
            return None
        shown, hidden = int(self.items.row[item]), int(self.items.hidden[item])
        if not shown <= row < shown + max(hidden, 1):
            return None
        return int(self._ends[item] - self.items.lines[item])

    def row_at(self, position: int) -> int:
        """Return the row of a screen line, of the nearest one where there is no such line; 0 in an empty view."""
        if not self.total:
            return 0
        position = min(max(position, 0), self.total - 1)
        return int(self.items.row[np.searchsorted(self._ends, position, "right")])

    def next_change(self, position: int) -> int | None:
        """Return where the first change after ``position`` begins."""
        at = bisect_right(self.changes, position)
        return self.changes[at] if at < len(self.changes) else None

    def previous_change(self, position: int) -> int | None:
        """Return where the last change before ``position`` begins."""
        at = bisect_left(self.changes, position)
        return self.changes[at - 1] if at else None

    def _lines_of(self, item: int, at: int) -> list[ScreenLine]:
        items, stored = self.items, self._stored
        row, hidden, count = int(items.row[item]), int(items.hidden[item]), int(items.lines[item])
        record = stored.index[row]
        path = tuple(stored.headings[int(record["heading"])])
        kind, level = KINDS[record["kind"]].value, int(record["level"])
        if hidden:
            folded = int(items.hidden_changed[item])
            if kind == BlockKind.HEADING:
                own = stored.new_text(row) if record["new_no"] else stored.old_text(row)
                path = path if path[-1:] == (own,) else (*path, own)
            return [ScreenLine(at, row, "equal", kind, path, fold=hidden, fold_changed=folded, level=level)]
        first = ScreenLine(
            position=at,
            row=row,
            change=CHANGES[record["change"] if record["differs"] else EQUAL].value,
            kind=kind,
            path=path,
            count=count,
            level=level,
            heading=kind == "heading",
            old_no=int(record["old_no"]) or None,
            new_no=int(record["new_no"]) or None,
            move=int(record["move"]) or None,
            move_target=self._moved_to.get(row),
            edited=bool(record["move"] and record["marks_size"]),
            columns_only=bool(record["differs"] >= COLUMN),
        )
        return self._filled(first, row, bool(record["differs"]))

    def _filled(self, first: ScreenLine, row: int, differs: bool) -> list[ScreenLine]:
        stored, width, count = self._stored, self._options.width, first.count
        words, cells = stored.marks(row) if differs else ((), ())
        old = stored.old_text(row) if first.old_no else ""
        new = stored.new_text(row) if first.new_no else ""
        is_pair = bool(differs and first.old_no and first.new_no)
        lines = [replace(first, position=first.position + n, line=n) for n in range(count)]
        for n in range(1, count):
            lines[n] = replace(lines[n], old_no=None, new_no=None)
        lines[0] = replace(lines[0], cells=cells)
        if first.edited:
            left = right = merged = [(word.change.value, word.text) for word in words]
        elif is_pair:
            left, right = old_pieces(old, words, cells), new_pieces(new, words, cells)
            merged = both_pieces(old, new, words, cells)
        else:
            left, right = [("removed" if differs else "equal", old)], [("added" if differs else "equal", new)]
            merged = [(first.change, new if first.new_no else old)]
        if self._options.mode == "inline":
            pieces = cut(merged, count, width)
            return [replace(line, merged=tuple(piece)) for line, piece in zip(lines, pieces, strict=True)]
        sides: list[list[list[Piece]]] = [
            cut(pieces, count, width) if there else [[]] * count
            for pieces, there in ((left, first.old_no), (right, first.new_no))
        ]
        return [replace(line, old=tuple(a), new=tuple(b)) for line, a, b in zip(lines, *sides, strict=True)]
