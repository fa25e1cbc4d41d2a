"""Tables that plain text draws are tables: a row a line, cells joined, the text around them as it was."""

import pytest

from core.ingest.parsers.boxed_tables import text_blocks
from core.model import BlockKind

BOX = """The factor depends on the disk.
   ┌───────────┬────────────┐
   │Free space │ Multiplier │
   ├───────────┼────────────┤
   │<= 1MB     │ 1          │
   ├───────────┼────────────┤
   │<= 64GB    │ 5          │
   └───────────┴────────────┘
It is read at the start.
"""
SHELL = "+----+-----+\n| id | name |\n+----+-----+\n| 1  | x y |\n| 2  | z   |\n+----+-----+\n"
GRID = """+-----+--------+
| one | a long |
|     | cell   |
+=====+========+
| 2   | b      |
+-----+--------+
| 3   | c      |
+-----+--------+
"""
SUMMED = """+------+-----+
| Item | Qty |
+------+-----+
| A    | 1   |
| B    | 2   |
+------+-----+
| Sum  | 3   |
+------+-----+
"""
PIPES = "| key | 既定値 |\n|-----|:---:|\n| port | 514 |\n"


def told(text):
    return [(block.kind, block.text) for block in text_blocks(text)]


def test_a_drawn_box_is_a_table_between_its_text():
    assert told(BOX) == [
        (BlockKind.PARAGRAPH, "The factor depends on the disk.\n"),
        (BlockKind.TABLE, "Free space | Multiplier\n<= 1MB | 1\n<= 64GB | 5"),
        (BlockKind.PARAGRAPH, "It is read at the start.\n"),
    ]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (SHELL, "id | name\n1 | x y\n2 | z"),
        (GRID, "one | a long cell\n2 | b\n3 | c"),
        (SUMMED, "Item | Qty\nA | 1\nB | 2\nSum | 3"),
        (PIPES, "key | 既定値\nport | 514"),
    ],
)
def test_shells_grids_and_pipes_are_tables(text, rows):
    assert told(text) == [(BlockKind.TABLE, rows)]


@pytest.mark.parametrize(
    "text",
    [
        "a | b\nc | d\n",
        "|x|\n|y|\n",
        "Title\n=====\nText\n",
        "--- a/file\n+++ b/file\n@@ -1 +1 @@\n",
        "usage: prog [-a | -b]\n       [--all | --none]\n",
        "| one | two |\n| three |\n|---|---|\n",
        "+-- tree\n|   +-- leaf |\n",
    ],
)
def test_other_text_stays_as_it_is(text):
    assert "".join(block.text for block in text_blocks(text)) == text
    assert all(block.kind is BlockKind.PARAGRAPH for block in text_blocks(text))


def test_columns_under_rules_are_a_table_between_its_text():
    ruled = "   field   values\n   -----   ---------\n   minute  0-59\n   day     0-7 (Sun)\n"
    assert told(f"The fields are:\n{ruled}Stars are first.\n") == [
        (BlockKind.PARAGRAPH, "The fields are:\n"),
        (BlockKind.TABLE, "field | values\nminute | 0-59\nday | 0-7 (Sun)"),
        (BlockKind.PARAGRAPH, "Stars are first.\n"),
    ]
    prose = "A heading\n---- -----\nRunning text that knows no columns\nat all.\n"
    assert [kind for kind, _ in told(prose)] == [BlockKind.PARAGRAPH]


def test_a_wrapped_row_that_fills_every_cell_is_one_where_another_one_shows_it():
    text = (
        "+--------+------+\n| Name   | Does |\n+--------+------+\n"
        "| Keep   | Save |\n| files  | all  |\n+--------+------+\n"
        "| Drop   | Lose |\n|        | them |\n+--------+------+\n"
    )
    assert told(text) == [(BlockKind.TABLE, "Name | Does\nKeep files | Save all\nDrop | Lose them")]
