"""Tables of a comparison as grids."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import NotFound
from core.model import Change
from core.versions.diff.grid import GridRow
from tests.unit.versions.compared import comparison, paragraphs, table

_PRICES = ("Item | Price | Stock", "Lamp | 100 | 7", "Chair | 55 | 12", "Table | 310 | 3")


def cells(row: GridRow) -> list[tuple[str, str | None, str | None]]:
    return [(cell.change.value, cell.old, cell.new) for cell in row.cells]


def test_a_changed_cell_knows_what_it_was(tmp_path: Path) -> None:
    new = table(_PRICES[0], "Lamp | 120 | 7", *_PRICES[2:])
    kept = comparison(tmp_path, [table(*_PRICES)], [new])

    grid = kept.table(0)

    assert (grid.ref.rows, grid.ref.changed, grid.columns) == (4, 1, 3)
    assert cells(grid.rows[1]) == [("equal", "Lamp", "Lamp"), ("changed", "100", "120"), ("equal", "7", "7")]
    assert [cell.new for cell in grid.headers] == ["Item", "Price", "Stock"]


def test_a_column_that_was_put_in_is_empty_on_the_old_side(tmp_path: Path) -> None:
    new = table(
        "Item | Colour | Price | Stock", "Lamp | red | 100 | 7", "Chair | blue | 55 | 12", "Table | oak | 310 | 3"
    )
    kept = comparison(tmp_path, [table(*_PRICES)], [new])

    grid = kept.table(0)

    assert grid.columns == 4
    assert cells(grid.rows[1]) == [
        ("equal", "Lamp", "Lamp"),
        ("added", None, "red"),
        ("equal", "100", "100"),
        ("equal", "7", "7"),
    ]
    assert all(len(row.cells) == grid.columns for row in grid.rows)


def test_a_column_that_was_taken_out_stays_after_its_left_neighbour(tmp_path: Path) -> None:
    new = table("Item | Stock", "Lamp | 7", "Chair | 12", "Table | 3")
    kept = comparison(tmp_path, [table(*_PRICES)], [new])

    grid = kept.table(0)

    assert [(cell.change, cell.old) for cell in grid.headers] == [
        (Change.EQUAL, "Item"),
        (Change.REMOVED, "Price"),
        (Change.EQUAL, "Stock"),
    ]


def test_rows_that_came_and_went_have_one_side(tmp_path: Path) -> None:
    new = table(*_PRICES[:2], *_PRICES[3:], "Bookshelf of oak | 999 | 41")
    grid = comparison(tmp_path, [table(*_PRICES)], [new]).table(0)

    by_change = {row.change: row for row in grid.rows}
    assert [cell.new for cell in by_change["removed"].cells] == [None] * 3
    assert [cell.old for cell in by_change["added"].cells] == [None] * 3


def test_tables_are_listed_in_order_and_read_in_parts(tmp_path: Path) -> None:
    other = table("Name | Age", *(f"Person {number} | {number}" for number in range(100)))
    text = [*paragraphs("# Prices"), table(*_PRICES), *paragraphs("# People", "who they are"), other]
    kept = comparison(tmp_path, text, text)

    assert [(ref.row, ref.rows, ref.path) for ref in kept.tables()] == [(1, 4, ("Prices",)), (7, 101, ("People",))]
    part = kept.table(1, 50, 53)
    assert [row.cells[1].new for row in part.rows] == ["49", "50", "51"]
    assert kept.table(1, 99, 9999).rows[-1].new_no == 108
    with pytest.raises(NotFound):
        kept.table(2)


def test_neighbouring_tables_with_other_headers_are_two(tmp_path: Path) -> None:
    text = [table(*_PRICES), table("Name | Age", "Ann | 31")]

    assert [ref.rows for ref in comparison(tmp_path, text, text).tables()] == [4, 2]


def test_a_row_that_was_moved_and_edited_shows_what_changed_where_it_is_now(tmp_path: Path) -> None:
    new = table(_PRICES[0], "Table | 320 | 3", *_PRICES[1:3])
    kept = comparison(tmp_path, [table(*_PRICES)], [new])

    moved = {row.change: cells(row) for row in kept.table(0).rows if row.move is not None}

    same = [("equal", "Table", "Table"), ("equal", "3", "3")]
    assert moved == {
        "added": [same[0], ("changed", "310", "320"), same[1]],
        "removed": [same[0], ("removed", "310", None), same[1]],
    }
