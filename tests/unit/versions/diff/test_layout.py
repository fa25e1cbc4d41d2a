"""Screen lines: what is folded, how rows wrap, and where the next change is."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.model import Block, BlockKind, Locator
from core.versions.diff.layout import RowView, ScreenLine
from tests.unit.versions.compared import comparison, paragraphs
from tests.unit.versions.texts import PAIRS, Blocks, no_deadline

_SAME = [f"Line {number} of the text that stays." for number in range(30)]


def changed_at(*places: int) -> list[Block]:
    return paragraphs(*(f"{line} But not this word." if at in places else line for at, line in enumerate(_SAME)))


def rows_of(view: RowView) -> list[tuple[int, int | None]]:
    return [(line.row, line.fold) for line in view.lines(0, view.total)]


def text(line: ScreenLine, side: str) -> str:
    return "".join(part for _, part in getattr(line, side))


def test_unchanged_rows_away_from_changes_are_folded(tmp_path: Path) -> None:
    view = comparison(tmp_path, paragraphs(*_SAME), changed_at(10)).view(context=2)

    assert rows_of(view) == [(0, 8), (8, None), (9, None), (10, None), (11, None), (12, None), (13, 17)]


def test_a_fold_opens_by_the_row_it_starts_at(tmp_path: Path) -> None:
    view = comparison(tmp_path, paragraphs(*_SAME), changed_at(10)).view(context=2, open_folds=[0])

    assert rows_of(view)[:11] == [(row, None) for row in range(11)]
    assert rows_of(view)[-1] == (13, 17)


def test_one_unchanged_row_between_changes_is_shown_not_folded(tmp_path: Path) -> None:
    view = comparison(tmp_path, paragraphs(*_SAME), changed_at(0, 2)).view(context=0)

    assert rows_of(view)[:3] == [(0, None), (1, None), (2, None)]


def test_without_folding_every_row_is_shown(tmp_path: Path) -> None:
    view = comparison(tmp_path, paragraphs(*_SAME), changed_at(10)).view(folded=False)

    assert rows_of(view) == [(row, None) for row in range(30)]


def test_changes_are_the_first_lines_of_runs(tmp_path: Path) -> None:
    view = comparison(tmp_path, paragraphs(*_SAME), changed_at(4, 5, 20)).view(folded=False)

    assert view.changes == [4, 20]
    assert (view.next_change(-1), view.next_change(4), view.next_change(20)) == (4, 20, None)
    assert (view.previous_change(20), view.previous_change(4), view.previous_change(99)) == (4, None, 20)


def test_a_row_is_found_where_it_is_shown_or_in_its_fold(tmp_path: Path) -> None:
    view = comparison(tmp_path, paragraphs(*_SAME), changed_at(10)).view(context=2)

    assert view.position_of(10) == 3 and view.row_at(3) == 10
    assert view.position_of(5) == 0 and view.position_of(29) == 6
    assert view.position_of(30) is None
    assert view.row_at(999) == 13


def test_a_view_of_some_kinds_of_change_folds_the_others(tmp_path: Path) -> None:
    old = paragraphs("stays as it is", "this goes away entirely", *_SAME[:8], "a line with one word")
    new = paragraphs("stays as it is", *_SAME[:8], "a line with two words", "quite another thing is new")
    view = comparison(tmp_path, old, new).view(only=["removed"], context=0)

    assert [line.change for line in view.lines(0, 99) if line.fold is None] == ["equal", "removed"]
    assert len(view.changes) == 1


def test_a_chapter_shows_its_rows_alone(tmp_path: Path) -> None:
    old = paragraphs("# One", "first text", "# Two", "second text", "# Three", "third text")
    new = paragraphs("# One", "first words", "# Two", "second text", "# Three", "third words")
    kept = comparison(tmp_path, old, new)
    assert [chapter.heading_path for chapter in kept.summary.chapters] == [("One",), ("Three",)]

    view = kept.view(chapter=1)

    assert [line.row for line in view.lines(0, 99)] == [4, 5]
    assert view.position_of(1) is None and view.changes == [1]


def test_the_outline_has_one_line_for_each_section(tmp_path: Path) -> None:
    old = paragraphs("# One", "first text", "# Two", "second text", "# Three", "third text")
    new = paragraphs("# One", "first words", "# Two", "second text", "# Three", "third text")
    kept = comparison(tmp_path, old, new)

    lines = kept.view(outline=True).lines(0, 99)
    assert [(line.path, line.fold, line.fold_changed) for line in lines] == [
        (("One",), 2, 1),
        (("Two",), 2, 0),
        (("Three",), 2, 0),
    ]
    assert [line.row for line in kept.view(outline=True, open_folds=[2]).lines(0, 99)] == [0, 2, 3, 4]


def test_a_section_of_the_outline_begins_with_its_heading(tmp_path: Path) -> None:
    def text_with(fee: str) -> list[Block]:
        under = Locator(heading_path=("Terms",))
        heads = [Block(name, BlockKind.HEADING, under, 2) for name in ("Fees", "Term")]
        bodies = [
            Block(words, locator=Locator(heading_path=("Terms", head.text)))
            for head, words in zip(heads, (fee, "Two years."), strict=True)
        ]
        return [Block("Terms", BlockKind.HEADING, level=1), heads[0], bodies[0], heads[1], bodies[1]]

    lines = comparison(tmp_path, text_with("It is 10 yen."), text_with("It is 12 yen.")).view(outline=True).lines(0, 9)

    assert [(line.path[-1], line.row, line.fold, line.fold_changed) for line in lines] == [
        ("Terms", 0, 1, 0),
        ("Fees", 1, 2, 1),
        ("Term", 3, 2, 0),
    ]


def test_both_sides_of_a_changed_row_are_marked(tmp_path: Path) -> None:
    kept = comparison(tmp_path, paragraphs("The fee is 100 yen a day."), paragraphs("The fee is 120 yen a day."))

    (side,) = kept.view().lines(0, 9)
    assert ("removed", "100") in side.old and ("added", "120") in side.new
    assert (side.old_no, side.new_no, side.change) == (1, 1, "changed")
    (both,) = kept.view(mode="inline").lines(0, 9)
    assert [change for change, _ in both.merged] == ["equal", "removed", "added", "equal"]


def test_a_moved_line_points_at_its_other_place(tmp_path: Path) -> None:
    moved = "This long sentence about the harbour is moved to another place."
    kept = comparison(tmp_path, paragraphs(moved, *_SAME), paragraphs(*_SAME, moved))

    lines = kept.view(folded=False).lines(0, 99)

    assert (lines[0].change, lines[0].move_target) == ("removed", 31)
    assert (lines[31].change, lines[31].move_target) == ("added", 0)
    assert lines[0].move == lines[31].move


def test_only_the_first_line_of_a_wrapped_row_has_numbers(tmp_path: Path) -> None:
    kept = comparison(tmp_path, [], paragraphs("word " * 40))

    lines = kept.view(width=30).lines(0, 99)

    assert len(lines) == lines[0].count > 5
    assert [line.new_no for line in lines] == [1] + [None] * (len(lines) - 1)
    assert [line.line for line in lines] == list(range(len(lines)))
    assert not any(text(line, "new").startswith(" ") for line in lines)


@pytest.mark.long
@no_deadline
@given(PAIRS, st.sampled_from(["side", "inline"]), st.integers(10, 40), st.booleans())
def test_any_page_of_lines_is_that_part_of_all_lines(
    pair: tuple[Blocks, Blocks], mode: str, width: int, folded: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        view = comparison(Path(folder), *pair).view(mode=mode, width=width, folded=folded, context=1)
        whole = view.lines(0, view.total)

        assert [line.position for line in whole] == list(range(view.total))
        for start in range(0, view.total, 3):
            assert view.lines(start, start + 4) == whole[start : start + 4]


@pytest.mark.long
@no_deadline
@given(PAIRS, st.integers(10, 30))
def test_the_lines_of_a_row_joined_are_its_text(pair: tuple[Blocks, Blocks], width: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        kept = comparison(Path(folder), *pair)
        view = kept.view(width=width, folded=False)
        shown: dict[int, list[ScreenLine]] = {}
        for line in view.lines(0, view.total):
            shown.setdefault(line.row, []).append(line)

        for number, row in enumerate(kept.rows(0, kept.count)):
            for side, whole in (("old", row.old), ("new", row.new)):
                assert "".join(text(line, side) for line in shown[number]) == (whole.text if whole else "")


@pytest.mark.parametrize("width", [-5, 0, 3])
def test_a_column_is_never_narrower_than_can_be_read(tmp_path: Path, width: int) -> None:
    kept = comparison(tmp_path, [], paragraphs("0123456789" * 3))

    assert all(len(text(line, "new")) <= 10 for line in kept.view(width=width).lines(0, 99))
