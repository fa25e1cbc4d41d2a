"""The steps of an answer, as they are told while a question is answered, and the events that they are on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_never

from core.model.codec import from_dict, to_dict
from core.model.questions import Analysis, Hit, Trace


@dataclass(frozen=True, slots=True)
class AnalysisStep:
    """The question was analysed; it comes again where the search was widened."""

    analysis: Analysis


@dataclass(frozen=True, slots=True)
class PassagesStep:
    """Passages were found and ordered."""

    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class WritingStep:
    """A generator wrote a piece, which has not been held against the passages yet; an empty one is a sign of life."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerStep:
    """A piece of the answer; joined they are the whole of it."""

    text: str


@dataclass(frozen=True, slots=True)
class DoneStep:
    """The last step: the question is answered, and its trace kept where it is to be kept."""

    trace: Trace


AskStep = AnalysisStep | PassagesStep | WritingStep | AnswerStep | DoneStep


def event_of(step: AskStep) -> tuple[str, Any]:
    """Return the name of a step's event and its JSON."""
    match step:
        case AnalysisStep(analysis):
            return "analysis", to_dict(analysis)
        case PassagesStep(hits):
            return "passages", to_dict(hits)
        case WritingStep(text):
            return "writing", {"text": text}
        case AnswerStep(text):
            return "answer", {"text": text}
        case DoneStep(trace):
            return "done", to_dict(trace)
        case _:
            assert_never(step)


def step_of(name: str, data: Any) -> AskStep | None:
    """Return the step that ``event_of`` wrote; None for an event that this release does not know."""
    match name:
        case "analysis":
            return AnalysisStep(from_dict(Analysis, data))
        case "passages":
            return PassagesStep(tuple(from_dict(Hit, each) for each in data))
        case "writing":
            return WritingStep(data["text"])
        case "answer":
            return AnswerStep(data["text"])
        case "done":
            return DoneStep(from_dict(Trace, data))
        case _:
            return None
