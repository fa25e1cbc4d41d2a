"""Files that are set into documents: read where that can be, named and counted as lost where it cannot."""

from __future__ import annotations

import io
import struct
import sys
import zipfile
import zlib
from pathlib import Path

import docx
import olefile
import openpyxl
import pptx
import pymupdf
import pytest
from openpyxl.chart import BarChart, Reference
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.enum.shapes import PROG_ID
from pptx.util import Inches

from core.ingest.parsers import legacy
from core.ingest.parsers.compound_file import compound_file
from core.ingest.parsers.embedded import Embedded
from core.ingest.parsers.legacy import convert
from core.ingest.parsers.reading import ParserInput, ParserLimits
from tests import programs
from tests.unit.ingest.compound import compound
from tests.unit.ingest.documents import pdf as pdf_of
from tests.unit.ingest.documents import read, text_pdf, texts, zipped
from tests.unit.ingest.pictured_documents import screenshot

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
OBJECT = (
    '<w:r><w:object><v:shape xmlns:v="urn:schemas-microsoft-com:vml" id="s"><v:imagedata r:id="xP"/></v:shape>'
    '<o:OLEObject xmlns:o="urn:schemas-microsoft-com:office:office" Type="Embed" ProgID="{program}" ShapeID="s"'
    ' DrawAspect="Content" ObjectID="_1" r:id="xO"/></w:object></w:r>'
)


def workbook(path: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "Stock"
    book.active.append(("part", "count"))
    book.active.append(("flange", 4711))
    book.save(path)
    return path


def letter(path: Path, text: str = "Lantern of the inner letter") -> Path:
    document = docx.Document()
    document.add_paragraph(text)
    document.save(str(path))
    return path


def with_object(path: Path, data: bytes, kind: str = "package", program: str = "Excel.Sheet.12") -> Path:
    """Write a docx with an object between two headings, and with a picture of text that stands for it."""
    document = docx.Document()
    document.add_heading("Care", 1)
    document.add_paragraph("OBJECT")
    document.add_heading("Names", 1)
    document.add_paragraph("Ada")
    plain = io.BytesIO()
    document.save(plain)
    more = (
        f'<Relationship Id="xO" Type="{OFFICE}/{kind}" Target="embeddings/object1"/>'
        f'<Relationship Id="xP" Type="{OFFICE}/image" Target="media/shown.png"/></Relationships>'
    )
    types = '<Default Extension="png" ContentType="image/png"/><Override PartName="/word/embeddings/object1" '
    types += 'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"/></Types>'
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "word/document.xml":
                part = part.replace(b"<w:r><w:t>OBJECT</w:t></w:r>", OBJECT.format(program=program).encode())
            elif name == "word/_rels/document.xml.rels":
                part = part.replace(b"</Relationships>", more.encode())
            elif name == "[Content_Types].xml":
                part = part.replace(b"</Types>", types.encode())
            new.writestr(name, part)
        new.writestr("word/embeddings/object1", data)
        new.writestr("word/media/shown.png", screenshot("A picture of the sheet with its flange and its count"))
    return path


def native(name: str, data: bytes) -> bytes:
    """A file as the packager wraps it."""
    label = name.encode() + b"\0"
    place = b"C:\\Temp\\" + label
    body = b"\2\0" + label + place + b"\0\0\3\0" + struct.pack("<I", len(place)) + place
    body += struct.pack("<I", len(data)) + data
    return struct.pack("<I", len(body)) + body


def test_workbook_within_a_document_is_read_where_it_stands(tmp_path: Path) -> None:
    path = with_object(tmp_path / "a.docx", workbook(tmp_path / "inner.xlsx").read_bytes())
    blocks, metadata = read(path)
    assert texts(blocks) == ["Care", "Stock", "part | count\nflange | 4711", "Names", "Ada"]
    assert blocks[2].locator.heading_path == ("Care", "Stock") and "losses" not in metadata
    assert [block.text for block in blocks if block.level] == ["Care", "Names"]


@pytest.mark.parametrize("is_readable", [True, False])
def test_picture_of_an_object_is_looked_at_only_where_the_object_says_nothing(
    tmp_path: Path, is_readable: bool
) -> None:
    data = workbook(tmp_path / "inner.xlsx").read_bytes() if is_readable else b"\0\1\2" * 200
    path = with_object(tmp_path / "a.docx", data)
    embedded = Embedded({}, tmp_path / "pictures")
    reading = ParserInput(path, "docx", ParserLimits(), embedded=embedded)
    list(parse_all(reading))
    assert len(embedded.wanted) == (not is_readable)


def parse_all(reading: ParserInput) -> list[str]:
    from core.ingest.parsers import parse

    return [block.text for block in parse(reading)]


def test_wrapped_files_are_read_under_their_own_names(tmp_path: Path) -> None:
    wrapped = compound(tmp_path / "object", {"\1Ole10Native": native("pumps.csv", b"pump,hours\nNo. 7,1200\n")})
    blocks, metadata = read(with_object(tmp_path / "a.docx", wrapped.read_bytes(), "oleObject", "Package"))
    assert texts(blocks) == ["Care", "[pumps.csv]", "pump | hours\nNo. 7 | 1200", "Names", "Ada"]
    assert blocks[2].locator.heading_path == ("Care", "pumps.csv") and "losses" not in metadata


def test_packed_documents_and_pdfs_are_read(tmp_path: Path) -> None:
    for number, (stream, data) in enumerate(
        [("CONTENTS", pdf_of(text_pdf("Lantern on a page"))), ("Package", zipped_text(tmp_path / "x.odt"))]
    ):
        wrapped = compound(tmp_path / "object", {stream: data})
        blocks, _ = read(with_object(tmp_path / f"{number}.docx", wrapped.read_bytes(), "oleObject", "Any.1"))
        assert len(blocks) == 4 and "Lantern" in blocks[1].text


def zipped_text(path: Path) -> bytes:
    names = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text"))
    body = "<office:body><office:text><text:p>Lantern of an odt</text:p></office:text></office:body>"
    parts: dict[str, str | bytes] = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": f"<office:document-content {names}>{body}</office:document-content>",
    }
    return zipped(path, parts).read_bytes()


@pytest.mark.parametrize("data", [b"", b"\0\1\2" * 200, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 3000])
def test_objects_that_cannot_be_read_are_named_and_counted(tmp_path: Path, data: bytes) -> None:
    blocks, metadata = read(with_object(tmp_path / "a.docx", data, "oleObject", "Equation.3"))
    assert texts(blocks) == ["Care", "[Equation.3]", "Names", "Ada"]
    assert metadata["losses"] == {"object": ""} and metadata["in_part"] == "*"


def test_files_of_unknown_kinds_are_named_and_counted(tmp_path: Path) -> None:
    wrapped = compound(tmp_path / "object", {"\1Ole10Native": native("pump.dwg", b"AC1032\0\1\2\3" * 40)})
    blocks, metadata = read(with_object(tmp_path / "a.docx", wrapped.read_bytes(), "oleObject", "Package"))
    assert "[pump.dwg]" in texts(blocks) and metadata["losses"] == {"object": ""}


def test_program_names_what_only_it_can_read(tmp_path: Path) -> None:
    summary = bytes(28) + struct.pack("<I", 17) + b"Drawing of pumps\0"
    wrapped = compound(tmp_path / "object", {"\1CompObj": summary, "Contents of it": b"x" * 100})
    blocks, _ = read(with_object(tmp_path / "a.docx", wrapped.read_bytes(), "oleObject", "Any.1"))
    assert "[Drawing of pumps]" in texts(blocks)


def test_documents_within_documents_end_at_a_depth_that_is_said(tmp_path: Path) -> None:
    path = letter(tmp_path / "0.docx")
    for number in range(1, 6):
        path = with_object(tmp_path / f"{number}.docx", path.read_bytes(), program="Word.Document.12")
    blocks, metadata = read(path)
    assert texts(blocks).count("Care") == 4 and "Lantern of the inner letter" not in texts(blocks)
    assert metadata["losses"] == {"object": ""}


def test_parts_in_other_formats_are_read(tmp_path: Path) -> None:
    path = with_object(tmp_path / "a.docx", b"<html><body><p>Lantern of a chunk</p></body></html>", "aFChunk")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "b.docx", "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "word/document.xml":
                part = part.replace(b"<w:sectPr", b'<w:altChunk r:id="xO"/><w:sectPr').replace(b"o:OLEObject", b"o:x")
            new.writestr(name, part)
    blocks, metadata = read(tmp_path / "b.docx")
    assert "Lantern of a chunk" in texts(blocks) and "losses" not in metadata


def slides(folder: Path) -> Path:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "Objects"
    slide.shapes.add_ole_object(str(workbook(folder / "inner.xlsx")), PROG_ID.XLSX, Inches(1), Inches(2))
    slide.shapes.add_ole_object(str(letter(folder / "inner.docx")), PROG_ID.DOCX, Inches(3), Inches(2))
    made.save(str(folder / "a.pptx"))
    return folder / "a.pptx"


def test_slides_give_what_was_set_into_them(tmp_path: Path) -> None:
    blocks, metadata = read(slides(tmp_path))
    assert texts(blocks) == ["Objects", "Stock", "part | count\nflange | 4711", "Lantern of the inner letter"]
    assert {block.locator.slide for block in blocks} == {1} and "losses" not in metadata


def test_chart_without_kept_values_gives_those_of_its_workbook(tmp_path: Path) -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    chart_data = CategoryChartData()
    chart_data.categories = ["May", "June"]
    chart_data.add_series("Tokyo", (4.5, 6))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(6), Inches(4), chart_data)
    made.save(str(tmp_path / "a.pptx"))
    assert texts(read(tmp_path / "a.pptx")[0]) == [" | Tokyo\nMay | 4.5\nJune | 6"]
    with zipfile.ZipFile(tmp_path / "a.pptx") as old, zipfile.ZipFile(tmp_path / "b.pptx", "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name.startswith("ppt/charts/chart"):
                part = part.replace(b"c:numCache", b"c:x").replace(b"c:strCache", b"c:y")
            new.writestr(name, part)
    assert "May | 4.5\nJune | 6" in texts(read(tmp_path / "b.pptx")[0])[-1]


def test_workbook_gives_what_was_set_into_it(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    chart = BarChart()
    book.active.append(("seal", 4))
    chart.add_data(Reference(book.active, min_col=2, min_row=1, max_row=1))
    book.active.add_chart(chart, "D2")
    book.save(tmp_path / "a.xlsx")
    more = f'<Relationship Id="xO" Type="{OFFICE}/package" Target="/xl/embeddings/a.docx"/></Relationships>'
    with zipfile.ZipFile(tmp_path / "a.xlsx") as old, zipfile.ZipFile(tmp_path / "b.xlsx", "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "xl/worksheets/_rels/sheet1.xml.rels":
                part = part.replace(b"</Relationships>", more.encode())
            new.writestr(name, part)
        new.write(letter(tmp_path / "inner.docx"), "xl/embeddings/a.docx")
    blocks, metadata = read(tmp_path / "b.xlsx")
    found = next(block for block in blocks if block.text == "Lantern of the inner letter")
    assert found.locator.sheet == "Sheet" and "losses" not in metadata


def office(path: Path) -> Path:
    """An ods with a sheet, a text and a formula set into it."""
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
        for name, space in (("office", "office"), ("table", "table"), ("text", "text"), ("draw", "drawing"),
                            ("svg", "svg-compatible"))
    )  # fmt: skip

    def document(body: str) -> str:
        return (
            f'<office:document-content {names} xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2">'
            f"<office:body>{body}</office:body></office:document-content>"
        )

    def sheet(shapes: str, *cells: str) -> str:
        row = "".join(
            f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>' for cell in cells
        )
        return document(
            f'<office:spreadsheet><table:table table:name="Stock">{shapes}<table:table-row>{row}</table:table-row>'
            "</table:table></office:spreadsheet>"
        )

    frames = "".join(
        f'<draw:frame svg:width="5cm" svg:height="3cm" svg:x="1cm" svg:y="{number * 4}cm">'
        f'<draw:object xlink:href="./Object {number}" xlink:type="simple"/></draw:frame>'
        for number in (1, 2, 3)
    )
    kinds = {"": "spreadsheet", "Object 1/": "spreadsheet", "Object 2/": "text", "Object 3/": "formula"}
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{place or "/"}" '
        f'manifest:media-type="application/vnd.oasis.opendocument.{kind}"/>'
        f'<manifest:file-entry manifest:full-path="{place}content.xml" manifest:media-type="text/xml"/>'
        for place, kind in kinds.items()
    )
    space = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
    formula = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mi>E</mi>'
        '<annotation encoding="StarMath 5.0">E = m c^2</annotation></semantics></math>'
    )
    return zipped(
        path,
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": sheet(f"<table:shapes>{frames}</table:shapes>", "outer", "one"),
            "Object 1/content.xml": sheet("", "flange", "4711"),
            "Object 2/content.xml": document("<office:text><text:p>Lantern of a text</text:p></office:text>"),
            "Object 3/content.xml": formula,
            "META-INF/manifest.xml": f"<manifest:manifest {space}>{entries}</manifest:manifest>",
        },
    )


def test_sheets_texts_and_formulas_within_opendocument_files_are_read(tmp_path: Path) -> None:
    blocks, metadata = read(office(tmp_path / "a.ods"))
    assert "flange | 4711" in texts(blocks) and "losses" not in metadata
    assert "Lantern of a text" in texts(blocks) and "E = m c^2" in texts(blocks)


@pytest.mark.long
@programs.needs("soffice")
def test_objects_survive_in_files_of_the_old_kinds(tmp_path: Path) -> None:
    path = with_object(tmp_path / "a.docx", workbook(tmp_path / "inner.xlsx").read_bytes())
    for kind in ("doc", "odt"):
        folder = tmp_path / kind
        folder.mkdir()
        blocks, metadata = read(convert(path, "docx", kind, folder, 120))
        assert "part | count\nflange | 4711" in texts(blocks) and "losses" not in metadata
    folder = tmp_path / "odp"
    folder.mkdir()
    blocks, _ = read(convert(slides(tmp_path), "pptx", "odp", folder, 120))
    assert "part | count\nflange | 4711" in texts(blocks)
    folder = tmp_path / "xls"
    folder.mkdir()
    blocks, metadata = read(convert(office(tmp_path / "a.ods"), "ods", "xls", folder, 120))
    assert "flange | 4711" in texts(blocks) and "Lantern of a text" in texts(blocks) and "losses" not in metadata


def test_streams_make_a_compound_file_that_holds_them(tmp_path: Path) -> None:
    streams = {"WordDocument": b"w" * 100_000, "1Table": b"t" * 10, "Data": b"", "\1CompObj": b"c" * 4_096}
    whole = compound_file(streams)
    with olefile.OleFileIO(io.BytesIO(whole)) as made:
        assert {path[0] for path in made.listdir()} == set(streams)
        assert not made.parsing_issues
        assert {name: made.openstream(name).read().rstrip(b"\0") for name in streams} == streams
    large = compound_file({"WordDocument": b"w" * 6_000_000})
    with olefile.OleFileIO(io.BytesIO(large)) as made:
        assert made.openstream("WordDocument").read() == b"w" * 6_000_000
    assert compound_file({"WordDocument": b"w" * 8_000_000}) == b""


@pytest.mark.parametrize("is_packed", [True, False])
def test_objects_of_old_slides_are_read_where_libreoffice_leaves_them_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_packed: bool
) -> None:
    inner = compound(tmp_path / "object", {"\1Ole10Native": native("pumps.csv", b"pump,hours\nNo. 7,1200\n")})
    body = inner.read_bytes()
    if is_packed:
        body = struct.pack("<I", len(body)) + zlib.compress(body)
    records = struct.pack("<HHI", 0x0F, 1000, 4) + b"\0" * 4
    records += struct.pack("<HHI", is_packed << 4, 0x1011, len(body)) + body
    path = compound(tmp_path / "a.ppt", {"PowerPoint Document": records})
    made = pptx.Presentation()
    made.slides.add_slide(made.slide_layouts[5]).shapes.title.text = "Objects"
    made.save(str(tmp_path / "converted.pptx"))
    monkeypatch.setattr(legacy, "convert", lambda *_: tmp_path / "converted.pptx")
    assert texts(read(path)[0]) == ["Objects", "[pumps.csv]", "pump | hours\nNo. 7 | 1200"]


def annotated(path: Path, *, with_text: bool = True) -> Path:
    with pymupdf.open() as document:
        page = document.new_page()
        if with_text:
            page.insert_text((72, 72), "Order form of the pump works, edition of May 2026")
            note = page.add_text_annot((300, 300), "Is that the newest edition?")
            note.set_info(title="Ada")
            note.update()
            page.add_file_annot((400, 400), b"pump,hours\nNo. 7,1200\n", "pumps.csv")
        document.embfile_add("prices", b"part,price\nseal,99\n", filename="prices.csv")
        document.embfile_add("model", b"AC1032\0\1\2\3" * 40, filename="pump.dwg")
        document.save(path)
    return path


def test_remarks_on_pages_and_files_that_hang_on_a_pdf_are_read(tmp_path: Path) -> None:
    blocks, metadata = read(annotated(tmp_path / "a.pdf"))
    assert texts(blocks) == [
        "Order form of the pump works, edition of May 2026", "[Ada: Is that the newest edition?]",
        "[prices.csv]", "part | price\nseal | 99", "[pump.dwg]", "[pumps.csv]", "pump | hours\nNo. 7 | 1200",
    ]  # fmt: skip
    assert [block.locator.page for block in blocks] == [1, 1, None, None, None, 1, 1]
    assert metadata["losses"] == {"object": ""}


def test_pdf_whose_files_are_all_that_it_has_is_read(tmp_path: Path) -> None:
    assert "part | price\nseal | 99" in texts(read(annotated(tmp_path / "a.pdf", with_text=False))[0])


def test_files_that_hang_on_a_pdf_are_read_without_pymupdf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = annotated(tmp_path / "a.pdf")
    monkeypatch.setitem(sys.modules, "core.ingest.parsers.pdf_mupdf", None)
    blocks, metadata = read(path)
    assert metadata["parser"] == "pypdfium2" and "part | price\nseal | 99" in texts(blocks)
