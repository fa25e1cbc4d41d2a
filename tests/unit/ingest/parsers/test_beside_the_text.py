"""Office files: charts, remarks, running heads, descriptions of pictures, hidden sheets, names and open formulas."""

from __future__ import annotations

import io
import struct
import zipfile
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
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls
from pptx.util import Inches

from core.errors import Encrypted
from core.ingest.parsers.legacy import convert
from core.ingest.parsers.ooxml_extras import told_of
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


def test_what_slides_repeat_at_their_feet_is_said_once(tmp_path: Path) -> None:
    slides = pptx.Presentation()
    for title in ("Sales", "Costs"):
        slide = slides.slides.add_slide(slides.slide_layouts[5])
        slide.shapes.title.text = title
        box = slide.shapes.add_textbox(Inches(1), Inches(7), Inches(4), Inches(1))
        box.text_frame.text = "Works of Ada, confidential"
        box._element.nvSpPr.nvPr.append(parse_xml(f'<p:ph {nsdecls("p")} type="ftr" idx="11"/>'))
    slides.save(str(tmp_path / "a.pptx"))
    blocks, _ = read(tmp_path / "a.pptx")
    assert texts(blocks) == ["Sales", "Costs", "Works of Ada, confidential"]
    assert blocks[-1].locator.slide == 1


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
    assert "4 | 7" in texts(blocks) and metadata["losses"] == {"formulas": "sheets Sheet"}


def test_encrypted_files_of_the_old_kind_are_named_as_such(tmp_path: Path) -> None:
    word = compound(tmp_path / "a.doc", {"WordDocument": struct.pack("<10sH", b"\xec\xa5", 0x0100) + bytes(500)})
    slides = compound(
        tmp_path / "a.ppt", {"PowerPoint Document": b"x", "Current User": bytes(12) + b"\xdf\xc4\xd1\xf3"}
    )
    rights = compound(tmp_path / "b.doc", {"WordDocument": bytes(512), "\tDRMContent": b"x"})
    for path in (word, slides, rights):
        with pytest.raises(Encrypted):
            read(path)


NEWER = """<cx:chartSpace xmlns:cx="http://schemas.microsoft.com/office/drawing/2014/chartex"
 xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><cx:chartData>
<cx:data id="0"><cx:strDim type="cat"><cx:f>A</cx:f>
<cx:lvl ptCount="3"><cx:pt idx="0">Seals</cx:pt><cx:pt idx="1">Valves</cx:pt><cx:pt idx="2">Hours</cx:pt></cx:lvl>
<cx:lvl ptCount="3"><cx:pt idx="0">Parts</cx:pt><cx:pt idx="2">Work</cx:pt></cx:lvl></cx:strDim>
<cx:numDim type="val"><cx:f>B</cx:f><cx:lvl ptCount="3" formatCode="0.00"><cx:pt idx="0">4</cx:pt>
<cx:pt idx="1">-7.5</cx:pt><cx:pt idx="2">12</cx:pt></cx:lvl></cx:numDim></cx:data></cx:chartData>
<cx:chart><cx:title><cx:tx><cx:rich>
<a:p><a:r><a:t>Cost of </a:t></a:r><a:r><a:t>a repair</a:t></a:r></a:p></cx:rich></cx:tx></cx:title>
<cx:plotArea><cx:plotAreaRegion><cx:series layoutId="waterfall"><cx:tx>
<cx:txData><cx:f>C</cx:f><cx:v>Euro</cx:v></cx:txData></cx:tx>
<cx:dataId val="0"/></cx:series></cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>"""
KIND = "http://schemas.microsoft.com/office/2014/relationships/chartEx"


@pytest.mark.parametrize("kind", ["docx", "xlsx", "pptx"])
def test_charts_of_the_newer_kinds_give_title_series_categories_and_values(tmp_path: Path, kind: str) -> None:
    path, at = tmp_path / f"a.{kind}", "word/document.xml"
    if kind == "docx":
        docx.Document().save(str(path))
    elif kind == "xlsx":
        book = openpyxl.Workbook()
        book.active.add_chart(BarChart(), "D2")
        book.save(path)
        at = "xl/drawings/drawing1.xml"
    else:
        slides = pptx.Presentation()
        slides.slides.add_slide(slides.slide_layouts[6])
        slides.save(str(path))
        at = "ppt/slides/slide1.xml"
    folder, _, base = at.rpartition("/")
    relations = f"{folder}/_rels/{base}.rels"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / f"b.{kind}", "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == relations:
                more = f'<Relationship Id="x1" Type="{KIND}" Target="/extra/chartEx1.xml"/></Relationships>'
                data = data.replace(b"</Relationships>", more.encode())
            new.writestr(name, data)
        new.writestr("extra/chartEx1.xml", NEWER)
    blocks, metadata = read(tmp_path / f"b.{kind}")
    assert texts(blocks)[-2:] == [
        "Cost of a repair",
        " | Euro\nParts › Seals | 4.00\nParts › Valves | -7.50\nWork › Hours | 12.00",
    ]
    assert "losses" not in metadata


@programs.needs("soffice")
@pytest.mark.parametrize("kind", ["xls", "ods"])
def test_hidden_sheets_of_other_workbooks_are_named(tmp_path: Path, kind: str) -> None:
    book = openpyxl.Workbook()
    book.active.append(("seal", 4))
    secret = book.create_sheet("Costs")
    secret.append(("seal", "1.20"))
    secret.sheet_state = "hidden"
    book.save(tmp_path / "a.xlsx")
    blocks, metadata = read(convert(tmp_path / "a.xlsx", "xlsx", kind, tmp_path, 120))
    assert "seal | 1.20" in texts(blocks) and metadata["hidden_sheets"] == "Costs"


THREAD = """<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments">
<threadedComment ref="B2" personId="{1}" id="{2}"><text>Is that all?</text></threadedComment>
<threadedComment ref="B2" personId="{3}" id="{4}" parentId="{2}"><text>It is.</text></threadedComment>
</ThreadedComments>"""
PEOPLE = """<personList xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments">
<person displayName="Ada" id="{1}"/><person displayName="Charles" id="{3}"/></personList>"""


def with_parts(path: Path, parts: dict[str, str], **relations: str) -> Path:
    """Copy a file of the XML kind with more parts; ``relations`` are added to the parts of these names."""
    made = path.with_stem("with")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            for key, more in relations.items():
                if name.endswith(f"_rels/{key}.xml.rels"):
                    data = data.replace(b"</Relationships>", f"{more}</Relationships>".encode())
            new.writestr(name, data)
        for name, text in parts.items():
            new.writestr(name, text)
    return made


def relation(kind: str, target: str) -> str:
    return f'<Relationship Id="x{len(target)}" Type="http://schemas.microsoft.com/x/{kind}" Target="/{target}"/>'


def test_threads_of_remarks_on_cells_are_said_once_with_all_who_took_part(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(("part", "count"))
    book.active.append(("seal", 4))
    book.active["B2"].comment = Comment("[Threaded comment] Your version of Excel … Is that all?", "tc={2}")
    book.save(tmp_path / "a.xlsx")
    path = with_parts(
        tmp_path / "a.xlsx",
        {"xl/threads.xml": THREAD, "xl/people.xml": PEOPLE},
        sheet1=relation("threadedComment", "xl/threads.xml"),
        workbook=relation("person", "xl/people.xml"),
    )
    blocks, _ = read(path)
    said = [(block.text, block.locator.cells) for block in blocks if "[" in block.text]
    assert said == [("[Ada: Is that all?]", "B2"), ("[Charles: It is.]", "B2")]


def test_newer_remarks_on_slides_name_their_authors(tmp_path: Path) -> None:
    slides = pptx.Presentation()
    slides.slides.add_slide(slides.slide_layouts[5]).shapes.title.text = "Sales"
    slides.save(str(tmp_path / "a.pptx"))
    names = 'xmlns:p="http://schemas.microsoft.com/office/powerpoint/2018/8/main"'
    text = '<p:txBody><a:p xmlns:a="x"><a:r><a:t>Really so few?</a:t></a:r></a:p></p:txBody>'
    path = with_parts(
        tmp_path / "a.pptx",
        {
            "ppt/authors.xml": f'<p:authorLst {names}><p:author id="{{1}}" name="Ada"/></p:authorLst>',
            "ppt/newer.xml": f'<p:cmLst {names}><p:cm id="{{9}}" authorId="{{1}}">{text}</p:cm></p:cmLst>',
        },
        slide1=relation("comments", "ppt/newer.xml"),
        presentation=relation("authors", "ppt/authors.xml"),
    )
    assert texts(read(path)[0]) == ["Sales", "[Ada: Really so few?]"]


def test_workbook_gives_running_heads_once_chart_sheets_and_described_pictures(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for sheet in (book.active, book.create_sheet("More")):
        sheet.append(("seal", 4))
        sheet.oddHeader.left.text = "Works && &[Tab]"
        sheet.oddHeader.center.text = "Confidential"
        sheet.oddHeader.center.font, sheet.oddHeader.center.size = "Arial,Bold", 14
        sheet.oddFooter.right.text = "Page &[Page] of &N"
    chart = BarChart()
    chart.title = "Stock of parts"
    chart.add_data(Reference(book.active, min_col=2, min_row=1, max_row=1))
    book.create_chartsheet("Chart of stock").add_chart(chart)
    book.save(tmp_path / "a.xlsx")
    blocks, _ = read(tmp_path / "a.xlsx")
    said = texts(blocks)
    assert [text for text in said if "Confidential" in text] == ["Works &\nConfidential"]
    assert not any("Page" in text for text in said)
    place = next(block.locator for block in blocks if block.text == "Stock of parts")
    assert place.sheet == "Chart of stock"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("ポンプのカバーを外した写真", "ポンプのカバーを外した写真"), ("図 12", ""),
        ("画像3", ""), ("Picture 3", ""), ("Bild 12", ""),
        ("[MCj01051880000[1]]", ""), ("logo.png", ""), ("A pump with its cover off", "A pump with its cover off"),
    ],
)  # fmt: skip
def test_names_of_files_are_no_descriptions(given: str, told: str) -> None:
    assert told_of(given) == told


@programs.needs("soffice")
@pytest.mark.parametrize("kind", ["xls", "ods"])
def test_remarks_and_names_of_other_workbooks(tmp_path: Path, kind: str) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Stock"
    book.active.append(("seal", 4))
    book.active["B1"].comment = Comment("Order more", "Ada")
    book.defined_names["Counts"] = DefinedName("Counts", attr_text="Stock!$B$1:$B$3")
    book.save(tmp_path / "a.xlsx")
    blocks, _ = read(convert(tmp_path / "a.xlsx", "xlsx", kind, tmp_path, 120))
    said = texts(blocks)
    assert any("Order more" in text for text in said)
    assert kind == "ods" or "Counts: Stock!$B$1:$B$3" in said


@programs.needs("soffice")
@pytest.mark.parametrize("kind", ["ods", "odp"])
def test_open_document_gives_charts_and_described_pictures(tmp_path: Path, kind: str) -> None:
    if kind == "ods":
        book = openpyxl.Workbook()
        for row in (("part", "count"), ("seal", 4), ("valve", 7)):
            book.active.append(row)
        chart = BarChart()
        chart.title = "Stock of parts"
        chart.add_data(Reference(book.active, min_col=2, min_row=1, max_row=3), titles_from_data=True)
        chart.set_categories(Reference(book.active, min_col=1, min_row=2, max_row=3))
        book.active.add_chart(chart, "D2")
        book.save(tmp_path / "a.xlsx")
        source, wanted = tmp_path / "a.xlsx", "seal | 4"
    else:
        slides = pptx.Presentation()
        slide = slides.slides.add_slide(slides.slide_layouts[6])
        chart_data = CategoryChartData()
        chart_data.categories = ["2024", "2025"]
        chart_data.add_series("North", (11, 12))
        place = Inches(1), Inches(2), Inches(6), Inches(4)
        shown = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, chart_data).chart
        shown.has_title = True
        shown.chart_title.text_frame.text = "Stock of parts"
        drawn = slide.shapes.add_picture(picture(), Inches(1), Inches(1))
        drawn._element._nvXxPr.cNvPr.set("descr", "A pump with its cover off")
        slides.save(str(tmp_path / "a.pptx"))
        source, wanted = tmp_path / "a.pptx", "2024 | 11"
    blocks, metadata = read(convert(source, source.suffix[1:], kind, tmp_path, 120))
    said = texts(blocks)
    at = said.index("Stock of parts")
    assert wanted in said[at + 1] and "losses" not in metadata
    assert kind == "ods" or "[A pump with its cover off]" in said
