"""Parts of office files stand where they are shown, and old and locked workbooks are known as what they are."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import openpyxl
import pytest

from core.errors import Encrypted
from core.ingest.validate import check_type
from tests.unit.ingest import documents
from tests.unit.ingest.compound import compound
from tests.unit.ingest.documents import paragraph, read, texts, zipped

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CHART = (
    '<c:chartSpace xmlns:c="c" xmlns:a="a"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>{title}</a:t></a:r></a:p>'
    "</c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:v>Euro</c:v></c:tx><c:cat><c:strLit>"
    '<c:pt idx="0"><c:v>May</c:v></c:pt></c:strLit></c:cat><c:val><c:numLit><c:pt idx="0"><c:v>{value}</c:v></c:pt>'
    "</c:numLit></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"
)


def record(kind: int, body: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def old_sheet(version: int) -> bytes:
    """Return a workbook as Excel 2, 3 or 4 wrote it: one sheet of two columns, without a container."""
    begin = {2: 0x0009, 3: 0x0209, 4: 0x0409}[version]
    newer = 0x200 if version > 2 else 0
    form = b"\0\0" if version > 2 else b"\0\0\0"

    def label(row: int, column: int, text: str) -> bytes:
        length = struct.pack("<H" if version > 2 else "<B", len(text))
        return record(0x04 | newer, struct.pack("<HH", row, column) + form + length + text.encode())

    figure = record(0x03 | newer, struct.pack("<HH", 1, 1) + form + struct.pack("<d", 1200))
    head = record(begin, struct.pack("<HHH", version << 8, 0x10, 0)[: 6 if version > 2 else 4])
    return head + label(0, 0, "pump") + label(0, 1, "hours") + label(1, 0, "No. 7") + figure + record(0x0A)


def workbook(*before: bytes) -> bytes:
    """Return the stream of a workbook of Excel 97 with one sheet; ``before`` stands at its beginning."""
    head = record(0x809, struct.pack("<HHHHII", 0x600, 0x05, 0, 0, 0, 0)) + b"".join(before)
    name = b"Costs"
    size = len(head) + 4 + 8 + len(name) + 4
    sheet = record(0x85, struct.pack("<IBBBB", size, 0, 0, len(name), 0) + name)
    cell = record(0x204, struct.pack("<HHHHB", 0, 0, 0, 5, 0) + b"valve")
    return (
        head
        + sheet
        + record(0x0A)
        + record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0))
        + cell
        + record(0x0A)
    )


def shown_chart(relation: str) -> str:
    return f'<w:p><w:r><w:drawing><c:chart xmlns:c="c" r:id="{relation}"/></w:drawing></w:r></w:p>'


def test_charts_of_a_document_stand_where_they_are_shown(tmp_path: Path) -> None:
    table = f"<w:tbl><w:tr><w:tc>{paragraph('In a cell')}{shown_chart('x2')}</w:tc></w:tr></w:tbl>"
    body = paragraph("Before") + shown_chart("x1") + paragraph("Between") + table + paragraph("After")
    relations = "".join(
        f'<Relationship Id="x{number}" Type="{OFFICE}/chart" Target="charts/chart{number}.xml"/>'
        for number in range(1, 4)
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    charts = {
        f"word/charts/chart{number}.xml": CHART.format(title=f"Chart {number}", value=number) for number in range(1, 4)
    }
    parts = {"word/_rels/document.xml.rels": f'<Relationships xmlns="{space}">{relations}</Relationships>', **charts}
    path = zipped(tmp_path / "a.docx", {**documents.docx_parts(body), **parts})
    assert texts(read(path)[0]) == [
        "Before", "Chart 1", " | Euro\nMay | 1", "Between", "In a cell", "Chart 2", " | Euro\nMay | 2", "After",
        "Chart 3", " | Euro\nMay | 3",
    ]  # fmt: skip


def diagram(*texts: str) -> str:
    points = "".join(f"<dgm:pt><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>" for text in texts)
    return f'<dgm:dataModel xmlns:dgm="dgm" xmlns:a="a"><dgm:ptLst>{points}<dgm:pt/></dgm:ptLst></dgm:dataModel>'


def relations_to_diagrams(folder: str, count: int) -> str:
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    each = '<Relationship Id="x{0}" Type="{1}/diagramData" Target="{2}/data{0}.xml"/>'
    found = "".join(each.format(number, OFFICE, folder) for number in range(1, count + 1))
    return f'<Relationships xmlns="{space}">{found}</Relationships>'


def test_diagrams_of_a_document_stand_where_they_are_shown(tmp_path: Path) -> None:
    def shown(relation: str) -> str:
        ids = f'<dgm:relIds xmlns:dgm="dgm" r:dm="{relation}" r:lo="x9"/>'
        return f"<w:p><w:r><w:drawing>{ids}</w:drawing></w:r></w:p>"

    table = f"<w:tbl><w:tr><w:tc>{paragraph('In a cell')}{shown('x2')}</w:tc></w:tr></w:tbl>"
    body = (
        paragraph("Before")
        + shown("x1")
        + paragraph("Between")
        + table
        + paragraph("After")
        + shown("x1")
        + shown("x4")
    )
    parts = {
        "word/_rels/document.xml.rels": relations_to_diagrams("diagrams", 4),
        "word/diagrams/data1.xml": diagram("Plan", "Build"),
        "word/diagrams/data2.xml": diagram("計画", "実行"),
        "word/diagrams/data3.xml": diagram("Shown nowhere"),
        "word/diagrams/data4.xml": "<damaged",
    }
    blocks, metadata = read(zipped(tmp_path / "a.docx", {**documents.docx_parts(body), **parts}))
    assert texts(blocks) == ["Before", "Plan\nBuild", "Between", "In a cell", "計画\n実行", "After", "Shown nowhere"]
    assert metadata["losses"] == {"boxes": ""} and metadata["in_part"] == "*"


def test_diagrams_of_slides_and_sheets_are_read_at_their_places(tmp_path: Path) -> None:
    slides = documents.pptx(tmp_path / "plain.pptx", documents.slide_text("Shape"))
    with zipfile.ZipFile(slides) as plain:
        parts: dict[str, str | bytes] = {name: plain.read(name) for name in plain.namelist()}
    parts |= {
        "ppt/_rels/slide1.xml.rels": relations_to_diagrams("diagrams", 1),
        "ppt/diagrams/data1.xml": diagram("Plan", "Build"),
    }
    blocks = read(zipped(tmp_path / "a.pptx", parts))[0]
    assert [(block.text, block.locator.slide) for block in blocks] == [("Shape", 1), ("Plan\nBuild", 1)]

    book = openpyxl.Workbook()
    book.active["A1"] = "valve"
    book.save(tmp_path / "plain.xlsx")
    with zipfile.ZipFile(tmp_path / "plain.xlsx") as plain:
        parts = {name: plain.read(name) for name in plain.namelist()}
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    relation = f'<Relationship Id="x1" Type="{OFFICE}/drawing" Target="../drawings/drawing1.xml"/>'
    parts |= {
        "xl/worksheets/_rels/sheet1.xml.rels": f'<Relationships xmlns="{space}">{relation}</Relationships>',
        "xl/drawings/drawing1.xml": '<xdr:wsDr xmlns:xdr="xdr"/>',
        "xl/drawings/_rels/drawing1.xml.rels": relations_to_diagrams("../diagrams", 1),
        "xl/diagrams/data1.xml": diagram("Inspect", "Repair"),
    }
    blocks = read(zipped(tmp_path / "a.xlsx", parts))[0]
    assert [(block.text, block.locator.sheet) for block in blocks][1:] == [
        ("valve", "Sheet"),
        ("Inspect\nRepair", "Sheet"),
    ]


def test_text_boxes_of_sheets_are_read_once(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active["A1"] = "valve"
    book.save(tmp_path / "plain.xlsx")
    box = "<xdr:sp><xdr:txBody><a:p><a:r><a:t>in the box</a:t></a:r></a:p></xdr:txBody></xdr:sp>"
    drawing = (
        '<xdr:wsDr xmlns:xdr="xdr" xmlns:a="a"><mc:AlternateContent xmlns:mc="mc">'
        f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></xdr:wsDr>"
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    with zipfile.ZipFile(tmp_path / "plain.xlsx") as plain:
        parts = {name: plain.read(name) for name in plain.namelist()}
    relation = f'<Relationship Id="x1" Type="{OFFICE}/drawing" Target="../drawings/drawing1.xml"/>'
    parts["xl/worksheets/_rels/sheet1.xml.rels"] = f'<Relationships xmlns="{space}">{relation}</Relationships>'.encode()
    parts["xl/drawings/drawing1.xml"] = drawing.encode()
    assert texts(read(zipped(tmp_path / "a.xlsx", dict(parts)))[0]) == ["Sheet", "valve", "in the box"]


@pytest.mark.parametrize("version", [2, 3, 4])
def test_workbooks_of_the_first_versions_of_excel_are_read(tmp_path: Path, version: int) -> None:
    path = tmp_path / "a.xls"
    path.write_bytes(old_sheet(version))
    assert check_type("a.xls", path.read_bytes(), path) == "xls"
    assert texts(read(path)[0])[-1] == "pump | hours\nNo. 7 | 1200"


@pytest.mark.parametrize("stream", ["Workbook", "WORKBOOK", "workbook", "BOOK", "Book"])
def test_workbooks_in_streams_of_any_case_are_read(tmp_path: Path, stream: str) -> None:
    path = compound(tmp_path / "a.xls", {stream: workbook()})
    assert check_type("a.xls", path.read_bytes()[:4096], path) == "xls"
    assert texts(read(path)[0]) == ["Costs", "valve"]


def test_a_locked_workbook_of_the_old_kind_is_named_as_such(tmp_path: Path) -> None:
    path = compound(tmp_path / "a.xls", {"Workbook": workbook(record(0x2F, struct.pack("<HHHIII", 1, 1, 1, 7, 7, 7)))})
    with pytest.raises(Encrypted):
        read(path)


@pytest.mark.parametrize("extension", ["docx", "xlsx", "pptx", "doc", "xls", "ppt"])
def test_packages_that_are_locked_are_named_as_such_whatever_they_are_called(tmp_path: Path, extension: str) -> None:
    path = compound(tmp_path / f"a.{extension}", {"EncryptionInfo": b"x", "EncryptedPackage": b"y"})
    with pytest.raises(Encrypted):
        check_type(path.name, path.read_bytes()[:4096], path)


@pytest.mark.parametrize("kind", ["text", "spreadsheet", "presentation"])
def test_locked_open_documents_are_named_as_such(tmp_path: Path, kind: str) -> None:
    extension = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}[kind]
    manifest = "<manifest><encryption-data/></manifest>"
    parts = {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": b"\x8f\x02",
             "META-INF/manifest.xml": manifest}  # fmt: skip
    with pytest.raises(Encrypted):
        read(zipped(tmp_path / f"a.{extension}", parts))
