"""Columns that came into a table or left it count once, and hide no other change of its rows."""

from __future__ import annotations

from pathlib import Path

from core.model import Block, BlockKind, Tally
from core.versions.result import ComparisonResult
from tests.unit.versions.compared import comparison, paragraphs

_HEAD = ("Item", "Price", "Stock")


def rows_of(count: int) -> list[list[str]]:
    return [list(_HEAD), *([f"Thing {number}", str(number * 10 + 3), f"shelf {number}"] for number in range(count))]


def sheet(rows: list[list[str]]) -> list[Block]:
    return [Block("\n".join(" | ".join(row) for row in rows), BlockKind.TABLE, header=" | ".join(rows[0]))]


def with_column(rows: list[list[str]], at: int = 1) -> list[list[str]]:
    return [[*row[:at], "Colour" if not number else f"tone {number}", *row[at:]] for number, row in enumerate(rows)]


def stops(kept: ComparisonResult) -> list[int]:
    view = kept.view()
    return [view.row_at(position) for position in view.changes]


def test_a_column_that_was_put_in_is_one_change_of_the_table(tmp_path: Path) -> None:
    kept = comparison(tmp_path, sheet(rows_of(300)), sheet(with_column(rows_of(300))))

    tally = kept.summary.tally
    assert (tally.changed, tally.cells_changed, tally.columns_added, tally.columns_removed) == (0, 0, 1, 0)
    assert stops(kept) == [] and not any(cell.changed for cell in kept.summary.strip)
    assert not kept.summary.is_equal
    (ref,) = kept.tables()
    assert ref.changed == 0 and ref.columns_changed


def test_a_column_that_was_taken_out_is_one_change_of_the_table(tmp_path: Path) -> None:
    kept = comparison(tmp_path, sheet(with_column(rows_of(30))), sheet(rows_of(30)))

    tally = kept.summary.tally
    assert (tally.changed, tally.columns_added, tally.columns_removed) == (0, 0, 1)


def test_the_first_row_with_the_column_stays_in_sight_and_shows_it(tmp_path: Path) -> None:
    kept = comparison(tmp_path, sheet(rows_of(30)), sheet(with_column(rows_of(30))))

    view = kept.view()
    first = view.lines(0, 1)[0]
    assert (first.row, first.change, first.columns_only) == (0, "changed", True)
    assert ("added", "Colour") in first.new
    assert view.lines(view.total - 1, view.total)[0].fold == 27
    assert view.lines(view.total - 1, view.total)[0].fold_changed == 0


def test_rows_that_differ_otherwise_stay_changes_and_can_be_reached(tmp_path: Path) -> None:
    old, new = rows_of(60), with_column(rows_of(60))
    new[20][2] = "99999"
    new.insert(45, ["Quite another thing", "green", "7", "shelf of its own"])
    kept = comparison(tmp_path, sheet(old), sheet(new))

    tally = kept.summary.tally
    assert (tally.changed, tally.added, tally.cells_changed, tally.columns_added) == (1, 1, 1, 1)
    assert stops(kept) == [20, 45]
    (ref,) = kept.tables()
    assert ref.changed == 2
    grid = kept.table(0)
    assert [row.row for row in grid.rows if row.change != "equal"] == [20, 45]
    assert grid.rows[5].cells[1].change.value == "added"


def test_a_cell_that_only_few_rows_have_is_no_column(tmp_path: Path) -> None:
    old, new = rows_of(20), rows_of(20)
    new[3].append("sold out")
    new[9].append("new")
    kept = comparison(tmp_path, sheet(old), sheet(new))

    assert kept.summary.tally.columns_added == 0
    assert kept.summary.tally.changed == 2 and stops(kept) == [3, 9]


def test_columns_are_counted_in_each_table_and_chapter(tmp_path: Path) -> None:
    def text(rows: list[list[str]], other: list[list[str]]) -> list[Block]:
        return [*paragraphs("# One"), *sheet(rows), *paragraphs("# Two"), *sheet(other)]

    grown = with_column(rows_of(12))
    kept = comparison(tmp_path, text(rows_of(12), rows_of(12)), text(grown, grown))

    assert kept.summary.tally.columns_added == 2
    assert [(chapter.heading_path, chapter.tally.columns_added) for chapter in kept.summary.chapters] == [
        (("One",), 1),
        (("Two",), 1),
    ]


def test_columns_in_another_order_stay_changes(tmp_path: Path) -> None:
    rows = rows_of(12)
    kept = comparison(tmp_path, sheet(rows), sheet([[row[2], row[0], row[1], "x"] for row in rows]))

    assert kept.summary.tally.changed == 13


def test_a_table_without_column_changes_counts_none(tmp_path: Path) -> None:
    old, new = rows_of(5), rows_of(5)
    new[2][1] = "5"

    tally = comparison(tmp_path, sheet(old), sheet(new)).summary.tally

    assert tally == Tally(changed=1, words_added=1, words_removed=1, cells_changed=1)
