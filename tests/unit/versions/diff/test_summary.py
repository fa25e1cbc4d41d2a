"""What the summary counts and lists."""

from __future__ import annotations

from pathlib import Path

from core.model import Change, ChapterChange, Tally
from core.versions.diff import summary as summaries
from tests.unit.versions.compared import comparison, paragraphs, table


def test_lines_and_words_are_counted_by_kind(tmp_path: Path) -> None:
    old = paragraphs("The first line stays here.", "The second line has a word.", "A third line goes away for good.")
    new = paragraphs("The first line stays here.", "The second line has a thing.", "Quite new text: four more words.")

    tally = comparison(tmp_path, old, new).summary.tally

    assert tally == Tally(changed=1, added=1, removed=1, words_added=7, words_removed=8)


def test_a_moved_line_counts_once_and_as_neither_added_nor_removed(tmp_path: Path) -> None:
    same = [f"Sentence number {number} stays where it is." for number in range(12)]
    moved = "This long sentence about the harbour is moved to another place."

    found = comparison(tmp_path, paragraphs(moved, *same), paragraphs(*same, moved)).summary

    assert found.tally == Tally(moved=1)
    assert not found.is_equal


def test_both_versions_are_measured_whole(tmp_path: Path) -> None:
    found = comparison(
        tmp_path, paragraphs("one two", "three"), paragraphs("one two", "契約書の期間"), names=("x", "y")
    )

    old, new = found.summary.old, found.summary.new
    assert (old.name, old.version, old.lines, old.words, old.characters) == ("x", 1, 2, 3, 14)
    assert (new.name, new.version, new.lines, new.words, new.characters) == ("y", 2, 2, 5, 15)


def test_equal_texts_have_an_empty_summary(tmp_path: Path) -> None:
    text = paragraphs("# Title", "one", "two 2")

    found = comparison(tmp_path, text, text).summary

    assert found.is_equal and found.tally == Tally()
    assert not found.values and not found.chapters and not found.metadata and not found.notices
    assert all(cell.first_change is None for cell in found.strip)


def test_a_line_break_alone_is_no_change(tmp_path: Path) -> None:
    found = comparison(tmp_path, paragraphs("one", "two"), paragraphs("one\ntwo"))

    assert found.summary.is_equal and found.summary.tally == Tally()
    assert [line.change for line in found.view().lines(0, 9)] == ["equal", "equal"] or found.view().total == 1


def test_chapters_say_what_changed_under_each_heading(tmp_path: Path) -> None:
    old = paragraphs("# One", "a line of text", "## Part", "some other words here", "# Two", "untouched")
    new = paragraphs(
        "# One", "a line of words", "## Part", "some other words here", "all new in here", "# Two", "untouched"
    )

    found = comparison(tmp_path, old, new).summary

    assert found.chapters == (
        ChapterChange(("One",), 1, Tally(changed=1, words_added=1, words_removed=1)),
        ChapterChange(("One", "Part"), 4, Tally(added=1, words_added=4)),
    )


def test_very_many_chapters_are_merged_into_those_above_them(tmp_path: Path) -> None:
    titles = [f"## Section {number}" for number in range(summaries.MOST_CHAPTERS + 5)]
    old = paragraphs("# Top", *(text for title in titles for text in (title, f"Text of {title} is one thing.")))
    new = paragraphs("# Top", *(text for title in titles for text in (title, f"Text of {title} is another thing.")))

    kept = comparison(tmp_path, old, new)

    assert [chapter.heading_path for chapter in kept.summary.chapters] == [("Top",)]
    assert "chapters_merged" in kept.summary.notices
    assert kept.view(chapter=0, folded=False).total == kept.count


def test_numbers_and_dates_come_with_row_and_section(tmp_path: Path) -> None:
    old = paragraphs("# 料金", "第2条 料金は1,200円とし、2026年11月21日に支払う。")
    new = paragraphs("# 料金", "第2条 料金は1,500円とし、2026年12月21日に支払う。")

    found = comparison(tmp_path, old, new).summary.values

    assert [(value.kind, value.old, value.new) for value in found] == [
        ("number", "1,200円", "1,500円"),
        ("date", "2026年11月21日", "2026年12月21日"),
    ]
    assert {(value.row, value.heading_path) for value in found} == {(1, ("料金",))}


def test_values_of_tables_are_those_of_the_cells_that_changed(tmp_path: Path) -> None:
    old = [table("Item | Price | Stock", "Lamp | 100 | 7", "Chair | 55 | 12")]
    new = [table("Item | Price | Stock", "Lamp | 120 | 7", "Chair | 55 | 12")]

    found = comparison(tmp_path, old, new).summary

    assert [(value.old, value.new) for value in found.values] == [("100", "120")]
    assert found.tally.cells_changed == 1


def test_the_strip_covers_all_rows_and_jumps_to_changes(tmp_path: Path) -> None:
    lines = [f"Line number {number} of many." for number in range(1000)]
    changed = [line + " Edited!" if number in (500, 501, 999) else line for number, line in enumerate(lines)]

    strip = comparison(tmp_path, paragraphs(*lines), paragraphs(*changed)).summary.strip

    assert len(strip) == summaries.STRIP_CELLS
    assert sum(cell.rows for cell in strip) == 1000
    assert [cell.first_change for cell in strip if cell.changed] == [500, 999]
    assert sum(cell.changed for cell in strip) == 3


def test_metadata_that_differ_are_listed(tmp_path: Path) -> None:
    old = {"title": "Rules", "author": "A. Writer", "pages": 3, "parser": "docx"}
    new = {"title": "Rules", "pages": 4, "language": "ja", "parser": "pdf"}

    found = comparison(tmp_path, [], [], metadata=(old, new)).summary.metadata

    assert [(change.name, change.change, change.old, change.new) for change in found] == [
        ("author", Change.REMOVED, "A. Writer", None),
        ("language", Change.ADDED, None, "ja"),
        ("pages", Change.CHANGED, 3, 4),
    ]


def test_a_coarse_comparison_says_so(tmp_path: Path) -> None:
    found = comparison(tmp_path, paragraphs("one old line"), paragraphs("one new line"), coarse=True)

    assert {"coarse_alignment", "words_skipped"} <= set(found.summary.notices)
    assert not found.summary.is_equal
