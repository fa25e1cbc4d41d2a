"""Excel workbooks from before 2007 (xls), read with xlrd."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

import olefile  # type: ignore[import-untyped]
import xlrd

from core.errors import Encrypted
from core.ingest.parsers.legacy_charts import LegacyChart, charts_of
from core.ingest.parsers.links import beside
from core.ingest.parsers.number_format import BUILTIN, general, is_date_format, shown
from core.ingest.parsers.objects import Found, object_blocks, within_storage
from core.ingest.parsers.ooxml_extras import Remark
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.reading import Loss, ParserInput
from core.ingest.parsers.sheet_rows import Cells, SheetRows
from core.ingest.parsers.tables import column_letter, table_blocks
from core.model import Block, BlockKind

MAX_NAMES = 500
_BY_COUNTRY = (14, 22)
"""Numbers of formats that show a day as the reader's country writes it."""
_AMERICAN = "m/d/yy"
"""What files give as their code that were saved anywhere; it is the day that counts then, and not the order."""
_NOWHERE = re.compile(r"\?\Z|<<|'internal; ")


class NotReadable(Exception):
    """The file is no workbook that xlrd understands."""


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of an xls file, sheet by sheet. Raises: ``Encrypted``, ``NotReadable``."""
    reading.note(parser="xls")
    with open(os.devnull, "w") as nowhere:
        try:
            book = xlrd.open_workbook(
                str(reading.path), logfile=nowhere, formatting_info=True, on_demand=True, ragged_rows=True
            )
        except xlrd.XLRDError as error:
            if "encrypt" in str(error).lower():
                raise Encrypted("The workbook is protected by a password.") from error
            raise NotReadable from error
        except MemoryError:
            raise
        except Exception as error:
            # xlrd meets damaged files with whatever its next step raises.
            raise NotReadable from error
        reading.note(sheets=book.nsheets, author=book.user_name if isinstance(book.user_name, str) else "")
        cells_left, hidden = reading.limits.table_cells, list[str]()
        charts = _charts(book, reading)
        for index in range(book.nsheets):
            try:
                sheet = book.sheet_by_index(index)
            except MemoryError:
                raise
            except Exception:
                reading.miss(Loss.SHEET, book.sheet_names()[index])
                continue
            if sheet.visibility:
                hidden.append(sheet.name)
            outline = Outline()
            yield outline.heading(sheet.name, 1, sheet=sheet.name)
            rows = SheetRows(outline, sheet.name)
            for number in range(sheet.nrows):
                cells, numeric = _row(book, sheet, number)
                cells_left -= sheet.row_len(number)
                if cells_left < 0:
                    reading.miss(Loss.CUT, sheet.name)
                    break
                if cells:
                    yield from rows.add(number + 1, cells, numeric)
            yield from rows.finish()
            yield from _remarks(sheet, outline)
            yield from _shown_in(charts.pop(sheet.name, ()), outline, sheet.name)
            book.unload_sheet(index)
        for name, alone in charts.items():
            outline = Outline()
            yield outline.heading(name, 1, sheet=name)
            yield from _shown_in(alone, outline, name)
        names = sorted(set(_defined_names(book)))
        if names:
            yield Outline().block("\n".join(names[:MAX_NAMES]), BlockKind.LIST)
        yield from _objects(reading)
        reading.note(hidden_sheets=", ".join(hidden))


def _objects(reading: ParserInput) -> Iterator[Block]:
    """Yield what was set into the workbook: each object has a storage of its own ([MS-XLS] 2.1.7.8)."""
    if not olefile.isOleFile(str(reading.path)):
        return
    with olefile.OleFileIO(str(reading.path)) as compound:
        names = dict.fromkeys(path[0] for path in compound.listdir() if len(path) > 1 and path[0].startswith("MBD"))
        for storage in names:
            try:
                found = within_storage(compound, (storage,), storage)
            except (OSError, ValueError, IndexError, TypeError):
                found = Found(storage, b"")
            yield from object_blocks(found, reading, Outline().locator())


def _charts(book: Any, reading: ParserInput) -> dict[str, list[LegacyChart]]:
    """Return the charts that show something, by the sheet that they stand on or are."""
    if book.mem is None:
        # Excel 2 to 4 keep one sheet, which xlrd has read whole; a chart is a file of its own there.
        return {}
    found, unread = charts_of(bytes(book.mem[book.base : book.base + book.stream_len]))
    if unread:
        reading.miss(Loss.CHART)
    by_sheet: dict[str, list[LegacyChart]] = {}
    for chart in found:
        if chart.title or next(chart.rows(), ""):
            by_sheet.setdefault(chart.sheet, []).append(chart)
    return by_sheet


def _shown_in(charts: Iterable[LegacyChart], outline: Outline, sheet: str) -> Iterator[Block]:
    for chart in charts:
        if chart.title:
            yield outline.block(chart.title, sheet=sheet)
        yield from table_blocks(chart.rows(), outline.locator(sheet=sheet))


def _remarks(sheet: Any, outline: Outline) -> Iterator[Block]:
    for (row, column), note in sorted(sheet.cell_note_map.items()):
        author, text = str(note.author or "").strip(), " ".join(str(note.text or "").split())
        # The program that made the remark begins it with the name of its author.
        text = text.removeprefix(f"{author}:").strip()
        if text:
            cell = f"{column_letter(column)}{row + 1}"
            yield outline.block(str(Remark(cell, author, text)), sheet=sheet.name, cells=cell)


def _defined_names(book: Any) -> Iterator[str]:
    for each in book.name_obj_list:
        place = getattr(each.result, "text", None)
        is_own = not (each.hidden or each.builtin or each.func or each.macro or each.name.startswith("Excel_BuiltIn"))
        # xlrd says so of places that it does not know.
        if is_own and isinstance(place, str) and place and not _NOWHERE.search(place):
            yield f"{each.name}: {place}"


def _row(book: Any, sheet: Any, number: int) -> tuple[Cells, bool]:
    cells: Cells = {}
    numeric = False
    for column, cell in enumerate(sheet.row(number)):
        if cell.ctype in (xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE):
            text = _number(book, cell)
            numeric = True
        elif cell.ctype == xlrd.XL_CELL_BOOLEAN:
            text = "TRUE" if cell.value else "FALSE"
        elif cell.ctype == xlrd.XL_CELL_ERROR:
            text = str(xlrd.error_text_from_code.get(cell.value, "#N/A"))
        else:
            text = str(cell.value)
        if text and not text.isspace():
            link = sheet.hyperlink_map.get((number, column))
            cells[column] = text + (beside(text, link.url_or_path) if link is not None and link.type == "url" else "")
    return cells, numeric


def _number(book: Any, cell: Any) -> str:
    try:
        key = book.xf_list[cell.xf_index].format_key
        code = str(book.format_map[key].format_str)
    except (KeyError, IndexError, TypeError):
        return general(cell.value)
    if key in _BY_COUNTRY and code.startswith(_AMERICAN):
        code = BUILTIN[key]
    return shown(cell.value, code, bool(book.datemode) and is_date_format(code))
