"""Charts of xls files are told with title, series, categories and values, on the sheet that shows them."""

from __future__ import annotations

import struct
from pathlib import Path

import openpyxl
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.chart import BarChart, Reference

from core.ingest.parsers.legacy import convert
from core.ingest.parsers.legacy_charts import charts_of
from tests import programs
from tests.unit.ingest.documents import read, texts


def record(kind: int, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return struct.pack("<HH", kind, len(body)) + body


def string(text: str, length: str = "<B") -> bytes:
    return struct.pack(length, len(text)) + b"\1" + text.encode("utf-16-le")


def begin(of: int, version: int = 0x600) -> bytes:
    return record(0x809, struct.pack("<HH", version, of), b"\0" * 12)


def number(point: int, series: int, value: float) -> bytes:
    return record(0x203, struct.pack("<HHHd", point, series, 0, value))


def label(point: int, series: int, text: str) -> bytes:
    return record(0x204, struct.pack("<HHH", point, series, 0), string(text, "<H"))


END = record(0x0A)
SERIES, TEXT, NAME, VALUES = record(0x1003, b"\0" * 12), record(0x1025), record(0x1051, b"\0"), record(0x1051, b"\1")
CHART = b"".join([
    begin(0x20),
    SERIES, NAME, record(0x100D, b"\0\0", string("Tokyo")), VALUES,
    SERIES, NAME, record(0x100D, b"\0\0", string("大阪")), VALUES,
    TEXT, NAME, record(0x100D, b"\0\0", string("Axis")), record(0x1027, struct.pack("<H", 3)),
    TEXT, NAME, record(0x100D, b"\0\0", string("Sales")), record(0x1027, struct.pack("<H", 1)),
    record(0x1065, struct.pack("<H", 1)), number(0, 0, 4.5), number(1, 0, 6), number(1, 1, 7),
    record(0x1065, struct.pack("<H", 2)), label(0, 0, "May"), label(1, 0, "June"),
    END,
])  # fmt: skip


def workbook(sheet_type: int, *within: bytes) -> bytes:
    def head(at: int) -> bytes:
        return begin(5) + record(0x85, struct.pack("<IBB", at, 0, 0), string("Figures")) + END

    return head(len(head(0))) + begin(sheet_type) + b"".join(within) + END


def test_chart_of_a_sheet_is_a_table_under_its_title() -> None:
    [chart], unread = charts_of(workbook(0x10, CHART))
    assert (chart.sheet, chart.title, unread) == ("Figures", "Sales", 0)
    assert list(chart.rows()) == [" | Tokyo | 大阪", "May | 4.5", "June | 6 | 7"]


def test_charts_of_earlier_programs_are_counted_as_unread() -> None:
    assert charts_of(workbook(0x10, CHART.replace(begin(0x20), begin(0x20, 0x500)))) == ([], 1)


@given(st.binary(max_size=40), st.integers(0, len(workbook(0x10, CHART))))
def test_damaged_charts_are_no_error(noise: bytes, cut: int) -> None:
    whole = workbook(0x10, CHART)
    for chart in charts_of(whole[:cut] + noise + whole[cut + len(noise) :])[0]:
        list(chart.rows())


@programs.needs("soffice")
def test_title_of_a_chart_stands_on_its_sheet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["Month", "Tokyo"], ["May", 4.5], ["June", 6]):
        sheet.append(row)
    chart = BarChart()
    chart.title = "Sales of pumps"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    chart.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=3))
    sheet.add_chart(chart, "D2")
    book.create_sheet("Other").append(["Nothing here"])
    book.save(tmp_path / "a.xlsx")
    blocks, metadata = read(convert(tmp_path / "a.xlsx", "xlsx", "xls", tmp_path, 120))
    found = texts(blocks)
    # LibreOffice keeps no values beside those of the cells.
    assert found.index("Sheet") < found.index("Sales of pumps") < found.index("Other")
    assert "losses" not in metadata
