"""Targets of links stand beside the text that leads to them, once in a paragraph or cell, where the text says none."""

from __future__ import annotations

import zipfile
from pathlib import Path

import docx
import openpyxl
import pptx
import pymupdf
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from hypothesis import given
from hypothesis import strategies as st
from pptx.util import Inches

from core.ingest.parsers.links import MOST_CHARS, beside, target_of
from core.ingest.parsers.pdf_pdfium import PdfiumDocument
from core.model import Locator
from tests.unit.ingest.documents import read, texts

PUMPS = "https://pumps.example/manual?edition=3"


@pytest.mark.parametrize(
    ("text", "address", "said"),
    [
        ("the manual", PUMPS, f" ({PUMPS})"),
        ("手引き", PUMPS, f" ({PUMPS})"),
        ("Write to us", "mailto:help%40desk@pumps.example?subject=Oil", " (help@desk@pumps.example)"),
        ("https://pumps.example/", "http://www.pumps.example", ""),
        ("see WWW.Pumps.example for more", "https://pumps.example", ""),
        ("help@pumps.example", "mailto:help@pumps.example", ""),
        ("", PUMPS, ""),
        ("below", "#chapter", ""),
        ("a file", "file:///etc/passwd", ""),
        ("a file", "../other.docx", ""),
        ("{sum/@type}", "mailto:{sum/@type}", ""),
        ("a trap", "javascript:alert(1)", ""),
        ("a trap", "data:text/html,x", ""),
        ("long", "https://pumps.example/" + "x" * MOST_CHARS, ""),
    ],
)
def test_only_what_leads_outside_and_is_not_said_is_named(text: str, address: str, said: str) -> None:
    assert beside(text, address) == said


@given(st.text(), st.text())
def test_any_address_gives_one_short_line(text: str, address: str) -> None:
    target = target_of("https://" + address)
    assert len(target) <= MOST_CHARS and len(target.split()) <= 1
    assert beside(text, address) in ("", f" ({target_of(address)})")


def link(part: object, address: str, text: str) -> object:
    related = part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)  # type: ignore[attr-defined]
    runs = "".join(f"<w:r><w:t>{word}</w:t></w:r>" for word in text.partition("|")[::2])
    return parse_xml(f'<w:hyperlink {nsdecls("w", "r")} r:id="{related}">{runs}</w:hyperlink>')


def field(address: str, text: str) -> list[object]:
    def run(inner: str) -> object:
        return parse_xml(f"<w:r {nsdecls('w')}>{inner}</w:r>")

    return [
        run('<w:fldChar w:fldCharType="begin"/>'),
        run(f'<w:instrText> HYPERLINK "{address[:9]}</w:instrText>'),
        run(f'<w:instrText>{address[9:]}" \\o "tip" </w:instrText>'),
        run('<w:fldChar w:fldCharType="separate"/>'),
        run(f"<w:t>{text}</w:t>"),
        run('<w:fldChar w:fldCharType="end"/>'),
    ]


def test_word_names_targets_of_links_fields_notes_and_cells(tmp_path: Path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Read ")
    paragraph._p.append(link(document.part, PUMPS, "the |manual"))
    paragraph.add_run(", and again ")
    paragraph._p.append(link(document.part, PUMPS, "the manual"))
    paragraph.add_run(".")
    other = document.add_paragraph("Ask ")
    other._p.extend(field("https://ask.example/", "the forum"))
    other.add_run(" first.")
    inside = document.add_paragraph("See ")
    inside._p.append(parse_xml(f'<w:hyperlink {nsdecls("w")} w:anchor="top"><w:r><w:t>above</w:t></w:r></w:hyperlink>'))
    cell = document.add_table(1, 2).cell(0, 0)
    cell.paragraphs[0]._p.append(link(document.part, "https://cell.example", "cell"))
    header = document.sections[0].header
    header.paragraphs[0]._p.append(link(header.part, "https://head.example", "Heads"))
    document.save(str(tmp_path / "a.docx"))
    blocks, metadata = read(tmp_path / "a.docx")
    assert texts(blocks) == [
        f"Read the manual ({PUMPS}), and again the manual.",
        "Ask the forum (https://ask.example/) first.",
        "See above",
        "cell (https://cell.example)",
        "Heads (https://head.example)",
    ]
    assert "losses" not in metadata


def test_headings_stay_as_they_are_and_their_targets_follow_them(tmp_path: Path) -> None:
    document = docx.Document()
    heading = document.add_heading("", 1)
    heading._p.append(link(document.part, PUMPS, "Manual of pumps"))
    document.add_paragraph("Oil it daily.")
    document.save(str(tmp_path / "a.docx"))
    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[5])
    run = slide.shapes.title.text_frame.paragraphs[0].add_run()
    run.text = "Manual of pumps"
    run.hyperlink.address = PUMPS
    slides.save(str(tmp_path / "a.pptx"))
    for kind in ("docx", "pptx"):
        blocks, _ = read(tmp_path / f"a.{kind}")
        assert texts(blocks)[:2] == ["Manual of pumps", f"Manual of pumps ({PUMPS})"], kind
        assert {block.locator.heading_path for block in blocks[1:]} == {("Manual of pumps",)}


def test_slides_name_targets_of_runs_and_shapes(tmp_path: Path) -> None:
    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[6])
    frame = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1)).text_frame
    for word in ("Read ", "the ", "manual", " today"):
        run = frame.paragraphs[0].add_run()
        run.text = word
        if word in ("the ", "manual"):
            run.hyperlink.address = PUMPS
    box = slide.shapes.add_textbox(Inches(1), Inches(3), Inches(4), Inches(1))
    box.text_frame.text = "The shop"
    box.click_action.hyperlink.address = "https://shop.example/"
    slides.save(str(tmp_path / "a.pptx"))
    assert texts(read(tmp_path / "a.pptx")[0]) == [
        f"Read the manual ({PUMPS}) today",
        "The shop (https://shop.example/)",
    ]


def test_workbook_names_targets_of_cells_and_of_formulas(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (("part", "shop"), ("seal", "buy"), ("valve", "https://shop.example/valve"), ("pump", 7)):
        sheet.append(row)
    sheet["B2"].hyperlink = "https://shop.example/seal?a=1&b=2"
    sheet["B3"].hyperlink = "https://shop.example/valve"
    sheet["A4"].hyperlink = "#Sheet!A1"
    book.save(tmp_path / "b.xlsx")
    with zipfile.ZipFile(tmp_path / "b.xlsx") as old, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as new:
        for name in old.namelist():
            formula = b'<c r="B4" t="str"><f>HYPERLINK("https://shop.example/pump","order")</f><v>order</v></c>'
            data = old.read(name)
            new.writestr(name, data.replace(b'<c r="B4" t="n"><v>7</v></c>', formula))
    blocks, _ = read(tmp_path / "a.xlsx")
    assert texts(blocks)[1].splitlines() == [
        "part | shop",
        "seal | buy (https://shop.example/seal?a=1&b=2)",
        "valve | https://shop.example/valve",
        "pump | order (https://shop.example/pump)",
    ]


def test_open_document_names_targets(tmp_path: Path) -> None:
    names = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
        for short, long in (("office", "office"), ("text", "text"), ("table", "table"))
    )
    linked = f'<text:p>Read <text:a xlink:href="{PUMPS}">the <text:span>manual</text:span></text:a>.</text:p>'
    inside = '<text:p><text:a xlink:href="#top">Above</text:a></text:p>'
    row = (
        f'<table:table table:name="S"><table:table-row><table:table-cell>{linked}</table:table-cell></table:table-row>'
    )
    for kind, body in (
        ("odt", f"<office:text>{linked}{inside}</office:text>"),
        ("ods", f"<office:spreadsheet>{row}</table:table></office:spreadsheet>"),
    ):
        content = (
            f'<office:document-content {names} xmlns:xlink="http://www.w3.org/1999/xlink"><office:body>{body}'
            "</office:body></office:document-content>"
        )
        with zipfile.ZipFile(tmp_path / f"a.{kind}", "w") as archive:
            archive.writestr("content.xml", content)
        said = texts(read(tmp_path / f"a.{kind}")[0])
        assert f"Read the manual ({PUMPS})." in said, kind
        assert kind != "odt" or "Above" in said


def linked_pdf(path: Path, pages: int = 2) -> Path:
    document = pymupdf.open()
    for number in range(pages):
        page = document.new_page()
        page.insert_text((72, 100), f"Read the manual of pump {number} before you start, and keep it at hand.")
        page.insert_text((72, 700), "The shop")
        found = page.search_for(f"the manual of pump {number}")[0]
        page.insert_link({"kind": pymupdf.LINK_URI, "from": found, "uri": f"https://pumps.example/{number}"})
        page.insert_link(
            {"kind": pymupdf.LINK_URI, "from": page.search_for("The shop")[0], "uri": "https://shop.example"}
        )
    document.save(path)
    return path


def test_pdf_names_targets_behind_its_text_at_their_pages(tmp_path: Path) -> None:
    blocks, metadata = read(linked_pdf(tmp_path / "a.pdf"))
    named = [(block.text, block.locator) for block in blocks if "https" in block.text]
    assert named == [
        ("the manual of pump 0 (https://pumps.example/0)\nThe shop (https://shop.example)", Locator(page=1)),
        ("the manual of pump 1 (https://pumps.example/1)", Locator(page=2)),
    ]
    assert blocks[-2:] == [block for block in blocks if "https" in block.text]
    assert "losses" not in metadata


def test_both_engines_find_the_same_links(tmp_path: Path) -> None:
    document = PdfiumDocument(linked_pdf(tmp_path / "a.pdf", 1))
    page = document.page(0)
    assert page is not None
    assert sorted(page.links) == [
        ("The shop", "https://shop.example"), ("the manual of pump 0", "https://pumps.example/0"),
    ]  # fmt: skip
    document.close()


def test_markdown_names_targets_and_not_those_of_pictures_and_headings(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        f"# [Manual]({PUMPS}) of pumps\n\nRead [the *manual*]({PUMPS}), [again]({PUMPS}) or [below](#top).\n\n"
        "![a pump](https://pictures.example/pump.png) and <https://pumps.example>\n\n"
        "- [shop][1]\n\n| part | where |\n|---|---|\n| seal | [shop][1] |\n\n[1]: https://shop.example 'Shop'\n"
    )
    blocks, _ = read(tmp_path / "a.md")
    assert texts(blocks) == [
        "Manual of pumps",
        f"Manual ({PUMPS}) of pumps",
        f"Read the manual ({PUMPS}), again or below.",
        "a pump and https://pumps.example",
        "• shop (https://shop.example)",
        "part | where\nseal | shop (https://shop.example)",
    ]
