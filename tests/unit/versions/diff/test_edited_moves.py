"""Lines that were moved and edited are one pair at two places, where they are clearly the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.model import Block, BlockKind, Change, Row
from core.versions.diff.difference import apply, mirror
from core.versions.diff.export_html import export_html
from tests.unit.versions.compared import comparison
from tests.unit.versions.texts import Blocks, paragraphs, parsed, rows_between, table

_HEADER = "Item | Price | Stock"
_OLD = table(_HEADER, "Lamp | 100 | 7", "Chair | 55 | 12", "Desk | 310 | 3", "Press | 12.5 | 9")
_NEW = table(_HEADER, "Desk | 320 | 3", "Lamp | 100 | 7", "Chair | 55 | 12", "Press | 12.5 | 9")

_RULES = [
    "The harbour opens at six in the morning and closes at ten in the evening.",
    "Ferries to the islands leave every 20 minutes from the northern pier.",
    "Tickets are sold at the counter beside the old customs house.",
    "Bicycles travel free of charge, motorcycles pay half the fare.",
]
_JAPANESE = [
    "宿泊料は実費を支給し、上限は一泊につき一万二千円とする。",
    "日当は出張の日数に応じて三千円を支給する。",
    "領収書は帰着後七日以内に経理課へ提出しなければならない。",
]


def moves(old: Blocks, new: Blocks) -> list[tuple[str, str]]:
    """The texts of both places of each move."""
    rows = rows_between(old, new)
    found: dict[int, list[Row]] = {}
    for row in rows:
        if row.move is not None:
            found.setdefault(row.move, []).append(row)
    sides = [{row.change: (row.old or row.new) for row in pair} for pair in found.values()]
    return [(side[Change.REMOVED].text, side[Change.ADDED].text) for side in sides]  # type: ignore[union-attr]


def test_a_row_that_was_moved_and_edited_is_a_pair_by_its_name() -> None:
    assert moves(_OLD, _NEW) == [("Desk | 310 | 3", "Desk | 320 | 3")]


def test_a_short_row_that_was_only_moved_is_a_move() -> None:
    new = table(_HEADER, "Desk | 310 | 3", "Lamp | 100 | 7", "Chair | 55 | 12", "Press | 12.5 | 9")

    assert moves(_OLD, new) == [("Desk | 310 | 3", "Desk | 310 | 3")]


def test_what_was_edited_in_a_moved_row_is_marked_at_both_places() -> None:
    rows = [row for row in rows_between(_OLD, _NEW) if row.move is not None]
    marked = {row.change: [word.text for word in row.words if word.change is not Change.EQUAL] for row in rows}

    assert marked == {Change.ADDED: ["320"], Change.REMOVED: ["310"]}


def test_the_number_of_a_moved_row_is_listed_as_changed(tmp_path: Path) -> None:
    kept = comparison(tmp_path, _OLD, _NEW)

    (value,) = kept.summary.values
    assert (value.old, value.new) == ("310", "320")
    assert kept.rows(value.row, value.row + 1)[0].move is not None
    tally = kept.summary.tally
    assert (tally.moved, tally.added, tally.removed, tally.changed, tally.cells_changed) == (1, 0, 0, 0, 1)
    assert (tally.words_added, tally.words_removed) == (1, 1)


@pytest.mark.parametrize("mode", ["side", "inline"])
def test_a_kept_move_shows_what_was_edited(tmp_path: Path, mode: str) -> None:
    kept = comparison(tmp_path, _OLD, _NEW)
    lines = [line for line in kept.view(mode=mode).lines(0, 100) if line.edited]
    texts = {line.change: dict(line.merged or line.old or line.new) for line in lines}

    assert {change: pieces[change] for change, pieces in texts.items()} == {"added": "320", "removed": "310"}
    assert [line.move_target for line in lines] == [line.row for line in reversed(lines)]


def test_rows_that_are_kept_are_those_that_were_computed(tmp_path: Path) -> None:
    kept = comparison(tmp_path, _OLD, _NEW)

    assert kept.rows(0, kept.count) == rows_between(_OLD, _NEW)


def test_the_page_of_a_comparison_marks_what_was_edited(tmp_path: Path) -> None:
    kept = comparison(tmp_path, _OLD, _NEW)

    page = "".join(export_html(kept, {}))

    assert "Desk | <ins>320</ins> | 3" in page and "Desk | <del>310</del> | 3" in page


def test_two_rows_of_one_name_are_no_pair() -> None:
    old = table(_HEADER, "Lamp | 100 | 7", "Chair | 55 | 12", "Desk | 310 | 3", "Stool | 7 | 1", "Press | 12.5 | 9")
    new = table(_HEADER, "Desk | 320 | 3", "Lamp | 100 | 7", "Desk | 330 | 4", "Stool | 7 | 1", "Press | 12.5 | 9")

    assert all(was.split(" | ")[0] == "Chair" for was, _now in moves(old, new))


def test_a_row_of_another_table_is_no_pair() -> None:
    new = [*table(_HEADER, "Lamp | 100 | 7", "Chair | 55 | 12", "Press | 12.5 | 9"), Block("Elsewhere")]
    other = table("Item | Length | Width", "Desk | 320 | 3", "Sofa | 7 | 9")

    assert moves(_OLD, [*new, *other]) == []


@pytest.mark.parametrize(
    ("lines", "at", "edited"),
    [
        (_RULES, 1, "Ferries to the islands leave every 30 minutes from the northern pier."),
        (_RULES, 0, "The harbour opens at seven in the morning and closes at ten in the evening."),
        (_JAPANESE, 0, "宿泊料は実費を支給し、上限は一泊につき一万五千円とする。"),
    ],
)
def test_a_sentence_that_was_moved_and_edited_is_a_pair(lines: list[str], at: int, edited: str) -> None:
    rest = [line for place, line in enumerate(lines) if place != at]
    place = len(rest) if at < 2 else 0
    new = [*rest[:place], edited, *rest[place:]]

    assert moves(paragraphs(*lines), paragraphs(*new)) == [(lines[at], edited)]
    rows = rows_between(paragraphs(*lines), paragraphs(*new))
    assert apply(parsed(paragraphs(*lines)), rows) == parsed(paragraphs(*new))
    assert mirror(rows) == rows_between(paragraphs(*new), paragraphs(*lines))


def test_a_sentence_that_has_a_rival_is_no_pair() -> None:
    def rule(thing: str, days: int) -> str:
        return f"Whoever borrows a {thing} from the store brings it back within {days} days."

    old = paragraphs(rule("lamp", 3), "Nothing is lent on holidays.", rule("pump", 4), "The store opens at nine.")
    new = paragraphs("Nothing is lent on holidays.", rule("pump", 4), "The store opens at nine.", rule("saw", 3))

    assert moves(old, new) == []


def test_a_renumbered_heading_of_a_moved_chapter_is_moved_with_it() -> None:
    def chapter(number: int, title: str, *texts: str) -> Blocks:
        return [Block(f"{number} {title}", BlockKind.HEADING, level=1), *paragraphs(*texts)]

    first, second = ("Opening hours of the harbour", *_RULES[:2]), ("Tickets and bicycles aboard", *_RULES[2:])

    found = moves([*chapter(1, *first), *chapter(2, *second)], [*chapter(1, *second), *chapter(2, *first)])

    assert any(was != now and was[1:] == now[1:] for was, now in found)
