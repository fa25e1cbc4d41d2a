"""What two questions must share to mean the same, whatever their embeddings say."""

from __future__ import annotations

import pytest

from core.query.understand.paraphrase import names_hash

ALIKE = [
    ("When does the museum open?", "At what time does the museum open?"),
    ("Where is the emergency exit?", "Where can I find the emergency exit?"),
    ("Tell me the opening hours of the library", "What are the opening hours of the library?"),
    ("How long is the warranty?", "How long does the warranty last?"),
    ("What is the yearly fee?", "what is the yearly fee"),
    ("Could you tell me the yearly fee?", "Tell me the yearly fee"),
    ("Is a badge needed?", "Is the badge needed?"),
    ("旅費の上限はいくらですか", "旅費の上限はいくらでしょうか"),
    ("防災訓練はいつ行われますか", "防災訓練はいつ実施されますか"),
]
UNLIKE = [
    ("What was the revenue in 2024?", "What was the revenue in 2025?"),
    ("Who is Jared Allen?", "Who is Luke Kuechly?"),
    ("How heavy is the DHC-2140?", "How heavy is the DHC-2150?"),
    ("When does the museum open?", "When does the museum close?"),
    ("When does the museum open?", "When did the museum open?"),
    ("When was the pump checked?", "Where was the pump checked?"),
    ("Who did Ann pay?", "Who paid Ann?"),
    ("Is smoking allowed?", "Is smoking not allowed?"),
    ("What must be done before the test?", "What must be done after the test?"),
    ("Books by Luther", "Books about Luther"),
    ("What is the fee?", "What is the fee for the sign language?"),
    ("What is the limit for > 5 people?", "What is the limit for < 5 people?"),
    ("Is +5 allowed?", "Is -5 allowed?"),
    ("Is −5 allowed?", "Is 5 allowed?"),
    ("What is form A?", "What is form I?"),
    ("What is form A?", "What is a form?"),
    ("Must employees wear badges?", "May employees wear badges?"),
    ("How many days can I take?", "How many days must I take?"),
    ("When must I register?", "When can I register?"),
    ("Do I have to come?", "Do I get to come?"),
    ("Who was the last president?", "Who was the president?"),
    ("Who is the current president?", "Who is the president?"),
    ("What does he earn?", "What does she earn?"),
    ("A社がB社を買収したのはいつですか", "A社をB社が買収したのはいつですか"),
    ("田中さんは佐藤さんに何を渡した", "田中さんに佐藤さんは何を渡した"),
    ("様式Aとは何ですか", "様式Iとは何ですか"),
    ("国内出張の日当はいくらですか", "海外出張の日当はいくらですか"),
    ("開館時間は何時ですか", "閉館時間は何時ですか"),
    ("申請は誰が承認しますか", "申請は誰が承認しましたか"),
    ("東京から大阪までの運賃はいくらですか", "大阪から東京までの運賃はいくらですか"),
    ("五日以上の休暇はどう申請しますか", "五日未満の休暇はどう申請しますか"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_other_words_for_the_same_question(one: str, other: str) -> None:
    assert names_hash(one) == names_hash(other)


@pytest.mark.parametrize(("one", "other"), UNLIKE)
def test_questions_that_only_look_the_same(one: str, other: str) -> None:
    assert names_hash(one) != names_hash(other)
