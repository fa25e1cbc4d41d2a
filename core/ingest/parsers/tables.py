"""Tables as blocks: rows as lines, cells joined by a bar, the header row kept with every group of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce

from core.ingest.parsers.wording import is_wide, join_lines, one_line
from core.model import Block, BlockKind, Locator
from core.text.content_defined import ContentRun, checksum

CELL_JOINT = " | "
GROUP_ROWS = 50
GROUP_BYTES = 1600
"""About 400 tokens in any script, so that a group of rows is one chunk and its cell range is exact."""
_SMALLEST_SHARE = 0.4


def row_text(cells: Iterable[str]) -> str:
    """Return the cells on one line; bars inside cells become slashes so that the columns stay countable."""
    texts = [_cell(cell) if cell else "" for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    return CELL_JOINT.join(texts)


def _cell(text: str) -> str:
    lines = text.split("\n") if "\n" in text else (text,)
    return reduce(join_lines, map(one_line, lines)).replace("|", "/")


def join_items(left: str, right: str) -> str:
    """Join two entries of a list that stands in a cell, parted by what parts them in a sentence."""
    left, right = left.rstrip(), right.lstrip()
    if not left or not right or (not left[-1].isalnum() and left[-1] not in ")]\"'）」"):
        return join_lines(left, right)
    return f"{left}、{right}" if is_wide(left[-1]) else f"{left}; {right}"


def column_letter(number: int) -> str:
    """Return the letters of a column counted from 0: ``A``, ``Z``, ``AA``."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


class RowGroups:
    """Collects the rows of one table and hands them on as blocks of at most ``GROUP_BYTES`` and ``GROUP_ROWS``.

    Where a long table is cut depends on the rows around the cut, so that a row more or less changes few groups.
    Without a ``header``, no row names the columns. ``place`` makes the locator of a group from its first and last row
    number.
    """

    def __init__(self, place: Callable[[int, int], Locator], header: str = "") -> None:
        self.header = header
        self._place = place
        self._rows: ContentRun[tuple[str, int]] = ContentRun(_SMALLEST_SHARE * GROUP_BYTES, GROUP_BYTES)
        self._last = ""
        self._header_shown = False

    def add(self, line: str, number: int = 0) -> Iterator[Block]:
        """Take one row; yields rows before it when they fill a group."""
        size = max(len(line.encode("utf-8", "replace")) + 1, GROUP_BYTES / GROUP_ROWS)
        for rows in self._rows.add((line, number), size, checksum(self._last, line)):
            yield self._block(rows)
        self._last = line

    def flush(self) -> Iterator[Block]:
        """Yield what has been collected."""
        for rows in self._rows.finish():
            yield self._block(rows)

    def _block(self, rows: list[tuple[str, int]]) -> Block:
        opens_with_header = not self._header_shown and rows[0][0] == self.header
        self._header_shown = True
        header = "" if opens_with_header else self.header
        text = "\n".join(line for line, _ in rows)
        place = self._place(rows[0][1], rows[-1][1])
        return Block(text, BlockKind.TABLE, place, header=header, is_headless=not self.header)


def table_blocks(rows: Iterable[str], locator: Locator, has_header: bool = True) -> Iterator[Block]:
    """Yield a whole table as blocks; its first row is the header that later groups repeat."""
    groups = RowGroups(lambda _first, _last: locator)
    for number, line in enumerate(rows):
        if number == 0 and has_header:
            groups.header = line
        yield from groups.add(line, number)
    yield from groups.flush()
