"""The reliability diagram: which answers count, in which tenth, and how far confidence and truth lie apart."""

from __future__ import annotations

import pytest
from dash import Dash

import core
from app.components.evaluate.reliability import Bin, bins_of, calibration_error, reliability
from core.model import JudgedQuestion, QuestionOutcome
from tests.builders import add
from tests.unit.app.drawn import text

SET = b"question,doc,answers,answerable\nWhen does the gate open?,gate.txt,at eight,yes\nWho is Ada?,,,no\n"


def outcome(confidence: float | None, is_right: bool | None) -> QuestionOutcome:
    return QuestionOutcome(
        JudgedQuestion(id="1", text="When?"), "", {}, {}, is_right, False, "", "extractive", 1.0, confidence=confidence
    )


def test_answers_are_gathered_by_tenths_and_what_cannot_be_judged_is_left_out() -> None:
    outcomes = [
        outcome(0.91, True),
        outcome(0.99, False),
        outcome(1.0, True),
        outcome(0.05, False),
        outcome(None, True),
        outcome(0.5, None),
    ]
    low, high = bins_of(outcomes)
    assert low == Bin(1, 0.05, 0.0)
    assert (high.count, high.right) == (3, pytest.approx(2 / 3))
    assert high.confidence == pytest.approx((0.91 + 0.99 + 1.0) / 3)


def test_calibration_error_weighs_each_tenth_by_its_answers() -> None:
    assert calibration_error([Bin(3, 0.9, 0.6), Bin(1, 0.2, 0.2)]) == pytest.approx(0.225)
    assert calibration_error([]) is None


def test_run_without_confidence_says_so(window: Dash) -> None:
    with window.server.test_request_context():
        assert "Run the set again" in text(reliability([outcome(None, True)]))
        few = text(reliability([outcome(0.8, True)]))
    assert "1 judged answer." in few and "by 20 points" in few and "few answers" in few


def test_a_run_keeps_how_sure_each_answer_was(kb: core.KnowledgeBase) -> None:
    add(kb, "gate.txt", "The gate opens at eight.")
    known = kb.evaluations.import_set("Gate", SET, "csv")
    run = kb.evaluations.wait(kb.evaluations.run(known.id).id)
    found = {each.question.text: each for each in kb.evaluations.outcomes(run.id)}
    sure = found["When does the gate open?"].confidence
    assert sure is not None and 0 < sure <= 1
    refused = found["Who is Ada?"]
    assert (refused.confidence is None) is refused.is_insufficient
