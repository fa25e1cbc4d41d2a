"""PDF: tables that no uprights mark, columns that hold tables, and documents whose structure is known."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import pymupdf
import pytest

from benchmarks import layout
from benchmarks.rendered import PROGRAMS, Rendered, rendered
from core.model import BlockKind
from tests import programs
from tests.unit.ingest.documents import read
from tests.unit.ingest.parsers.test_parsers_pdf import SENTENCE, lines_of, made

HEADER = ("Part", "Setting", "Limit")
ROWS = (
    ("Pump", "flow of the cooling water", "12.5"),
    ("Valve", "pressure at the inlet", "4.0"),
    ("Fan", "speed", "900"),
)


def drawn(folder: Path, *pages: tuple[list[tuple[Any, ...]], list[tuple[float, float, float]]]) -> Path:
    """A PDF of pages of lines of text, with level rules ``(left, right, y)``."""
    path = made(folder, *(lines for lines, _ in pages))
    with pymupdf.open(path) as document:
        for page, (_, rules) in zip(document, pages, strict=True):
            for left, right, y in rules:
                page.draw_line((left, y), (right, y))
        document.saveIncr()
    return path


def grid(rows: tuple[tuple[str, ...], ...], xs: tuple[float, ...], top: float, step: float) -> list[tuple[Any, ...]]:
    return [(x, top + step * at, cell) for at, row in enumerate(rows) for x, cell in zip(xs, row, strict=True) if cell]


def tables_of(path: Path) -> list[tuple[str, str]]:
    return [(block.header, block.text) for block in read(path)[0] if block.kind is BlockKind.TABLE]


def test_gaps_part_rows_whose_cells_have_several_lines(tmp_path: Path) -> None:
    lines = [
        *grid((HEADER,), (72, 160, 330), 100, 0),
        *grid((("Pump", "flow of the cooling", "12.5"), ("", "water at full load", "")), (72, 160, 330), 122, 12),
        *grid((("Valve", "pressure at the", "4.0"), ("", "inlet when closed", "")), (72, 160, 330), 156, 12),
        *grid((("Fan", "speed", "900"),), (72, 160, 330), 190, 12),
        *lines_of(SENTENCE * 3, 72, 260, 90),
    ]
    assert tables_of(made(tmp_path, lines)) == [
        (
            "",
            "Part | Setting | Limit\nPump | flow of the cooling water at full load | 12.5\n"
            "Valve | pressure at the inlet when closed | 4.0\nFan | speed | 900",
        )
    ]


def test_rules_between_rows_part_them(tmp_path: Path) -> None:
    lines = [
        *grid((HEADER, *ROWS), (72, 160, 330), 100, 14),
        (160, 156, "in both directions"),
        *lines_of(SENTENCE, 72, 240, 90),
    ]
    rules = [(70, 380, y) for y in (88, 103, 117, 131, 160)]
    (found,) = tables_of(drawn(tmp_path, (lines, rules)))
    assert found[1].splitlines()[1:] == [
        "Pump | flow of the cooling water | 12.5",
        "Valve | pressure at the inlet | 4.0",
        "Fan | speed in both directions | 900",
    ]


def test_a_table_that_goes_on_names_its_columns_once(tmp_path: Path) -> None:
    many = tuple((f"Pump {at}", "flow of water", f"{at}.5") for at in range(1, 13))
    first = [*lines_of(SENTENCE * 6, 72, 90, 90), *grid((HEADER, *many[:6]), (72, 200, 330), 640, 16)]
    second = [*grid((HEADER, *many[6:]), (72, 200, 330), 90, 16), *lines_of(SENTENCE * 6, 72, 300, 90)]
    path = made(tmp_path, first, second)
    found = tables_of(path)
    assert [header for header, _ in found] == ["", "Part | Setting | Limit"]
    assert [line for _, text in found for line in text.splitlines()] == [
        "Part | Setting | Limit",
        *(f"Pump {at} | flow of water | {at}.5" for at in range(1, 13)),
    ]


def test_cells_that_nearly_touch_are_parted_where_others_begin(tmp_path: Path) -> None:
    width = pymupdf.get_text_length("the second warm setting", "helv", 10)
    rows = (("first", "1.5"), ("the second warm setting", "2.5"), ("third", "3.5"), ("fourth", "4.5"))
    lines = [*grid(rows, (72, 72 + width + 5), 100, 18), *lines_of(SENTENCE * 2, 72, 240, 90)]
    assert tables_of(made(tmp_path, lines)) == [
        ("", "first | 1.5\nthe second warm setting | 2.5\nthird | 3.5\nfourth | 4.5")
    ]


def test_stretched_lines_of_running_text_are_no_table(tmp_path: Path) -> None:
    words = (SENTENCE * 4).split()
    lines: list[tuple[Any, ...]] = []
    for at in range(0, len(words) - 9, 9):
        x = 72.0
        for number, word in enumerate(words[at : at + 9]):
            lines.append((x, 100 + 12 * (at // 9), word))
            x += pymupdf.get_text_length(word, "helv", 10) + 4.5 + (at * 7 + number * 3) % 4
    path = made(tmp_path, lines)
    assert tables_of(path) == []
    assert " ".join(words[:9]) in read(path)[0][0].text


def test_terms_and_what_explains_them_side_by_side_are_rows(tmp_path: Path) -> None:
    lines = [
        *grid((("-k", "Keep the file while it is compressed."),), (72, 120), 100, 0),
        *grid(
            (("-s", "Use less memory, for files that are so large"), ("", "that they do not fit otherwise.")),
            (72, 120),
            118,
            12,
        ),
        *grid((("-q", "Say nothing."),), (72, 120), 148, 0),
        *lines_of(SENTENCE * 2, 72, 220, 90),
    ]
    (found,) = tables_of(made(tmp_path, lines))
    assert found[1].splitlines() == [
        "-k | Keep the file while it is compressed.",
        "-s | Use less memory, for files that are so large that they do not fit otherwise.",
        "-q | Say nothing.",
    ]


def test_a_table_over_both_columns_is_read_whole(tmp_path: Path) -> None:
    rows = tuple((f"Pump {at}", f"flow {at}", f"{at}00", f"limit of the pressure {at}") for at in range(1, 8))
    lines = [
        *lines_of("Left. " + SENTENCE * 4, 72, 90, 42),
        *lines_of("Right. " + SENTENCE * 4, 310, 90, 42),
        *grid(rows, (76, 180, 330, 430), 400, 18),
    ]
    rules = [(72, 540, 388 + 18 * at) for at in range(8)]
    blocks, _ = read(drawn(tmp_path, (lines, rules)))
    kinds = [(block.kind, block.text.split(".")[0].split("\n")[0]) for block in blocks]
    assert kinds == [
        (BlockKind.PARAGRAPH, "Left"),
        (BlockKind.PARAGRAPH, "Right"),
        (BlockKind.TABLE, "Pump 1 | flow 1 | 100 | limit of the pressure 1"),
    ]


def test_columns_that_hold_little_but_tables_part_where_other_pages_do(tmp_path: Path) -> None:
    text = [*lines_of("Left. " + SENTENCE * 6, 72, 90, 42), *lines_of("Right. " + SENTENCE * 6, 310, 90, 42)]
    left, right = (tuple((f"{name} {at}", f"{at}.5") for at in range(1, 9)) for name in ("Pump", "Valve"))
    tables = [*grid(left, (72, 200), 90, 16), *grid(right, (310, 440), 98, 16)]
    found = tables_of(made(tmp_path, text, tables, text))
    assert [text.splitlines()[0] for _, text in found] == ["Pump 1 | 1.5", "Valve 1 | 1.5"]


def test_a_heading_below_cells_is_a_heading(tmp_path: Path) -> None:
    lines = [
        *lines_of(SENTENCE * 6, 72, 90, 90),
        *grid((("SIZE_A", "[Constant]"), ("SIZE_B", "[Constant]"), ("SIZE_C", "[Constant]")), (72, 400), 240, 14),
        (72, 282, "7.4", 10, "hebo"),
        (110, 282, "The second interface", 10, "hebo"),
        *lines_of(SENTENCE * 2, 72, 304, 90),
    ]
    blocks, _ = read(made(tmp_path, lines))
    assert [block.text for block in blocks if block.kind is BlockKind.HEADING] == ["7.4 The second interface"]


def test_one_cell_that_pages_repeat_is_no_running_line(tmp_path: Path) -> None:
    pages = [
        [
            *grid((("Filter", *names),), (72, 200, 330), 50, 0),
            *grid(ROWS, (72, 200, 330), 70, 18),
            *lines_of(SENTENCE * 9, 72, 200, 90),
        ]
        for names in (("Mode", "Motor"), ("Level", "Signal"), ("Range", "Order"))
    ]
    assert [text.splitlines()[0] for _, text in tables_of(made(tmp_path, *pages))] == [
        "Filter | Mode | Motor",
        "Filter | Level | Signal",
        "Filter | Range | Order",
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    "writer", [pytest.param(name, marks=programs.needs(program)) for name, program in PROGRAMS.items()]
)
def test_the_structure_of_rendered_documents_is_found(tmp_path: Path, writer: str) -> None:
    found = [_judged(document) for document in rendered(tmp_path, 2, 5, [writer])]
    means = {name: fmean(each[name] for each in found) for name in ("order", "tables", "headings", "false_headings")}
    assert means["order"] >= 0.94 and means["tables"] >= 0.9, means
    assert means["headings"] >= 0.83 and means["false_headings"] <= 0.1, means


def _judged(document: Rendered) -> dict[str, float]:
    blocks, metadata = read(document.path)
    return layout.judged(document, layout.Found(blocks, 0.0, metadata["pages"]))
