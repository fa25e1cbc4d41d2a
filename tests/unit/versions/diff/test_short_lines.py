"""Many short lines at once: what is told of them together is what is told of each alone."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model import Block, Change
from core.versions.diff import marks, pair_gaps
from core.versions.diff.difference import diff
from core.versions.diff.lines import Lines
from core.versions.diff.short_lines import ends_of_words, shares_of_ends
from core.versions.diff.words import words_between
from tests.unit.versions.compared import comparison, paragraphs
from tests.unit.versions.texts import no_deadline

_PARTS = [
    "pump",
    "a",
    "b",
    "12",
    "3.5",
    " ",
    "  ",
    ".",
    ", ",
    "-",
    "弁",
    "x1",
    "three",
    "、",
    ":",
    "é",
    "\t",
    "word " * 14,
]
_LINE = st.lists(st.sampled_from(_PARTS), min_size=1, max_size=7).map("".join)
_PADDING = "#" * 250
_WORDS = ["the", "pump", "valve", "oil", "level", "shift", "north", "gate", "night", "report", "seven", "7", "two"]


def lines_of(texts: list[str]) -> Lines:
    return Lines.of([Block("\n".join((_PADDING, *texts, _PADDING)))])


def edited(draw: random.Random, line: str) -> str:
    words = line.split(" ")
    for _ in range(draw.choice((0, 1, 1, 1, 1, 2))):
        words[draw.randrange(len(words))] = draw.choice((*_WORDS, "", "x9", "弁", "new-word"))
    return " ".join(words)


@no_deadline
@given(st.lists(st.tuples(_LINE, _LINE), min_size=1, max_size=20))
def test_words_of_many_pairs_are_those_of_each(pairs: list[tuple[str, str]]) -> None:
    sides = lines_of([old for old, _ in pairs]), lines_of([new for _, new in pairs])
    places = np.arange(1, len(pairs) + 1)

    found = ends_of_words(sides, (places, places))

    for place, (old, new) in enumerate(pairs):
        before, removed, added, after = (int(column[place]) for column in found[:4])
        told = [(Change.EQUAL, before), (Change.REMOVED, removed), (Change.ADDED, added), (Change.EQUAL, after)]
        if found.is_known[place]:
            assert [(change, length) for change, length in told if length] == [
                (word.change, len(word.text)) for word in words_between(old, new)
            ]


def test_a_word_for_another_is_known_and_what_is_more_is_not() -> None:
    pairs = [
        ("the pump is old", "the valve is old"),
        ("a pump", "a"),
        ("one two three", "one three four"),
        ("弁", "弁 x"),
    ]
    sides = lines_of([old for old, _ in pairs]), lines_of([new for _, new in pairs])
    places = np.arange(1, 5)

    found = ends_of_words(sides, (places, places))

    assert found.is_known.tolist() == [True, False, False, False]
    assert [int(column[0]) for column in found[:4]] == [4, 4, 5, 7]


def test_shares_are_of_what_is_the_same_at_the_ends() -> None:
    sides = lines_of(["abcd", "abcd", "abcd", "x" * 300]), lines_of(["abcd", "abxd", "wxyz", "x" * 300])
    places = np.arange(1, 5)

    assert shares_of_ends(sides, (places, places)).tolist() == [1.0, 0.75, 0.0, -1.0]


@pytest.mark.parametrize("seed", range(6))
def test_comparisons_are_the_same_whether_short_lines_are_looked_at_together_or_each(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    old = [" ".join(draw.choices(_WORDS, k=draw.randint(1, 7))) for _ in range(400)]
    new = [edited(draw, line) for line in old if draw.random() < 0.95]
    kept = []
    for many in (10**9, 10):
        monkeypatch.setattr(marks, "_MANY_ROWS", many)
        folder = tmp_path / str(many)
        folder.mkdir()
        blocks = (
            [Block("\n".join(old[:300])), *paragraphs(*old[300:])],
            [Block("\n".join(new[:300])), *paragraphs(*new[300:])],
        )
        found = comparison(folder, *blocks)
        kept.append(
            (found.rows(0, found.count), found.summary.tally, found.summary.values, found.stored.index.tolist())
        )

    (rows, *told), (fast_rows, *fast_told) = kept
    assert fast_rows == rows
    assert fast_told[:2] == told[:2]
    places = [name for name in found.stored.index.dtype.names if name != "marks_at"]
    assert [
        dict(zip(found.stored.index.dtype.names, row, strict=True))[name] for row in fast_told[2] for name in places
    ] == [dict(zip(found.stored.index.dtype.names, row, strict=True))[name] for row in told[2] for name in places]


def test_many_rows_of_which_the_first_changed_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "_MANY_ROWS", 2)
    old, new = (paragraphs(*(f"{number} the {word} pump" for number in range(9))) for word in ("north", "south"))

    assert comparison(tmp_path, old, new).summary.tally.changed == 9


def test_lines_in_order_are_paired_together_and_those_that_moved_by_one_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old = [
        f"shelf {letter} holds the {thing} of the north gate"
        for letter, thing in zip("abcdefghij", _WORDS, strict=False)
    ]
    new = [line.replace("north", "south") for line in old]
    shifted = ["a line that nobody had before"] + [line.replace("north", "south") for line in old[:-1]]
    pairs = []
    for many in (10**9, 1):
        monkeypatch.setattr(pair_gaps, "_MANY_LINES", many)
        for texts in (new, shifted):
            rows = diff(paragraphs(*old), paragraphs(*texts)).rows
            pairs.append([(row.old and row.old.number, row.new and row.new.number) for row in rows])

    assert pairs[:2] == pairs[2:]
    assert pairs[0] == [(number, number) for number in range(1, 11)]
    assert (1, 2) in pairs[1] and (1, 1) not in pairs[1]
