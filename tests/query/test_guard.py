"""The guard keeps what the context supports and drops what a generator made up."""

import pytest

from core.model import Answer, AnswerType, Citation
from core.query.guard import check, settle

CONTEXT = """The Hakone plant was opened in 1987 and employs 3,776 people. It makes pumps and valves.
See https://plant.example.com/report for the yearly report."""
QUESTION = "How many people work at the Hakone plant?"
JAPANESE = "箱根工場は1987年に開設され、3,776人が働いている。主にポンプとバルブを製造する。"


def judge(answer, context=CONTEXT, question=QUESTION, language="en", **options):
    return check(answer, context, question, language, **options)


def test_answer_in_the_words_of_the_context_is_kept():
    result = judge("The Hakone plant employs 3,776 people [1].")
    assert result.kept
    assert result.overlap == 1
    assert result.reason == ""


def test_answer_in_other_words_than_the_context_is_dropped():
    result = judge("Bananas ripen faster inside paper bags during summer.")
    assert (result.kept, result.reason) == (False, "low_overlap")
    assert result.overlap == 0


def test_overlap_is_the_share_of_content_words_and_the_limit_decides():
    answer = "Pumps delight tall giraffes"
    assert judge(answer).overlap == pytest.approx(0.25)
    assert judge(answer, min_overlap=0.25).kept
    assert not judge(answer, min_overlap=0.26).kept


def test_japanese_answer_is_held_against_a_japanese_context():
    question = "箱根工場では何人が働いているか"
    assert judge("３７７６人が働いています。", JAPANESE, question, "ja").kept
    assert judge("富士山の頂上には神社と測候所がある。", JAPANESE, question, "ja").reason == "low_overlap"


@pytest.mark.parametrize(
    "link", ["https://evil.example/x", "www.evil-shop.com", "cheap-pumps.shop/now", "sales@evil.example.com"]
)
def test_link_that_the_context_does_not_hold_drops_the_answer(link):
    assert judge(f"The Hakone plant makes pumps, see {link}.").reason == "foreign_link"


def test_link_of_the_context_is_kept():
    assert judge("The yearly report of the plant: https://plant.example.com/report.").kept


@pytest.mark.parametrize("image", ["![pump](https://x.example/p.png)", "<img src=x onerror=alert(1)>", "![](x)"])
def test_image_that_the_context_does_not_hold_drops_the_answer(image):
    assert judge(f"The Hakone plant makes pumps {image}").reason == "remote_image"


@pytest.mark.parametrize("slogan", ["Buy now!", "Use our promo code", "今すぐ購入"])
def test_advertising_drops_the_answer(slogan):
    assert judge(f"The Hakone plant makes pumps and valves. {slogan}").reason == "advertising"


def test_figure_that_neither_context_nor_question_holds_drops_the_answer():
    assert judge("The Hakone plant employs 3,786 people.").reason == "foreign_figure"
    assert judge("The Hakone plant employs 3776 people.").kept
    assert judge("The Hakone plant had people in 1999.", question="Did the Hakone plant run in 1999?").kept


@pytest.mark.parametrize("answer", ["", "   ", "[1]", "…"])
def test_empty_answer_is_dropped(answer):
    result = judge(answer)
    assert (result.kept, result.reason, result.overlap) == (False, "empty", 0.0)


def test_answer_that_only_repeats_the_question_has_no_support():
    result = judge("Unicorn cavalry regiments", "Pumps and valves.", "Unicorn cavalry regiments?", min_overlap=0.0)
    assert result.reason == "repeats_question"


def test_long_answer_in_a_foreign_language_is_dropped():
    answer = "The Hakone plant opened and makes ポンプ and バルブ for many farms, mines, ships and towns around here."
    result = judge(answer, JAPANESE, "箱根工場は何を製造するか", "ja", min_overlap=0.0)
    assert result.reason == "wrong_language"


EXTRACTED = Answer("It employs 3,776 people. [1]", AnswerType.EXTRACTIVE, confidence=0.8)
CITATION = Citation(1, "plant.txt", 1, 7, 0, "plant.txt", "It employs 3,776 people.", 0, 24)


def test_kept_answer_is_generative_with_its_citations():
    text = "The Hakone plant employs 3,776 people [1]."
    answer = settle(text, judge(text), [CITATION], EXTRACTED)
    assert (answer.type, answer.text, answer.citations) == (AnswerType.GENERATIVE, text, (CITATION,))


def test_dropped_answer_falls_back_to_the_extracted_one():
    text = "Bananas ripen faster inside paper bags."
    answer = settle(text, judge(text), [], EXTRACTED)
    assert answer.type is AnswerType.HALLUCINATION_FALLBACK
    assert answer.text == EXTRACTED.text
    assert answer.reason == "low_overlap"


def test_dropped_answer_without_an_extracted_one_stays_insufficient():
    silent = Answer("Not enough information.", AnswerType.INSUFFICIENT, reason="low_confidence")
    text = "Bananas ripen faster inside paper bags."
    assert settle(text, judge(text), [], silent) == silent
