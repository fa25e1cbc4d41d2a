"""The difference of two texts as rows: equal, changed, removed and added lines, with the words or cells that changed.

``apply`` makes the new text of the old one and the rows; ``mirror`` makes the rows of the way back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.errors import InvalidInput
from core.ingest.parsers.tables import CELL_JOINT
from core.model import Block, Change, Line, Row, Segment
from core.versions.diff.budget import Budget, Clock
from core.versions.diff.lines import Lines
from core.versions.diff.plan import Plan, plan
from core.versions.diff.progress import UNHEARD, Progress
from core.versions.diff.row_details import RowDetails
from core.versions.diff.spans import Piece, new_pieces, old_pieces
from core.versions.diff.tables import mirrored_cells
from core.versions.diff.words import mirrored

Ints = npt.NDArray[np.int64]

CHANGES = (Change.EQUAL, Change.CHANGED, Change.REMOVED, Change.ADDED)
"""What the numbers in ``Runs.change`` mean."""
_EQUAL, _CHANGED, _REMOVED, _ADDED = range(4)


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs of rows of one kind, as arrays of one length; line numbers count from 0.

    Equal and changed runs pair the lines one by one; a removed run is empty on the new side, an added one on the old.
    """

    change: npt.NDArray[np.uint8]
    old_start: Ints
    old_end: Ints
    new_start: Ints
    new_end: Ints

    def __len__(self) -> int:
        return len(self.change)

    def sizes(self) -> Ints:
        """Return how many rows each run has."""
        sizes: Ints = np.maximum(self.old_end - self.old_start, self.new_end - self.new_start)
        return sizes


@dataclass(frozen=True, slots=True)
class EditedMove:
    """A line that was moved and edited, as the changed row that it were at one place."""

    row: Row

    @property
    def old_words(self) -> tuple[Segment, ...]:
        """The words of the removed row: what is the same at the new place, and what is gone."""
        line, row = self.row.old, self.row
        return _segments(old_pieces(line.text, row.words, row.cells)) if line is not None else ()

    @property
    def new_words(self) -> tuple[Segment, ...]:
        """The words of the added row: what is the same as at the old place, and what is new."""
        line, row = self.row.new, self.row
        return _segments(new_pieces(line.text, row.words, row.cells)) if line is not None else ()


def _segments(pieces: Iterable[Piece]) -> tuple[Segment, ...]:
    return tuple(Segment(Change(change), text) for change, text in pieces)


class Difference:
    """What differs between two texts. Rows are made as they are read, each time anew."""

    def __init__(self, old: Lines, new: Lines, budget: Budget, progress: Progress = UNHEARD) -> None:
        clock = Clock(budget.seconds)
        planned = plan(old, new, budget, clock, progress)
        self.old = old
        self.new = new
        self.runs = _runs(planned, len(old), len(new))
        self.count = int(self.runs.sizes().sum())
        self.old_moves, self.new_moves = _move_numbers(planned, len(old), len(new))
        moves = zip(planned.old_moved.tolist(), planned.new_moved.tolist(), strict=True)
        self.edited_moves = {one: other for one, other in moves if old.bytes(one) != new.bytes(other)}
        """Lines that were moved and edited: the place in the old text and the one in the new text."""
        self._edited_back = {other: one for one, other in self.edited_moves.items()}
        self._details = RowDetails(old, new, budget, clock)
        self._is_coarse = planned.is_coarse

    @property
    def notices(self) -> tuple[str, ...]:
        """Codes of what is coarser than usual; ``words_skipped`` is known when the rows have been read."""
        found = {
            "coarse_alignment": self._is_coarse,
            "long_lines": self.old.was_cut or self.new.was_cut,
            "words_skipped": self._details.was_skipped,
        }
        return tuple(name for name, is_so in found.items() if is_so)

    @property
    def rows(self) -> Iterator[Row]:
        for run in range(len(self.runs)):
            yield from self.rows_of(run)

    def rows_of(self, run: int) -> Iterator[Row]:
        """Yield the rows of one run."""
        runs = self.runs
        change = int(runs.change[run])
        old_first, old_last = int(runs.old_start[run]), int(runs.old_end[run])
        new_first, new_last = int(runs.new_start[run]), int(runs.new_end[run])
        old, new = self.old.lines(old_first, old_last), self.new.lines(new_first, new_last)
        if change == _EQUAL:
            for one, other in zip(old, new, strict=True):
                yield Row(Change.EQUAL, one, other)
        elif change == _CHANGED:
            yield from self.changed_rows(old_first, old_last, new_first)
        elif change == _REMOVED:
            moves = self.old_moves[old_first:old_last].tolist()
            for place, one, move in zip(range(old_first, old_last), old, moves, strict=True):
                to = self.edited_moves.get(place)
                words = () if to is None else self.edited_move(place, to).old_words
                yield Row(Change.REMOVED, one, None, words, move=move or None)
        else:
            moves = self.new_moves[new_first:new_last].tolist()
            for place, other, move in zip(range(new_first, new_last), new, moves, strict=True):
                came = self._edited_back.get(place)
                words = () if came is None else self.edited_move(came, place).new_words
                yield Row(Change.ADDED, None, other, words, move=move or None)

    def edited_move(self, old: int, new: int) -> EditedMove:
        """Return what changed in a line that was moved and edited."""
        ((words, cells),) = self._details.of_run(old, old + 1, new)
        return EditedMove(Row(Change.CHANGED, self.old.line(old), self.new.line(new), words, cells))

    def changed_rows(self, old_first: int, old_last: int, new_first: int) -> Iterator[Row]:
        """Yield the rows of a changed run, or of some of its lines where none is a row of a table."""
        old = self.old.lines(old_first, old_last)
        new = self.new.lines(new_first, new_first + old_last - old_first)
        details = self._details.of_run(old_first, old_last, new_first)
        for one, other, (words, cells) in zip(old, new, details, strict=True):
            yield Row(Change.CHANGED, one, other, words, cells)


def lines_of(blocks: Iterable[Block]) -> Iterator[Line]:
    """Yield the lines of the parsed text; joints and texts joined are that text."""
    lines = Lines.of(blocks)
    return lines.lines(0, len(lines))


def diff(old: Iterable[Block], new: Iterable[Block], *, budget: Budget = Budget()) -> Difference:
    """Compare two versions."""
    return Difference(Lines.of(old), Lines.of(new), budget)


def diff_lines(old: Lines, new: Lines, budget: Budget = Budget(), progress: Progress = UNHEARD) -> Difference:
    """Compare two versions whose lines are known."""
    return Difference(old, new, budget, progress)


def apply(old_text: str, rows: Iterable[Row]) -> str:
    """Return the new text. Raises: ``InvalidInput`` where the rows tell of another old text."""
    parts: list[str] = []
    done = 0
    for row in rows:
        if row.old is not None:
            end = row.old.start + len(row.old.text)
            if old_text[done:end] != row.old.joint + row.old.text:
                raise InvalidInput("These changes belong to another text.")
            if row.change is Change.EQUAL:
                parts.append(old_text[done:end])
            done = end
        if row.new is not None and row.change is not Change.EQUAL:
            parts += (row.new.joint, _new_text(row))
    if done != len(old_text):
        raise InvalidInput("These changes belong to another text.")
    return "".join(parts)


def _new_text(row: Row) -> str:
    if row.cells:
        kept = sorted(
            (cell for cell in row.cells if cell.new_column is not None), key=lambda cell: cell.new_column or 0
        )
        return CELL_JOINT.join(cell.new or "" for cell in kept)
    if row.words:
        return "".join(segment.text for segment in row.words if segment.change is not Change.REMOVED)
    return row.new.text if row.new is not None else ""


_SWAPPED = {Change.ADDED: Change.REMOVED, Change.REMOVED: Change.ADDED}


def mirror(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of the way back: what was added is removed, and between two pairs it stands first."""
    mirrored_rows: list[Row] = []
    removed: list[Row] = []
    added: list[Row] = []
    for row in rows:
        change = _SWAPPED.get(row.change, row.change)
        back = Row(change, row.new, row.old, mirrored(row.words), mirrored_cells(row.cells), row.move)
        if change is Change.REMOVED:
            removed.append(back)
        elif change is Change.ADDED:
            added.append(back)
        else:
            mirrored_rows += [*removed, *added, back]
            removed, added = [], []
    return [*mirrored_rows, *removed, *added]


def text_of(rows: Iterable[Row], side: str) -> str:
    """Return the text of one side, ``old`` or ``new``."""
    lines = (row.old if side == "old" else row.new for row in rows)
    return "".join(line.joint + line.text for line in lines if line is not None)


def _runs(planned: Plan, old_count: int, new_count: int) -> Runs:
    """Return pairs as runs, and what is left before each of them: the removed lines first."""
    breaks = (np.diff(planned.old) != 1) | (np.diff(planned.new) != 1) | (np.diff(planned.is_equal.view(np.int8)) != 0)
    starts = np.flatnonzero(np.append(True, breaks)) if len(planned.old) else np.zeros(0, np.int64)
    sizes = np.diff(np.append(starts, len(planned.old)))
    old_from, new_from = np.append(planned.old[starts], old_count), np.append(planned.new[starts], new_count)
    old_to = np.append(planned.old[starts] + sizes, old_count)
    new_to = np.append(planned.new[starts] + sizes, new_count)
    old_before, new_before = np.concatenate(([0], old_to[:-1])), np.concatenate(([0], new_to[:-1]))
    kinds = np.append(np.where(planned.is_equal[starts], _EQUAL, _CHANGED), _EQUAL)
    columns = (
        (np.full(len(kinds), _REMOVED), np.full(len(kinds), _ADDED), kinds),
        (old_before, old_from, old_from),
        (old_from, old_from, old_to),
        (new_before, new_before, new_from),
        (new_before, new_from, new_to),
    )
    change, *borders = (np.stack(column, axis=1).ravel() for column in columns)
    is_filled = (borders[0] < borders[1]) | (borders[2] < borders[3])
    return Runs(change[is_filled].astype(np.uint8), *(border[is_filled] for border in borders))


def _move_numbers(planned: Plan, old_count: int, new_count: int) -> tuple[Ints, Ints]:
    """Return for each line the number of its move, counted from 1, or 0."""
    numbers = np.arange(1, len(planned.old_moved) + 1)
    old, new = np.zeros(old_count, np.int64), np.zeros(new_count, np.int64)
    old[planned.old_moved] = numbers
    new[planned.new_moved] = numbers
    return old, new
