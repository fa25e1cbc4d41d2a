"""Pages as they look: pictures, the places of their text, marked passages, and what a purge leaves of them: nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from PIL import Image

import core
from benchmarks.damage import cut, deleted, emptied, flipped
from core.blobs.block_file import read_blocks, write_blocks, write_places
from core.errors import InvalidInput, NotFound, Purged
from core.ingest.parsers import legacy
from core.model import Block, Locator, PageArea, PageSize
from core.model.recognition import RecognisedLine
from core.sample import documents
from core.versions.pages.recognised_text import RecognisedText
from tests.builders import knowledge_base
from tests.unit.ingest.pictures_of_text import picture_of, scanned

FIRST = "The pump was moved to the upper hall in spring and has been quieter there ever since."
SECOND = "弁 箱根工場のポンプは静かである。"


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path_factory.mktemp("kb")) as kb:
        yield kb


def made(path: Path, *, turned: int = 0) -> Path:
    document = pymupdf.open()
    page = document.new_page(width=400, height=300)
    if turned:
        # Drawn sideways, and shown upright by the turn of its page.
        page.insert_textbox((40, 40, 200, 260), FIRST, fontsize=12, rotate=turned)
        page.set_rotation(turned)
    else:
        page.insert_textbox((40, 40, 240, 260), FIRST, fontsize=12)
        page.insert_text((40, 220), "Nothing else is here.", fontsize=12)
    document.new_page(width=400, height=300).insert_text((40, 60), SECOND, fontsize=12, fontname="japan")
    document.save(path)
    return path


def added(kb: core.KnowledgeBase, path: Path) -> str:
    key = kb.add_path(path).doc_key
    kb.work_off()
    return key


def is_ink(picture: Path, area: PageArea) -> bool:
    """Whether something dark stands in an area of a page."""
    with Image.open(picture) as image:
        width, height = image.size
        box = (area.left * width, area.top * height, area.right * width, area.bottom * height)
        return image.convert("L").crop(tuple(map(round, box))).getextrema()[0] < 100


@pytest.mark.parametrize("turned", [0, 90, 270])
def test_words_stand_where_the_picture_shows_them(kb: core.KnowledgeBase, tmp_path: Path, turned: int) -> None:
    key = added(kb, made(tmp_path / f"turned{turned}.pdf", turned=turned))
    size = PageSize(300, 400) if turned else PageSize(400, 300)
    assert kb.pages(key, 1) == [size, PageSize(400, 300)]
    picture, text = kb.page_image(key, 1, 1, width=700), kb.page_text(key, 1, 1)
    with Image.open(picture) as image:
        assert image.format == "WEBP" and image.size == (800, round(800 * size.height / size.width))
    assert " ".join(run.text for run in text.runs[:5]) == "The pump was moved to"
    assert all(is_ink(picture, run.area) for run in text.runs)
    assert not is_ink(picture, PageArea(0.0, 0.0, 0.06, 0.06))
    assert text.marks == ()


def test_passage_is_marked_over_lines_and_on_its_page_alone(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    key = added(kb, made(tmp_path / "marked.pdf"))
    whole = kb.text_of(key, 1)
    start = whole.index("upper hall")
    end = whole.index("quieter") + len("quieter")
    text = kb.page_text(key, 1, 1, start=start, end=end)
    wanted = ("upper", "hall", "in", "spring", "and", "has", "been", "quieter")
    lines = {run.area.top for run in text.runs if run.text in wanted}
    assert 1 < len(lines) == len(text.marks)
    first = next(run.area for run in text.runs if run.text == "upper")
    assert text.marks[0].left == first.left and text.marks[0].top == first.top
    last = next(run.area for run in text.runs if run.text == "quieter")
    assert text.marks[-1].right == pytest.approx(last.right, abs=0.001)
    assert kb.page_text(key, 1, 2, start=start, end=end).marks == ()


def test_part_of_a_japanese_line_is_marked(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    key = added(kb, made(tmp_path / "japanese.pdf"))
    start = kb.text_of(key, 1).index("ポンプ")
    text = kb.page_text(key, 1, 2, start=start, end=start + 3)
    [mark] = text.marks
    [run] = [run for run in text.runs if "ポンプ" in run.text]
    at, whole = run.text.index("ポンプ"), len(run.text)
    width = run.area.right - run.area.left
    assert mark.left == pytest.approx(run.area.left + width * at / whole, abs=0.002)
    assert mark.right == pytest.approx(run.area.left + width * (at + 3) / whole, abs=0.002)


def test_text_is_found_whatever_its_blanks_and_case(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    key = added(kb, made(tmp_path / "found.pdf"))
    assert kb.find_on_pages(key, 1, "UPPER  hall") == [1]
    assert kb.find_on_pages(key, 1, "箱根工場") == [2]
    assert kb.find_on_pages(key, 1, "absent") == kb.find_on_pages(key, 1, " -") == []


def test_picture_is_a_page(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    source = tmp_path / "red.png"
    Image.new("RGB", (900, 300), "red").save(source)
    # Nothing is written on it, so that there is nothing to index: it is drawn all the same.
    key = kb.add_path(source).doc_key
    assert kb.pages(key, 1) == [PageSize(900, 300)]
    with Image.open(kb.page_image(key, 1, 1, width=100)) as image:
        assert image.size[0] == 160
        red, green, _ = image.convert("RGB").getpixel((5, 5))
        assert red > 200 > green
    assert kb.page_text(key, 1, 1).runs == ()


@pytest.mark.skipif(legacy.converter() is None, reason="LibreOffice is not installed")
def test_office_file_is_laid_out(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    handbook = next(sample.path for sample in documents() if sample.path.suffix == ".docx")
    key = added(kb, Path(shutil.copy(handbook, tmp_path / "laid-out.docx")))
    assert kb.has_pages(key, 1)
    sizes = kb.pages(key, 1)
    assert len(sizes) >= 1 and sizes[0].height > sizes[0].width
    words = " ".join(run.text for run in kb.page_text(key, 1, 1).runs)
    assert kb.text_of(key, 1).split()[0] in words


def test_what_has_no_pages_says_so(kb: core.KnowledgeBase) -> None:
    key = kb.add_text("Note", "A note on trains.").doc_key
    assert not kb.has_pages(key, 1)
    with pytest.raises(NotFound, match="no pages"):
        kb.pages(key, 1)


def test_page_that_is_not_there_is_not_found(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    key = added(kb, made(tmp_path / "few.pdf"))
    for page in (0, 3):
        with pytest.raises(NotFound):
            kb.page_image(key, 1, page)
    for width in (0, 2401):
        with pytest.raises(InvalidInput):
            kb.page_image(key, 1, 1, width=width)


def test_purge_removes_all_that_was_made(kb: core.KnowledgeBase, tmp_path: Path) -> None:
    key = added(kb, made(tmp_path / "purged.pdf"))
    picture = kb.page_image(key, 1, 1)
    kb.page_text(key, 1, 1)
    assert picture.is_file()
    kb.purge(key)
    assert not picture.parent.exists()
    with pytest.raises(Purged):
        kb.page_image(key, 1, 1)


@pytest.mark.parametrize("damage", [deleted, cut, emptied, flipped])
def test_page_that_is_damaged_on_the_disk_is_made_anew(
    kb: core.KnowledgeBase, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    key = added(kb, made(tmp_path / f"{damage.__name__}.pdf"))
    picture, text = kb.page_image(key, 1, 1), kb.page_text(key, 1, 1)
    drawn = picture.read_bytes()
    files = [path for path in picture.parent.iterdir() if path.suffix != ".sum"]
    assert len(files) == 3 and all(path.with_name(f"{path.name}.sum").is_file() for path in files)
    for path in (*files, *(path.with_name(f"{path.name}.sum") for path in files)):
        damage(path)
        assert kb.page_image(key, 1, 1).read_bytes() == drawn
        assert kb.page_text(key, 1, 1) == text
        assert len(kb.pages(key, 1)) == 2


def test_pages_looked_at_least_recently_go_first(tmp_path: Path) -> None:
    with knowledge_base(tmp_path / "kb", page_cache_bytes=1) as kb:
        keys = [added(kb, made(tmp_path / f"{name}.pdf")) for name in "ab"]
        first, second = (kb.page_image(key, 1, 1) for key in keys)
        assert second.is_file() and not first.exists()
        assert kb.page_image(keys[0], 1, 1).is_file()


SCANNED_JA = "給湯室の点検は毎月第二火曜日に設備課が行う。結果は点検簿に記入し、翌週までに総務課へ回す。"


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.KnowledgeBase]:
    with knowledge_base(tmp_path_factory.mktemp("scans"), ocr="rapidocr") as kb:
        yield kb


def dark(picture: Path, mark: PageArea) -> float:
    """Return the share of an area that is ink."""
    with Image.open(picture) as image:
        width, height = image.size
        box = (mark.left * width, mark.top * height, mark.right * width, mark.bottom * height)
        return float((np.asarray(image.convert("L").crop(tuple(map(round, box)))) < 140).mean())


@pytest.mark.parametrize(
    ("text", "font", "cited"),
    [(f"{FIRST} Nobody hears it.", "helv", "Nobody hears it."), (SCANNED_JA, "japan", "翌週までに総務課へ回す")],
)
def test_passage_of_a_scan_is_marked_on_its_picture(
    scans: core.KnowledgeBase, tmp_path: Path, text: str, font: str, cited: str
) -> None:
    key = added(scans, scanned(tmp_path / f"scan-{font}.pdf", [text, FIRST.upper()], font=font))
    assert scans.version(key, 1).metadata["recognised"] == "1–2"
    start = scans.text_of(key, 1).index(cited)
    page = scans.page_text(key, 1, 1, start=start, end=start + len(cited))
    picture = scans.page_image(key, 1, 1, width=1600)
    assert "".join(run.text for run in page.runs).startswith(text.split()[0][:8])
    assert page.marks and all(0.02 < dark(picture, mark) < 0.7 for mark in page.marks)
    marked = sum((mark.right - mark.left) * (mark.bottom - mark.top) for mark in page.marks)
    whole = sum((run.area.right - run.area.left) * (run.area.bottom - run.area.top) for run in page.runs)
    assert 0.5 < (marked / whole) / (len(cited) / len(text)) < 1.6
    assert scans.page_text(key, 1, 2, start=start, end=start + len(cited)).marks == ()
    assert scans.find_on_pages(key, 1, cited) == [1]


def test_passage_of_an_image_file_is_marked(scans: core.KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "note.png").write_bytes(picture_of(FIRST))
    key = added(scans, tmp_path / "note.png")
    start = scans.text_of(key, 1).index("upper hall")
    [mark] = scans.page_text(key, 1, 1, start=start, end=start + len("upper hall")).marks
    assert 0.02 < dark(scans.page_image(key, 1, 1), mark) < 0.7
    assert scans.find_on_pages(key, 1, "upper hall") == [1]


def test_scan_that_was_read_before_places_were_kept_has_no_marks(tmp_path: Path) -> None:
    with (tmp_path / "parsed").open("wb") as file:
        write_blocks([Block(FIRST, locator=Locator(page=1, confidence=0.9))], file, 10_000)
    text = RecognisedText(tmp_path / "parsed")
    assert list(text.runs(1)) == []


def test_lines_are_read_in_the_order_of_their_text(tmp_path: Path) -> None:
    """Engines go from top to bottom over both columns; the text goes down one and then the other."""
    columns = ["The first column tells of", "valves", "and of pumps."], ["The second one tells of", "gates."]
    placed = {1: [RecognisedLine(columns[side][row], (side / 2, row / 9, side / 2 + 0.4, (row + 1) / 9), 0.9)
                  for row in range(3) for side in range(2) if row < len(columns[side])]}  # fmt: skip
    blocks = [Block(" ".join(column), locator=Locator(page=1, confidence=0.9)) for column in columns]
    with (tmp_path / "parsed").open("wb") as file:
        write_blocks(blocks, file, 10_000)
        write_places(placed, file)
    assert list(read_blocks(tmp_path / "parsed")) == blocks
    runs = RecognisedText(tmp_path / "parsed").runs(1)
    assert " ".join(run.text for run in runs) == " ".join(block.text for block in blocks)
