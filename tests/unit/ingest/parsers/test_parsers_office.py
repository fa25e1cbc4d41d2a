"""Word, Excel and PowerPoint: what a reader of the document sees is what the blocks hold."""

from __future__ import annotations

import datetime
import subprocess
from pathlib import Path
from types import SimpleNamespace

import docx
import openpyxl
import pptx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from pptx.util import Inches

from core.errors import ConverterMissing
from core.ingest.parsers import legacy, legacy_excel
from core.ingest.parsers.number_format import shown
from core.ingest.parsers.numbering import formatted
from core.ingest.parsers.reading import ParserLimits
from core.model import BlockKind
from tests import programs
from tests.unit.ingest import documents
from tests.unit.ingest.documents import paragraph, read, texts


def test_word_headings_paragraphs_lists_and_properties(tmp_path: Path) -> None:
    document = docx.Document()
    document.core_properties.title, document.core_properties.author = "Leave policy", "Aki Sato"
    document.core_properties.created = datetime.datetime(2024, 4, 1, 9, 30)
    document.add_heading("Leave", 1)
    document.add_paragraph("All staff.\nSecond line.")
    document.add_heading("休暇", 2)
    document.add_paragraph("年次有給休暇は20日。")
    document.add_paragraph("one", style="List Bullet")
    document.add_paragraph("first", style="List Number")
    document.add_paragraph("second", style="List Number")
    document.add_heading("After", 1)
    path = tmp_path / "a.docx"
    document.save(str(path))
    blocks, metadata = read(path)
    assert [(block.kind, block.level, block.text, block.locator.heading_path) for block in blocks] == [
        (BlockKind.HEADING, 1, "Leave", ()),
        (BlockKind.PARAGRAPH, 0, "All staff.\nSecond line.", ("Leave",)),
        (BlockKind.HEADING, 2, "休暇", ("Leave",)),
        (BlockKind.PARAGRAPH, 0, "年次有給休暇は20日。", ("Leave", "休暇")),
        (BlockKind.LIST, 0, "• one\n1. first\n2. second", ("Leave", "休暇")),
        (BlockKind.HEADING, 1, "After", ()),
    ]
    assert (metadata["title"], metadata["author"], metadata["parser"]) == ("Leave policy", "Aki Sato", "docx")
    assert metadata["created"].startswith("2024-04-01T09:30")


def test_word_listings_stay_whole_by_their_style_or_their_typeface(tmp_path: Path) -> None:
    document = docx.Document()
    document.styles.add_style("HTML Preformatted", WD_STYLE_TYPE.PARAGRAPH)
    document.add_paragraph("Run this:")
    for line in ("for each in all:", "    print(each)", "", "print('done.')"):
        document.add_paragraph(line, style="HTML Preformatted")
    document.add_paragraph("Then this:")
    for line in ("make install", "make clean"):
        document.add_paragraph().add_run(line).font.name = "Courier New"
    document.add_paragraph("This sentence is set as a letter would be, with a typewriter.").runs[
        0
    ].font.name = "Courier"
    cell = document.add_table(1, 1).cell(0, 0)
    cell.paragraphs[0].text, cell.paragraphs[0].style = "{", "HTML Preformatted"
    for line in ('  "a": 1', "}"):
        cell.add_paragraph(line, style="HTML Preformatted")
    document.add_paragraph("End.")
    path = tmp_path / "a.docx"
    document.save(str(path))
    assert [(block.kind, block.text) for block in read(path)[0]] == [
        (BlockKind.PARAGRAPH, "Run this:"),
        (BlockKind.CODE, "for each in all:\n    print(each)\n\nprint('done.')"),
        (BlockKind.PARAGRAPH, "Then this:"),
        (BlockKind.CODE, "make install\nmake clean"),
        (BlockKind.PARAGRAPH, "This sentence is set as a letter would be, with a typewriter."),
        (BlockKind.CODE, '{\n  "a": 1\n}'),
        (BlockKind.PARAGRAPH, "End."),
    ]


def test_a_word_document_that_is_set_in_letters_of_one_width_throughout_is_no_listing(tmp_path: Path) -> None:
    document = docx.Document()
    document.styles["Normal"].font.name = "Courier New"
    for text in ("INT. A KITCHEN", "She opens the window"):
        document.add_paragraph(text)
    path = tmp_path / "a.docx"
    document.save(str(path))
    assert {block.kind for block in read(path)[0]} == {BlockKind.PARAGRAPH}


@pytest.mark.long
def test_word_tables_repeat_merged_cells_and_their_header(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(120, 3)
    for row in range(120):
        for column in range(3):
            table.cell(row, column).text = f"head {column}" if row == 0 else f"cell {row} {column} with a few words"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "merged"
    table.cell(3, 1).merge(table.cell(3, 2)).text = "wide"
    path = tmp_path / "a.docx"
    document.save(str(path))
    blocks, _ = read(path)
    lines = "\n".join(texts(blocks)).split("\n")
    assert lines[0] == "head 0 | head 1 | head 2"
    assert lines[1].startswith("merged | cell 1 1") and lines[2].startswith("merged | cell 2 1")
    assert lines[3] == "cell 3 0 with a few words | wide"
    assert len(lines) == 120 and len(blocks) > 2
    assert all(block.header == lines[0] for block in blocks[1:])


def test_word_cells_part_their_paragraphs_and_a_row_over_all_columns_is_a_title(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(3, 2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "表1 支店"
    for column, head in enumerate(("地域", "作業")):
        table.cell(1, column).text = head
    table.cell(2, 0).text = "東京"
    table.cell(2, 0).add_paragraph("大阪")
    table.cell(2, 1).text = "清掃"
    path = tmp_path / "a.docx"
    document.save(str(path))
    assert texts(read(path)[0]) == ["表1 支店", "地域 | 作業\n東京 大阪 | 清掃"]


def test_word_shows_no_deleted_hidden_or_phonetic_text(tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>kept </w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>added</w:t></w:r></w:ins><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>"
        "<w:p><w:r><w:ruby><w:rt><w:r><w:t>かん</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase>"
        "</w:ruby></w:r><w:r><w:t>字</w:t></w:r></w:p>"
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>'
        "<w:r><w:t>7</w:t></w:r></w:p>"
    )
    assert texts(read(documents.docx(tmp_path / "a.docx", body))[0]) == ["kept added", "漢字", "7"]


def test_word_footnotes_stand_below_the_paragraph_that_cites_them(tmp_path: Path) -> None:
    namespace = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="n" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes" Target="footnotes.xml"/>'
        "</Relationships>"
    )
    notes = (
        f'<w:footnotes {namespace}><w:footnote w:id="0" w:type="separator"><w:p/></w:footnote>'
        f'<w:footnote w:id="2">{paragraph("The note.")}</w:footnote></w:footnotes>'
    )
    body = '<w:p><w:r><w:t>Claim</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>' + paragraph("Next")
    more = {"word/_rels/document.xml.rels": relations, "word/footnotes.xml": notes}
    path = documents.zipped(tmp_path / "a.docx", {**documents.docx_parts(body), **more})
    assert texts(read(path)[0]) == ["Claim*2", "*2 The note.", "Next"]


def test_word_text_boxes_and_content_controls_are_read_once(tmp_path: Path) -> None:
    box = f"<w:txbxContent>{paragraph('in the box')}</w:txbxContent>"
    body = (
        '<w:p><w:r><w:t>before</w:t></w:r><w:r><mc:AlternateContent xmlns:mc="mc"><mc:Choice>'
        f"{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
        f"<w:sdt><w:sdtContent>{paragraph('controlled')}</w:sdtContent></w:sdt>"
    )
    assert texts(read(documents.docx(tmp_path / "a.docx", body))[0]) == ["before", "in the box", "controlled"]


def test_word_contents_are_a_list_of_entries(tmp_path: Path) -> None:
    def entry(title: str, page: int) -> str:
        style = '<w:pPr><w:pStyle w:val="TOC1"/></w:pPr>'
        return f"<w:p>{style}<w:r><w:t>{title}</w:t><w:tab/><w:t>{page}</w:t></w:r></w:p>"

    styles = (
        '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        '<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style></w:styles>'
    )
    body = (
        paragraph("Contents")
        + entry("Care of the lens", 3)
        + entry("Spare parts", 14)
        + paragraph("The lens is cleaned.")
    )
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="s" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>'
        "</Relationships>"
    )
    more = {"word/styles.xml": styles, "word/_rels/document.xml.rels": relations}
    blocks, _ = read(documents.docx(tmp_path / "a.docx", body, **more))
    assert [(block.kind, block.text) for block in blocks] == [
        (BlockKind.PARAGRAPH, "Contents"),
        (BlockKind.LIST, "Care of the lens … 3\nSpare parts … 14"),
        (BlockKind.PARAGRAPH, "The lens is cleaned."),
    ]


def test_word_numbered_headings_show_their_numbers(tmp_path: Path) -> None:
    document = docx.Document()
    numbering = document.part.numbering_part.element
    abstract = OxmlElement("w:abstractNum")
    abstract.set(qn("w:abstractNumId"), "77")
    for level, pattern in enumerate(("第%1章", "%1.%2")):
        element = OxmlElement("w:lvl")
        element.set(qn("w:ilvl"), str(level))
        for tag, value in (("w:start", "1"), ("w:numFmt", "decimal"), ("w:lvlText", pattern)):
            child = OxmlElement(tag)
            child.set(qn("w:val"), value)
            element.append(child)
        abstract.append(element)
    numbering.insert(0, abstract)
    number = OxmlElement("w:num")
    number.set(qn("w:numId"), "77")
    reference = OxmlElement("w:abstractNumId")
    reference.set(qn("w:val"), "77")
    number.append(reference)
    numbering.append(number)
    for text, level in (("総則", 0), ("目的", 1), ("範囲", 1), ("雑則", 0), ("改廃", 1)):
        heading = document.add_heading(text, level + 1)
        properties = heading._p.get_or_add_pPr().get_or_add_numPr()
        properties.get_or_add_ilvl().val = level
        properties.get_or_add_numId().val = 77
    path = tmp_path / "a.docx"
    document.save(str(path))
    assert texts(read(path)[0]) == ["第1章 総則", "1.1 目的", "1.2 範囲", "第2章 雑則", "2.1 改廃"]


@pytest.mark.parametrize(
    ("number", "form", "expected"),
    [
        (4, "lowerLetter", "d"), (28, "upperLetter", "BB"), (14, "upperRoman", "XIV"), (3, "aiueoFullWidth", "ウ"),
        (21, "japaneseCounting", "二十一"), (10, "japaneseCounting", "十"), (12, "decimalFullWidth", "１２"),
        (5, "decimalEnclosedCircle", "⑤"), (7, "unheardOf", "7"),
    ],
)  # fmt: skip
def test_list_numbers_in_the_forms_of_word(number: int, form: str, expected: str) -> None:
    assert formatted(number, form) == expected


def test_excel_shows_values_as_their_formats_do_and_keeps_the_header(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "売上"
    sheet["A1"] = "売上表"
    sheet.append([])
    sheet.append(["月", "売上", "比率", "締日", "確定"])
    for number in range(90):
        sheet.append([f"{number + 1}月分の実績", 1234567 + number, 0.125, datetime.date(2024, 4, 1), True])
    for row in sheet.iter_rows(min_row=4):
        row[1].number_format, row[2].number_format, row[3].number_format = "¥#,##0", "0.0%", 'yyyy"年"m"月"d"日"'
    second = book.create_sheet("Second")
    second["C5"], second["D5"], second["C6"], second["D6"] = "key", "value", "a", 1
    second["C9"], second["D9"] = "b", 2
    path = tmp_path / "a.xlsx"
    book.save(path)
    blocks, metadata = read(path)
    assert metadata["sheets"] == 2
    assert (blocks[0].kind, blocks[0].text) == (BlockKind.HEADING, "売上")
    assert (blocks[1].text, blocks[1].locator.cells) == ("売上表", "A1")
    tables = [block for block in blocks if block.kind is BlockKind.TABLE and block.locator.sheet == "売上"]
    assert tables[0].text.startswith(
        "月 | 売上 | 比率 | 締日 | 確定\n1月分の実績 | ¥1,234,567 | 12.5% | 2024年4月1日 | TRUE"
    )
    assert all(block.header == "月 | 売上 | 比率 | 締日 | 確定" for block in tables[1:]) and len(tables) > 2
    first, last = (block.locator.cells or "" for block in (tables[0], tables[-1]))
    assert first.startswith("A3:E") and last.endswith(":E93")
    rows = sum(block.text.count("\n") + 1 for block in tables)
    assert rows == 91
    assert [(block.text, block.header, block.locator.cells) for block in blocks if block.locator.sheet == "Second"] == [
        ("Second", "", None),
        ("key | value\na | 1", "", "C5:D6"),
        ("b | 2", "key | value", "C9:D9"),
    ]


def test_excel_strings_lose_their_furigana(tmp_path: Path) -> None:
    strings = '<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si><si><r><t>大</t></r><r><t>阪</t></r></si>'
    sheet = (
        '<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>'
        '<c r="C1" t="inlineStr"><is><t>inline</t></is></c><c r="D1" t="e"><v>#N/A</v></c></row></sheetData>'
    )
    assert texts(read(documents.xlsx(tmp_path / "a.xlsx", sheet, strings))[0]) == ["S", "東京 | 大阪 | inline | #N/A"]


def test_a_workbook_beyond_the_budget_is_read_in_part_with_a_warning(tmp_path: Path) -> None:
    rows = "".join(f'<row r="{n}"><c t="str"><v>row {n}</v></c><c><v>{n}</v></c></row>' for n in range(1, 501))
    path = documents.xlsx(tmp_path / "a.xlsx", f"<sheetData>{rows}</sheetData>")
    blocks, metadata = read(path, limits=ParserLimits(table_cells=100))
    assert "row 50 | 50" in blocks[-1].text and "row 51" not in blocks[-1].text
    assert (metadata["losses"], metadata["in_part"]) == ({"cut": "sheets S"}, "sheets S")


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (0.1234, "0.0%", "12.3%"), (1234567.891, "#,##0.00", "1,234,567.89"), (-1234, "#,##0;[Red]-#,##0", "-1,234"),
        (-1234, "#,##0_);(#,##0)", "(1,234)"), (0, '#,##0;-#,##0;"-"', "-"), (1500000, '#,##0,"千円"', "1,500千円"),
        (1500, "[$¥-411]#,##0", "¥1,500"), (42, "0000", "0042"), (5, '0"個"', "5個"), (0.5, "0.##", "0.5"),
        (3.14159, "0.00E+00", "3.14E+00"), (0.1 + 0.2, "General", "0.3"), (1e20, "General", "1E+20"),
        (1234567890123451, "General", "1234567890123451"), (2.0**53 + 2, "General", "9.00719925474099E+15"),
        (45383, "yyyy/m/d", "2024/4/1"), (45383, "yyyy-mm-dd", "2024-04-01"), (45383, "mmmm d, yyyy", "April 1, 2024"),
        (45383, '[$-411]ggge"年"m"月"d"日"(aaa)', "令和6年4月1日(月)"), (0.75, "h:mm AM/PM", "6:00 PM"),
        (1.5, "[h]:mm:ss", "36:00:00"), (45383.40625, "h:mm", "9:45"), (60, "yyyy-mm-dd", "1900-02-28"),
        (45383.5, 'm/d/yyyy h"時"mm"分"', "4/1/2024 12時00分"), (1234.5, "0.0,", "1.2"), (7, "0;0;;@", "7"),
        (float("inf"), "0", "inf"), (1e300, "yyyy-mm-dd", "1E+300"), (2.5, "0", "3"), (12, 'G/標準"人"', "12人"),
    ],
)  # fmt: skip
def test_number_formats(value: float, code: str, expected: str) -> None:
    assert shown(value, code) == expected


def test_the_other_epoch_of_dates() -> None:
    assert shown(0, "yyyy-mm-dd", epoch_1904=True) == "1904-01-01"


def test_powerpoint_slides_titles_tables_and_notes(tmp_path: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "計画 2025"
    slide.placeholders[1].text = "first\nsecond"
    slide.notes_slide.notes_text_frame.text = "speaker note"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(5), Inches(6), Inches(1)).table
    for row in range(2):
        for column in range(2):
            table.cell(row, column).text = f"{row}{column}"
    low = slide.shapes.add_textbox(Inches(1), Inches(6.6), Inches(4), Inches(0.5))
    low.text_frame.text = "below the table"
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = "Second"
    path = tmp_path / "a.pptx"
    deck.save(str(path))
    blocks, metadata = read(path)
    assert metadata["slides"] == 2
    assert [(block.kind, block.text, block.locator.slide) for block in blocks] == [
        (BlockKind.HEADING, "計画 2025", 1),
        (BlockKind.LIST, "• first\n• second", 1),
        (BlockKind.TABLE, "00 | 01\n10 | 11", 1),
        (BlockKind.PARAGRAPH, "below the table", 1),
        (BlockKind.PARAGRAPH, "speaker note", 1),
        (BlockKind.HEADING, "Second", 2),
    ]
    assert blocks[1].locator.heading_path == ("計画 2025",)


def test_old_formats_without_libreoffice_say_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legacy, "PROGRAMS", ("no-such-program",))
    path = tmp_path / "a.doc"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000))
    with pytest.raises(ConverterMissing) as caught:
        read(path)
    assert "LibreOffice" in caught.value.remedy


@pytest.mark.long
@programs.needs("soffice")
def test_old_formats_read_like_the_new_ones(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Heading", 1)
    document.add_paragraph("本文の段落です。")
    document.save(str(tmp_path / "a.docx"))
    book = openpyxl.Workbook()
    book.active.title = "S"
    book.active.append(["name", "share"])
    book.active.append(["東京", 0.25])
    book.active["B2"].number_format = "0%"
    book.save(tmp_path / "b.xlsx")
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    for source, kind in (("a.docx", "doc"), ("b.xlsx", "xls")):
        command = [
            "soffice",
            "--headless",
            profile,
            "--convert-to",
            kind,
            "--outdir",
            str(tmp_path),
            str(tmp_path / source),
        ]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    blocks, metadata = read(tmp_path / "a.doc")
    assert texts(blocks) == ["Heading", "本文の段落です。"]
    assert metadata["parser"] == "libreoffice+docx"
    blocks, metadata = read(tmp_path / "b.xls")
    assert texts(blocks) == ["S", "name | share\n東京 | 25%"]
    assert metadata["parser"] == "xls"


def test_days_that_the_country_of_the_reader_orders_are_read_without_doubt() -> None:
    formats = {14: "m/d/yy", 22: "m/d/yy h:mm", 164: "m/d/yy"}
    book = SimpleNamespace(
        format_map={key: SimpleNamespace(format_str=code) for key, code in formats.items()},
        xf_list=[SimpleNamespace(format_key=key) for key in formats],
        datemode=0,
    )
    day = 37442.5
    shown_as = [legacy_excel._number(book, SimpleNamespace(xf_index=index, value=day)) for index in range(3)]
    assert shown_as == ["2002-07-05", "2002-07-05 12:00", "7/5/02"]
