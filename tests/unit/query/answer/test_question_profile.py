"""The terms of a question are what it is about, not the words that only ask."""

from __future__ import annotations

import pytest

from core.query.answer.question_profile import TRANSLATED, read_question


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("How do I set the date and time on the camera?", {"set", "date", "time", "camera"}),
        ("What is the date of the contract?", {"contract"}),
        ("What year was the plant opened?", {"plant", "open"}),
        ("What is the maximum number of users?", {"maximum", "user"}),
        ("Which file types are supported?", {"file", "support"}),
        ("How do I change the name of a file?", {"chang", "name", "file"}),
        ("What is the name of the name server?", {"name", "server"}),
        ("How do I print a document?", {"print", "document"}),
        ("According to the document, who pays?", {"pay"}),
        ("Who pays in this week's documents?", {"pay", "week"}),
        ("Please tell me the number of seats", {"seat"}),
        ("名前の変更方法は？", {"名前", "変更", "方法"}),
        ("工場の名前は？", {"工場"}),
        ("工場の名前を教えて", {"工場"}),
        ("この資料では誰が払いますか", {"払う"}),
    ],
)
def test_words_count_where_they_are_the_subject(question: str, terms: set[str]) -> None:
    assert set(read_question(question, []).weights) == terms


@pytest.mark.parametrize(
    ("question", "held", "coverage"),
    [
        ("プリンターの設定", {"プリンタ", "設定"}, 1.0),
        ("プリンターの設定", {"printer", "set"}, TRANSLATED),
        ("プリンターの設定", {"プリンタ", "設定", "printer", "set"}, 1.0),
        ("プリンターの設定", {"プリンタ", "set"}, (1 + TRANSLATED) / 2),
        ("プリンターの設定", {"harbour"}, 0.0),
        ("printer driver", {"プリンタ"}, TRANSLATED / 2),
        ("ログアウト", {"log", "out"}, TRANSLATED),
        ("ログアウト", {"log"}, 0.0),
    ],
)
def test_terms_in_translation_count_for_less_and_a_compound_as_a_whole(
    question: str, held: set[str], coverage: float
) -> None:
    assert read_question(question, []).coverage(held) == pytest.approx(coverage)


def test_a_question_in_a_third_language_is_covered_by_its_own_words_alone() -> None:
    profile = read_question("Wo steht der Drucker?", [])
    assert profile.coverage({"printer", "プリンタ"}) == 0.0
