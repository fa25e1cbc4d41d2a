"""Excel workbooks (xlsx): every sheet, row by row, values as their number formats show them."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.errors import EvoRAGError, ParserFailed
from core.ingest.parsers import legacy
from core.ingest.parsers.links import FORMULA, beside
from core.ingest.parsers.number_format import BUILTIN, is_date_format, shown
from core.ingest.parsers.ooxml import Package, attribute, local
from core.ingest.parsers.ooxml_extras import chart_blocks, described, diagram_blocks, people, remarks
from core.ingest.parsers.ooxml_objects import PackageObjects
from core.ingest.parsers.outline import Outline
from core.ingest.parsers.reading import Loss, ParserInput
from core.ingest.parsers.sheet_rows import Cells, SheetRows
from core.ingest.parsers.xml import Element, events, forget, tree
from core.model import Block, BlockKind

_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})\Z")
MAX_COLUMNS, MAX_NAMES = 16_384, 500
_LINK, _NAMED_VALUE = re.compile(rb"<(?:\w+:)?hyperlink\s[^<>]{1,4000}>"), re.compile(rb"([\w:]+)\s*=\s*[\"']([^\"']*)")
_HEADS_AND_FEET = tuple(f"{{*}}{which}{kind}" for which in ("odd", "even", "first") for kind in ("Header", "Footer"))
_HEAD_CODE = re.compile(r'&(?:"[^"]*"|\d{1,3}|K(?:[0-9A-Fa-f]{6}|\d\d[+-]\d{3})|[PNDTFAGZBIUESXYOH](?:[+-]\d+)?)')
"""Fonts, sizes, colours, and what the program fills in: numbers of pages, dates, names ([ECMA-376] 18.3.1.39)."""
_PAGE_OF = 8
"""Letters that may stand beside the number of a page and say nothing, such as “Page … of …”."""
_OPEN_FORMULA, _TAIL = re.compile(rb"(?:</f>|<f\b[^<>]{0,200}/>)\s*(?:<v\s*/>|<v></v>)?\s*</c>"), 512
_TAIL_OF_LINKS = 4_096


def parse(reading: ParserInput) -> Iterator[Block]:
    """Yield the blocks of an xlsx file, sheet by sheet. Raises: ``UnreadableDocument`` and its kinds."""
    reading.note(parser="xlsx")
    if legacy.converter() is not None and has_open_formulas(reading):
        # LibreOffice computes what the program that wrote the file has left to others.
        with tempfile.TemporaryDirectory(prefix="evorag-convert-") as folder:
            computed = legacy.convert(reading.path, "xlsx", "xlsx", Path(folder), reading.limits.timeout_s)
            yield from _read(replace(reading, path=computed))
        return
    yield from _read(reading)


def _read(reading: ParserInput) -> Iterator[Block]:
    with Package(reading.path, 2 * reading.limits.output_bytes) as package:
        package.note_properties(reading)
        yield from _Workbook(package, reading).blocks()


def has_open_formulas(reading: ParserInput) -> bool:
    """Tell whether a cell of a workbook has a formula and no value."""
    with Package(reading.path, 2 * reading.limits.output_bytes) as package:
        for name in package.names():
            if not name.lower().startswith("xl/worksheets/sheet"):
                continue
            tail = b""
            for data in package.stream(name):
                if _OPEN_FORMULA.search(tail + data):
                    return True
                tail = data[-_TAIL:]
    return False


@dataclass(slots=True)
class _Workbook:
    package: Package
    reading: ParserInput
    strings: list[str] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)
    epoch_1904: bool = False
    cells_left: int = 0
    links: dict[str, str] = field(default_factory=dict)
    """The addresses that cells of the sheet lead to."""
    people: dict[str, str] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)
    """What pages repeat at top and bottom."""
    sheet: str = ""
    """The one that is being read."""
    formula_link: str = ""
    """The address that the formula of the cell leads to which was read last."""

    def blocks(self) -> Iterator[Block]:
        main = self.package.main_part()
        relations = self.package.relations(main)
        self.cells_left = self.reading.limits.table_cells
        try:
            self.people = people(self.package, main)
        except EvoRAGError:
            self.reading.miss(Loss.REMARKS)
        for name in self.package.related(main, "sharedStrings"):
            self.strings = list(self._shared_strings(name))
        for name in self.package.related(main, "styles"):
            self.formats = _formats(tree(self.package.read(name)))
        sheets, hidden = [], list[str]()
        for element in tree(self.package.read(main)).iter("{*}sheet", "{*}workbookPr"):
            if local(element) == "workbookPr":
                self.epoch_1904 = element.get("date1904") in ("1", "true")
            else:
                relation = relations.get(attribute(element, "id") or "")
                if element.get("state") in ("hidden", "veryHidden"):
                    hidden.append(element.get("name", ""))
                if relation is not None and relation.kind in ("worksheet", "chartsheet"):
                    sheets.append((element.get("name", ""), relation.target))
        self.reading.note(sheets=len(sheets), hidden_sheets=", ".join(hidden))
        total, before = sum(self.package.stated_bytes(part) for _, part in sheets), 0
        for name, part in sheets:
            yield from self._sheet(name, part, self.reading.counted(self.package.stream(part), total, before))
            before += self.package.stated_bytes(part)
        names = [f"{name}: {place}" for name, place in self._defined_names(main)]
        if names:
            yield Outline().block("\n".join(names[:MAX_NAMES]), BlockKind.LIST)

    def _defined_names(self, main: str) -> Iterator[tuple[str, str]]:
        for element in tree(self.package.read(main)).iter("{*}definedName"):
            name, place = element.get("name", ""), element.text or ""
            if not name.startswith("_") and element.get("hidden") not in ("1", "true") and place:
                yield name, " ".join(place.split())

    def _links(self, part: str) -> dict[str, str]:
        """Return the addresses of a sheet's cells, which stand behind its rows."""
        found: dict[str, str] = {}
        try:
            links, left = self.package.links(part), b""
            for data in self.package.stream(part) if links else ():
                left += data
                for match in _LINK.finditer(left):
                    values = {key.rpartition(b":")[2]: value.decode() for key, value in _NAMED_VALUE.findall(match[0])}
                    cell, address = values.get(b"ref", "").partition(":")[0], links.get(values.get(b"id", ""), "")
                    found.setdefault(cell, address)
                left = left[-_TAIL_OF_LINKS:]
        except (EvoRAGError, UnicodeDecodeError):
            return {}
        return found

    def _shared_strings(self, name: str) -> Iterator[str]:
        for _, element in events(self.package.stream(name), ("{*}si",)):
            yield _rich_text(element)
            forget(element)

    def _sheet(self, name: str, part: str, parts: Iterable[bytes]) -> Iterator[Block]:
        outline, self.sheet = Outline(), name
        yield outline.heading(name, 1, sheet=name)
        rows = SheetRows(outline, name)
        self.links = self._links(part)
        number = 0
        for _, element in events(parts, ("{*}row", *_HEADS_AND_FEET)):
            if local(element) != "row":
                yield from self._head_or_foot(element.text or "", outline, name)
                forget(element)
                continue
            stated = element.get("r", "")
            number = int(stated) if stated.isdigit() and len(stated) < 8 else number + 1
            cells, numeric = self._row(element)
            forget(element)
            if cells:
                yield from rows.add(number, cells, numeric)
            if self.cells_left <= 0:
                self.reading.miss(Loss.CUT, name)
                break
        yield from rows.finish()
        yield from self._drawn_text(outline, name, part)
        yield from PackageObjects(self.package, self.reading).rest_of(part, outline.locator(sheet=name))
        try:
            for remark in remarks(self.package, part, (), self.people):
                yield outline.block(str(remark), sheet=name, cells=remark.place or None)
        except EvoRAGError:
            self.reading.miss(Loss.REMARKS, name)

    def _head_or_foot(self, codes: str, outline: Outline, name: str) -> Iterator[Block]:
        """Yield what pages repeat at top or bottom, once in the workbook: its parts are one line each."""
        text = "\n".join(filter(None, map(_part_of_head, re.split("&[LCR]", codes))))
        if text not in self.repeated and sum(map(str.isalpha, text)) > 2:
            self.repeated.add(text)
            yield outline.block(text, sheet=name)

    def _row(self, row: Element) -> tuple[Cells, bool]:
        cells: Cells = {}
        numeric = False
        column = -1
        for element in row:
            column = _column(element.get("r", ""), column + 1)
            self.cells_left -= 1
            if self.cells_left < 0 or column >= MAX_COLUMNS:
                break
            text, is_number = self._cell(element)
            if text and not text.isspace():
                address = self.links.get(element.get("r", "")) or self.formula_link
                cells[column] = text + beside(text, address) if address else text
                numeric = numeric or is_number
        return cells, numeric

    def _cell(self, element: Element) -> tuple[str, bool]:
        kind = element.get("t", "n")
        value, is_formula, self.formula_link = "", False, ""
        for child in element:
            name = local(child)
            if name == "v":
                value = child.text or ""
            elif name == "f":
                is_formula = True
                if child.text and (match := FORMULA.match(child.text)):
                    self.formula_link = match[1]
            elif name == "is":
                return _rich_text(child), False
        if is_formula and not value and kind != "str":
            self.reading.miss(Loss.FORMULAS, self.sheet)
        if kind == "s":
            at = int(value) if value.isdigit() and len(value) < 10 else -1
            return (self.strings[at], False) if 0 <= at < len(self.strings) else ("", False)
        if kind == "b":
            return ("TRUE" if value == "1" else "FALSE"), True
        if kind in ("str", "e") or not value:
            return value, False
        if kind == "d":
            return value.replace("T", " "), True
        style = element.get("s", "0")
        at = int(style) if style.isdigit() and len(style) < 7 else 0
        code = self.formats[at] if at < len(self.formats) else "General"
        try:
            number = float(value)
        except ValueError:
            return value, False
        return shown(number, code, self.epoch_1904 and is_date_format(code)), True

    def _drawn_text(self, outline: Outline, name: str, part: str) -> Iterator[Block]:
        try:
            for drawing in self.package.related(part, "drawing"):
                yield from chart_blocks(self.package, drawing, outline, self.reading, sheet=name)
                yield from diagram_blocks(self.package, drawing, outline, self.reading, sheet=name)
                for _, shape in events(self.package.stream(drawing), ("{*}txBody",)):
                    if any(True for _ in shape.iterancestors("{*}Fallback")):
                        continue
                    lines = ("".join(t.text or "" for t in p.iter("{*}t")) for p in shape.iter("{*}p"))
                    text = "\n".join(filter(None, lines))
                    forget(shape)
                    if text:
                        yield outline.block(text, sheet=name)
                drawn = tree(self.package.read(drawing))
                for told in described(drawn):
                    yield outline.block(told, sheet=name)
                yield from self.package.pictures([drawn], drawing, self.reading, outline.locator(sheet=name))
        except EvoRAGError:
            self.reading.miss(Loss.BOXES, name)


def _part_of_head(codes: str) -> str:
    """Return the text of the left, middle or right part of a running head, nothing where it only counts pages."""
    text = " ".join(_HEAD_CODE.sub("", codes).replace("&&", "&").split())
    return "" if "&P" in codes and sum(map(str.isalpha, text)) <= _PAGE_OF else text


def _column(reference: str, otherwise: int) -> int:
    match = _REFERENCE.match(reference)
    if match is None:
        return otherwise
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - 64
    return column - 1


def _rich_text(element: Element) -> str:
    """The text of a string item without its phonetic guides (furigana)."""
    parts = []
    for child in element:
        name = local(child)
        if name == "t":
            parts.append(child.text or "")
        elif name == "r":
            parts.extend(t.text or "" for t in child.iterchildren("{*}t"))
    return "".join(parts)


def _formats(root: Element) -> list[str]:
    """The number format of each cell style."""
    codes = dict(BUILTIN)
    for element in root.iter("{*}numFmt"):
        number = element.get("numFmtId", "")
        if number.isdigit():
            codes[int(number)] = element.get("formatCode", "General")
    found = []
    for styles in root.iterchildren("{*}cellXfs"):
        for style in styles:
            number = style.get("numFmtId", "0")
            if not number.isdigit():
                raise ParserFailed("The styles of the workbook are damaged.")
            found.append(codes.get(int(number), "General"))
    return found
