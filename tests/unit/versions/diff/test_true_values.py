"""What is listed as changed is true: 1,000 pairs of tables and 200 of texts whose edits are known."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path

import pytest

from core.model import Block, BlockKind, Change, Row
from core.versions.diff.difference import diff
from core.versions.diff.summary import ValueCollector
from core.versions.diff.value_patterns import plain
from core.versions.diff.values import Changed, values_in
from core.versions.diff.writing import write_rows
from tests.unit.versions.compared import comparison, paragraphs, table

_THINGS = [
    *("Boiler", "Pump", "Valve", "Hose", "Lamp", "Chair", "Tower", "Crane", "Mill", "Bridge", "Drum", "Rail", "Fan"),
    *("Gate", "Press", "Oven", "Tank", "Saw", "Drill", "Motor", "Belt", "Bolt", "Cable", "Mast", "Wheel", "Frame"),
    *(
        "Shaft",
        "Plug",
        "Sieve",
        "Grill",
        "Hinge",
        "照明",
        "椅子",
        "机",
        "棚",
        "配管",
        "電池",
        "扉",
        "窓",
        "屋根",
        "階段",
    ),
]
_UNITS = ("{}", "{} kg", "{} EUR", "{} %", "{}円", "{}.5", "{} days")


@dataclass(slots=True)
class Edit:
    """Two tables as rows of cells by name, and which numbers of which names were edited."""

    old: list[list[str]] = field(default_factory=list)
    new: list[list[str]] = field(default_factory=list)
    edited: set[tuple[str, str]] = field(default_factory=set)
    is_numbered: bool = False


def edited_tables(seed: int) -> Edit:
    """Make a table of named rows, and the same with rows added, removed, moved and edited."""
    draw = random.Random(seed)
    names = draw.sample(_THINGS, draw.randint(3, 25))
    columns = [draw.choice(_UNITS) for _ in range(draw.randint(2, 5))]
    style = draw.choice(("name", "number", "code"))

    def row(name: str) -> list[str]:
        return [name, *(unit.format(draw.randint(1, 9_999)) for unit in columns)]

    rows = [row(name) for name in names[: max(2, len(names) * 2 // 3)]]
    spare = names[len(rows) :]
    edit = Edit(old=[list(cells) for cells in rows])
    for _ in range(draw.randint(1, 5)):
        kind = draw.choice(("add", "remove", "move", "edit", "edit"))
        at = draw.randrange(len(rows)) if rows else 0
        if kind == "add" and spare:
            rows.insert(at, row(spare.pop()))
        elif kind == "remove" and len(rows) > 1:
            rows.pop(at)
        elif kind == "move" and len(rows) > 1:
            rows.insert(draw.randrange(len(rows)), rows.pop(at))
        elif kind == "edit":
            column = draw.randrange(len(columns)) + 1
            rows[at] = [
                *rows[at][:column],
                columns[column - 1].format(draw.randint(10_000, 99_999)),
                *rows[at][column + 1 :],
            ]
    edit.new = rows
    before = {cells[0]: cells for cells in edit.old}
    edit.edited = {
        (was, now)
        for cells in rows
        if cells[0] in before
        for was, now in zip(before[cells[0]], cells, strict=True)
        if was != now
    }
    if style == "number":
        edit.is_numbered = True
        edit.old, edit.new = (
            [[str(number), *cells] for number, cells in enumerate(side, 1)] for side in (edit.old, edit.new)
        )
    elif style == "code":
        codes = {name: f"{draw.randint(100, 999)}-{place:02}" for place, name in enumerate(_THINGS)}
        edit.old, edit.new = ([[codes[cells[0]], *cells] for cells in side] for side in (edit.old, edit.new))
    return edit


def blocks(rows: list[list[str]]) -> list[Block]:
    header = " | ".join(["Title", *(f"c{number}" for number in range(1, len(rows[0])))])
    return [table(header, *(" | ".join(cells) for cells in rows))]


def changed(folder: Path, old: list[Block], new: list[Block]) -> list[tuple[int, Changed]]:
    values = ValueCollector()
    difference = diff(old, new)
    folder.mkdir(exist_ok=True)
    written = write_rows(folder, difference, values)
    values.see_unpaired(written.rows, difference)
    return values.found


@pytest.mark.parametrize("part", range(4))
def test_changed_numbers_of_tables_are_those_that_were_edited(part: int, tmp_path: Path) -> None:
    for seed in range(part * 250, part * 250 + 250):
        edit = edited_tables(seed)
        old, new = blocks(edit.old), blocks(edit.new)
        rows = list(diff(old, new).rows)
        found = changed(tmp_path, old, new)
        pairs: set[tuple[str, str]] = set()
        for number, one in found:
            if one.old is None or one.new is None:
                continue
            cells = changed_cells(shown_as_one(rows, number))
            stands = [(was, now) for _, was, now in cells if one.old in texts(was) and one.new in texts(now)]
            assert stands, seed
            # The numbers of the rows themselves are no edits of this test.
            pairs |= {
                (was, now)
                for column, was, now in cells
                if (was, now) in stands and not (edit.is_numbered and column == 0)
            }
        assert pairs == edit.edited, seed
        for row in rows:
            if row.old is not None and row.new is not None:
                assert name_of(row.old.text) == name_of(row.new.text), seed


def shown_as_one(rows: list[Row], number: int) -> tuple[str, str]:
    """Both sides of a pair as the difference shows it: a changed row, or the two places of a moved one."""
    row = rows[number]
    if row.change is Change.CHANGED and row.old is not None and row.new is not None:
        return row.old.text, row.new.text
    assert row.move is not None
    (old,) = (each.old for each in rows if each.move == row.move and each.old is not None)
    (new,) = (each.new for each in rows if each.move == row.move and each.new is not None)
    return old.text, new.text


def changed_cells(sides: tuple[str, str]) -> list[tuple[int, str, str]]:
    cells = zip(*(side.split(" | ") for side in sides), strict=True)
    return [(column, was, now) for column, (was, now) in enumerate(cells) if was != now]


def test_tables_of_this_test_have_rows_that_were_moved_and_edited() -> None:
    found = sum(
        row.move is not None and bool(row.words)
        for seed in range(200)
        for edit in [edited_tables(seed)]
        for row in diff(blocks(edit.old), blocks(edit.new)).rows
    )

    assert found > 20


def texts(cell: str | None) -> list[str]:
    return [value.text for value in values_in(cell or "")]


def name_of(line: str) -> str:
    return next((cell for cell in line.split(" | ") if cell in _THINGS), "")


_SENTENCES = (
    "The {name} may be used for {} by each tenant.",
    "Whoever keeps a {name} pays {} in advance.",
    "{name}の利用料は{}とし、翌月に支払う。",
    "After {} the {name} is handed back, clean and complete.",
    "The deposit for a {name} is {}.",
)
_AMOUNTS = (
    "three months",
    "12.5 kg",
    "310 EUR",
    "6時",
    "5時45分",
    "10-20 people",
    "五千円",
    "30 %",
    "2027-01-31",
    "twenty days",
)


def test_changed_numbers_of_texts_stand_in_rows_that_the_difference_pairs(tmp_path: Path) -> None:
    for seed in range(200):
        draw = random.Random(seed)
        lines = [
            draw.choice(_SENTENCES).format(draw.choice(_AMOUNTS), name=name)
            for name in draw.sample(_THINGS, draw.randint(2, 12))
        ]
        edited = list(lines)
        for _ in range(draw.randint(1, 5)):
            at = draw.randrange(len(edited)) if edited else 0
            kind = draw.choice(("add", "remove", "move", "edit"))
            if kind == "add":
                edited.insert(at, draw.choice(_SENTENCES).format(draw.choice(_AMOUNTS), name=draw.choice(_THINGS)))
            elif kind == "remove" and len(edited) > 1:
                edited.pop(at)
            elif kind == "move":
                edited.insert(draw.randrange(len(edited)), edited.pop(at))
            else:
                edited[at] = draw.choice(_SENTENCES).format(draw.choice(_AMOUNTS), name=draw.choice(_THINGS))
        old, new = paragraphs(*lines), paragraphs(*edited)
        rows = list(diff(old, new).rows)
        for number, one in changed(tmp_path, old, new):
            row = rows[number]
            if one.old is not None and one.new is not None:
                was, now = shown_as_one(rows, number)
                assert one.old in texts(was) and one.new in texts(now), seed
            elif row.change is not Change.CHANGED and row.move is None:
                assert row.change is (Change.REMOVED if one.old is not None else Change.ADDED), seed


_KINDS = {
    "money": ("$1,200.50", "EUR 310", "5,000円", "1万2千円", "$1.5 million", "€5k"),
    "share": ("12 %", "30％", "five per cent", "三割", "12.5%"),
    "span": ("three months", "2 weeks", "三か月", "90 days", "twenty-five days", "半年", "1年"),
    "clock": ("6時", "5時45分", "午後六時半", "6:30 pm", "17:30", "六時"),
    "range": ("10-20 people", "5 to 10 people", "10〜20人", "three to five people"),
    "share of one": ("1/2", "two-thirds", "½", "三分の二", "half of it"),
    "cold": ("-5 °C", "−12 °C", "7 °C", "マイナス5℃"),
    "count": ("1 234 567 units", "12,345 units", "３００units", "1e-3", "10^4"),
    "day": ("2027-01-31", "4月1日", "21 November 2026", "四月一日", "令和8年4月1日"),
    "size": ("5 GB", "750 MB", "10GB"),
    "release": ("v2.3", "v2.4.1", "v10.0"),
}  # fmt: skip
"""Values of one kind, each of which may take the place of another."""
_FRAMES = (
    "It is {} by now.",
    "現在は{}とする。",
    "Item | {} | new",
    "What was said of the lamp: {}, as both sides had agreed on in the hall of the town.",
)


@pytest.mark.parametrize("kind", list(_KINDS))
def test_a_value_that_took_the_place_of_another_is_told_whole(kind: str, tmp_path: Path) -> None:
    for frame in _FRAMES:
        for was, now in permutations(_KINDS[kind], 2):
            old, new = made(frame.format(was)), made(frame.format(now))
            found = [(one.old, one.new) for _, one in changed(tmp_path, old, new)]
            was, now = was.removesuffix(" of it"), now.removesuffix(" of it")
            if plain(was) == plain(now):
                assert found == [], (was, now)
            elif len(list(diff(old, new).rows)) == 1:
                assert found == [(was, now)], frame
            else:
                assert frame is not _FRAMES[-1] and found == [(was, None), (None, now)], (was, now)


def made(text: str) -> list[Block]:
    return [table(text)] if " | " in text else paragraphs(text)


def test_a_removed_row_beside_an_added_one_is_a_removed_row(tmp_path: Path) -> None:
    same = ["Lamp | 7 | kg | in stock", "Chair | 9 | kg | in stock"]
    old = [table("Item | Weight | Unit | State", same[0], "Boiler | 12.5 | kg | in stock", same[1])]
    new = [table("Item | Weight | Unit | State", same[0], "Press | 310 | kg | in stock", same[1])]

    kept = comparison(tmp_path, old, new)

    assert [(value.old, value.new) for value in kept.summary.values] == [("12.5", None), (None, "310")]
    assert (kept.summary.tally.removed, kept.summary.tally.added, kept.summary.tally.changed) == (1, 1, 0)


def test_rows_that_are_numbered_anew_keep_their_partners(tmp_path: Path) -> None:
    old = [table("No. | Item | Price", "1 | Lamp | 100", "2 | Chair | 55", "3 | Desk | 310")]
    new = [table("No. | Item | Price", "1 | Chair | 60", "2 | Desk | 310")]

    kept = comparison(tmp_path, old, new)

    pairs = {(value.old, value.new) for value in kept.summary.values}
    assert ("55", "60") in pairs and ("100", "60") not in pairs and ("100", None) in pairs


def test_a_row_whose_name_is_written_otherwise_is_the_same_row() -> None:
    old = [Block("Lamp, red | 100 | 7\nChair | 55 | 12", BlockKind.TABLE, header="Item | Price | Stock")]
    new = [Block("Lamp (red) | 120 | 7\nChair | 55 | 12", BlockKind.TABLE, header="Item | Price | Stock")]

    assert [row.change for row in diff(old, new).rows] == [Change.CHANGED, Change.EQUAL]
