"""Documents that are no PDFs say what was not read as it is, and where; ordinary ones say nothing."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from pathlib import Path

import openpyxl
import pptx
import pytest
from openpyxl.drawing.image import Image as SheetImage
from PIL import Image
from pptx.util import Inches

from core.errors import EmptyDocument
from core.ingest.parsers import parse
from core.ingest.parsers.block_check import BlockCheck
from core.ingest.parsers.reading import ParserInput, ParserLimits, places_of
from tests.unit.ingest import documents
from tests.unit.ingest.documents import paragraph, read, texts

GERMAN = "Der Schlüssel für die Tür hängt in der Küche über dem Kühlschrank. "
UNKNOWN = "\uf061\uf062\uf063 and a word"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


def picture() -> io.BytesIO:
    made = io.BytesIO()
    Image.new("RGB", (400, 300), "navy").save(made, "PNG")
    made.seek(0)
    return made


def slides(path: Path, *said: str) -> Path:
    """Write a slide with a picture for each text, which may be none."""
    deck = pptx.Presentation()
    for text in said:
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        slide.shapes.add_picture(picture(), 0, Inches(2))
        if text:
            slide.shapes.add_textbox(0, 0, Inches(4), Inches(1)).text_frame.text = text
    deck.save(str(path))
    return path


def open_document(path: Path, kind: str, body: str, **more: bytes) -> Path:
    names = " ".join(
        f'xmlns:{name}="{OFFICE}:{name}:1.0"' for name in ("office", "text", "table", "presentation")
    )  # fmt: skip
    names += f' xmlns:draw="{OFFICE}:drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"'
    content = f"<office:document-content {names}><office:body>{body}</office:body></office:document-content>"
    parts = {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content}
    return documents.zipped(path, {**parts, **{name.replace("__", "/"): data for name, data in more.items()}})


def test_slides_that_are_pictures_without_words_are_named(tmp_path: Path) -> None:
    _, metadata = read(slides(tmp_path / "a.pptx", "", "The turquoise gate", "", ""))
    assert metadata["losses"] == {"picture": "slides 1, 3–4"}
    assert metadata["in_part"] == "slides 1, 3–4"


def test_slides_of_an_open_document_that_are_pictures_without_words_are_named(tmp_path: Path) -> None:
    image = '<draw:frame><draw:image xlink:href="Pictures/1.png"/></draw:frame>'
    words = "<draw:frame><draw:text-box><text:p>The turquoise gate</text:p></draw:text-box></draw:frame>"
    pages = f"<draw:page>{words}{image}</draw:page><draw:page>{image}</draw:page>"
    body = f"<office:presentation>{pages}</office:presentation>"
    path = open_document(tmp_path / "a.odp", "presentation", body, **{"Pictures__1.png": picture().getvalue()})
    assert read(path)[1]["losses"] == {"picture": "slides 2"}


def test_sheets_that_are_pictures_without_cells_are_named(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["part", "count"])
    book.create_sheet("Plan").add_image(SheetImage(picture()), "A1")
    book.create_sheet("Nothing")
    book.save(tmp_path / "a.xlsx")
    _, metadata = read(tmp_path / "a.xlsx")
    assert (metadata["losses"], metadata["in_part"]) == ({"picture": "sheets Plan"}, "sheets Plan")


def test_a_workbook_of_empty_sheets_is_empty(tmp_path: Path) -> None:
    openpyxl.Workbook().save(tmp_path / "a.xlsx")
    with pytest.raises(EmptyDocument):
        read(tmp_path / "a.xlsx")
    table = '<table:table table:name="One"><table:table-row><table:table-cell/></table:table-row></table:table>'
    path = open_document(tmp_path / "a.ods", "spreadsheet", f"<office:spreadsheet>{table}</office:spreadsheet>")
    with pytest.raises(EmptyDocument):
        read(path)


@pytest.mark.parametrize("kind", ["docx", "odt", "html", "txt", "eml"])
def test_signs_that_are_no_letters_are_said(tmp_path: Path, kind: str) -> None:
    lines = [UNKNOWN] * 20
    path = tmp_path / f"a.{kind}"
    if kind == "docx":
        documents.docx(path, "".join(map(paragraph, lines)))
    elif kind == "odt":
        body = "".join(f"<text:p>{line}</text:p>" for line in lines)
        open_document(path, "text", f"<office:text>{body}</office:text>")
    elif kind == "html":
        path.write_text(f"<meta charset=utf-8><body>{''.join(f'<p>{line}' for line in lines)}</body>", "utf-8")
    elif kind == "txt":
        path.write_text("\n\n".join(lines), "utf-8")
    else:
        mail = EmailMessage()
        mail["Subject"], mail["From"] = "Gate", "ada@example.org"
        mail.set_content("\n".join(lines))
        path.write_bytes(bytes(mail))
    _, metadata = read(path)
    assert (metadata["losses"], metadata["in_part"]) == ({"signs": ""}, "*")


def test_signs_that_are_no_letters_are_said_of_their_slide(tmp_path: Path) -> None:
    deck = pptx.Presentation()
    for text in ("The turquoise gate opens at nine.", UNKNOWN * 10):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        slide.shapes.add_textbox(0, 0, Inches(4), Inches(1)).text_frame.text = text
    deck.save(str(tmp_path / "a.pptx"))
    assert read(tmp_path / "a.pptx")[1]["losses"] == {"signs": "slides 2"}


def test_text_that_somebody_saved_in_the_wrong_encoding_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text((GERMAN * 10).encode().decode("cp1252"), "utf-8")
    assert read(path)[1]["losses"] == {"signs": ""}
    path.write_text(GERMAN * 10, "utf-8")
    assert "losses" not in read(path)[1]


@pytest.mark.parametrize(
    "text",
    [
        "À l'été, où « Ça va ? » ... Â quoi bon, Ãgé. " * 10,
        "São João não está à mão: AÇÃO, NÃO, “ÓRGÃO”, CORAÇÃO – IRMÃ “MAÇÔ. " * 10,
        "鍵は台所にあります。" * 20,
        "• one\n• two\n✓ three\n" * 20,
    ],
)
def test_foreign_letters_are_no_mistaken_ones(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text, "utf-8")
    assert "losses" not in read(path)[1]


def test_a_page_that_names_another_encoding_than_its_own_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(f'<meta charset="iso-8859-1"><p>{GERMAN}</p>', "utf-8")
    assert texts(read(path)[0]) == [GERMAN.strip()]


def test_what_a_reading_multiplies_is_said_and_what_a_document_repeats_is_not(tmp_path: Path) -> None:
    lines = [f"Gate number {number} opens at nine and closes at five on every day." for number in range(40)]
    for path in (
        documents.docx(tmp_path / "a.docx", "".join(map(paragraph, lines))),
        Path(tmp_path / "a.txt"),
        Path(tmp_path / "a.html"),
    ):
        if path.suffix != ".docx":
            path.write_text("<p>".join(lines) if path.suffix == ".html" else "\n\n".join(lines), "utf-8")
        once = list(parse(ParserInput(path, path.suffix[1:], ParserLimits())))
        reading = ParserInput(path, path.suffix[1:], ParserLimits())
        assert list(BlockCheck(reading).checked(once * 2)) == once * 2
        reading.note_losses()
        assert reading.metadata["losses"] == {"repeated": ""}
    again = documents.docx(tmp_path / "b.docx", "".join(map(paragraph, lines * 3)))
    assert "losses" not in read(again)[1]


def test_places_are_named_as_people_write_them() -> None:
    assert places_of([4, 2, 3], "slides") == "slides 2–4"
    assert places_of(["Costs", "Sales", "Costs"], "sheets") == "sheets Costs, Sales"
    assert places_of((f"S{number}" for number in range(30)), "sheets").endswith("S19, …")
    assert places_of([], "slides") == places_of([]) == ""


def test_a_damaged_chart_is_said_of_its_slide(tmp_path: Path) -> None:
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    deck = pptx.Presentation()
    for text in ("The turquoise gate", "The yellow gate"):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        slide.shapes.add_textbox(0, 0, Inches(4), Inches(1)).text_frame.text = text
    data = CategoryChartData()
    data.categories = ["North", "South"]
    data.add_series("Sales", (1, 2))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, Inches(2), Inches(4), Inches(3), data)
    deck.save(str(tmp_path / "whole.pptx"))
    with zipfile.ZipFile(tmp_path / "whole.pptx") as old, zipfile.ZipFile(tmp_path / "a.pptx", "w") as new:
        for name in old.namelist():
            new.writestr(name, b"<c:chart" if "charts/chart" in name and name.endswith(".xml") else old.read(name))
    _, metadata = read(tmp_path / "a.pptx")
    assert metadata["losses"] == {"chart": "slides 2"}
