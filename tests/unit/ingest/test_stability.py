"""From file to chunks: what an edit of a long file leaves as it was, in every format that is cut by length."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from openpyxl import Workbook

from core.ingest.chunk import chunk_text_auto
from tests.unit.ingest.documents import read

pytestmark = pytest.mark.long

Rows = Sequence[tuple[str, ...]]


def table(rows: int) -> list[tuple[str, ...]]:
    chance = random.Random(4)
    goods = ("valve", "ポンプ", "lamp", "軸受", "cable")
    made = [
        (f"N{number}", f"{chance.choice(goods)} {chance.randint(1, 999)}", f"{chance.randint(1, 9_999)} €")
        for number in range(rows)
    ]
    return [("No", "Article", "Price"), *made]


def as_csv(path: Path, rows: Rows) -> Path:
    path = path.with_suffix(".csv")
    path.write_text("\n".join(",".join(row) for row in rows), "utf-8")
    return path


def as_xlsx(path: Path, rows: Rows) -> Path:
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Stock")
    for row in rows:
        sheet.append(row)
    book.save(path.with_suffix(".xlsx"))
    return path.with_suffix(".xlsx")


def as_lines(path: Path, rows: Rows) -> Path:
    path = path.with_suffix(".txt")
    path.write_text("\n".join("\t".join(row) for row in rows), "utf-8")
    return path


def as_one_line(path: Path, rows: Rows) -> Path:
    path = path.with_suffix(".txt")
    path.write_text(" ".join(f"Article {' is '.join(row)}." for row in rows), "utf-8")
    return path


def indexed(path: Path) -> list[str]:
    return [chunk.indexed_text("title") for chunk in chunk_text_auto(read(path)[0])]


@pytest.mark.parametrize("write", [as_csv, as_xlsx, as_lines, as_one_line])
@pytest.mark.parametrize("place", [1, 4_000])
def test_row_inserted_into_a_long_table_changes_few_chunks(
    tmp_path: Path, write: Callable[[Path, Rows], Path], place: int
) -> None:
    rows = table(8_000)
    before = indexed(write(tmp_path / "a", rows))
    after = indexed(write(tmp_path / "b", [*rows[:place], ("N", "new article", "1 €"), *rows[place:]]))
    assert len(before) > 100
    assert len(set(after) - set(before)) <= 6


@pytest.mark.parametrize("write", [as_csv, as_xlsx, as_lines, as_one_line])
def test_hundredth_of_the_rows_removed_in_one_place_changes_few_chunks(
    tmp_path: Path, write: Callable[[Path, Rows], Path]
) -> None:
    rows = table(8_000)
    before = indexed(write(tmp_path / "a", rows))
    after = indexed(write(tmp_path / "b", [*rows[:3_000], *rows[3_080:]]))
    assert len(set(after) - set(before)) <= 6
