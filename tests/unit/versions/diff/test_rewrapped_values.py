"""Text that was wrapped anew: its numbers stand in other lines and are no changes."""

from __future__ import annotations

from pathlib import Path

from core.model import Block
from tests.unit.versions.compared import comparison, paragraphs, table

_WORDS = (
    "The ferry leaves the northern pier after a stop of 20 minutes and the tickets for it cost 12 euros each, "
    "at the counter in the hall; children below 6 years travel free, and groups of 15 people pay half."
)


def wrapped(text: str, width: int) -> list[Block]:
    lines = [""]
    for word in text.split():
        lines = [*lines[:-1], f"{lines[-1]} {word}".strip()] if len(lines[-1]) < width else [*lines, word]
    return paragraphs(*lines)


def listed(folder: Path, old: list[Block], new: list[Block]) -> list[tuple[str | None, str | None]]:
    return [(value.old, value.new) for value in comparison(folder, old, new).summary.values]


def test_no_number_of_text_that_was_only_wrapped_anew_is_listed(tmp_path: Path) -> None:
    for width in range(28, 60, 4):
        assert listed(tmp_path, wrapped(_WORDS, 62), wrapped(_WORDS, width)) == [], width


def test_a_number_that_changed_is_listed_though_its_paragraph_was_wrapped_anew(tmp_path: Path) -> None:
    found = listed(tmp_path, wrapped(_WORDS, 62), wrapped(_WORDS.replace("12 euros", "14 euros"), 40))

    assert {old for old, _ in found} | {new for _, new in found} >= {"12 euros", "14 euros"}
    assert not {"6 years", "15 people"} & {text for pair in found for text in pair}


def test_a_date_that_goes_on_in_the_next_line_is_no_other_date(tmp_path: Path) -> None:
    said = "They met in the old harbour of the town on 20 December 1996 and again on 28 March 2007 in the new one."
    for width in range(24, 60, 3):
        assert listed(tmp_path, wrapped(said, 50), wrapped(said, width)) == [], width
    assert listed(tmp_path, paragraphs("On 20 December 1996 it began."), paragraphs("On 20 December it began.")) == [
        ("20 December 1996", "20 December")
    ]


def test_the_same_number_of_a_removed_row_and_of_an_added_one_is_listed_twice(tmp_path: Path) -> None:
    old = [table("Item | Weight | State", "Lamp | 7 | new", "Boiler | 12.5 | new", "Chair | 9 | old")]
    new = [
        table("Item | Weight | State", "Lamp | 7 | new", "Press | 12.5 | on loan from a neighbour", "Chair | 9 | old")
    ]

    assert listed(tmp_path, old, new) == [("12.5", None), (None, "12.5")]
