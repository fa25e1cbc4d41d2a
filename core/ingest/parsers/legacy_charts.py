"""Charts of xls files: title, series, categories and the values that the workbook keeps of them.

Source: [MS-XLS], charts (2.2.3); what Excel 5 and 95 wrote has no such values that could be read and is counted.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from core.ingest.parsers.number_format import general
from core.ingest.parsers.tables import row_text

MOST_CHARTS, MOST_POINTS = 500, 5_000
_BOF, _EOF, _SHEET, _NUMBER, _LABEL = 0x0809, 0x000A, 0x0085, 0x0203, 0x0204
_SERIES, _SERIES_TEXT, _TEXT, _OBJECT_LINK, _LINK, _CACHE = 0x1003, 0x100D, 0x1025, 0x1027, 0x1051, 0x1065
_CHART, _NEWEST = 0x20, 0x0600
_VALUES, _CATEGORIES = 1, 2
_OF_CHART = 1
_NAME = 0


@dataclass(slots=True)
class LegacyChart:
    """A chart as its workbook keeps it."""

    sheet: str
    title: str = ""
    names: dict[int, str] = field(default_factory=dict)
    _values: dict[int, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    _categories: dict[int, str] = field(default_factory=dict)
    _part: int = 0
    _series: int = -1
    _is_name: bool = False
    _beside: bool = False
    """Whether the records are those of a text beside the series."""
    _text: str = ""

    def read(self, kind: int, body: bytes) -> None:
        """Take the next record. Raises: ``struct.error``."""
        if kind == _SERIES:
            self._series += 1
            self._beside = False
        elif kind == _LINK:
            self._is_name = body[:1] == bytes([_NAME]) and not self._beside
        elif kind == _TEXT:
            self._text, self._is_name, self._beside = "", False, True
        elif kind == _SERIES_TEXT and len(body) > 4:
            self._text = _string(body[2], body[3:])
            if self._is_name and self._series >= 0:
                self.names.setdefault(self._series, self._text)
            self._is_name = False
        elif kind == _OBJECT_LINK and struct.unpack_from("<H", body)[0] == _OF_CHART:
            self.title = self.title or self._text
        elif kind == _CACHE:
            self._part = struct.unpack_from("<H", body)[0]
        elif kind in (_NUMBER, _LABEL) and self._part:
            self._point(kind, body)

    def _point(self, kind: int, body: bytes) -> None:
        at, series = struct.unpack_from("<HH", body)
        if kind == _NUMBER:
            text = general(struct.unpack_from("<d", body, 6)[0])
        else:
            text = _string(struct.unpack_from("<H", body, 6)[0], body[8:])
        if at < MOST_POINTS and self._part == _VALUES:
            self._values[series][at] = text
        elif at < MOST_POINTS and self._part == _CATEGORIES:
            self._categories.setdefault(at, text)

    def rows(self) -> Iterator[str]:
        """Yield a row of names and one for each category or point; nothing of a chart without values."""
        columns = sorted(self._values)
        if not columns:
            return
        yield row_text(["", *(self.names.get(each, "") for each in columns)])
        points = sorted(set(self._categories).union(*self._values.values()))
        for at in points:
            if line := row_text([self._categories.get(at, ""), *(self._values[each].get(at, "") for each in columns)]):
                yield line


def charts_of(stream: bytes) -> tuple[list[LegacyChart], int]:
    """Return the charts of a stream of records, and how many there are that could not be read."""
    found: list[LegacyChart] = []
    unread = 0
    sheets: dict[int, str] = {}
    sheet = ""
    chart: LegacyChart | None = None
    for at, kind, body in _records(stream):
        try:
            if kind == _BOF:
                version, of = struct.unpack_from("<HH", body)
                sheet = sheets.get(at, sheet)
                if of == _CHART and version == _NEWEST and len(found) < MOST_CHARTS:
                    chart = LegacyChart(sheet)
                    found.append(chart)
                elif of == _CHART:
                    unread += 1
            elif kind == _EOF:
                chart = None
            elif kind == _SHEET and len(body) > 8:
                sheets[struct.unpack_from("<I", body)[0]] = _string(body[6], body[7:])
            elif chart is not None:
                chart.read(kind, body)
        except struct.error:
            unread += 1
            chart = None
    return found, unread


def _records(stream: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        yield at, kind, stream[at + 4 : at + 4 + size]
        at += 4 + size


def _string(count: int, body: bytes) -> str:
    """Return a string of so many characters behind the byte that tells how wide they are."""
    is_wide = bool(body[:1]) and body[0] & 1
    raw = body[1 : 1 + count * (2 if is_wide else 1)]
    return " ".join(raw.decode("utf-16-le" if is_wide else "latin-1", "replace").split())
