"""Pictures within documents: their words are recognised after everything else, once each, and stand where they do."""

from __future__ import annotations

from pathlib import Path

import pytest

import core
from app.components.shared.passage import locator_text
from core.ingest.parse_and_chunk import FEW_PICTURES
from core.ingest.recognition.kept_pictures import Recognition
from core.model import JobState, PlacedChunk
from tests import programs
from tests.builders import knowledge_base
from tests.unit.ingest.pictured_documents import (
    AFTER,
    BEFORE,
    BY_LIBREOFFICE,
    ENGLISH,
    JAPANESE,
    OWN,
    page,
    pdf,
    photograph,
    screenshot,
    shrunk,
    word,
)
from tests.waiting import until

TOLD = "tests.unit.ingest.pictures_of_text:ToldOcr"
KINDS = [*OWN, *(pytest.param(kind, marks=programs.needs("soffice")) for kind in BY_LIBREOFFICE)]


def signs(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def recognised(kb: core.KnowledgeBase, key: str) -> list[PlacedChunk]:
    chunks = kb.preview(key, 1, 0, 500).chunks
    return [placed for placed in chunks if placed.chunk.locator.confidence is not None]


@pytest.mark.parametrize("kind", KINDS)
def test_words_of_pictures_are_found_and_marked_as_such(kind: str, tmp_path: Path) -> None:
    make = {**OWN, **BY_LIBREOFFICE}[kind]
    path = make(tmp_path / f"boilers.{kind}", screenshot(ENGLISH), photograph(), screenshot(JAPANESE))
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        upload = kb.add_path(path)
        kb.work_off()
        job = kb.job(str(upload.job_id))
        assert job.state is JobState.DONE, job.error
        found = recognised(kb, path.name)
        said = signs("".join(placed.chunk.text for placed in found))
        assert signs(ENGLISH) in said and said.count("第二ボイラー") == 1
        assert "recognised from a picture" in locator_text(found[0].chunk.locator)
        own = signs(kb.text_of(path.name, 1))
        assert signs(BEFORE) in own or kind in ("pptx", "odp", "ppt")
        if kind in ("docx", "odt", "doc", "html", "epub"):
            assert own.index(signs(BEFORE)) < own.index(signs(ENGLISH)) < own.index(signs(AFTER))
            assert found[0].chunk.locator.heading_path == ("Boiler room",)
        if kind in ("pptx", "odp", "ppt"):
            assert [placed.chunk.locator.slide for placed in found] == [1, 3]
        if kind == "pdf":
            assert [placed.chunk.locator.page for placed in found] == [1, 3]
            assert own.index(signs(BEFORE)) < own.index(signs(ENGLISH)) < own.index("2Before")
        if kind in ("xlsx", "ods"):
            assert {placed.chunk.locator.sheet for placed in found} == {"Boilers"}
        trace = core.EvoRAG(kb=kb).ask("When is the amber valve closed by hand?")
        assert trace.hits[0].placed.chunk.locator.confidence is not None
        assert "in_part" not in kb.version(path.name, 1).metadata
        assert not list((tmp_path / "data" / "recognised").glob("*"))


def test_picture_that_stands_on_every_page_is_read_once_and_small_ones_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    logo, other = screenshot("The mark of the works"), screenshot(ENGLISH)
    small = shrunk(logo, 100, 90)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        for path in (pdf(tmp_path / "a.pdf", *[logo] * 5, other), word(tmp_path / "a.docx", logo, small, logo, other)):
            upload = kb.add_path(path)
            kb.work_off()
            assert kb.job(str(upload.job_id)).resources["peak_pictures"] == 2
            assert kb.text_of(path.name, 1).count("A picture of") == 2


def test_page_whose_picture_holds_its_text_already_is_not_read_again(tmp_path: Path) -> None:
    """Scanners write what they recognised behind the picture of the page."""
    import pymupdf

    with pymupdf.open() as document:
        made = document.new_page(width=595, height=842)
        made.insert_image(made.rect, stream=screenshot(ENGLISH, 1200, 1700))
        made.insert_textbox((40, 40, 555, 400), f"{ENGLISH} {BEFORE}", fontsize=11, render_mode=3)
        document.save(tmp_path / "a.pdf")
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        upload = kb.add_path(tmp_path / "a.pdf")
        kb.work_off()
        assert "peak_pictures" not in kb.job(str(upload.job_id)).resources
        assert recognised(kb, "a.pdf") == []


def test_words_of_a_picture_on_a_page_are_marked_on_it(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(pdf(tmp_path / "a.pdf", screenshot(ENGLISH)))
        kb.work_off()
        text = kb.text_of("a.pdf", 1)
        start = text.index("second boiler")
        [mark] = kb.page_text("a.pdf", 1, 1, start=start, end=start + len("second boiler")).marks
        assert 72 / 595 < mark.left < mark.right < 472 / 595
        assert 240 / 842 < mark.top < mark.bottom < 360 / 842


def test_without_recognition_pictures_within_are_passed_over(tmp_path: Path) -> None:
    with knowledge_base(tmp_path, ocr="off") as kb:
        kb.add_path(word(tmp_path / "a.docx", screenshot(ENGLISH)))
        kb.work_off()
        version = kb.version("a.docx", 1)
        assert "pictures_left" not in version.metadata and version.in_part == ""
        assert recognised(kb, "a.docx") == []


def test_document_of_pictures_alone_waits_for_them(tmp_path: Path) -> None:
    import docx

    document = docx.Document()
    document.add_picture(str(_file(tmp_path / "a.png", screenshot(ENGLISH))))
    document.save(str(tmp_path / "a.docx"))
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(tmp_path / "a.docx")
        kb.work_off()
        assert signs(ENGLISH) in signs(kb.text_of("a.docx", 1))


def _file(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_picture_that_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(page(tmp_path / "a.html", screenshot(ENGLISH)[:4000], screenshot(JAPANESE)))
        kb.work_off()
        version = kb.version("a.html", 1)
        assert (version.in_part, version.metadata["losses"]) == ("*", {"embedded": ""})
        assert kb.text_of("a.html", 1).count("A picture of") == 1


def test_recognition_goes_on_where_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    done: list[str] = []
    original = Recognition.recognise

    def recognise(self: Recognition, sha256: str, source: Path, extension: str, name: str) -> None:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(name)
        original(self, sha256, source, extension, name)

    monkeypatch.setattr(Recognition, "recognise", recognise)
    path = word(tmp_path / "a.docx", *[screenshot(f"{number}. {ENGLISH}") for number in range(3)])
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        upload = kb.add_path(path)
        with pytest.raises(KeyboardInterrupt):
            kb.work_off()
    monkeypatch.setattr(Recognition, "recognise", original)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.work_off()
        job = kb.job(str(upload.job_id))
        assert {event.values.get("count") for event in kb.job_log(job.id) if event.code == "recognising"} == {3, 1}
        assert kb.text_of("a.docx", 1).count("A picture of") == 3


def test_purging_while_pictures_wait_leaves_none_of_their_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    original = Recognition.recognise
    waiting: list[int] = []

    def recognise(self: Recognition, sha256: str, source: Path, extension: str, name: str) -> None:
        waiting.append(len(list(self.folder_of(sha256).iterdir())))
        original(self, sha256, source, extension, name)
        kb.purge("a.docx")

    monkeypatch.setattr(Recognition, "recognise", recognise)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(word(tmp_path / "a.docx", screenshot(ENGLISH), screenshot(JAPANESE)))
        kb.work_off()
        assert kb.version("a.docx", 1).state == "purged"
    assert waiting == [2]
    assert not list((tmp_path / "data" / "recognised").iterdir())


MANY = FEW_PICTURES + 2


def many(folder: Path, name: str = "a.docx") -> Path:
    return word(folder / name, *[screenshot(f"{number}. {ENGLISH}") for number in range(MANY)])


def publications(kb: core.KnowledgeBase, key: str) -> list[str]:
    return [entry.action for entry in reversed(kb.publications(key))]


def test_many_pictures_come_in_a_reading_under_the_same_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(many(tmp_path))
        kb._worker.work_off()
        version = kb.version("a.docx", 1)
        assert version.is_published and version.metadata["pictures_left"] == MANY
        assert "A picture of" not in kb.text_of("a.docx", 1)
        first, whole = kb.preview("a.docx", 1), kb.sequence()
        assert kb.readings.report().outdated == 0
        kb.work_off()
        version = kb.version("a.docx", 1)
        assert (version.number, version.reading, version.is_published) == (1, 2, True)
        assert "pictures_left" not in version.metadata
        assert kb.text_of("a.docx", 1).count("A picture of") == MANY
        assert publications(kb, "a.docx") == ["publish", "reread"]
        assert kb.preview("a.docx", 1, reading=1) == first
        trace = core.EvoRAG(kb=kb).search(core.Query("picture pixels", as_of=whole))
        assert not any("pixels" in hit.placed.chunk.text for hit in trace.hits)
        assert all(check.faults == 0 for check in kb.check())
        assert not list((tmp_path / "data" / "recognised").glob("*"))
        kb.work_off()
        assert len(kb.jobs()) == 2, "nothing is read once more"


def test_reading_with_pictures_that_a_person_takes_back_stays_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(many(tmp_path))
        kb.work_off()
        assert kb.readings.undo() == 1
        kb.work_off()
        assert kb.version("a.docx", 1).reading == 1
        assert publications(kb, "a.docx") == ["publish", "reread", "reread"]


def test_draft_gets_its_pictures_once_it_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(many(tmp_path), draft=True)
        kb.work_off()
        assert "A picture of" not in kb.text_of("a.docx", 1)
        kb.publish("a.docx", 1)
        kb.work_off()
        assert kb.text_of("a.docx", 1).count("A picture of") == MANY


def test_new_version_that_comes_meanwhile_is_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(many(tmp_path))
        kb._worker.work_off()
        assert kb._schedule.bring()
        kb.add_path(word(tmp_path / "a.docx", photograph()))
        kb.work_off()
        assert kb.document("a.docx").published_version == 2
        assert publications(kb, "a.docx") == ["publish", "publish"]
        assert kb.text_of("a.docx", 1).count("A picture of") == MANY


def test_documents_that_come_together_show_their_words_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        for name in ("a.docx", "b.docx"):
            kb.add_path(word(tmp_path / name, screenshot(ENGLISH + name), screenshot(JAPANESE + name)))
        kb._worker.work_off()
        assert all(kb.version(name, 1).metadata["pictures_left"] == 2 for name in ("a.docx", "b.docx"))
        assert core.EvoRAG(kb=kb).ask("Who may enter the room with the boilers?").hits
        kb.work_off()
        assert all(kb.text_of(name, 1).count("A picture of") == 2 for name in ("a.docx", "b.docx"))


def test_threads_bring_the_pictures_by_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    with knowledge_base(tmp_path, ocr="rapidocr", job_workers=1) as kb:
        kb.add_path(many(tmp_path))
        until(lambda: kb.version("a.docx", 1).reading == 2)
        assert kb.text_of("a.docx", 1).count("A picture of") == MANY


def test_pictures_that_take_too_long_together_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    monkeypatch.setattr("core.ingest.recognition.queue.MOST_SECONDS", 0.0)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(word(tmp_path / "a.docx", screenshot(ENGLISH), screenshot(JAPANESE)))
        kb.work_off()
        version = kb.version("a.docx", 1)
        assert version.metadata["losses"] == {"embedded": ""}
        assert kb.text_of("a.docx", 1).count("A picture of") == 1


def test_picture_that_another_job_on_the_same_bytes_has_removed_is_brought_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.bootstrap.ocr_engine", lambda _: TOLD)
    original = Recognition.recognise

    def recognise(self: Recognition, sha256: str, source: Path, extension: str, name: str) -> None:
        original(self, sha256, source, extension, name)
        monkeypatch.setattr(Recognition, "recognise", original)
        self.forget(sha256)

    monkeypatch.setattr(Recognition, "recognise", recognise)
    with knowledge_base(tmp_path, ocr="rapidocr") as kb:
        kb.add_path(word(tmp_path / "a.docx", screenshot(ENGLISH), screenshot(JAPANESE)))
        kb.work_off()
        version = kb.version("a.docx", 1)
        assert "losses" not in version.metadata
        assert kb.text_of("a.docx", 1).count("A picture of") == 2
