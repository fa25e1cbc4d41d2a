"""Light features tell which passage holds what the question asks for, in either language."""

from __future__ import annotations

import pytest

from core.model import Hit
from core.query.answer.question_profile import TRANSLATED, read_question
from core.query.search.features import looked_for, plain, scaled, text_features
from tests.builders import hit, placed


def features(question: str, text: str, title: str = "Title") -> dict[str, float]:
    found = Hit(1, placed(1, text, title=title), 0.03)
    return text_features(looked_for(read_question(question, [found])), found)


def test_every_feature_lies_between_zero_and_one() -> None:
    for question in ("How fast is the PPR-9087 pump?", "ポンプ「PPR-9087」の速さは?", "🙂", "a" * 3_000):
        values = features(question, "The pump PPR-9087 is fast. ポンプは速い。" * 50).values()
        assert all(0.0 <= value <= 1.0 + 1e-9 for value in values)


def test_the_title_counts_for_coverage_and_not_for_nearness() -> None:
    beside = features("travel meals", "Meals are paid.", title="Travel policy")
    without = features("travel meals", "Meals are paid.")
    assert beside["coverage"] == pytest.approx(1.0)
    assert without["coverage"] == pytest.approx(0.5)
    assert beside["window"] == without["window"]


def test_words_that_stand_together_count_more_than_words_far_apart() -> None:
    near = features("walnut harvest", "The walnut harvest begins. " + "Nothing else. " * 40)
    far = features("walnut harvest", "The walnut stands. " + "Nothing else. " * 40 + "A harvest.")
    assert near["window"] == pytest.approx(1.0)
    assert far["window"] == pytest.approx(0.5)
    assert near["coverage"] == far["coverage"]


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("What does the PPR-9087 cost?", "The PPR-9087 costs 5.", "The PPR-9088 costs 5."),
        ("Who said “the walls have ears”?", "She said the walls have ears.", "The ears of walls."),
        ("「桜の園」の作者は?", "桜の園は戯曲です。", "桜のある園です。"),
    ],
)
def test_codes_and_quoted_phrases_are_exact(question: str, right: str, wrong: str) -> None:
    assert features(question, right)["exact"] == 1.0
    assert features(question, wrong)["exact"] == 0.0


def test_inflected_words_are_found() -> None:
    assert features("Which studies?", "One study.")["coverage"] == pytest.approx(1.0)
    assert features("誰が書く?", "彼女が書いた。")["coverage"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("question", "text", "coverage"),
    [
        ("OS", "Most customers pay by phone; the cost is low.", 0.0),
        ("OS", "The os is old.", 1.0),
        ("OS", "三階のusbとosを使う。", 1.0),
        ("HR", "Three requests were approved in Chrome.", 0.0),
        ("port", "Reports support import and export.", 0.0),
        ("port", "The USB-port is at the back, two ports are in front.", 1.0),
        ("run", "It is running.", 1.0),
        ("run", "A runt in a rung.", 0.0),
        ("copy", "Copied and copying.", 1.0),
        ("copy", "The copper is copious.", 0.0),
        ("25", "Room 125 has 250 seats.", 0.0),
        ("25", "It weighs 25kg.", 1.0),
    ],
)
def test_a_term_is_found_as_a_word_of_its_own(question: str, text: str, coverage: float) -> None:
    looked = looked_for(read_question(question, []))
    assert text_features(looked, Hit(1, placed(1, text, title=text), 0.03))["coverage"] == pytest.approx(coverage)
    assert text_features(looked, Hit(1, placed(1, "-", title=text), 0.03))["coverage"] == pytest.approx(coverage)


def test_a_short_word_in_y_stands_together_with_others() -> None:
    assert features("copy page", "To copy a page press Copy.")["window"] == pytest.approx(1.0)


def test_a_term_that_the_keyword_leg_found_counts_as_held() -> None:
    assert features("zebra", "Nothing of it.")["coverage"] == 0.0
    assert text_features(looked_for(read_question("text", [])), hit(1, "text"))["coverage"] == 1.0


def test_a_table_of_contents_is_told_apart() -> None:
    contents = "Contents\n1 Care of the lens … 3\n2 Spare parts … 14"
    assert features("spare parts", contents)["contents"] == 1.0
    assert features("spare parts", "Spare parts are in the store.")["contents"] == 0.0


def test_scores_are_moved_to_zero_to_one() -> None:
    assert scaled([2.0, 4.0, 3.0]) == [0.0, 1.0, 0.5]
    assert scaled([7.0, 7.0]) == [1.0, 1.0]
    assert scaled([]) == []


def test_width_case_and_blanks_do_not_matter() -> None:
    assert plain("ＰＰＲ－９０８７\n  Pump") == "ppr-9087 pump"


@pytest.mark.parametrize(
    ("question", "text", "coverage"),
    [
        ("プリンターの設定", "The printer is set up in the hall.", TRANSLATED),
        ("printer driver", "プリンタードライバーを入れます。", TRANSLATED),
        ("printer driver", "プリンターを廊下に置きます。", TRANSLATED / 2),
        ("ログアウト", "You log out in the menu at the top of the page.", TRANSLATED),
        ("ログアウト", "The log of the server is kept for a year.", 0.0),
        ("printer driver", "The driver is a printer, プリンター。 He drives to the town every day.", 1.0),
    ],
)
def test_words_in_translation_count_for_less(question: str, text: str, coverage: float) -> None:
    assert features(question, text)["coverage"] == pytest.approx(coverage)


def test_words_in_translation_stand_together_as_others_do() -> None:
    near = features("プリンターと廊下", "The printer is in the corridor. " + "Nothing else is told. " * 40)
    far = features("プリンターと廊下", "The printer is old. " + "Nothing else is told. " * 40 + "So is the corridor.")
    assert near["window"] > far["window"] > 0.0


def test_headings_in_the_other_language_cover_a_question() -> None:
    held = features("プリンターの保守", "It is done every three months by its maker.", title="Printer")
    assert held["coverage"] == pytest.approx(TRANSLATED / 2)
    assert held["window"] == 0.0


def test_words_of_the_other_language_in_a_passage_of_the_questions_own_are_none_of_its() -> None:
    assert features("プリンターの設定", "これは printer と set という英語の説明です。")["coverage"] == 0.0
