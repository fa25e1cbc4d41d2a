"""Tables as blocks: rows as lines, cells joined by a bar, the header row kept with every group of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce

from core.ingest.parsers.wording import join_lines, one_line
from core.model import Block, BlockKind, Locator

CELL_JOINT = " | "
GROUP_ROWS = 50
GROUP_BYTES = 1600
"""About 400 tokens in any script, so that a group of rows is one chunk and its cell range is exact."""


def row_text(cells: Iterable[str]) -> str:
    """Return the cells on one line; bars inside cells become slashes so that the columns stay countable."""
    texts = [_cell(cell) if cell else "" for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    return CELL_JOINT.join(texts)


def _cell(text: str) -> str:
    lines = text.split("\n") if "\n" in text else (text,)
    return reduce(join_lines, map(one_line, lines)).replace("|", "/")


def column_letter(number: int) -> str:
    """Return the letters of a column counted from 0: ``A``, ``Z``, ``AA``."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


@dataclass(slots=True)
class RowGroups:
    """Collects the rows of one table and hands them on as blocks of about ``GROUP_BYTES``.

    ``place`` makes the locator of a group from its first and last row number.
    """

    place: Callable[[int, int], Locator]
    header: str = ""
    _lines: list[str] = field(default_factory=list)
    _bytes: int = 0
    _first: int = 0
    _last: int = 0
    _header_shown: bool = False

    def add(self, line: str, number: int = 0) -> Iterator[Block]:
        """Take one row; yields the rows before it when they fill a group."""
        size = len(line.encode("utf-8", "replace")) + 1
        if self._lines and (len(self._lines) >= GROUP_ROWS or self._bytes + size > GROUP_BYTES):
            yield from self.flush()
        if not self._lines:
            self._first = number
        self._lines.append(line)
        self._bytes += size
        self._last = number

    def flush(self) -> Iterator[Block]:
        """Yield what has been collected."""
        if self._lines:
            text = "\n".join(self._lines)
            opens_with_header = not self._header_shown and self._lines[0] == self.header
            self._header_shown = True
            header = "" if opens_with_header else self.header
            yield Block(text, BlockKind.TABLE, self.place(self._first, self._last), header=header)
            self._lines = []
            self._bytes = 0


def table_blocks(rows: Iterable[str], locator: Locator, has_header: bool = True) -> Iterator[Block]:
    """Yield a whole table as blocks; its first row is the header that later groups repeat."""
    groups = RowGroups(lambda _first, _last: locator)
    for number, line in enumerate(rows):
        if number == 0 and has_header:
            groups.header = line
        yield from groups.add(line, number)
    yield from groups.flush()
