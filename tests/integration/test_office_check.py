"""Office documents are held against LibreOffice's layout of them, once nothing else is to be done."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from pptx.util import Inches

import core
from core.versions.office_check import MANY, OfficeCheck
from core.versions.pages.kept import KeptPages
from tests import programs
from tests.builders import knowledge_base
from tests.unit.ingest import documents
from tests.unit.ingest.documents import paragraph

pytestmark = programs.needs("soffice")

GATE = "The turquoise gate opens at nine and closes at five on every day but Monday."
PUMP = "Whoever greases hydraulic bearings wears gloves, goggles and an apron made of thick leather because oil sprays."


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path) as opened:
        opened.catalog.office_checks.next((), 0)
        yield opened


@pytest.fixture
def check(kb: core.KnowledgeBase, tmp_path: Path) -> Iterator[OfficeCheck]:
    pages = KeptPages(tmp_path / "pages", kb._blobs, 1 << 30)
    yield OfficeCheck(kb.catalog, kb._blobs, pages, kb._worker.is_idle, threading.Event(), is_on=True)
    pages.close()


def with_part(path: Path, extra: str) -> Path:
    """Write a document with more paragraphs on its second page."""
    body = paragraph(GATE) + f'<w:p><w:r><w:br w:type="page"/></w:r></w:p>{extra}'
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{documents.WORD}"/></Types>'
    )
    return documents.docx(path, body, **{"[Content_Types].xml": types})


def unread(text: str) -> str:
    """Return paragraphs that our reader takes for hidden and LibreOffice shows."""
    return "".join(
        f'<w:p><w:r><w:rPr><w:vanish w:val="1"/><w:vanish w:val="0"/></w:rPr><w:t>{text}</w:t></w:r></w:p>'
        for _ in range(2)
    )


def test_pages_whose_words_did_not_arrive_are_named_everywhere(
    kb: core.KnowledgeBase, check: OfficeCheck, tmp_path: Path
) -> None:
    upload = kb.add_path(with_part(tmp_path / "gate.docx", unread(PUMP)))
    kb.work_off()
    assert kb.version("gate.docx", 1).in_part == "" and PUMP not in kb.text_of("gate.docx")
    check.go_on()
    version = kb.version("gate.docx", 1)
    assert (version.in_part, version.metadata["losses"]) == ("2", {"words": "2"})
    assert [each.in_part for each in kb.documents()] == ["2"]
    assert {event.code: event.values for event in kb.job_log(str(upload.job_id))}["in_part"] == {"pages": "2"}
    trace = core.EvoRAG(kb=kb).ask("When does the turquoise gate open?")
    assert {hit.placed.in_part for hit in trace.hits} == {"2"}


def test_documents_that_arrived_whole_say_nothing(kb: core.KnowledgeBase, check: OfficeCheck, tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Gates", 1)
    document.sections[0].header.paragraphs[0].text = "Handbook of gates"
    table = document.add_table(2, 2)
    for number, cell in enumerate([*table.rows[0].cells, *table.rows[1].cells]):
        cell.text = f"{GATE} {number}"
    for _ in range(40):
        document.add_paragraph(f"{GATE} {PUMP}")
    document.save(str(tmp_path / "whole.docx"))
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(0, 0, Inches(8), Inches(2)).text_frame.text = f"{GATE} {PUMP}"
    slide.notes_slide.notes_text_frame.text = f"{GATE} {PUMP} {GATE} {PUMP} {GATE} {PUMP}"
    deck.save(str(tmp_path / "whole.pptx"))
    book = openpyxl.Workbook()
    for row in range(60):
        book.active.append([GATE, row, PUMP])
    book.save(tmp_path / "whole.xlsx")
    for name in ("whole.docx", "whole.pptx", "whole.xlsx"):
        kb.add_path(tmp_path / name)
    kb.work_off()
    check.go_on()
    assert not check.check_next(), "each version is looked at once"
    assert [kb.version(each.doc_key, 1).metadata.get("losses") for each in kb.documents()] == [None] * 3
    assert (tmp_path / "pages").is_dir()


def test_deleted_words_that_a_layout_strikes_out_are_not_missed(
    kb: core.KnowledgeBase, check: OfficeCheck, tmp_path: Path
) -> None:
    deleted = f'<w:p><w:del w:id="1" w:author="Ada"><w:r><w:delText>{PUMP} {PUMP}</w:delText></w:r></w:del></w:p>'
    kb.add_path(with_part(tmp_path / "gate.docx", deleted))
    kb.work_off()
    check.go_on()
    assert kb.version("gate.docx", 1).in_part == ""


def test_check_waits_for_documents_that_come_in_and_leaves_older_ones_alone(
    tmp_path: Path,
) -> None:
    path = with_part(tmp_path / "gate.docx", unread(PUMP))
    with knowledge_base(tmp_path) as kb:
        kb.add_path(path)
        kb.work_off()
        pages = KeptPages(tmp_path / "pages", kb._blobs, 1 << 30)
        check = OfficeCheck(kb.catalog, kb._blobs, pages, kb._worker.is_idle, threading.Event(), is_on=True)
        check.go_on()
        assert kb.version("gate.docx", 1).in_part == "", "it was there before"
        kb.add_path(shutil.copyfile(path, tmp_path / "other.docx"))
        check.go_on()
        kb.work_off()
        assert kb.version("other.docx", 1).in_part == ""
        check.go_on()
        assert kb.version("other.docx", 1).in_part == "2"
        pages.close()


def test_without_libreoffice_nothing_is_looked_at(
    kb: core.KnowledgeBase, check: OfficeCheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.ingest.parsers.legacy.converter", lambda: None)
    kb.add_path(with_part(tmp_path / "gate.docx", unread(PUMP)))
    kb.work_off()
    check.go_on()
    assert kb.version("gate.docx", 1).in_part == "" and not (tmp_path / "pages").exists()


def test_of_many_documents_a_part_is_looked_at(kb: core.KnowledgeBase, check: OfficeCheck, tmp_path: Path) -> None:
    for number in range(MANY + 6):
        kb.add_path(documents.docx(tmp_path / f"{number}.docx", paragraph(f"{GATE} {number}")))
    kb.work_off()
    laid_out = 0
    for _ in range(6):
        assert check.check_next()
        laid_out = len(list((tmp_path / "pages").glob("*"))) if (tmp_path / "pages").exists() else 0
    assert laid_out < 5


def test_layout_of_what_is_purged_meanwhile_does_not_stay(
    kb: core.KnowledgeBase, check: OfficeCheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.add_path(with_part(tmp_path / "gate.docx", unread(PUMP)))
    kb.work_off()
    held = check._pages.held_against

    def purging(*values: object) -> object:
        found = held(*values)  # type: ignore[arg-type]
        assert list((tmp_path / "pages").rglob("document.pdf"))
        kb.purge("gate.docx")
        return found

    monkeypatch.setattr(check._pages, "held_against", purging)
    assert check.check_next()
    assert not list((tmp_path / "pages").iterdir())
