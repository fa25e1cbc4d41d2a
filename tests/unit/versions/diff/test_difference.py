"""The difference of two texts: applying it gives the new text, swapping the sides mirrors it, equal texts have none."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given, settings

from core.errors import InvalidInput
from core.ingest.parsers.tables import CELL_JOINT
from core.model import Block, BlockKind, Change
from core.versions.diff.budget import Budget
from core.versions.diff.difference import apply, diff, mirror, text_of
from tests.unit.versions.texts import ANY_BLOCKS, PAIRS, Blocks, changes, no_deadline, paragraphs, parsed, rows_between

_SENTENCES = [
    "The harbour opens at six in the morning and closes at ten in the evening.",
    "Ferries to the islands leave every hour from the northern pier.",
    "Tickets are sold at the counter beside the old customs house.",
    "Bicycles travel free of charge, motorcycles pay half the fare.",
    "In strong wind the last ferry of the day may leave earlier.",
]


@no_deadline
@given(PAIRS)
def test_applying_the_difference_to_the_old_text_gives_the_new_one(pair: tuple[Blocks, Blocks]) -> None:
    old, new = pair

    assert apply(parsed(old), rows_between(old, new)) == parsed(new)


@no_deadline
@given(PAIRS)
def test_swapping_the_sides_mirrors_the_difference(pair: tuple[Blocks, Blocks]) -> None:
    old, new = pair
    rows = rows_between(old, new)

    assert mirror(rows) == rows_between(new, old)
    assert mirror(mirror(rows)) == rows


@no_deadline
@given(ANY_BLOCKS)
def test_equal_texts_differ_in_no_row(blocks: Blocks) -> None:
    as_one_block = [Block(parsed(blocks), BlockKind.CODE)] if blocks else []

    assert set(changes(rows_between(blocks, blocks))) <= {"="}
    assert set(changes(rows_between(blocks, as_one_block))) <= {"="}


@no_deadline
@given(PAIRS)
def test_rows_hold_both_texts_in_order(pair: tuple[Blocks, Blocks]) -> None:
    old, new = pair
    difference = diff(old, new)
    rows = list(difference.rows)

    assert len(rows) == difference.count
    assert (text_of(rows, "old"), text_of(rows, "new")) == (parsed(old), parsed(new))
    assert list(difference.rows) == rows


@no_deadline
@given(PAIRS)
def test_rows_are_what_they_say(pair: tuple[Blocks, Blocks]) -> None:
    for row in rows_between(*pair):
        assert (row.old is None, row.new is None) == (row.change is Change.ADDED, row.change is Change.REMOVED)
        if row.old is not None and row.new is not None:
            is_same = (row.old.text, row.old.joint) == (row.new.text, row.new.joint)
            assert is_same == (row.change is Change.EQUAL)


@no_deadline
@given(PAIRS)
def test_words_and_cells_of_a_changed_row_are_both_lines(pair: tuple[Blocks, Blocks]) -> None:
    for row in rows_between(*pair):
        if row.move is not None and row.words:
            line = row.old or row.new
            assert line is not None and "".join(word.text for word in row.words) == line.text and row.cells == ()
            assert {word.change for word in row.words} <= {Change.EQUAL, row.change}
        elif row.change is not Change.CHANGED or row.old is None or row.new is None:
            assert (row.words, row.cells) == ((), ())
        elif row.cells:
            old = sorted((cell.old_column, cell.old) for cell in row.cells if cell.old_column is not None)
            new = sorted((cell.new_column, cell.new) for cell in row.cells if cell.new_column is not None)
            assert CELL_JOINT.join(text or "" for _column, text in old) == row.old.text
            assert CELL_JOINT.join(text or "" for _column, text in new) == row.new.text
        else:
            assert "".join(word.text for word in row.words if word.change is not Change.ADDED) == row.old.text
            assert "".join(word.text for word in row.words if word.change is not Change.REMOVED) == row.new.text


@no_deadline
@given(PAIRS)
def test_a_move_is_one_removed_and_one_added_row_of_the_same_text_or_with_words_for_what_was_edited(
    pair: tuple[Blocks, Blocks],
) -> None:
    moves = defaultdict(list)
    for row in rows_between(*pair):
        if row.move is not None:
            line = row.old or row.new
            assert line is not None
            moves[row.move].append((row.change, line.text, bool(row.words)))
    for halves in moves.values():
        assert sorted(half[0] for half in halves) == [Change.ADDED, Change.REMOVED]
        assert (halves[0][1] != halves[1][1]) == any(half[2] for half in halves)


@settings(max_examples=30, deadline=None)
@given(PAIRS)
def test_a_coarse_difference_is_exact_too(pair: tuple[Blocks, Blocks]) -> None:
    old, new = pair
    for budget in (Budget(words=False), Budget(pairing=False), Budget(seconds=0.0), Budget(max_word_chars=3)):
        assert apply(parsed(old), diff(old, new, budget=budget).rows) == parsed(new)


def test_a_moved_paragraph_is_recognised() -> None:
    rows = rows_between(paragraphs(*_SENTENCES), paragraphs(*_SENTENCES[1:4], _SENTENCES[0], _SENTENCES[4]))

    assert changes([row for row in rows if row.move]) == "-+"
    assert {row.move for row in rows if row.old and row.old.text == _SENTENCES[0]} == {1}


def test_chapters_in_another_order_are_moved_lines_and_nothing_else() -> None:
    first = [Block("Harbour", BlockKind.HEADING, level=1), *paragraphs(*_SENTENCES[:2])]
    second = [Block("Tickets", BlockKind.HEADING, level=1), *paragraphs(*_SENTENCES[2:])]

    rows = rows_between([*first, *second], [*second, *first])

    assert all(row.move for row in rows if row.change in (Change.REMOVED, Change.ADDED))
    assert sum(row.move is not None for row in rows) == 6


def test_a_short_line_that_turns_up_elsewhere_is_no_move() -> None:
    rows = rows_between(paragraphs("Note", *_SENTENCES[:3]), paragraphs(*_SENTENCES[:3], "Note"))

    assert [row.move for row in rows] == [None] * 5


def test_a_reworded_paragraph_is_changed_and_a_new_one_is_added() -> None:
    old = paragraphs(*_SENTENCES[:3])
    new = paragraphs(_SENTENCES[0], _SENTENCES[3], _SENTENCES[1].replace("hour", "half hour"), _SENTENCES[2])

    rows = rows_between(old, new)

    assert changes(rows) == "=+~="
    assert [word.text for word in rows[2].words if word.change is Change.ADDED] == ["half "]


def test_a_paragraph_that_grew_to_many_times_its_length_is_changed() -> None:
    begun = "IT Specialist: the term is limited to at most eight years of service"
    grown = f"{begun}. {' '.join(_SENTENCES)}"

    rows = rows_between(paragraphs(_SENTENCES[0], f"{begun}.", "End."), paragraphs(_SENTENCES[0], grown, "End."))

    assert changes(rows) == "=~="


def test_an_unlike_paragraph_replaces_the_old_one() -> None:
    rows = rows_between(paragraphs(*_SENTENCES[:2]), paragraphs(_SENTENCES[0], _SENTENCES[3]))

    assert changes(rows) == "=-+"


def test_a_renamed_heading_is_changed() -> None:
    old = [Block("3 Opening hours", BlockKind.HEADING, level=1), *paragraphs(_SENTENCES[0])]
    new = [Block("4 Opening hours", BlockKind.HEADING, level=1), *paragraphs(_SENTENCES[0])]

    rows = rows_between(old, new)

    assert changes(rows) == "~="
    assert [word.text for word in rows[0].words] == ["3", "4", " Opening hours"]


def test_a_paragraph_put_in_front_leaves_the_others_as_they_are() -> None:
    rows = rows_between(paragraphs(*_SENTENCES[1:]), paragraphs(*_SENTENCES))

    assert changes(rows) == "+~==="
    assert [word.change for word in rows[1].words] == [Change.EQUAL]


def test_changes_of_another_text_are_refused() -> None:
    rows = rows_between(paragraphs("one"), paragraphs("two"))

    for other in ("three", "one and more", ""):
        with pytest.raises(InvalidInput):
            apply(other, rows)


def test_nothing_against_something_is_all_added() -> None:
    assert changes(rows_between([], paragraphs("one", "two"))) == "++"
    assert changes(rows_between([], [])) == ""


def test_skipped_words_and_cut_lines_are_told() -> None:
    old, new = paragraphs("a long line " * 500), paragraphs("a long line " * 500 + "end")
    difference = diff(old, new, budget=Budget(max_word_chars=10))

    rows = list(difference.rows)

    assert difference.notices == ("long_lines", "words_skipped")
    assert apply(parsed(old), rows) == parsed(new)


def test_without_a_clock_the_same_texts_give_the_same_rows() -> None:
    old, new = paragraphs(*_SENTENCES), paragraphs(*reversed(_SENTENCES))

    assert rows_between(old, new) == rows_between(old, new)


def test_an_added_section_begins_with_its_heading() -> None:
    def section(text: str) -> Blocks:
        return [Block("Example", BlockKind.HEADING, level=2), Block(text), Block("End of the example.")]

    rows = rows_between(
        [*section("first"), *section("third")], [*section("first"), *section("second"), *section("third")]
    )

    assert changes(rows) == "===+++==="
