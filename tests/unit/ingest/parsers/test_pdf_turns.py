"""PDF pages that are turned, and text that runs upwards, downwards, upside down, aslant or in columns."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import docx
import pymupdf
import pytest
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from core.ingest.parsers.pdf_turn import returned, straightened, turn_of, turned
from core.model import Block, BlockKind
from tests import programs
from tests.unit.ingest.documents import read, texts
from tests.unit.ingest.parsers.test_parsers_pdf import REFERENCE, SENTENCE, lines_of, made

Read = Callable[[Path], list[Block]]
QUARTERS = (90, 180, 270)


@pytest.fixture(params=["pymupdf", "pypdfium2"])
def parsed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Read]:
    """Reads a PDF with each of the libraries."""
    if request.param == "pypdfium2":
        monkeypatch.setitem(sys.modules, "pymupdf", None)
        monkeypatch.delitem(sys.modules, "core.ingest.parsers.pdf_mupdf", raising=False)

    def parse(path: Path) -> list[Block]:
        blocks, metadata = read(path)
        assert metadata["parser"] == request.param
        return blocks

    yield parse


def words(blocks: list[Block]) -> list[str]:
    return " ".join(texts(blocks)).split()


def set_sideways(source: Path, turn: int, rotated: bool) -> Path:
    """A copy whose text is turned, by ``/Rotate`` too so that it still reads upright where ``rotated`` says so."""
    pages, copy = pymupdf.open(source), pymupdf.open()
    for page in pages:
        size = (page.rect.height, page.rect.width) if turn % 180 else (page.rect.width, page.rect.height)
        new = copy.new_page(width=size[0], height=size[1])
        new.show_pdf_page(new.rect, pages, page.number, rotate=turn)
        if rotated:
            new.set_rotation(turn)
    path = source.with_name(f"{source.stem}-{turn}-{rotated}.pdf")
    copy.save(path, garbage=3, deflate=True)
    return path


def rotated(source: Path, turn: int) -> Path:
    """A copy whose pages only ``/Rotate`` turns."""
    document = pymupdf.open(source)
    for page in document:
        page.set_rotation(turn)
    path = source.with_name(f"{source.stem}-rotate-{turn}.pdf")
    document.save(path)
    return path


def report(folder: Path) -> Path:
    """Pages with headings, paragraphs, a list, a table without rules, running lines and two columns."""
    pages = []
    for number in range(4):
        table = [
            (72 + 60 * column, 330 + 16 * row, text)
            for row, line in enumerate([("Item", "Count", "Price"), ("Tea", "12", "340"), ("Coffee", "7", "560")])
            for column, text in enumerate(line)
        ]
        left = lines_of("Left begins. " + SENTENCE * 5 + "Left ends.", 60, 440, 44)
        right = lines_of("Right begins. " + SENTENCE * 5 + "Right ends.", 320, 440, 44)
        pages.append(
            [
                (72, 40, "ACME handbook"),
                (72, 105, f"{number + 1} Part", 18),
                *lines_of(f"Text {number}. " + SENTENCE * 3, 72, 140, 90),
                (72, 240, "- one item that is"),
                (82, 254, "set in two lines"),
                (72, 268, "- another"),
                *table,
                *(line for pair in zip(left, right, strict=True) for line in pair),
                (280, 810, f"- {number + 1} -"),
            ]
        )
    return made(folder, *pages)


@pytest.mark.parametrize("turn", QUARTERS)
def test_turned_pages_give_the_blocks_of_the_page_that_is_not(tmp_path: Path, parsed: Read, turn: int) -> None:
    source = report(tmp_path)
    expected = parsed(set_sideways(source, 0, False))
    assert words(expected).count("Left") == 8 and words(expected).count("ACME") == 1
    assert sum(block.kind is BlockKind.HEADING for block in expected) == 4
    for path in (rotated(source, turn), set_sideways(source, turn, False), set_sideways(source, turn, True)):
        assert parsed(path) == expected, path.name


@pytest.mark.long
@programs.needs(*(f"/usr/share/debian-reference/debian-reference.{language}.pdf" for language in ("en", "ja")))
@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_real_manual_reads_the_same_whatever_its_turn(tmp_path: Path, parsed: Read, language: str) -> None:
    document = pymupdf.open(REFERENCE / f"debian-reference.{language}.pdf")
    document.select(range(70, 78))
    document.set_toc([])
    document.save(tmp_path / "a.pdf", garbage=3)
    expected = words(parsed(set_sideways(tmp_path / "a.pdf", 0, False)))
    assert len(expected) > 500
    for turn in QUARTERS:
        assert words(parsed(set_sideways(tmp_path / "a.pdf", turn, False))) == expected
        assert words(parsed(set_sideways(tmp_path / "a.pdf", turn, True))) == expected
    expected = words(parsed(tmp_path / "a.pdf"))
    assert all(words(parsed(rotated(tmp_path / "a.pdf", turn))) == expected for turn in QUARTERS)


def test_a_cropped_page_is_measured_within_its_crop(tmp_path: Path, parsed: Read) -> None:
    source = report(tmp_path)
    expected = words(parsed(source))
    document = pymupdf.open(source)
    for page in document:
        document.xref_set_key(page.xref, "MediaBox", "[-300 -200 895 1042]")
        document.xref_set_key(page.xref, "CropBox", "[0 0 595 842]")
        page.set_rotation(90)
    document.save(tmp_path / "cropped.pdf")
    assert words(parsed(tmp_path / "cropped.pdf")) == expected


def test_text_of_every_direction_on_one_page_is_kept(tmp_path: Path, parsed: Read) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for x, y, text, *_ in lines_of("Body begins. " + SENTENCE * 3 + "Body ends.", 120, 120, 60):
        page.insert_text((x, y), text, fontsize=10)
    page.insert_text((40, 600), "arXiv stamp running upwards", fontsize=20, rotate=90)
    page.insert_text((560, 200), "label running downwards", fontsize=10, rotate=270)
    page.insert_text((500, 700), "printed upside down", fontsize=10, rotate=180)
    for angle, text in ((45, "climbs aslant"), (-50, "falls aslant")):
        spot = pymupdf.Point(150, 500)
        page.insert_text(spot, text, fontsize=12, morph=(spot, pymupdf.Matrix(angle)))
    document.save(tmp_path / "a.pdf")
    blocks = parsed(tmp_path / "a.pdf")
    found = texts(blocks)
    for text in (
        "arXiv stamp running upwards",
        "label running downwards",
        "printed upside down",
        "climbs aslant",
        "falls aslant",
    ):
        assert text in found, text
    assert ("Body begins. " + SENTENCE * 3 + "Body ends.") in found
    assert {block.kind for block in blocks} == {BlockKind.PARAGRAPH}


def test_a_note_at_the_side_does_not_part_a_sentence_that_goes_on_over_the_page(tmp_path: Path, parsed: Read) -> None:
    first = [*lines_of(SENTENCE * 2, 72, 120, 90), (72, 700, "The new cooling system of the second building will be")]
    path = made(tmp_path, first, [(72, 80, "installed in March."), *lines_of("Next. " + SENTENCE, 72, 110, 90)])
    document = pymupdf.open(path)
    document[0].insert_text((30, 600), "a note at the side", fontsize=9, rotate=90)
    document.save(tmp_path / "b.pdf")
    found = texts(parsed(tmp_path / "b.pdf"))
    assert "a note at the side" in found
    assert "The new cooling system of the second building will be installed in March." in found


def test_a_watermark_on_all_pages_is_said_once_and_slanted_text_on_one_is_kept(tmp_path: Path, parsed: Read) -> None:
    document = pymupdf.open(
        made(tmp_path, *[lines_of(f"Page text {n}. " + SENTENCE * 3, 72, 120, 90) for n in range(5)])
    )
    spot = pymupdf.Point(150, 600)
    for page in document:
        page.insert_text(spot, "CONFIDENTIAL", fontsize=48, morph=(spot, pymupdf.Matrix(45)))
    document[2].insert_text((200, 700), "only here", fontsize=10, morph=(pymupdf.Point(200, 700), pymupdf.Matrix(45)))
    document.save(tmp_path / "b.pdf")
    joined = " ".join(words(parsed(tmp_path / "b.pdf")))
    assert joined.count("CONFIDENTIAL") == 1 and "only here" in joined
    assert all(f"Page text {number}." in joined for number in range(5))


def test_the_running_header_above_a_sideways_table_is_none_of_it(tmp_path: Path, parsed: Read) -> None:
    document = pymupdf.open()
    for number in range(6):
        page = document.new_page()
        page.insert_text((72, 40), "ACME handbook", fontsize=10)
        page.insert_text((290, 810), str(number + 1), fontsize=10)
        if number == 3:
            for row in range(12):
                page.insert_text((100 + 20 * row, 700), f"Sideways row {row}: " + SENTENCE[:80], rotate=90)
        else:
            for x, y, text, *_ in lines_of(f"Page text {number}. " + SENTENCE * 3, 72, 120, 90):
                page.insert_text((x, y), text, fontsize=10)
    document.save(tmp_path / "a.pdf")
    found = words(parsed(tmp_path / "a.pdf"))
    assert found[-2:] == ["ACME", "handbook"] and found.count("ACME") == 1 and "4" not in found
    assert found.count("Sideways") == 12


CELLS = (
    ("North", "1,200", "1,350"),
    ("South", "980", "1,010"),
    ("East and centre", "2,200", "2,350"),
    ("West", "1,980", "1,990"),
)


def ruled(page: Any, turn: int = 0) -> None:
    """A table whose header cells run upwards; the whole of it turned where ``turn`` is not 0."""

    def at(x: float, y: float) -> tuple[float, float]:
        return (x, y) if not turn else (y, 842 - x)

    for y in (100, 180, 200, 220, 240, 260):
        page.draw_line(at(72, y), at(372, y))
    for x in (72, 172, 272, 372):
        page.draw_line(at(x, 100), at(x, 260))
    for column, lines in enumerate((("Region",), ("Sales of", "the first year"), ("Sales of", "the second"))):
        for number, text in enumerate(lines):
            page.insert_text(at(90 + 100 * column + 14 * number, 176), text, fontsize=9, rotate=(90 + turn) % 360)
    for row, cells in enumerate(CELLS):
        for column, text in enumerate(cells):
            page.insert_text(at(76 + 100 * column, 194 + 20 * row), text, fontsize=10, rotate=turn)


@pytest.mark.parametrize("turn", [0, 90])
def test_header_cells_that_run_upwards_stay_in_their_table(tmp_path: Path, turn: int) -> None:
    document = pymupdf.open()
    page = document.new_page()
    ruled(page, turn)
    for x, y, text, *_ in lines_of(SENTENCE * 8, 300 if turn else 72, 500, 60 if not turn else 30):
        page.insert_text((x, y), text, fontsize=10)
    document.save(tmp_path / "a.pdf")
    tables = [block.text for block in read(tmp_path / "a.pdf")[0] if block.kind is BlockKind.TABLE]
    header = "Region | Sales of the first year | Sales of the second"
    assert tables == ["\n".join([header, *map(" | ".join, CELLS)])]


def vertical(path: Path, turn: int = 0) -> Path:
    """Three columns of vertical writing, a number set upright in the last, and a running title from left to right."""
    document = pymupdf.open()
    page = document.new_page()
    columns = ["吾輩は猫である。名前はまだ", "無い。どこで生れたかとんと", "見当がつかぬ。"]
    content = "0 1 -1 0 842 0 cm BT " if turn else "BT "
    for number, column in enumerate(columns):
        content += f"/F1 14 Tf 1 0 0 1 {500 - 30 * number} 780 Tm <{column.encode('utf-16-be').hex()}> Tj "
    for y, column in ((780, "令和"), (738, "年の報告書である。")):
        content += f"/F1 14 Tf 1 0 0 1 410 {y} Tm <{column.encode('utf-16-be').hex()}> Tj "
    content += "/F2 12 Tf 1 0 0 1 403 728 Tm (12) Tj /F2 9 Tf 1 0 0 1 72 800 Tm (A running title) Tj ET"
    font, below, latin, stream = (document.get_new_xref() for _ in range(4))
    document.update_object(
        below,
        "<</Type/Font/Subtype/CIDFontType0/BaseFont/Ryumin-Light/CIDSystemInfo"
        "<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>/FontDescriptor<</Type/FontDescriptor/FontName/Ryumin-Light"
        "/Flags 6/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80>>>>",
    )
    document.update_object(
        font, f"<</Type/Font/Subtype/Type0/BaseFont/Ryumin-Light/Encoding/UniJIS-UCS2-V/DescendantFonts[{below} 0 R]>>"
    )
    document.update_object(latin, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    document.update_object(stream, "<<>>")
    document.update_stream(stream, content.encode())
    document.xref_set_key(page.xref, "Contents", f"{stream} 0 R")
    document.xref_set_key(page.xref, "Resources", f"<</Font<</F1 {font} 0 R/F2 {latin} 0 R>>>>")
    if turn:
        page.set_mediabox(pymupdf.Rect(0, 0, 842, 595))
        page.set_rotation(turn)
    document.save(path)
    return path


@pytest.mark.parametrize("turn", [0, 90])
def test_vertical_writing_keeps_its_numbers_and_what_runs_from_left_to_right(tmp_path: Path, turn: int) -> None:
    found = texts(read(vertical(tmp_path / "a.pdf", turn))[0])
    assert sorted(found) == [
        "A running title",
        "令和12年の報告書である。",
        "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
    ]


@pytest.mark.long
@programs.needs("soffice")
def test_vertical_writing_of_letters_set_one_by_one(tmp_path: Path, parsed: Read) -> None:
    text = (
        "吾輩は猫である。名前はまだ無い。令和12年の報告書、ABC社の「資料」である。"
        "何でも薄暗いじめじめした所でニャーニャー泣いていた事だけは記憶している。"
    )
    document = docx.Document()
    for paragraph in (text, "どこで生れたかとんと見当がつかぬ。"):
        document.add_paragraph(paragraph)
    direction = OxmlElement("w:textDirection")
    direction.set(qn("w:val"), "tbRl")
    document.sections[0]._sectPr.append(direction)
    document.save(str(tmp_path / "a.docx"))
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = ["soffice", "--headless", profile, "--convert-to", "pdf", "--outdir", str(tmp_path)]
    subprocess.run([*command, str(tmp_path / "a.docx")], check=True, capture_output=True, timeout=120)
    assert "".join(words(parsed(tmp_path / "a.pdf"))) == text + "どこで生れたかとんと見当がつかぬ。"


@pytest.mark.parametrize(
    ("direction", "turn"),
    [((1, 0), 0), ((0, 1), 90), ((-1, 0), 180), ((0, -1), 270), ((0.99, -0.1), 0), ((1, 1), 45), ((1, -1), 315)],
)
def test_the_turn_of_a_direction(direction: tuple[float, float], turn: int) -> None:
    assert turn_of(*direction) == turn


@pytest.mark.parametrize("turn", [0, 90, 180, 270, 45, 300])
def test_a_place_that_is_turned_and_returned_is_the_same(turn: int) -> None:
    box, page = (100.0, 200.0, 160.0, 212.0), (595.0, 842.0)
    back = returned(turned(box, turn, page), turn, page)
    middle = [(a + b) / 2 for a, b in ((back[0], back[2]), (back[1], back[3]))]
    assert middle == pytest.approx([130, 206])
    if turn % 90 == 0:
        assert back == box


def test_the_width_of_slanted_text_follows_from_the_box_around_it() -> None:
    c = math.cos(math.radians(30))
    around = (0.0, 0.0, 100 * c + 10 * 0.5, 100 * 0.5 + 10 * c)
    box = straightened(around, 30, 10)
    assert (box[2] - box[0], box[3] - box[1]) == pytest.approx((100, 10))
