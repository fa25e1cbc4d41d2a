"""A document that was read in part says so wherever it is shown: list, version, passages, job and page."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

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
