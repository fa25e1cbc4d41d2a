"""The rows of a sheet as blocks: titles, tables with their header rows, and the cells that each block covers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from core.ingest.parsers.outline import Outline
from core.ingest.parsers.tables import RowGroups, column_letter, row_text
from core.model import Block, Locator

Cells = dict[int, str]
"""The filled cells of one row by column, counted from 0."""

SPARSE = 64
"""A row that is wider than so many columns for each filled cell is shown without its empty ones."""


@dataclass(slots=True)
class SheetRows:
    """Takes the rows of one sheet in order; a row without cells, or a gap in the numbers, ends a table.

    The first row of a table is its header where it has two cells or more and none of them is a number; a table
    without one, below an earlier table of the same columns, is its continuation and keeps that header.
    """

    outline: Outline
    sheet: str
    _groups: RowGroups | None = None
    _columns: tuple[int, int] = (0, 0)
    _last_row: int = -1
    _header: str = ""
    _header_columns: tuple[int, int] = (0, 0)
    _titles: list[tuple[int, Cells]] = field(default_factory=list)

    def add(self, number: int, cells: Cells, numeric: bool) -> Iterator[Block]:
        """Take row ``number`` (from 1); ``numeric`` says that one of its cells is a number or a date."""
        if number != self._last_row + 1:
            yield from self.finish()
        self._last_row = number
        if self._groups is None and len(cells) == 1:
            self._titles.append((number, cells))
            if len(self._titles) > 20:
                yield from self._flush_titles()
            return
        if self._groups is None:
            yield from self._flush_titles()
            self._open(cells, numeric)
        assert self._groups is not None
        low, high = min(cells), max(cells)
        self._columns = (min(low, self._columns[0]), max(high, self._columns[1]))
        if high - self._columns[0] > SPARSE * len(cells):
            line = row_text(cells.values())
        else:
            line = row_text(cells.get(column, "") for column in range(self._columns[0], high + 1))
        if self._groups.header == "?":
            self._groups.header = self._header = line
            self._header_columns = self._columns
        yield from self._groups.add(line, number)

    def _open(self, cells: Cells, numeric: bool) -> None:
        columns = (min(cells), max(cells))
        self._columns = columns
        inside = self._header_columns[0] <= columns[0] and columns[1] <= self._header_columns[1]
        if not numeric:
            header = "?"
        elif self._header and inside:
            header = self._header
            self._columns = self._header_columns
        else:
            header = ""
        self._groups = RowGroups(self._place, header)

    def _place(self, first: int, last: int) -> Locator:
        low, high = (column_letter(column) for column in self._columns)
        return self.outline.locator(sheet=self.sheet, cells=f"{low}{first}:{high}{last}")

    def _flush_titles(self) -> Iterator[Block]:
        for number, cells in self._titles:
            for column, text in cells.items():
                yield self.outline.block(text, sheet=self.sheet, cells=f"{column_letter(column)}{number}")
        self._titles = []

    def finish(self) -> Iterator[Block]:
        """Yield what is left of the table that is open."""
        yield from self._flush_titles()
        if self._groups is not None:
            yield from self._groups.flush()
            self._groups = None
