"""Plain text and CSV, streamed in bounded memory whatever the length of a line."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from core.ingest.parsers.boxed_tables import text_blocks
from core.ingest.parsers.encoding import READ_BYTES, decoded, detect, sample
from core.ingest.parsers.manual_page import ManualPage, is_manual_page
from core.ingest.parsers.reading import ParserInput
from core.ingest.parsers.tables import RowGroups, column_letter, row_text
from core.ingest.parsers.wording import MAX_BLOCK_CHARS, clean, pieces
from core.model import Block, BlockKind, Locator

MAX_LINE_CHARS = 4 * MAX_BLOCK_CHARS
MAX_FIELD_CHARS = 1024 * 1024
_DELIMITERS = ",\t;|"
_STRUCK = re.compile(r"[^\n\x08]\x08+|\x1b\[[0-9;]{0,16}m")
"""A sign that another one is struck over, as ``man`` makes letters bold or underlined, and changes of colour."""
_UNFINISHED = re.compile(r"(?:\r|[^\n\x08]\x08+|\x1b(?:\[[0-9;]{0,16})?)\Z")
_LONGEST_SIGN = 20


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield paragraphs, which blank lines separate, and the headings of manual pages. Raises: ``Undecodable``."""
    reading.note(parser="text")
    paragraph: list[str] = []
    length = 0
    blocks: Callable[[str], Iterator[Block]] | None = None
    for line in lines(reading):
        blank = not line or line.isspace()
        if blocks is None and not blank:
            blocks = ManualPage().blocks if is_manual_page(line) else text_blocks
        if not blank:
            paragraph.append(line)
            length += len(line) + 1
        if blocks and paragraph and (blank or length > MAX_BLOCK_CHARS):
            text = "".join(paragraph)
            # What a cut leaves goes on with the lines that follow: the text alone decides where the next cut falls.
            whole = [] if blank else list(pieces(text))
            yield from blocks(text) if blank else map(Block, whole[:-1])
            paragraph, length = whole[-1:], sum(map(len, whole[-1:]))
    if blocks and paragraph:
        yield from blocks("".join(paragraph))


def lines(reading: ParserInput) -> Iterator[str]:
    """Yield the lines of a text file with their ends; a line too long for memory comes in pieces."""
    encoding = detect(sample(reading.path))
    reading.note(encoding=encoding)
    rest: list[str] = []
    length = 0
    held = ""
    size = reading.path.stat().st_size
    # At the end nothing more comes that could belong to what was held back.
    for read, text in enumerate(chain(decoded(reading.path, encoding), [""]), start=1):
        reading.tell(read * READ_BYTES, size)
        is_last = not text
        text = held + text
        if text.startswith("\b") and rest:
            rest[-1] = rest[-1][:-1]
        unfinished = None if is_last else _UNFINISHED.search(text[-_LONGEST_SIGN:])
        held = unfinished[0] if unfinished is not None else ""
        text = text[: len(text) - len(held)]
        if "\b" in text or "\x1b" in text:
            text = _STRUCK.sub("", text)
        text = clean(text)
        for part in text.splitlines(keepends=True) if "\n" in text else [text]:
            rest.append(part)
            length += len(part)
            if part.endswith("\n") or length > MAX_LINE_CHARS:
                yield "".join(rest)
                rest, length = [], 0
    if rest:
        yield "".join(rest)


def parse_csv(reading: ParserInput) -> Iterator[Block]:
    """Yield the rows of a CSV file in groups, each with the header row. Raises: ``Undecodable``."""
    reading.note(parser="csv")
    csv.field_size_limit(MAX_FIELD_CHARS)
    columns = 1

    def place(first: int, last: int) -> Locator:
        return Locator(cells=f"A{first}:{column_letter(columns - 1)}{last}")

    groups = RowGroups(place)
    for number, cells in enumerate(_rows(lines(reading)), 1):
        line = row_text(cells)
        if not line:
            continue
        columns = max(columns, min(len(cells), 16_384))
        if not groups.header and len(cells) > 1:
            groups.header = line[:MAX_BLOCK_CHARS]
        if len(line) > MAX_BLOCK_CHARS:
            yield from groups.flush()
            for piece in pieces(line):
                yield Block(piece, BlockKind.TABLE, place(number, number), header=groups.header)
        else:
            yield from groups.add(line, number)
    yield from groups.flush()


def _rows(source: Iterator[str]) -> Iterator[list[str]]:
    first = next(source, "")
    delimiter = max(_DELIMITERS, key=lambda sign: (first.count(sign), -_DELIMITERS.index(sign)))
    taken: list[str] = []

    def recorded(these: Iterable[str]) -> Iterator[str]:
        for line in these:
            taken.append(line)
            yield line

    reader = csv.reader(recorded(chain([first], source)), delimiter=delimiter)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            # A quote that nothing closes swallows what follows: take those lines as they stand.
            yield from ([cell.strip('" \n') for cell in line.split(delimiter)] for line in taken)
            taken.clear()
            reader = csv.reader(recorded(source), delimiter=delimiter, quoting=csv.QUOTE_NONE)
            continue
        taken.clear()
        yield row
