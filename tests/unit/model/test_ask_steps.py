"""The steps of an answer on the wire: their names, their JSON, and back."""

from __future__ import annotations

import json
from typing import get_args

import pytest

import core
from core.model import (
    AnalysisStep,
    AnswerStep,
    AskStep,
    DoneStep,
    PassagesStep,
    WritingStep,
    event_of,
    step_of,
    to_dict,
)
from tests.builders import add

NAMES = {
    AnalysisStep: "analysis",
    PassagesStep: "passages",
    WritingStep: "writing",
    AnswerStep: "answer",
    DoneStep: "done",
}


def test_every_step_has_the_name_that_clients_know() -> None:
    assert set(get_args(AskStep)) == NAMES.keys()


def test_every_step_is_read_again_as_it_was_told(kb: core.KnowledgeBase) -> None:
    add(kb, "hours", "The museum opens at nine.")
    trace = core.EvoRAG(kb=kb).ask("When does the museum open?")
    steps = [
        AnalysisStep(trace.analysis),
        PassagesStep(trace.hits),
        WritingStep("It opens"),
        WritingStep(""),
        AnswerStep(trace.answer.text),
        DoneStep(trace),
    ]
    assert {type(step) for step in steps} == NAMES.keys()
    for step in steps:
        name, data = event_of(step)
        assert name == NAMES[type(step)]
        again = step_of(name, json.loads(json.dumps(data)))
        assert type(again) is type(step) and to_dict(again) == to_dict(step)


@pytest.mark.parametrize("kind", [WritingStep, AnswerStep])
def test_pieces_of_text_are_objects_on_the_wire(kind: type[WritingStep]) -> None:
    assert event_of(kind("nine")) == (NAMES[kind], {"text": "nine"})


def test_an_event_of_a_later_release_is_no_step() -> None:
    assert step_of("summary", {"text": "It opens."}) is None
