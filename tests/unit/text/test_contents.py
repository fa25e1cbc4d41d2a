"""Entries of tables of contents: one form, however the document leads from the title to its page."""

from __future__ import annotations

import pytest

from core.text.contents import as_entry, is_contents, is_entry


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("1.2 Care of the lens ............ 14", "1.2 Care of the lens … 14"),
        ("1.2 Care of the lens . . . . . . . 14", "1.2 Care of the lens … 14"),
        ("1 Introduction 5", "1 Introduction … 5"),
        ("Spare parts\t23", "Spare parts … 23"),
        ("第3章　レンズの手入れ・・・・・・・・・14", "第3章 レンズの手入れ … 14"),
        ("Preface ………… xii", "Preface … xii"),
        ("abort .............. 3, 17, 102", "abort … 3, 17, 102"),
        ("Figures ........ A-3", "Figures … A-3"),
    ],
)
def test_a_line_of_contents_has_one_leader(line: str, entry: str) -> None:
    assert as_entry(line) == entry
    assert is_entry(entry)
    assert as_entry(entry) == entry


@pytest.mark.parametrize(
    "line", ["Wait … 5 minutes later it stops", "He said … and left", "The pump runs at 45", "… 14", "x … 12345"]
)
def test_other_lines_are_no_entries(line: str) -> None:
    assert not is_entry(line)


def test_a_passage_is_contents_when_most_of_it_is_entries() -> None:
    entries = [f"{number}. Care of part number {number} … {10 + number}" for number in range(6)]
    assert is_contents("\n".join(["Contents", *entries]))
    assert not is_contents("\n".join([*entries[:1], "The lens is cleaned once a week with a dry cloth and water."]))
    assert not is_contents("")
