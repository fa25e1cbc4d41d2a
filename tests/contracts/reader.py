"""What every reader does, whatever the model; subclass it and give a ``reader`` fixture."""

from __future__ import annotations

import threading

import pytest

from core.model import Stretch
from core.ports import Reader

PLANT = (
    "The Hakone plant was opened in 1987 by Keiko Mori.",
    "It stands between two rivers and is reached by a narrow road.",
    "The plant employs 3,776 people and makes pumps for ships.",
)
食堂 = ("食堂では米と汁物を出す。", "昼食は650円である。", "11時に開く。")
ODD = ("", " ", "\n", "\0", "\ud800", "ﷺ" * 40, "👩‍👩‍👧" * 9, "x" * 900, "word " * 600)


def stretch(*sentences: str, above: str = "") -> Stretch:
    text, spans = "", []
    for sentence in sentences:
        spans.append((len(text), len(text) + len(sentence)))
        text += sentence + "\n"
    return Stretch(text, tuple(spans), above)


class ReaderContract:
    """Tests of the port."""

    def test_nothing_to_read_gives_no_readings(self, reader: Reader) -> None:
        assert reader.read("Who opened the plant?", []) == []

    def test_a_reading_has_chances_and_places_of_its_own_stretch(self, reader: Reader) -> None:
        own = stretch(*PLANT, above="Plants")
        (reading,) = reader.read("How many people does the plant employ?", [own])
        assert 0 <= reading.answers <= 1
        assert 0 <= reading.span <= 1
        assert 0 <= reading.start < reading.end <= len(own.text)
        for chances in (reading.by_sentence, reading.by_start):
            assert len(chances) == len(PLANT)
            assert min(chances) >= 0
            assert sum(chances) <= 1 + 1e-5
        assert len(reading.within) == len(PLANT)
        for (first, last), (start, end) in zip(own.sentences, reading.within, strict=True):
            assert first <= start <= end <= last

    def test_what_is_read_beside_it_changes_no_reading(self, reader: Reader) -> None:
        question = "昼食はいくらですか?"
        stretches = [stretch(*食堂), stretch(*PLANT), stretch(*PLANT[:1], above="Plants"), stretch(*食堂[1:])]
        together = reader.read(question, stretches)
        alone = [reader.read(question, [one])[0] for one in stretches]
        turned = reader.read(question, stretches[::-1])[::-1]
        assert together == alone == turned

    def test_threads_read_beside_each_other(self, reader: Reader) -> None:
        stretches = [stretch(*PLANT), stretch(*食堂)]
        expected = reader.read("Who opened it?", stretches)
        wrong: list[object] = []

        def work() -> None:
            for _ in range(3):
                if (got := reader.read("Who opened it?", stretches)) != expected:
                    wrong.append(got)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []

    @pytest.mark.parametrize("text", ODD)
    def test_odd_texts_and_questions_are_read(self, reader: Reader, text: str) -> None:
        for question, own in ((text, stretch(*PLANT)), ("Who?", stretch(text)), ("Who?", stretch(*PLANT, above=text))):
            (reading,) = reader.read(question, [own])
            assert reading.answers == reading.answers
            assert 0 <= reading.start <= reading.end <= len(own.text)

    def test_a_stretch_that_answers_is_told_from_one_that_does_not(self, reader: Reader) -> None:
        for question, right, wrong in (
            ("How many people does the plant employ?", PLANT, 食堂),
            ("昼食はいくらですか?", 食堂, PLANT),
        ):
            answers, other = reader.read(question, [stretch(*right), stretch(*wrong)])
            assert answers.answers > other.answers
            assert answers.relevance > other.relevance
