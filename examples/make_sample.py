"""Writes the Office and PDF files of the sample knowledge base from the Markdown under ``examples/sample``.

``v1/price-list.xlsx.md`` becomes ``core/sample/documents/v1/price-list.xlsx``. Each second-level heading is a sheet of
a workbook or a slide of a presentation, with its quotations as notes. A code block named ``figure`` is drawn.
Needs LibreOffice (for pdf, doc, xls, ppt) and the Noto CJK fonts: ``python -m examples.make_sample``.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

import docx
import openpyxl
import pptx
import pymupdf
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt
from markdown_it import MarkdownIt
from markdown_it.token import Token
from openpyxl.styles import Font, PatternFill
from openpyxl.utils import get_column_letter
from pptx.util import Cm as SlideCm
from pptx.util import Pt as SlidePt

from examples import sample_figures

SOURCES = Path(__file__).parent / "sample"
TARGETS = Path(__file__).parents[1] / "core" / "sample" / "documents"
MOMENT = datetime(2026, 5, 20, 9, 0)
AUTHOR = "Kumoi Instruments"
FONT = "Noto Sans CJK JP"


@dataclass
class Piece:
    """One block of a source: ``kind`` is heading, paragraph, bullet, number, note, code, table or figure."""

    kind: str
    text: str = ""
    level: int = 0
    rows: list[list[str]] = field(default_factory=list)
    image: bytes = b""


def read(source: Path) -> list[Piece]:
    """Return the pieces of a Markdown file in order."""
    tokens = MarkdownIt("commonmark").enable("table").parse(source.read_text("utf-8"))
    return list(_pieces(tokens))


def _pieces(tokens: list[Token]) -> Iterator[Piece]:
    around: list[str] = []
    rows: list[list[str]] = []
    for token in tokens:
        if token.nesting == 1:
            around.append(token.type)
            if token.type == "table_open":
                rows = []
            elif token.type == "tr_open":
                rows.append([])
        elif token.nesting == -1:
            around.pop()
            if token.type == "table_close":
                yield Piece("table", rows=rows)
        elif token.type == "fence" and token.info.startswith("figure"):
            yield Piece("figure", image=sample_figures.draw(token.info.split()[1], token.content))
        elif token.type == "fence":
            yield Piece("code", token.content.rstrip())
        elif token.type == "inline" and "table_open" in around:
            rows[-1].append(token.content)
        elif token.type == "inline":
            yield Piece(_kind(around), token.content, level=token.level and _level(around, tokens, token))


def _kind(around: list[str]) -> str:
    for opening, kind in (
        ("heading_open", "heading"),
        ("blockquote_open", "note"),
        ("bullet_list_open", "bullet"),
        ("ordered_list_open", "number"),
    ):
        if opening in around:
            return kind
    return "paragraph"


def _level(around: list[str], tokens: list[Token], token: Token) -> int:
    return int(tokens[tokens.index(token) - 1].tag[1]) if "heading_open" in around else 0


def write_word(pieces: list[Piece], target: Path) -> None:
    document = docx.Document()
    _set_fonts(document)
    for piece in pieces:
        if piece.kind == "heading":
            document.add_heading(piece.text, piece.level - 1)
        elif piece.kind == "table":
            _word_table(document, piece.rows)
        elif piece.kind == "figure":
            document.add_picture(io.BytesIO(piece.image), width=Cm(14))
        else:
            styles = {"bullet": "List Bullet", "number": "List Number", "note": "Intense Quote"}
            document.add_paragraph(piece.text, styles.get(piece.kind, "Normal"))
    _describe(document.core_properties, pieces[0].text)
    document.save(str(target))


def _set_fonts(document: docx.document.Document) -> None:
    for name in ("Normal", "Title", "Heading 1", "Heading 2", "Heading 3"):
        style = document.styles[name]
        style.font.name = FONT
        style.element.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), FONT)
    document.styles["Normal"].font.size = Pt(10.5)


def _word_table(document: docx.document.Document, rows: list[list[str]]) -> None:
    table = document.add_table(rows=0, cols=len(rows[0]), style="Table Grid")
    for number, row in enumerate(rows):
        added = table.add_row()
        added._tr.get_or_add_trPr().append(OxmlElement("w:cantSplit"))
        for cell, text in zip(added.cells, row, strict=True):
            cell.text = text
            if number == 0:
                cell.paragraphs[0].runs[0].bold = True
    document.add_paragraph()


def write_workbook(pieces: list[Piece], target: Path) -> None:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for piece in pieces:
        if piece.kind == "heading" and piece.level == 2:
            sheet = book.create_sheet(piece.text)
        elif piece.kind == "table":
            _fill_sheet(sheet, piece.rows)
    book.properties.title, book.properties.creator, book.properties.created = pieces[0].text, AUTHOR, MOMENT
    book.save(target)


def _fill_sheet(sheet: openpyxl.worksheet.worksheet.Worksheet, rows: list[list[str]]) -> None:
    for number, row in enumerate(rows, start=1):
        for column, text in enumerate(row, start=1):
            cell = sheet.cell(number, column, _cell_value(text))
            if isinstance(cell.value, int):
                cell.number_format = "#,##0"
            elif isinstance(cell.value, date):
                cell.number_format = "yyyy-mm-dd"
            if number == 1:
                cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor="DDE1F5")
    for column in range(1, len(rows[0]) + 1):
        longest = max(len(row[column - 1].encode("cp932", "replace")) for row in rows)
        sheet.column_dimensions[get_column_letter(column)].width = longest + 3
    sheet.freeze_panes = "A2"


def _cell_value(text: str) -> str | int | date:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return date.fromisoformat(text)
    return int(text.replace(",", "")) if re.fullmatch(r"\d{1,3}(,\d{3})*", text) else text


def write_slides(pieces: list[Piece], target: Path) -> None:
    show = pptx.Presentation()
    sections: list[list[Piece]] = []
    for piece in pieces[1:]:
        if piece.kind == "heading":
            sections.append([])
        sections[-1].append(piece)
    for number, section in enumerate(sections):
        bullets = [piece.text for piece in section if piece.kind == "bullet"]
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = pieces[0].text if number == 0 else section[0].text
        if number == 0:
            bullets.insert(0, section[0].text)
        _slide_body(slide, bullets, [piece for piece in section if piece.kind in ("table", "figure")])
        notes = [piece.text for piece in section if piece.kind == "note"]
        if notes:
            slide.notes_slide.notes_text_frame.text = "\n".join(notes)
    _describe(show.core_properties, pieces[0].text)
    show.save(str(target))


def _slide_body(slide: pptx.slide.Slide, bullets: list[str], extras: list[Piece]) -> None:
    body = slide.placeholders[1]
    for extra in extras:
        if extra.kind == "figure":
            slide.shapes.add_picture(io.BytesIO(extra.image), SlideCm(2.7), SlideCm(4.2), width=SlideCm(20))
            top = 15.2
        else:
            _slide_table(slide, extra.rows)
            top = 5.2 + 1.25 * len(extra.rows)
        body.left, body.top, body.width, body.height = SlideCm(1.3), SlideCm(top), SlideCm(22.8), SlideCm(18.4 - top)
    if not bullets:
        body.element.getparent().remove(body.element)
        return
    body.text_frame.text = "\n".join(bullets)
    for paragraph in body.text_frame.paragraphs:
        paragraph.font.size = SlidePt(20 if extras else 24)


def _slide_table(slide: pptx.slide.Slide, rows: list[list[str]]) -> None:
    frame = slide.shapes.add_table(
        len(rows), len(rows[0]), SlideCm(1.5), SlideCm(4.4), SlideCm(22.4), SlideCm(1.2 * len(rows))
    )
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            cell = frame.table.cell(row, column)
            cell.text = text
            cell.text_frame.paragraphs[0].font.size = SlidePt(15)


def _describe(properties: object, title: str) -> None:
    for name, value in (("title", title), ("author", AUTHOR), ("created", MOMENT), ("modified", MOMENT)):
        setattr(properties, name, value)


def _freeze(target: Path) -> None:
    """Write the archive again with one date, so that the same text gives the same bytes."""
    parts = []
    with zipfile.ZipFile(target) as archive:
        for info in archive.infolist():
            content = archive.read(info)
            if info.filename == "docProps/core.xml":
                content = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>2026-05-20T09:00:00Z", content)
            parts.append((info.filename, content))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in parts:
            info = zipfile.ZipInfo(name, (2026, 5, 20, 9, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)


WRITERS: dict[str, tuple[str, Callable[[list[Piece], Path], None]]] = {
    ".docx": (".docx", write_word),
    ".pdf": (".docx", write_word),
    ".doc": (".docx", write_word),
    ".xlsx": (".xlsx", write_workbook),
    ".xls": (".xlsx", write_workbook),
    ".pptx": (".pptx", write_slides),
    ".ppt": (".pptx", write_slides),
}


def make(source: Path, target: Path) -> None:
    """Write ``target`` in the format of its extension, by way of LibreOffice where no Python library writes it."""
    modern, write = WRITERS[target.suffix]
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / (target.stem + modern)
        write(read(source), draft)
        _freeze(draft)
        if target.suffix != modern:
            _convert(draft, target.suffix[1:], Path(folder))
        made = Path(folder) / target.name
        if target.suffix == ".pdf":
            _shrink_pdf(made, target)
        else:
            target.write_bytes(made.read_bytes())


def _convert(draft: Path, extension: str, folder: Path) -> None:
    profile = f"-env:UserInstallation=file://{folder}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", extension, "--outdir", str(folder), str(draft)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)


def _shrink_pdf(made: Path, target: Path) -> None:
    with pymupdf.open(made) as document:
        stamp = "D:20260520090000+09'00'"
        document.set_metadata({**document.metadata, "creationDate": stamp, "modDate": stamp})
        document.save(target, garbage=4, deflate=True, no_new_id=True)


def main() -> None:
    for source in sorted(SOURCES.glob("v*/*.md")):
        target = TARGETS / source.parent.name / source.stem
        make(source, target)
        sys.stderr.write(f"{target.relative_to(TARGETS)}  {target.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
