"""Office files: charts, remarks, running heads, descriptions of pictures, hidden sheets, names and open formulas."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.workbook.defined_name import DefinedName
from PIL import Image
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from core.errors import Encrypted
from tests import programs
from tests.unit.ingest.compound import compound
from tests.unit.ingest.documents import read, texts


def picture() -> io.BytesIO:
    data = io.BytesIO()
    Image.new("RGB", (60, 40), "navy").save(data, "PNG")
    data.seek(0)
    return data


def test_slides_give_charts_and_described_pictures(tmp_path: Path) -> None:
    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[5])
    slide.shapes.title.text = "Sales"
    chart_data = CategoryChartData(number_format="0.0%")
    chart_data.categories = ["2024", "2025"]
    chart_data.add_series("North", (0.25, 0.5))
    chart_data.add_series("South", (0.75, 0.125))
    place = Inches(1), Inches(2), Inches(6), Inches(4)
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, chart_data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Share of sales"
    shown = slide.shapes.add_picture(picture(), Inches(1), Inches(1))
    shown._element._nvXxPr.cNvPr.set("descr", "A pump with its cover off")
    slides.save(str(tmp_path / "a.pptx"))
    blocks, metadata = read(tmp_path / "a.pptx")
    assert texts(blocks) == [
        "Sales", "[A pump with its cover off]", "Share of sales",
        " | North | South\n2024 | 25.0% | 75.0%\n2025 | 50.0% | 12.5%",
    ]  # fmt: skip
    assert {block.locator.slide for block in blocks} == {1} and "losses" not in metadata


def test_document_gives_remarks_heads_feet_and_descriptions(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Care", 1)
    paragraph = document.add_paragraph("Oil it daily.")
    document.add_comment(paragraph.runs, text="Really every day?", author="Ada", initials="A")
    inline = document.add_picture(picture())
    inline._inline.docPr.set("descr", "The oil can beside the pump")
    document.sections[0].header.paragraphs[0].text = "Confidential, edition 3"
    document.sections[0].footer.paragraphs[0].text = "7"
    document.save(str(tmp_path / "a.docx"))
    blocks, _ = read(tmp_path / "a.docx")
    assert texts(blocks) == [
        "Care", "Oil it daily.", "[Ada: Really every day?]", "[The oil can beside the pump]", "Confidential, edition 3",
    ]  # fmt: skip


def test_damaged_remarks_are_said(tmp_path: Path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Oil it daily.")
    document.add_comment(paragraph.runs, text="Really?", author="Ada", initials="A")
    part = next(each.target_part for each in document.part.rels.values() if each.reltype == RELATIONSHIP_TYPE.COMMENTS)
    document.save(str(tmp_path / "b.docx"))
    import zipfile

    with zipfile.ZipFile(tmp_path / "b.docx") as old, zipfile.ZipFile(tmp_path / "a.docx", "w") as new:
        for name in old.namelist():
            new.writestr(name, b"<w:comments" if f"/{name}" == str(part.partname) else old.read(name))
    blocks, metadata = read(tmp_path / "a.docx")
    assert texts(blocks) == ["Oil it daily."] and metadata["losses"] == {"remarks": ""}


def test_workbook_gives_charts_remarks_names_and_hidden_sheets(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Stock"
    for row in (("part", "count"), ("seal", 4), ("valve", 7)):
        sheet.append(row)
    sheet["B2"].comment = Comment("Order more", "Ada")
    chart = BarChart()
    chart.title = "Stock of parts"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    chart.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=3))
    sheet.add_chart(chart, "D2")
    secret = book.create_sheet("Costs")
    secret.append(("seal", "1.20"))
    secret.sheet_state = "hidden"
    book.defined_names["Counts"] = DefinedName("Counts", attr_text="Stock!$B$2:$B$3")
    book.save(tmp_path / "a.xlsx")
    blocks, metadata = read(tmp_path / "a.xlsx")
    said = texts(blocks)
    assert "Stock of parts" in said and "Counts: Stock!$B$2:$B$3" in said
    remark = next(block for block in blocks if "Order more" in block.text)
    assert (remark.locator.sheet, remark.locator.cells) == ("Stock", "B2") and "Ada" in remark.text
    assert metadata["hidden_sheets"] == "Costs"


def open_formula(path: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.append((4, 7, "=A1*B1"))
    book.save(path)
    return path


@programs.needs("soffice")
def test_formulas_that_nobody_computed_are_computed(tmp_path: Path) -> None:
    blocks, metadata = read(open_formula(tmp_path / "a.xlsx"))
    assert "4 | 7 | 28" in texts(blocks) and "losses" not in metadata


def test_formulas_that_nobody_computes_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.ingest.parsers.legacy.converter", lambda: None)
    blocks, metadata = read(open_formula(tmp_path / "a.xlsx"))
    assert "4 | 7" in texts(blocks) and metadata["losses"] == {"formulas": ""}


def test_encrypted_files_of_the_old_kind_are_named_as_such(tmp_path: Path) -> None:
    word = compound(tmp_path / "a.doc", {"WordDocument": struct.pack("<10sH", b"\xec\xa5", 0x0100) + bytes(500)})
    slides = compound(
        tmp_path / "a.ppt", {"PowerPoint Document": b"x", "Current User": bytes(12) + b"\xdf\xc4\xd1\xf3"}
    )
    for path in (word, slides):
        with pytest.raises(Encrypted):
            read(path)
