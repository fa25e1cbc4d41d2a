"""A question tells the kind of its answer, and a sentence whether it offers such a thing."""

from __future__ import annotations

import pytest

from core.query.answer.answer_types import Expectation, expected_answer, names_again, offers
from core.query.answer.candidates import find_candidates
from core.query.answer.question_profile import read_question
from tests.unit.query.answer.test_extract import hits_for


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When does it start?", "date"),
        ("The office is closed today. When does it open?", "date"),
        ("Until when can I apply?", "date"),
        ("Tell me when the office opens", "date"),
        ("When?", "date"),
        ("When to apply?", "date"),
        ("When and where is it held?", "date"),
        ("How long is the warranty?", "date"),
        ("いつまで申し込めますか", "date"),
        ("What should I do when the printer jams?", "thing"),
        ("The dryer shows E5 when I start it. How do I fix it?", "thing"),
        ("What happens when I press the button?", "thing"),
        ("Does the lamp stay on when charging?", "thing"),
        ("いつも使うプリンターを変更する方法は？", "thing"),
        ("社員数は？", "number"),
        ("関数とは？", "thing"),
        ("引数は？", "thing"),
        ("変数とは", "thing"),
        ("What is the name of the plant?", "called"),
        ("What was the original title?", "called"),
        ("Which term describes a small leak?", "called"),
        ("この機能の名前は何ですか", "called"),
        ("別名を教えて", "called"),
        ("What should I do to change the user name?", "thing"),
        ("What happens if the file name is too long?", "thing"),
        ("名前の変更方法は？", "thing"),
        ("How do I reset the router?", "steps"),
        ("ルーターはどうやってリセットしますか", "steps"),
        ("How is the steel hardened?", "manner"),
    ],
)
def test_kind_is_read_from_the_words_of_the_question(question: str, kind: str) -> None:
    assert expected_answer(question).kind == kind


@pytest.mark.parametrize(
    ("question", "text", "is_offered"),
    [
        ("How long is the warranty?", "The warranty period is two years.", True),
        ("How long does it take?", "It takes 30 seconds.", True),
        ("How long does it take?", "It takes about 30 min.", True),
        ("When is it sent?", "It is sent within 5 business days.", True),
        ("How long is the trial?", "There is a 14-day trial.", True),
        ("How long is the power cable?", "The power cable measures 1.8 m.", True),
        ("When is it sent?", "The power cable measures 1.8 m.", False),
        ("When does the shop open?", "The shop opens at 9 a.m.", True),
        ("When does the shop open?", "The shop opens into the yard.", False),
        ("How often should I clean the filter?", "Clean the filter weekly.", True),
        ("How many filters are there?", "Clean the filter weekly.", False),
        ("締め日はいつですか", "締め日は毎月末日です。", True),
        ("会議はいつですか", "会議は毎週金曜日に開きます。", True),
        ("いつ届きますか", "5営業日以内に届きます。", True),
        ("支払いはいつですか", "翌月 10 日に支払います。", True),
        ("保証はいつまでですか", "保証は3か月です。", True),
        ("どのくらいの頻度で掃除しますか", "毎週掃除します。", True),
        ("保証はいつまでですか", "保証書を添えてください。", False),
    ],
)
def test_times_lengths_and_frequencies_are_offered(question: str, text: str, is_offered: bool) -> None:
    assert bool(offers(text, expected_answer(question), question)) is is_offered


@pytest.mark.parametrize("kind", ["thing", "steps"])
def test_a_kind_that_shows_in_no_text_is_offered_nothing(kind: str) -> None:
    assert not Expectation(kind).shows
    assert offers("Open at 9 a.m. every day.", Expectation(kind), "How often do I fix it?") == []


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        (
            "What should I do when the printer jams?",
            "If the printer jams, open the rear cover and pull out the paper.",
            "Printer jams were reduced in May 2021 by a new roller.",
        ),
        (
            "How do I reset the router?",
            "Press and hold the reset button of the router until the lamp blinks.",
            "The router comes with a reset tool and a cable.",
        ),
        (
            "How do I set the date and time on the camera?",
            "The camera date and time are entered in the menu.",
            "Set the camera on a tripod by hand.",
        ),
        ("How long is the warranty?", "The warranty period is two years.", "The warranty terms were revised in 2021."),
        (
            "経費精算の締め日はいつですか",
            "経費精算の締め日は毎月末日です。",
            "経費精算の締め日は2021年に変わりました。",
        ),
    ],
)
def test_what_answers_is_likelier_than_what_holds_the_same_words(question: str, right: str, wrong: str) -> None:
    hits = hits_for(question, f"{wrong} {right}")
    chances = {each.text: each.chance for each in find_candidates(read_question(question, hits), hits)}
    assert chances[right] > 0.3


@pytest.mark.parametrize(
    ("sentence", "before", "expected"),
    [
        ("When that happens, raise this limit.", "The limit is 5.", True),
        ("These options are for tests.", "There is an option for each.", True),
        ("値はこの制限を超えません。", "制限は5です。", True),
        ("Use an option that will work.", "It will rain.", False),
        ("By this time it is ready.", "It sometimes fails.", False),
        ("The limit is what this limit was.", "The limit is 5.", False),
        ("きのこの種類は多い。", "種類を選ぶ。", False),
    ],
)
def test_a_thing_is_named_again(sentence: str, before: str, expected: bool) -> None:
    assert names_again(sentence, before) is expected
