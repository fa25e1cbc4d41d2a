"""Pictures of pages are turned straight, and keep the page's sizes, bold letters, blanks and rulings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from PIL import Image, ImageFilter

from core.ingest.parsers import parse
from core.ingest.parsers.pdf_turn import leaned
from core.ingest.parsers.reading import ParserInput, ParserLimits
from core.ingest.recognition.lines import picture_of, read_pictures
from core.ingest.recognition.read_picture import read_picture
from core.ingest.recognition.rulings import rulings
from core.ingest.recognition.straight import skew, straightened
from core.model import BlockKind
from core.model.recognition import RecognisedLine, RecognisedPicture
from core.ports import Pixels
from tests.unit.ingest.pictures_of_text import SIZE

DPI = 200
PROSE = (
    "The pump is inspected once a year, before the summer, by two",
    "people of the workshop. They note the pressure, the state of",
    "all seals and the hours of operation in the book beside it.",
)
ROWS = (("Part", "Mass", "Order"), ("Valve", "1.5", "A-310"), ("Long relay", "22.0", "B-7"), ("Seal", "0.1", "C-12"))
TOP, STEP, EDGES = 400.0, 22.0, (72.0, 170.0, 240.0, 330.0)


class TrueOcr:
    """The port ``Ocr`` of tests: it sees the lines that a page holds as text, in boxes as uneven as an engine's."""

    id = "true"

    def __init__(self, page: pymupdf.Page, joined: Sequence[tuple[str, str]] = ()) -> None:
        self._page = page
        self._joined = joined
        self.seen: list[Pixels] = []

    def lines(self, pixels: Pixels) -> list[RecognisedLine]:
        self.seen.append(pixels)
        found = []
        for block in self._page.get_text("dict")["blocks"]:
            for number, line in enumerate(block["lines"]):
                x0, y0, x1, y1 = line["bbox"]
                text = "".join(span["text"] for span in line["spans"]).strip()
                box = (x0 - 3, y0 - number % 2, x1 + 3, y1 + number % 3)
                found.append((text, (box[0] / SIZE[0], box[1] / SIZE[1], box[2] / SIZE[0], box[3] / SIZE[1])))
        for one, other in self._joined:
            [(_, left)], [(_, right)] = ([each for each in found if each[0] == text] for text in (one, other))
            found = [each for each in found if each[0] not in (one, other)]
            found.append((f"{one} {other}", (left[0], left[1], right[2], right[3])))
        return [RecognisedLine(text, box, 0.9) for text, box in found]


def drawn(page: pymupdf.Page, degrees: float = 0.0, blur: float = 0.0) -> Pixels:
    pixmap = page.get_pixmap(dpi=DPI)
    shown = Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples)
    shown = shown.filter(ImageFilter.GaussianBlur(blur)) if blur else shown
    return np.asarray(shown.rotate(degrees, fillcolor=(255, 255, 255), resample=Image.Resampling.BICUBIC))


def page_of(write: Callable[[pymupdf.Page], None]) -> pymupdf.Page:
    document = pymupdf.open()
    page = document.new_page(width=SIZE[0], height=SIZE[1])
    write(page)
    return page


def manual(page: pymupdf.Page, *, upright: bool = True) -> None:
    """Write a heading that is larger, one that is bold alone, prose, and a table with rulings."""
    page.insert_text((72, 90), "Care of the pump", fontsize=18, fontname="hebo")
    for number, line in enumerate(PROSE):
        page.insert_text((72, 130 + 15 * number), line, fontsize=11)
    page.insert_text((72, 220), "Parts to be ordered", fontsize=11, fontname="hebo")
    for number, line in enumerate(PROSE):
        page.insert_text((72, 245 + 15 * number), line, fontsize=11)
    for row, cells in enumerate(ROWS):
        for column, cell in enumerate(cells):
            page.insert_text((EDGES[column] + 5, TOP + STEP * row + 15), cell, fontsize=11)
    for row in range(len(ROWS) + 1):
        page.draw_line((EDGES[0], TOP + STEP * row), (EDGES[-1], TOP + STEP * row), color=(0.4, 0.4, 0.4), width=0.75)
    for edge in EDGES if upright else ():
        page.draw_line((edge, TOP), (edge, TOP + STEP * len(ROWS)), color=(0.4, 0.4, 0.4), width=0.75)


@pytest.mark.parametrize("degrees", [0.0, 0.6, -1.7, 2.4])
@pytest.mark.parametrize("blur", [0.0, 1.0])
def test_turn_of_a_page_is_found(degrees: float, blur: float) -> None:
    shown = drawn(page_of(manual), degrees, blur)
    assert skew(shown) == pytest.approx(degrees, abs=0.1)
    assert abs(skew(straightened(shown, degrees))) <= 0.15


def test_turn_of_upright_lines_is_found() -> None:
    page = page_of(manual)
    assert skew(np.rot90(drawn(page, 0.6)).copy()) == pytest.approx(0.6, abs=0.1)


@pytest.mark.parametrize("shown", [np.full((900, 700, 3), 255, np.uint8), np.zeros((3, 5, 3), np.uint8)])
def test_empty_picture_has_no_turn_and_no_rulings(shown: Pixels) -> None:
    assert skew(shown) == 0.0 and rulings(shown.mean(axis=2)) == []


def test_noise_has_hardly_any_rulings() -> None:
    chance = np.random.default_rng(5)
    assert len(rulings(chance.integers(0, 255, (1200, 900)).astype(np.float32))) < 60


@pytest.mark.parametrize("degrees", [0.6, -2.0])
def test_place_leans_and_comes_back(degrees: float) -> None:
    box = (0.1, 0.05, 0.4, 0.07)
    there = leaned(box, degrees, 595, 842)
    assert there != box and leaned(there, -degrees, 595, 842) == pytest.approx(box, abs=1e-4)


@pytest.mark.parametrize(("degrees", "blur"), [(0.0, 0.0), (0.6, 1.0), (-1.2, 0.6)])
def test_lines_lie_where_the_picture_shows_them_and_look_as_they_do_there(degrees: float, blur: float) -> None:
    page = page_of(manual)
    engine = TrueOcr(page)
    found = read_picture(drawn(page, degrees, blur), engine)
    assert abs(skew(engine.seen[0])) <= 0.15, "the engine sees a straight picture"
    assert found.skew == pytest.approx(degrees, abs=0.1)
    by_text = {line.text: line for line in found.lines}
    assert {text for text, line in by_text.items() if line.bold} == {"Care of the pump", "Parts to be ordered"}
    size = by_text[PROSE[0]].size
    assert by_text["Care of the pump"].size / size == pytest.approx(18 / 11, rel=0.12)
    assert by_text["Parts to be ordered"].size / size == pytest.approx(1, rel=0.12)
    assert all(by_text[line].size / size == pytest.approx(1, rel=0.05) for line in PROSE)
    x = (72 + pymupdf.get_text_length(PROSE[0], fontsize=11) / 2) / SIZE[0]
    y = leaned((x, 241 / SIZE[1], x, 241 / SIZE[1]), degrees, *SIZE)[1]
    box = by_text[PROSE[0]].box
    assert box[1] < y < box[3], "the place is that in the picture, not in the straight one"
    assert len([line for line in found.rulings if line[2] - line[0] > 0.3]) == len(ROWS) + 1
    assert {round(line[0] * SIZE[0]) for line in found.rulings if line[3] - line[1] > 0.05} <= {
        round(edge) + near for edge in EDGES for near in (-2, -1, 0, 1)
    }


@pytest.mark.parametrize("upright", [True, False])
@pytest.mark.parametrize("degrees", [0.0, 0.6])
def test_page_that_is_a_picture_has_its_headings_and_its_table(tmp_path: Path, degrees: float, upright: bool) -> None:
    page = page_of(lambda page: manual(page, upright=upright))
    shown = drawn(page, degrees, 1.0 if degrees else 0.0)
    path = tmp_path / "a.png"
    Image.fromarray(shown).save(path)
    # Engines take neighbouring cells for one line: where a ruling parts them they are two all the same.
    found = read_picture(shown, TrueOcr(page, [("Long relay", "22.0")] if upright else ()))
    blocks = list(parse(ParserInput(path, "png", ParserLimits(), recognised_pictures={"1": found})))
    headings = [(block.text, block.level) for block in blocks if block.kind is BlockKind.HEADING]
    assert [text for text, _ in headings] == ["Care of the pump", "Parts to be ordered"]
    assert headings[0][1] < headings[1][1]
    [table] = [block for block in blocks if block.kind is BlockKind.TABLE]
    assert table.text.split("\n") == [" | ".join(row) for row in ROWS]
    paragraphs = [block.text for block in blocks if block.kind is BlockKind.PARAGRAPH]
    assert paragraphs == [" ".join(PROSE)] * 2


def test_wide_blank_stands_where_the_picture_has_it() -> None:
    def write(page: pymupdf.Page) -> None:
        page.insert_text((72, 100), "Long relay of 22", fontsize=11)
        page.insert_text((240, 100), "310", fontsize=11)
        for number, line in enumerate(PROSE):
            page.insert_text((72, 130 + 15 * number), line, fontsize=11)

    page = page_of(write)
    found = read_picture(drawn(page), TrueOcr(page, [("Long relay of 22", "310")]))
    [line] = [line for line in found.lines if line.gaps]
    [(at, left, right)] = line.gaps
    assert line.text[:at] == "Long relay of 22" and line.text[at:].strip() == "310"
    assert left * SIZE[0] == pytest.approx(72 + pymupdf.get_text_length("Long relay of 22", fontsize=11), abs=3)
    assert right * SIZE[0] == pytest.approx(240, abs=3)


def test_what_an_earlier_release_kept_of_a_picture_is_read(tmp_path: Path) -> None:
    old = '{"name": "1", "lines": [{"text": "A", "box": [0.1, 0.2, 0.3, 0.4], "confidence": 0.9}]}\n'
    (tmp_path / "kept.jsonl").write_text(old + '{"name": "2", "lines": null}\n')
    line = RecognisedLine("A", (0.1, 0.2, 0.3, 0.4), 0.9)
    assert read_pictures(tmp_path / "kept.jsonl") == {"1": RecognisedPicture((line,)), "2": None}


def test_picture_keeps_all_its_fields() -> None:
    from dataclasses import asdict

    line = RecognisedLine("A b", (0.1, 0.2, 0.3, 0.4), 0.9, 0.01, True, ((1, 0.15, 0.2),))
    picture = RecognisedPicture((line,), ((0.1, 0.1, 0.5, 0.1),), 0.6)
    assert picture_of(asdict(picture)) == picture
