"""What the reader learns from of that which it takes for answers is what somebody judged, and not what may answer."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.reader_training.asked import JUDGED, Asked, Judged, also_right, asked, judged
from benchmarks.reader_training.mined import SET, ReadQuestion, Seen, chosen, right_too
from core.model import Stretch


def seen(text: str, relevance: float, answers: float = 0.1, place: tuple[int, int] | None = None) -> Seen:
    return Seen(Stretch(text, ((0, len(text)),), "Pumps"), relevance, answers, text[:4], place)


def question(wrong: Sequence[Seen], *, kind: str = "value", ahead: float = 9.0) -> ReadQuestion:
    right = [seen("It opens at 11 bar.", ahead, place=(12, 18))] if kind != "none" else []
    return ReadQuestion(7, Asked("When does it open?", "en", "pumps.txt", kind, "learnt"), right, wrong, right)


def openings(row: ReadQuestion, known: dict[tuple[int, str], bool]) -> set[str]:
    return {each.stretch.text for each in chosen(row, known, random.Random(1))}


def test_what_the_reader_prefers_is_learnt_from_only_where_it_was_judged() -> None:
    wrong = [seen("It closes at 3 bar.", 9.5), seen("It is red.", 7.0), seen("It is old.", 6.5)]
    row = question(wrong)
    assert openings(row, {}) == {"It is red.", "It is old."}
    assert openings(row, {(7, wrong[0].opening): True}) == {"It is red.", "It is old."}
    assert openings(row, {(7, wrong[0].opening): False}) == {each.stretch.text for each in wrong}


def test_what_holds_the_words_of_the_answer_is_learnt_from_only_where_it_was_judged() -> None:
    wrong = [seen("Above 11\nbar it leaks.", 7.0), seen("It takes 111 bar.", 6.5), seen("It is old.", 6.0)]
    row = question(wrong)
    assert openings(row, {}) == {"It takes 111 bar.", "It is old."}
    assert openings(row, {(7, wrong[0].opening): False}) == {each.stretch.text for each in wrong}


def test_what_seems_to_answer_a_question_without_an_answer_is_left_out_unless_it_was_judged() -> None:
    wrong = [seen("It weighs about 3 kg.", 9.0, 0.8), seen("It is red.", 7.0, 0.3), seen("It is old.", 6.0)]
    row = question(wrong, kind="none")
    assert openings(row, {}) == {"It is red.", "It is old."}
    assert "It weighs about 3 kg." in openings(row, {(7, wrong[0].opening): False})


def test_words_that_were_found_right_in_another_place_are_a_right_answer() -> None:
    other, third = seen("Above\n11 bar it opens.", 9.5), seen("It opens above eleven.", 9.0)
    row = question([other, third])
    judgements = {(7, other.opening): Judged(7, other.opening, True, answer=("11 bar", "11 bar"))}
    judgements[7, third.opening] = Judged(7, third.opening, True)
    (found,) = right_too(row, judgements)
    assert found.place is not None and found.stretch.text[slice(*found.place)] == "11 bar"


@pytest.mark.parametrize(("ahead", "least", "most"), [(9.0, 200, 200), (20.0, 50, 110)])
def test_what_the_reader_finds_easy_is_mostly_left_out(ahead: float, least: int, most: int) -> None:
    row = question([seen(f"It has {number} screws.", 7.0) for number in range(6)], ahead=ahead)
    taken = sum(bool(chosen(row, {}, random.Random(seed))) for seed in range(200))
    assert least <= taken <= most


def test_the_judgements_are_of_stretches_that_were_read_for_a_question() -> None:
    known, every = judged(SET), asked(SET)
    assert len(known) > 1_000
    assert 0.1 < sum(one.is_answer for one in known) / len(known) < 0.4
    assert all(one.opens and one.question < len(every) for one in known)


def test_another_place_that_answers_as_well_is_right_too(tmp_path: Path) -> None:
    own = {"question": "When?", "language": "en", "document": "a.txt", "kind": "value", "part": "kept"}
    (tmp_path / "questions.jsonl").write_text(json.dumps(own | {"around": ["At", "9."], "answer": ["9", "9"]}), "utf-8")
    assert judged(tmp_path) == [] and also_right(tmp_path) == {}
    place = {"document": "b.txt", "around": ["From", "9."], "answer": ["9", "9"]}
    rows = [
        {"question": 0, "opens": "Itcloses", "is_answer": False},
        {"question": 0, "opens": "From9", "is_answer": True, **place},
    ]
    (tmp_path / JUDGED).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert judged(tmp_path)[0] == Judged(0, "Itcloses", False)
    (other,) = also_right(tmp_path)[0]
    assert (other.document, other.around, other.question) == ("b.txt", ("From", "9."), "When?")
