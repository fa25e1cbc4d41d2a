"""Every type of file that is listed can be uploaded, and what it says is found by its words."""

from __future__ import annotations

import io
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from PIL import Image

import core
from core.ingest.parsers.legacy import convert
from core.model import JobState
from core.model.file_types import EXTENSIONS, KIND_OF, READ_AS
from tests import programs
from tests.builders import knowledge_base
from tests.unit.ingest.compound import outlook
from tests.unit.ingest.pictured_documents import BEFORE, OWN
from tests.unit.ingest.pictures_of_text import picture_of

SAID = "Whoever opens the turquoise valve of the boiler wears gloves."
OF_LIBREOFFICE = {
    "doc": "docx", "odt": "docx", "rtf": "docx", "xls": "xlsx", "ods": "xlsx", "ppt": "pptx", "odp": "pptx",
    "docm": "docx", "ott": "docx", "xlsm": "xlsx", "ots": "xlsx", "ppsx": "pptx", "pps": "pptx", "otp": "pptx",
}  # fmt: skip
"""Types that LibreOffice writes, and what of."""
FORMATS = {"png": "PNG", "jpg": "JPEG", "jpeg": "JPEG", "tif": "TIFF", "tiff": "TIFF", "webp": "WEBP"}
BOOKS = ("pdf", "epub", "eml")


def office(path: Path) -> Path:
    """Write a file of Office that says one sentence."""
    if path.suffix == ".docx":
        document = docx.Document()
        document.add_paragraph(SAID)
        document.save(str(path))
    elif path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        book.active.append(["No. 7", SAID])
        book.save(path)
    else:
        deck = pptx.Presentation()
        deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_textbox(0, 0, 6_000_000, 900_000).text_frame.text = SAID
        deck.save(str(path))
    return path


def written(path: Path) -> str:
    """Write a file of the type that its name says; return a sentence that it holds."""
    kind = path.suffix[1:]
    if kind in OF_LIBREOFFICE:
        source = office(path.with_suffix(f".{OF_LIBREOFFICE[kind]}"))
        folder = path.with_suffix(".folder")
        folder.mkdir()
        convert(source, OF_LIBREOFFICE[kind], kind, folder, 120).replace(path)
    elif (form := READ_AS.get(kind, kind)) in ("docx", "xlsx", "pptx"):
        office(path.with_name(f"{path.stem}-made.{form}")).replace(path)
    elif kind in FORMATS:
        Image.open(io.BytesIO(picture_of(SAID))).convert("RGB").save(path, FORMATS[kind])
    elif kind in BOOKS:
        OWN[kind](path, *([picture_of("")] if kind == "pdf" else []))
        return BEFORE
    elif kind == "msg":
        outlook(path, {"0037": "Boiler", "1000": SAID}, {})
    elif kind == "json":
        path.write_text(f'{{"rule": "{SAID}"}}')
    elif kind == "xml":
        path.write_text(f"<rules><rule>{SAID}</rule></rules>")
    elif kind in ("html", "htm", "xhtml", "gdoc"):
        path.write_text(f"<html><body><p>{SAID}</p></body></html>")
    else:
        path.write_text(f"{SAID}\n")
    return SAID


def check(kb: core.KnowledgeBase, path: Path, said: str) -> None:
    upload = kb.add_path(path)
    kb.work_off()
    job = kb.job(str(upload.job_id))
    assert job.state is JobState.DONE, job.error
    kind = path.suffix[1:]
    filters = core.Filters(doc_keys=(path.name,), extensions=(kind,))
    found = core.EvoRAG(kb=kb).search(core.Query(said, filters=filters)).candidates
    hit = next(hit for hit in found if hit.keyword is not None and hit.keyword.rank == 1)
    words = set(hit.placed.chunk.text.replace("|", " ").replace('"', " ").split())
    assert len(set(said.split()) - words) <= 1, hit.placed.chunk.text
    version = kb.versions(hit.placed.doc_key)[0]
    assert version.extension == READ_AS.get(kind, kind)


WRITTEN_HERE = [each for each in EXTENSIONS if each not in OF_LIBREOFFICE and each not in FORMATS]


def test_every_type_that_needs_no_program_is_uploaded_and_found(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        for kind in WRITTEN_HERE:
            path = tmp_path / f"rules-{kind}.{kind}"
            check(kb, path, written(path))
        assert {each.name.rpartition(".")[2] for each in kb.documents()} == set(WRITTEN_HERE)


@programs.needs("soffice")
def test_every_type_that_libreoffice_writes_is_uploaded_and_found(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        for kind in OF_LIBREOFFICE:
            path = tmp_path / f"rules-{kind}.{kind}"
            check(kb, path, written(path))


@pytest.mark.parametrize("kind", [each for each in EXTENSIONS if KIND_OF[each] == "image"])
def test_every_type_of_image_is_uploaded_and_found(tmp_path: Path, kind: str) -> None:
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        path = tmp_path / f"rules.{kind}"
        check(kb, path, written(path))
