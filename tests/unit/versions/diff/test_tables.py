"""Tables: rows and columns find their partners, and cells tell what changed."""

from __future__ import annotations

from core.model import CellPair, Change, Row
from tests.unit.versions.texts import changes, paragraphs, rows_between, table

_HEADER = "name | price | city"


def cells(row: Row) -> list[tuple[Change, str | None, str | None]]:
    return [(cell.change, cell.old, cell.new) for cell in row.cells]


def places(found: tuple[CellPair, ...]) -> list[tuple[int | None, int | None]]:
    return [(cell.old_column, cell.new_column) for cell in found]


def test_a_changed_cell_is_the_only_one_that_changed() -> None:
    rows = rows_between(
        table(_HEADER, "pump | 120 | Kobe", "valve | 80 | Nara"),
        table(_HEADER, "pump | 125 | Kobe", "valve | 80 | Nara"),
    )

    assert changes(rows) == "=~="
    assert cells(rows[1]) == [
        (Change.EQUAL, "pump", "pump"),
        (Change.CHANGED, "120", "125"),
        (Change.EQUAL, "Kobe", "Kobe"),
    ]
    assert [segment.text for segment in rows[1].cells[1].words] == ["120", "125"]
    assert rows[1].words == ()


def test_an_inserted_column_is_one_added_cell_in_each_row() -> None:
    rows = rows_between(
        table(_HEADER, "pump | 120 | Kobe", "valve | 80 | Nara"),
        table("name | size | price | city", "pump | L | 120 | Kobe", "valve | M | 80 | Nara"),
    )

    assert changes(rows) == "~~~"
    for row in rows:
        assert [cell.change for cell in row.cells] == [Change.EQUAL, Change.ADDED, Change.EQUAL, Change.EQUAL]


def test_a_removed_column_is_one_removed_cell_in_each_row() -> None:
    rows = rows_between(
        table(_HEADER, "pump | 120 | Kobe", "valve | 80 | Nara"), table("name | city", "pump | Kobe", "valve | Nara")
    )

    assert [[cell.change for cell in row.cells] for row in rows] == [[Change.EQUAL, Change.REMOVED, Change.EQUAL]] * 3


def test_a_moved_column_changes_no_cell() -> None:
    rows = rows_between(
        table(_HEADER, "pump | 120 | Kobe", "valve | 80 | Nara", "tower | 7 | Tokyo"),
        table("city | name | price", "Kobe | pump | 120", "Nara | valve | 80", "Tokyo | tower | 7"),
    )

    assert changes(rows) == "~~~~"
    for row in rows:
        assert [cell.change for cell in row.cells] == [Change.EQUAL] * 3
        assert places(row.cells) == [(3, 1), (1, 2), (2, 3)]


def test_a_column_whose_values_all_changed_keeps_its_name() -> None:
    rows = rows_between(
        table("pump | 120 | Kobe", "valve | 80 | Nara", header=_HEADER),
        table("pump | 240 | Kobe", "valve | 160 | Nara", header=_HEADER),
    )

    assert [[cell.change for cell in row.cells] for row in rows] == [[Change.EQUAL, Change.CHANGED, Change.EQUAL]] * 2


def test_an_inserted_row_does_not_disturb_its_neighbours() -> None:
    rows = rows_between(
        table(_HEADER, "pump | 120 | Kobe", "valve | 80 | Nara"),
        table(_HEADER, "pump | 121 | Kobe", "hose | 9 | Ota", "valve | 81 | Nara"),
    )

    assert changes(rows) == "=~+~"


def test_rows_of_a_large_table_are_paired_by_their_first_cell() -> None:
    old = [f"K{number} | {number * 7} | {number * 13}" for number in range(200)]
    new = [f"K{number} | {number * 7 + 1} | {number * 13 + 1}" for number in range(200) if number % 50]

    rows = rows_between(table(*old, header="key | a | b"), table(*new, header="key | a | b"))

    assert changes(rows).count("-") == 4
    assert all(row.old.text.split(" | ")[0] == row.new.text.split(" | ")[0] for row in rows if row.old and row.new)


def test_a_row_of_a_table_never_becomes_a_paragraph() -> None:
    rows = rows_between(table("pump | 120 | Kobe"), paragraphs("pump | 120 | Nara"))

    assert changes(rows) == "-+"
