"""Words and cells of changed rows, computed when a row is read; always with the sides in one order, as in ``plan``."""

from __future__ import annotations

from collections.abc import Iterator

from core.model import BlockKind, CellPair, Segment
from core.versions.diff.budget import Budget, Clock
from core.versions.diff.lines import Lines
from core.versions.diff.tables import Columns, cell_pairs, cells_of, column_map, mirrored_cells
from core.versions.diff.words import ends_between, mirrored, words_between

Details = tuple[tuple[Segment, ...], tuple[CellPair, ...]]
_Tables = tuple[str, str]


class RowDetails:
    """Tells what changed in pairs of lines, and whether some of them were compared at their ends alone."""

    def __init__(self, old: Lines, new: Lines, budget: Budget, clock: Clock) -> None:
        self._is_swapped = old.data > new.data
        self._old, self._new = (new, old) if self._is_swapped else (old, new)
        self._budget = budget
        self._clock = clock
        self.was_skipped = False

    def of_run(self, old_first: int, old_last: int, new_first: int) -> Iterator[Details]:
        """Yield the words or the cells of each pair of a changed run."""
        count = old_last - old_first
        first, second = (new_first, old_first) if self._is_swapped else (old_first, new_first)
        columns = self._columns(first, second, count)
        for step in range(count):
            words, cells = self._of_pair(first + step, second + step, columns)
            yield (mirrored(words), mirrored_cells(cells)) if self._is_swapped else (words, cells)

    def _of_pair(self, old: int, new: int, columns: dict[_Tables, Columns]) -> Details:
        old_text, new_text = self._old.text(old), self._new.text(new)
        tables = self._tables(old, new)
        if tables is None or old_text == new_text:
            return self._words(old_text, new_text), ()
        return (), cell_pairs(cells_of(old_text), cells_of(new_text), columns[tables], self._words)

    def _words(self, old: str, new: str) -> tuple[Segment, ...]:
        is_long = max(len(old), len(new)) > self._budget.max_word_chars
        if is_long or not self._budget.words or self._clock.is_spent():
            self.was_skipped |= old != new
            return ends_between(old, new)
        return words_between(old, new)

    def _tables(self, old: int, new: int) -> _Tables | None:
        """Return the headers of the tables that both rows belong to; None where they are no rows of tables."""
        old_place, new_place = self._old.place(old), self._new.place(new)
        if old_place.kind is not BlockKind.TABLE or new_place.kind is not BlockKind.TABLE:
            return None
        return old_place.header, new_place.header

    def _columns(self, old: int, new: int, count: int) -> dict[_Tables, Columns]:
        rows: dict[_Tables, list[tuple[list[str], list[str]]]] = {}
        for step in range(count):
            tables = self._tables(old + step, new + step)
            if tables is not None:
                pair = cells_of(self._old.text(old + step)), cells_of(self._new.text(new + step))
                rows.setdefault(tables, []).append(pair)
        return {tables: column_map(pairs, *tables) for tables, pairs in rows.items()}
