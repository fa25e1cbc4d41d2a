"""Documents of all kinds that hold text and show a picture of other text, made by common programs and libraries."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from functools import cache
from pathlib import Path

import docx
import openpyxl
import pptx
import pymupdf
from openpyxl.drawing.image import Image as SheetImage
from PIL import Image
from pptx.util import Inches

from core.ingest.parsers import legacy

ENGLISH = "The amber valve is closed by hand whenever the gauge of the second boiler shows more than 640 kPa."
JAPANESE = "琥珀色の弁は、第二ボイラーの圧力計が640kPaを超えたとき、必ず手で閉じること。"
BEFORE = "Before the picture stands a sentence of the document itself, which says where the boilers are."
AFTER = "Behind the picture the document goes on with the names of those who may enter the room."


@cache
def screenshot(text: str, width: int = 900, height: int = 260, font: str = "helv") -> bytes:
    """Return a PNG of text as a screenshot shows it."""
    with pymupdf.open() as document:
        page = document.new_page(width=width / 2, height=height / 2)
        page.draw_rect(pymupdf.Rect(4, 4, width / 2 - 4, height / 2 - 4), color=(0.4, 0.4, 0.6))
        name = "japan" if not text.isascii() else font
        assert page.insert_textbox((20, 20, width / 2 - 20, height / 2 - 8), text, fontsize=14, fontname=name) >= 0
        data: bytes = page.get_pixmap(dpi=144).tobytes("png")
        return data


def shrunk(picture: bytes, width: int, height: int) -> bytes:
    """Return a picture in another size."""
    data = io.BytesIO()
    Image.open(io.BytesIO(picture)).resize((width, height)).save(data, "PNG")
    return data.getvalue()


@cache
def photograph() -> bytes:
    """Return a picture without any text, and large enough to show some."""
    image = Image.effect_noise((640, 480), 60).convert("RGB").resize((640, 480))
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def word(path: Path, *pictures: bytes) -> Path:
    document = docx.Document()
    document.add_heading("Boiler room", 1)
    document.add_paragraph(BEFORE)
    for picture in pictures:
        document.add_picture(io.BytesIO(picture), width=docx.shared.Inches(5))
    document.add_paragraph(AFTER)
    document.save(str(path))
    return path


def slides(path: Path, *pictures: bytes) -> Path:
    presentation = pptx.Presentation()
    for number, picture in enumerate(pictures, 1):
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = f"Boiler room, part {number}"
        slide.shapes.add_picture(io.BytesIO(picture), Inches(1), Inches(2), width=Inches(7))
    presentation.save(str(path))
    return path


def sheet(path: Path, *pictures: bytes) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "Boilers"
    book.active["A1"], book.active["A2"] = "Boiler", BEFORE
    for number, picture in enumerate(pictures):
        book.active.add_image(SheetImage(io.BytesIO(picture)), f"B{5 + 20 * number}")
    book.save(path)
    return path


def page(path: Path, *pictures: bytes) -> Path:
    shown = "".join(f'<p><img src="data:image/png;base64,{base64.b64encode(each).decode()}"></p>' for each in pictures)
    path.write_text(f"<html><body><h1>Boiler room</h1><p>{BEFORE}</p>{shown}<p>{AFTER}</p></body></html>")
    return path


def book(path: Path, *pictures: bytes) -> Path:
    shown = "".join(f'<p><img src="../pictures/{number}.png"/></p>' for number in range(len(pictures)))
    chapter = f"<html><body><h1>Boiler room</h1><p>{BEFORE}</p>{shown}<p>{AFTER}</p></body></html>"
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="text/a.xhtml"'
        ' media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/content.opf"/></rootfiles></container>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("OEBPS/content.opf", package)
        archive.writestr("OEBPS/text/a.xhtml", chapter)
        for number, picture in enumerate(pictures):
            archive.writestr(f"OEBPS/pictures/{number}.png", picture)
    return path


def mail(path: Path, *pictures: bytes) -> Path:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "Boiler room", "a@example.org", "b@example.org"
    message.set_content(f"{BEFORE}\n\n{AFTER}\n")
    for number, picture in enumerate(pictures):
        message.add_attachment(picture, maintype="image", subtype="png", filename=f"screen-{number}.png")
    path.write_bytes(bytes(message))
    return path


def pdf(path: Path, *pictures: bytes) -> Path:
    """Write a page of text for each picture, with the picture below the text."""
    with pymupdf.open() as document:
        for number, picture in enumerate(pictures, 1):
            made = document.new_page(width=595, height=842)
            made.insert_textbox((72, 60, 523, 200), f"{number}. {BEFORE} {AFTER} " * 2, fontsize=11)
            made.insert_image((72, 240, 472, 360), stream=picture)
        document.save(path)
    return path


def converted(made: Callable[..., Path], wanted: str) -> Callable[..., Path]:
    """Return what makes a document and has LibreOffice write it in another format."""

    def make(path: Path, *pictures: bytes) -> Path:
        kind = {word: "docx", slides: "pptx", sheet: "xlsx"}[made]
        source = made(path.with_suffix(f".{kind}"), *pictures)
        folder = path.with_suffix(".folder")
        folder.mkdir()
        return legacy.convert(source, kind, wanted, folder, 120.0).replace(path)

    return make


OWN: Mapping[str, Callable[..., Path]] = {
    "docx": word, "pptx": slides, "xlsx": sheet, "html": page, "epub": book, "eml": mail, "pdf": pdf,
}  # fmt: skip
BY_LIBREOFFICE: Mapping[str, Callable[..., Path]] = {
    "odt": converted(word, "odt"), "odp": converted(slides, "odp"), "ods": converted(sheet, "ods"),
    "doc": converted(word, "doc"), "ppt": converted(slides, "ppt"),
}  # fmt: skip
