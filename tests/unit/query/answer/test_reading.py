"""What of the passages is read, and what a reading does to the chances of sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from core.errors import ModelUnavailable
from core.model import BlockKind, Stretch, StretchReading
from core.query.answer import extract
from core.query.answer.candidates import Candidate, find_candidates
from core.query.answer.extract import extract_answer
from core.query.answer.question_profile import read_question
from core.query.answer.read_confidence import CERTAIN_FROM
from core.query.answer.reading import (
    ReadingStage,
    marked,
    read,
    read_in_order,
    weighed,
    window,
    windows,
    windows_in_order,
)
from tests.unit.query.answer.test_extract import CANTEEN, PLANT, hits_for, 工場

QUESTION = "How many people does the plant employ?"


class FoundAtWord:
    """Takes the sentence with a word for the answer, and nothing else."""

    name = "found-at-word"

    def __init__(self, word: str) -> None:
        self._word = word
        self.seen: list[Stretch] = []

    def load(self) -> None: ...

    def read(self, question: str, stretches: Sequence[Stretch]) -> list[StretchReading]:
        self.seen += stretches
        return [self._of(stretch) for stretch in stretches]

    def _of(self, stretch: Stretch) -> StretchReading:
        at = stretch.text.rfind(self._word)
        inside = [float(start <= at < end) * 0.9 for start, end in stretch.sentences]
        is_there = at >= 0
        sure = 0.95 if is_there else 0.05
        end = max(0, at) + len(self._word) if is_there else 1
        within = tuple((at, end) if start <= at < last else (start, start) for start, last in stretch.sentences)
        return StretchReading(sure, 4.0 * is_there, max(0, at), end, sure, tuple(inside), tuple(inside), within)


class Broken(FoundAtWord):
    def load(self) -> None:
        raise ModelUnavailable("no weights")

    def read(self, question: str, stretches: Sequence[Stretch]) -> list[StretchReading]:
        raise ModelUnavailable("no weights")


def found(question: str, *texts: str, **how: object) -> list[Candidate]:
    hits = hits_for(question, *texts, **how)
    return find_candidates(read_question(question, hits), hits)


def reading_of(reader: FoundAtWord, account: dict[str, object]) -> Callable[..., object]:
    stage = ReadingStage(lambda: reader)
    return lambda question, candidates: stage.read(question, candidates, account)


def test_sentences_are_read_as_they_stand() -> None:
    candidates = found(QUESTION, PLANT, CANTEEN)
    for made in windows(candidates):
        for candidate, (start, end) in zip(made.candidates, made.stretch.sentences, strict=True):
            assert made.stretch.text[start:end] == candidate.text
        assert len({candidate.hit.placed.id for candidate in made.candidates}) == 1


def test_no_sentence_is_the_seed_of_two_windows_and_none_more_are_made_than_allowed() -> None:
    candidates = found(QUESTION, *[f"{PLANT} {PLANT} {number}" for number in range(5)])
    assert len(windows(candidates, 3)) == 3
    every = windows(candidates, 100)
    assert {id(each) for window in every for each in window.candidates} == {id(each) for each in candidates}


def test_the_first_passages_are_read_though_they_share_no_word() -> None:
    read_ids = {w.candidates[0].hit.placed.id for w in windows(found(QUESTION, 工場, PLANT, CANTEEN), 3)}
    assert read_ids == {1, 2, 3}


def test_a_stretch_stands_under_the_heading_of_its_own_section() -> None:
    jobs = "9.4.13. Jobs\n\nThe plant makes lenses."
    text = f"{jobs}\n\n9.4.14. Dogs of the plant\n\nTwo dogs guard it.\n\nTip\n\nThey bite."
    candidates = found("Who guards the plant?", text)
    assert [each.text for each in candidates if each.features["heading"]] == [
        "9.4.13. Jobs",
        "9.4.14. Dogs of the plant",
        "Tip",
    ]
    dogs = [each for each in candidates if "dogs" in each.text or "bite" in each.text]
    assert {each.unit.section for each in dogs} == {"9.4.14. Dogs of the plant"}
    assert window(dogs, dogs[0]).stretch.above.endswith("9.4.14. Dogs of the plant")


def test_a_row_is_read_under_its_header() -> None:
    table = "Part | Pressure\nPump | 12 bar\nValve | 30 bar"
    candidates = found("What is the pressure of the valve?", table, kind=BlockKind.TABLE)
    assert any(window.stretch.text.startswith("Part | Pressure\n") for window in windows(candidates))


def test_chances_sum_to_one_and_follow_the_reader() -> None:
    candidates = found(QUESTION, PLANT, CANTEEN)
    reader = FoundAtWord("quiet")
    moved = weighed(candidates, read(reader, QUESTION, candidates))
    assert sum(each.chance for each in moved) == pytest.approx(1.0)
    before = {each.start: each.chance for each in candidates if each.hit.rank == 1}
    after = {each.start: each.chance for each in moved if each.hit.rank == 1}
    quiet = next(each.start for each in candidates if "quiet" in each.text)
    assert after[quiet] > before[quiet]
    assert weighed([], []) == []


def test_the_mark_is_in_the_sentence_that_holds_it() -> None:
    candidates = found(QUESTION, PLANT, CANTEEN)
    mark = marked(read(FoundAtWord("3,776"), QUESTION, candidates))
    assert mark is not None
    assert mark.candidate.text[mark.start : mark.end] == "3,776"


def test_a_mark_in_a_label_belongs_to_the_sentence_below_it() -> None:
    candidates = found(QUESTION, "Part | Pressure\nPump | 12 bar\nValve | 30 bar", kind=BlockKind.TABLE)
    mark = marked(read(FoundAtWord("Pressure"), QUESTION, candidates))
    assert mark is not None
    assert (mark.text, mark.start, mark.end) == ("Pressure", 0, 0)


def test_what_was_read_to_order_passages_is_not_read_again() -> None:
    candidates = found(QUESTION, PLANT, CANTEEN)
    reader = FoundAtWord("3,776")
    before = read_in_order(reader, QUESTION, candidates)
    seen = len(reader.seen)
    after = read(reader, QUESTION, candidates, known=before)
    assert len(reader.seen) == seen
    assert [one.reading for one in after] == [one.reading for one in before]
    assert sum(one.share for one in after) == pytest.approx(1.0)


def test_windows_are_of_good_passages_and_of_promising_sentences() -> None:
    filler = " ".join(
        f"The harbour of plant {number} is repaired every spring by its own people." for number in range(30)
    )
    candidates = found(
        QUESTION, f"{PLANT} {filler}", f"{filler} {PLANT}", *[f"{number} {filler}" for number in range(7)]
    )
    made = windows_in_order(candidates, 6)
    ranks = [each.candidates[0].hit.rank for each in made]
    assert len(made) == 6
    assert max(ranks.count(rank) for rank in ranks) <= 3
    assert ranks[0] == 1
    answering = [each for each in made if "3,776" in each.stretch.text]
    assert {each.candidates[0].hit.rank for each in answering} == {1, 2}, "whatever stands around what may answer"


@pytest.mark.parametrize(
    ("sentence", "answer", "is_strange"),
    [
        ("The harbour of pier {} is repaired every spring.", "At Hakone 3,776 hands build pumps for ships.", True),
        ("The canteen of plant {} is for its employees.", PLANT, False),
    ],
)
def test_a_passage_in_another_language_without_a_word_in_translation_is_read_as_far_as_there_is_room(
    sentence: str, answer: str, is_strange: bool
) -> None:
    """No word tells where in it the answer is, nor that it is less likely there than in the question's language."""
    question = "工場の従業員は何人ですか"
    sentences = [sentence.format(number) for number in range(30)]
    across = " ".join([*sentences[:20], answer, *sentences[20:]])
    own = " ".join(f"第{number}工場の従業員は食堂で昼食をとります。" for number in range(40))
    candidates = found(question, across, own, own.replace("昼食", "夕食"))
    made = windows_in_order(candidates, 12, "ja")
    ranks = [each.candidates[0].hit.rank for each in made]
    assert (ranks.count(1) > 3) is is_strange
    assert any("3,776" in each.stretch.text for each in made)
    assert {2, 3} <= set(ranks), "what is in the question's language is read as before"


def test_without_a_reader_or_with_a_broken_one_the_picker_answers() -> None:
    hits = hits_for(QUESTION, PLANT, CANTEEN)
    account: dict[str, object] = {}
    floor = extract_answer(QUESTION, hits)
    assert extract_answer(QUESTION, hits, read=reading_of(Broken(""), account)) == floor
    assert account == {"error": "model_unavailable"}


def test_a_question_in_a_language_that_was_not_learnt_is_left_to_the_picker() -> None:
    account: dict[str, object] = {}
    question = "Wie viele Menschen arbeiten in dem Werk in Hakone?"
    hits = hits_for(question, "Das Werk in Hakone beschäftigt 3,776 Menschen und baut Pumpen für Schiffe.", CANTEEN)
    floor = extract_answer(question, hits)
    assert extract_answer(question, hits, read=reading_of(FoundAtWord("quiet"), account)) == floor
    assert account == {}


def test_a_reading_is_accounted_for() -> None:
    account: dict[str, object] = {}
    hits = hits_for(QUESTION, PLANT, CANTEEN)
    answer = extract_answer(QUESTION, hits, threshold=0.0, read=reading_of(FoundAtWord("3,776"), account))
    assert "3,776" in answer.text
    assert account["name"] == "found-at-word"
    assert account["marked"] == "3,776"
    assert account["stretches"] == 2


def test_an_answer_that_was_read_and_is_not_certain_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    hits, read = hits_for(QUESTION, PLANT, CANTEEN), reading_of(FoundAtWord("3,776"), {})
    told = []
    for sure in (CERTAIN_FROM - 0.01, CERTAIN_FROM - 0.001):
        monkeypatch.setattr(extract, "read_confidence", lambda read, sure=sure: sure)
        told.append(extract_answer(QUESTION, hits, read=read).is_tentative)
    assert told == [True, False]
    assert not extract_answer(QUESTION, hits).is_tentative


ROOMS = "Room | Seats | Price\nBlue room | 12 | 40 EUR\nRed room | 30 | 75 EUR"


def answered(question, word, text):
    hits = hits_for(question, text)
    return extract_answer(
        question, hits, threshold=0.0, read=lambda asked, found: read(FoundAtWord(word), asked, found)
    )


def test_the_marked_words_stand_in_the_sentence_that_answers():
    answer = answered(QUESTION, "3,776", PLANT)
    assert [answer.text[slice(*place)] for place in answer.marked] == ["3,776"]


def test_in_a_row_the_cell_is_marked_whose_column_is_asked_for():
    answer = answered("What is the price of the red room?", "30", ROOMS)
    assert [answer.text[slice(*place)] for place in answer.marked] == ["75 EUR"]


def test_the_mark_is_where_the_words_were_read_and_not_where_their_letters_stand_first():
    answer = answered("How many volts does the drive need?", "5 volts", "A drive of 2.5 volts needs 5 volts.")
    assert [answer.text[slice(*place)] for place in answer.marked] == ["5 volts"]
    assert answer.text[: answer.marked[0][0]].endswith("needs ")
