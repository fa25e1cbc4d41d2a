"""A document that was read in part says so wherever it is shown: list, version, passages, job and page."""

from __future__ import annotations

import io
from pathlib import Path

import openpyxl
import pptx
import pymupdf
import pytest
from openpyxl.drawing.image import Image as SheetImage
from PIL import Image
from pptx.util import Inches

import core
from app.components.ask.evidence import evidence_pane
from app.components.document.facts import losses
from core.cli.output import warn_degraded
from tests.builders import knowledge_base

TEXT = "The turquoise gate opens at nine and closes at five on every day but Monday. "


def half_scanned(path: Path) -> Path:
    """Write a PDF of a page of text and one that is a picture."""
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 200, 100))
    with pymupdf.open() as document:
        document.new_page().insert_textbox((72, 72, 500, 400), TEXT * 5)
        document.new_page().insert_image(pymupdf.Rect(72, 72, 400, 300), pixmap=picture)
        document.save(path)
    return path


def test_what_was_read_in_part_says_so_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with knowledge_base(tmp_path) as kb:
        upload = kb.add_path(half_scanned(tmp_path / "gates.pdf"))
        kb.add_text("whole", TEXT)
        kb.work_off()
        assert {each.name: each.in_part for each in kb.documents()} == {"gates.pdf": "2", "whole.txt": ""}
        version = kb.version("gates.pdf", 1)
        assert (version.in_part, version.metadata["losses"]) == ("2", {"picture": "2"})
        events = {event.code: event.values for event in kb.job_log(str(upload.job_id))}
        assert events["in_part"] == {"pages": "2"}
        trace = core.EvoRAG(kb=kb).ask("When does the turquoise gate open?")
        assert {hit.placed.name: hit.placed.in_part for hit in trace.hits} == {"gates.pdf": "2", "whole.txt": ""}
        shown = str(evidence_pane(trace)), str(losses(version))
        assert all("Read in part: page 2" in each for each in shown)
        assert "Page 2 shows a picture" in shown[1]
        warn_degraded(trace)
    assert "gates.pdf was read in part; not as they are: page 2." in capsys.readouterr().err


def test_slides_and_sheets_are_named_as_such_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (400, 300), "navy").save(picture, "PNG")
    deck, book = pptx.Presentation(), openpyxl.Workbook()
    for text in (TEXT, ""):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        slide.shapes.add_textbox(0, 0, Inches(8), Inches(1)).text_frame.text = text
    slide.shapes.add_picture(picture, 0, Inches(2))
    deck.save(str(tmp_path / "gates.pptx"))
    book.active.append(["Turquoise gate", TEXT])
    book.create_sheet("Plan").add_image(SheetImage(picture), "A1")
    book.save(tmp_path / "gates.xlsx")
    with knowledge_base(tmp_path) as kb:
        jobs = [kb.add_path(tmp_path / name).job_id for name in ("gates.pptx", "gates.xlsx")]
        kb.work_off()
        assert {each.name: each.in_part for each in kb.documents()} == {
            "gates.pptx": "slides 2",
            "gates.xlsx": "sheets Plan",
        }
        logged = [{event.code: event.values for event in kb.job_log(str(job))}["in_part"] for job in jobs]
        assert logged == [{"pages": "slides 2"}, {"pages": "sheets Plan"}]
        trace = core.EvoRAG(kb=kb).ask("When does the turquoise gate open?")
        shown = str(evidence_pane(trace))
        assert "Read in part: slide 2" in shown and "Read in part: sheet Plan" in shown
        assert "Slide 2: Pictures without text" in str(losses(kb.version("gates.pptx", 1)))
        warn_degraded(trace)
    told = capsys.readouterr().err
    assert "not as they are: slides 2." in told and "not as they are: sheets Plan." in told


def test_what_is_on_no_page_is_said_without_one(tmp_path: Path) -> None:
    (tmp_path / "gate.txt").write_text("Der Schlüssel für die Tür hängt in der Küche. ".encode().decode("cp1252") * 9)
    with knowledge_base(tmp_path) as kb:
        kb.add_path(tmp_path / "gate.txt")
        kb.work_off()
        assert "Many characters could not be read as letters." in str(losses(kb.version("gate.txt", 1)))
