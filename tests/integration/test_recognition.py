"""Scans and image files: their characters are recognised page by page, after everything else, and once each."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from PIL import Image

import core
from app.components.shared.passage import locator_text
from core.adapters.ocr import ocr_engine
from core.adapters.ocr.rapid import RapidOcr, _written
from core.adapters.ocr.tesseract import Tesseract
from core.errors import EmptyDocument, RecognitionMissing
from core.ingest.recognition.kept_pictures import Recognition
from core.ingest.recognition.lines import read_pictures
from core.ingest.recognition.pictures import pixels_of
from core.model import JobState, Locator
from core.model.recognition import RecognisedLine, RecognisedPicture
from core.ports import Ocr
from tests import programs
from tests.builders import knowledge_base
from tests.unit.ingest.documents import read
from tests.unit.ingest.pictures_of_text import nameless, picture_of, scanned

TEXT = "The turquoise gate opens at nine and closes at five on every day but Monday."
OTHER = "Whoever finds it closed rings the bell of the porter, who lives at number 4711."
TOLD = "tests.unit.ingest.pictures_of_text:ToldOcr"


def words(text: str) -> set[str]:
    return set(text.replace("\n", " ").split())


@pytest.mark.parametrize("turn", [0, 90])
def test_scan_is_read_as_if_it_held_its_text(tmp_path: Path, turn: int) -> None:
    path = scanned(tmp_path / "gate.pdf", [TEXT, OTHER, TEXT.upper()], plain=(2,), turn=turn)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        upload = kb.add_path(path)
        kb.work_off()
        job = kb.job(str(upload.job_id))
        assert job.state is JobState.DONE, job.error
        assert job.resources["peak_pictures"] == 2
        events = {event.code: event.values for event in kb.job_log(job.id)}
        assert events["recognising"] == {"count": 2} and "in_part" not in events
        version = kb.version("gate.pdf", 1)
        assert version.in_part == ""
        trace = core.EvoRAG(kb=kb).ask("When does the turquoise gate open?")
        by_page = {hit.placed.chunk.locator.page: hit.placed.chunk for hit in trace.hits}
        if turn == 0:
            assert words(TEXT) <= words(" ".join(chunk.text for chunk in by_page.values()))
        sure = by_page[1].locator.confidence
        assert sure is not None and 0.8 < sure <= 1
        assert "recognised from a picture" in locator_text(by_page[1].locator)
        assert not list((tmp_path / "data" / "recognised").glob("*"))


def test_image_files_become_documents(tmp_path: Path) -> None:
    for name, form in (("a.png", "PNG"), ("b.jpg", "JPEG"), ("c.webp", "WEBP")):
        Image.open(io.BytesIO(picture_of(TEXT))).convert("RGB").save(tmp_path / name, form)
    pages = [Image.open(io.BytesIO(picture_of(text))).convert("RGB") for text in (TEXT, OTHER)]
    pages[0].save(tmp_path / "d.tif", save_all=True, append_images=pages[1:])
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        for name in ("a.png", "b.jpg", "c.webp", "d.tif"):
            kb.add_path(tmp_path / name)
        kb.work_off()
        for name in ("a.png", "b.jpg", "c.webp", "d.tif"):
            assert words(TEXT) <= words(kb.text_of(name, 1)), name
        assert words(OTHER) <= words(kb.text_of("d.tif", 1))


def test_where_nothing_is_recognised_a_scan_is_read_in_part_and_an_image_refused(tmp_path: Path) -> None:
    path = scanned(tmp_path / "gate.pdf", [TEXT, OTHER], plain=(2,))
    (tmp_path / "a.png").write_bytes(picture_of(TEXT))
    with knowledge_base(tmp_path, ocr="off") as kb:
        kb.add_path(path)
        upload = kb.add_path(tmp_path / "a.png")
        kb.work_off()
        assert kb.version("gate.pdf", 1).in_part == "1"
        error = kb.job(str(upload.job_id)).error
        assert error is not None and error["code"] == "ocr_missing"
    with pytest.raises(RecognitionMissing):
        read(tmp_path / "a.png")


def test_pictures_are_recognised_once_even_if_the_process_ends_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    path = scanned(tmp_path / "gate.pdf", [TEXT, OTHER, TEXT])
    recognised: list[str] = []
    original = Recognition.recognise

    def recognise(self: Recognition, sha256: str, source: Path, extension: str, name: str) -> None:
        if len(recognised) == 2:
            raise KeyboardInterrupt
        recognised.append(name)
        original(self, sha256, source, extension, name)

    monkeypatch.setattr(Recognition, "recognise", recognise)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        upload = kb.add_path(path)
        with pytest.raises(KeyboardInterrupt):
            kb.work_off()
        [file] = (tmp_path / "data" / "recognised").iterdir()
        assert set(read_pictures(file)) == {"1", "2"}
    # What a crash leaves of the line that it was writing is nothing.
    file.write_text(file.read_text() + '{"name": "3", "li')
    monkeypatch.setattr(Recognition, "recognise", original)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.work_off()
        job = kb.job(str(upload.job_id))
        assert job.state is JobState.DONE
        assert {event.values.get("count") for event in kb.job_log(job.id) if event.code == "recognising"} == {3, 1}
        assert kb.text_of("gate.pdf", 1).count("A picture of") == 3
    assert recognised == ["1", "2"]


def test_cancelled_scan_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    path = scanned(tmp_path / "gate.pdf", [TEXT, OTHER, TEXT])
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        upload = kb.add_path(path)
        original = Recognition.recognise

        def recognise(self: Recognition, *picture: str) -> None:
            original(self, *picture)  # type: ignore[arg-type]
            kb.cancel(str(upload.job_id))

        monkeypatch.setattr(Recognition, "recognise", recognise)
        kb.work_off()
        assert kb.job(str(upload.job_id)).state is JobState.CANCELLED
        assert not list((tmp_path / "data" / "recognised").glob("*"))


def test_picture_that_cannot_be_read_is_said_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    import pymupdf

    with pymupdf.open() as document:
        for shade in (0, 200):
            picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 200, 300))
            picture.clear_with(shade)
            page = document.new_page(width=200, height=300)
            page.insert_image(page.rect, pixmap=picture)
        document.save(tmp_path / "two.pdf")
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(tmp_path / "two.pdf")
        kb.work_off()
        version = kb.version("two.pdf", 1)
        assert (version.in_part, version.metadata["losses"]) == ("1", {"picture": "1"})
        assert "pixels" in kb.text_of("two.pdf", 1)


def test_kept_lines_of_what_nobody_reads_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "recognised"
    folder.mkdir(parents=True)
    (folder / f"{'0' * 64}.jsonl").write_text("{}\n")
    with knowledge_base(tmp_path) as kb:
        kb.add_text("a", TEXT)
        kb.work_off()
    assert not list(folder.iterdir())


@pytest.mark.parametrize("engine", [RapidOcr, pytest.param(Tesseract, marks=programs.needs("tesseract"))])
def test_every_engine_finds_lines_with_their_places(engine: type[Ocr], tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture_of(f"{TEXT}\n\n{OTHER}", dpi=200))
    lines = engine(2).lines(pixels_of(tmp_path / "a.png", "png", "1"))  # type: ignore[call-arg]
    assert words(TEXT) | words(OTHER) <= words(" ".join(line.text for line in lines))
    for line in lines:
        left, top, right, bottom = line.box
        assert 0.1 < left < right < 0.92 and 0.08 < top < bottom < 0.2 and line.confidence > 0.7


def test_lines_are_read_upright_where_that_says_more_and_else_upside_down(tmp_path: Path) -> None:
    code = "sed -e 's/\\(1[a-z]*\\)[0-9]*\\(.*\\)$/=&=/' file"
    (tmp_path / "a.png").write_bytes(picture_of(f"{TEXT}\n\n{code}", dpi=200))
    pixels = pixels_of(tmp_path / "a.png", "png", "1")[:600]
    engine = RapidOcr(2)
    for shown in (pixels, pixels[::-1, ::-1].copy()):
        text = " ".join(line.text for line in engine.lines(shown))
        assert words(TEXT) <= words(text) and "[a-z]*" in text and "=&=/'" in text


@pytest.mark.parametrize(
    ("line", "written"), [("print ′a′", "print 'a'"), ("5′ by 6 ′", "5′ by 6 ′"), ("echo ′5′", "echo '5'"), ("a", "a")]
)
def test_primes_are_apostrophes_but_behind_numbers(line: str, written: str) -> None:
    assert _written(line) == written


def test_engine_is_the_one_that_is_wanted_or_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ocr_engine("off") == ""
    assert ocr_engine("auto") == ocr_engine("rapidocr") == "core.adapters.ocr.rapid:RapidOcr"
    monkeypatch.setattr("core.adapters.ocr.find_spec", lambda _: None)
    monkeypatch.setattr("core.adapters.ocr.tesseract", lambda: None)
    assert ocr_engine("auto") == ""
    monkeypatch.setattr("core.adapters.ocr.tesseract", lambda: "somewhere")
    assert ocr_engine("auto") == "core.adapters.ocr.tesseract:Tesseract"


def test_noise_is_no_text(tmp_path: Path) -> None:
    from core.ingest.parsers import parse
    from core.ingest.parsers.reading import ParserInput, ParserLimits

    (tmp_path / "a.png").write_bytes(picture_of(TEXT))
    noise = {"1": RecognisedPicture((RecognisedLine("~~ |", (0.1, 0.1, 0.2, 0.2), 0.3),))}
    with pytest.raises(EmptyDocument):
        list(parse(ParserInput(tmp_path / "a.png", "png", ParserLimits(), recognised_pictures=noise)))


def test_place_without_recognition_says_nothing_of_it() -> None:
    assert "recognised" not in locator_text(Locator(page=3))


@pytest.mark.parametrize("reader", ["MuPdfDocument", "PdfiumDocument"])
def test_scan_with_a_stamp_is_still_a_scan(tmp_path: Path, reader: str) -> None:
    from core.ingest.parsers.pdf_mupdf import MuPdfDocument
    from core.ingest.parsers.pdf_pdfium import PdfiumDocument

    kind = {"MuPdfDocument": MuPdfDocument, "PdfiumDocument": PdfiumDocument}[reader]
    stamped = kind(scanned(tmp_path / "a.pdf", [TEXT, TEXT], plain=(2,), stamp="Scanned by a program"))
    assert [page.has_picture for page in map(stamped.page, range(2)) if page is not None] == [True, False]
    stamped.close()


def test_stamp_of_a_scan_does_not_hide_its_text(tmp_path: Path) -> None:
    path = scanned(tmp_path / "gate.pdf", [TEXT, OTHER], stamp="Scanned by a program")
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(path)
        kb.work_off()
        assert words(TEXT) | words(OTHER) <= words(kb.text_of("gate.pdf", 1))


def test_pages_whose_signs_have_no_meaning_are_said_and_recognised(tmp_path: Path) -> None:
    path = nameless(tmp_path / "gate.pdf", [TEXT, OTHER], legible=(1,))
    metadata = read(path)[1]
    assert (metadata["losses"], metadata["in_part"]) == ({"signs": "2"}, "2")
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(path)
        kb.work_off()
        version = kb.version("gate.pdf", 1)
        assert version.in_part == "" and "losses" not in version.metadata
        assert words(TEXT) | words(OTHER) <= words(kb.text_of("gate.pdf", 1))
        sure = {placed.chunk.locator.confidence for placed in kb.preview("gate.pdf", 1).chunks}
        assert sure != {None}


def test_engine_is_ended_when_no_page_waits(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(scanned(tmp_path / "gate.pdf", [TEXT, OTHER]))
        kb.work_off()
        children = kb._worker._pipeline.pictures.recognition._children  # type: ignore[attr-defined]
        assert children._idle == [] and not children.at_work


def test_end_of_the_process_ends_no_job_whose_page_is_being_recognised(tmp_path: Path) -> None:
    path = scanned(tmp_path / "gate.pdf", [TEXT, OTHER])
    with knowledge_base(tmp_path, ocr="rapidocr", job_workers=1) as kb:
        upload = kb.add_path(path)
        pool = kb._worker._pipeline.pictures.recognition._children  # type: ignore[attr-defined]
        end = time.monotonic() + 60
        while not pool.at_work and time.monotonic() < end:
            time.sleep(0.01)
        assert pool.at_work
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        assert kb.job(str(upload.job_id)).state is JobState.QUEUED
        kb.work_off()
        assert kb.job(str(upload.job_id)).state is JobState.DONE
        assert words(TEXT) | words(OTHER) <= words(kb.text_of("gate.pdf", 1))


def test_priority_holds_for_every_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    order: list[str] = []
    original = Recognition.recognise

    def recognise(self: Recognition, sha256: str, source: Path, extension: str, name: str) -> None:
        order.append(sha256)
        if len(order) == 1:
            kb.prioritise(str(second.job_id), 5)
        original(self, sha256, source, extension, name)

    monkeypatch.setattr(Recognition, "recognise", recognise)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(scanned(tmp_path / "first.pdf", [TEXT] * 3))
        second = kb.add_path(scanned(tmp_path / "second.pdf", [OTHER] * 3))
        kb.work_off()
    assert order[1:4] == [order[1]] * 3 and order[4:] == [order[0]] * 2


def test_purging_while_a_page_is_recognised_leaves_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    original = Recognition.recognise
    turns: list[str] = []

    def recognise(self: Recognition, sha256: str, source: Path, extension: str, name: str) -> None:
        turns.append(name)
        if len(turns) == 2:
            kb.purge("gate.pdf")
        original(self, sha256, source, extension, name)

    monkeypatch.setattr(Recognition, "recognise", recognise)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(scanned(tmp_path / "gate.pdf", [TEXT] * 3))
        kb.work_off()
        assert not list((tmp_path / "data" / "recognised").glob("*"))
        assert kb.version("gate.pdf", 1).state == "purged"
    assert turns == ["1", "2"]


def test_scan_without_any_text_fails_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    monkeypatch.setattr(RecognisedLine, "__init__", _unsure)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        upload = kb.add_path(scanned(tmp_path / "gate.pdf", [TEXT, TEXT]))
        kb.work_off()
        error = kb.job(str(upload.job_id)).error
        assert error is not None and error["code"] == "empty_document"
        assert not list((tmp_path / "data" / "recognised").glob("*"))


def _unsure(
    line: RecognisedLine, text: str, box: tuple[float, float, float, float], confidence: float, *looks: object
) -> None:
    """Make a line that is noise, whatever the engine says."""
    size, bold, gaps = looks or (0.0, False, ())
    fields = {"text": text, "box": box, "confidence": min(confidence, 0.1), "size": size, "bold": bold, "gaps": gaps}
    for name, value in fields.items():
        object.__setattr__(line, name, value)
