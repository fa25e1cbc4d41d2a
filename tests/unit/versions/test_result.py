"""A kept comparison gives back the rows that were computed, whichever of them are asked for."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given

from core.blobs.block_file import read_blocks
from core.errors import InvalidInput, NotFound
from core.model import Block, BlockKind, Change, Locator
from core.versions.diff.difference import diff
from tests.unit.versions.compared import comparison, paragraphs
from tests.unit.versions.texts import PAIRS, Blocks, no_deadline


@pytest.mark.long
@no_deadline
@given(PAIRS)
def test_kept_rows_are_the_rows_of_the_difference(pair: tuple[Blocks, Blocks]) -> None:
    old, new = pair
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        kept = comparison(place, old, new)

        # Half a surrogate pair does not get into a block file.
        rows = diff(read_blocks(place / "old"), read_blocks(place / "new")).rows
        assert kept.rows(0, kept.count) == list(rows)


def test_rows_keep_the_places_of_their_lines(tmp_path: Path) -> None:
    place = Locator(page=3, page_end=4, sheet="Prices", cells="A1:B9", heading_path=("One", "Two"))
    moved = Locator(page=5, heading_path=("One",))
    old = [Block("Same words in both texts", BlockKind.PARAGRAPH, place)]
    new = [Block("Same words in both texts", BlockKind.PARAGRAPH, moved)]

    (row,) = comparison(tmp_path, old, new).rows(0, 9)

    assert row.change is Change.EQUAL
    assert row.old is not None and row.old.locator == place
    assert row.new is not None and row.new.locator == moved


def test_the_text_of_equal_rows_is_kept_once(tmp_path: Path) -> None:
    same = paragraphs(*(f"Paragraph number {number} is the same." for number in range(500)))

    kept = comparison(tmp_path, [*same, Block("An old end.")], [*same, Block("A wholly different finish here.")])

    assert (tmp_path / kept.id / "old.txt").stat().st_size < 100


def test_what_is_open_stays_readable_when_its_files_are_gone(tmp_path: Path) -> None:
    kept = comparison(tmp_path, paragraphs("one thing"), paragraphs("another thing"))
    view = kept.view()

    shutil.rmtree(tmp_path / kept.id)

    assert view.lines(0, 9)[0].change == "changed"
    assert kept.find("another") == [0]


def test_two_empty_texts_are_equal_and_have_no_rows(tmp_path: Path) -> None:
    kept = comparison(tmp_path, [], [])

    assert kept.summary.is_equal and kept.count == 0
    assert kept.view().lines(0, 10) == [] and kept.find("x") == [] and kept.tables() == []
    assert kept.view().position_of(0) is None


def test_find_is_literal_and_looks_on_both_sides_whatever_the_case(tmp_path: Path) -> None:
    old = paragraphs("Alpha (beta) costs 10 yen.", "The same line.", "Straße und ÜBER")
    new = paragraphs("Alpha [beta] costs 12 yen.", "The same line.", "Gone is the 料金 of old")
    kept = comparison(tmp_path, old, new)

    assert kept.find("(BETA)") == [0] and kept.find("[beta]") == [0]
    assert kept.find("same LINE") == [1]
    assert kept.find("über") == [2] and kept.find("料金")
    assert kept.find(".*") == [] and kept.find("") == [] and kept.find("line.\nGone") == []
    assert kept.find("e", limit=1) == [0]


def test_find_tells_rows_apart_behind_signs_of_many_bytes(tmp_path: Path) -> None:
    lines = [f"第{number}条 𠮷野家の料金は{number}円です" for number in range(200)]
    kept = comparison(tmp_path, paragraphs(*lines), paragraphs(*lines))

    assert kept.find("は77円") == [77]
    assert len(kept.find("𠮷野家")) == 200


def test_rows_know_their_headings_and_chapters(tmp_path: Path) -> None:
    old = paragraphs("# One", "first text", "# Two", "second text", "# Three", "third text")
    new = paragraphs("# One", "first text", "# Two", "second words", "# Three", "third text")
    kept = comparison(tmp_path, old, new)

    assert kept.path_of(3) == ("Two",)
    assert kept.chapter_of(3) == 0 and kept.chapter_of(1) is None
    with pytest.raises(NotFound):
        kept.path_of(6)


def test_a_view_refuses_what_there_is_not(tmp_path: Path) -> None:
    kept = comparison(tmp_path, paragraphs("a"), paragraphs("b"))

    for wrong in ({"mode": "diagonal"}, {"chapter": 7}, {"only": ["coloured"]}):
        with pytest.raises(InvalidInput):
            kept.view(**wrong)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        kept.image("old", 1)
    with pytest.raises(NotFound):
        kept.image("../old", 1)
