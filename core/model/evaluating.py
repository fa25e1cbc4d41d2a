"""Question sets, runs of them, and what differs between two runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question with what answers it: documents (or chunks of them), accepted answers, or nothing at all."""

    id: str
    text: str
    doc_keys: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    answerable: bool = True
    passage: str = ""
    """The passage that would have been right, where somebody who marked an answer as wrong pointed at it."""
    note: str = ""
    """What they said about it."""

    @property
    def has_judgement(self) -> bool:
        """Whether anything is known about what is right, so that an answer can be right or wrong."""
        return bool(self.doc_keys or self.answers or not self.answerable)


WRONG_SET = "answers-marked-wrong"
WRONG_NOTE_CHARS, WRONG_TEXT_CHARS = 500, 4_000
"""The id of the question set that answers marked as wrong are put into."""


@dataclass(frozen=True, slots=True)
class Right:
    """What would have been right where an answer was wrong: a passage that was found, a document, or that none tells.

    ``chunk_id`` names one of the passages that the question found.
    """

    chunk_id: int | None = None
    doc_key: str = ""
    is_nowhere: bool = False


@dataclass(frozen=True, slots=True)
class QuestionSet:
    id: str
    name: str
    created_at: datetime
    size: int = 0
    gates: bool = False
    """It is asked before a draft is published."""
    owner: str = ""
    """Whose it is; empty where it is nobody's."""
    is_shared: bool = True
    """Everybody sees it, not its owner alone."""


@dataclass(frozen=True, slots=True)
class EvaluationRun:
    """One run of a question set, asked as somebody who sees no private document.

    ``measures`` maps ``vector``, ``keyword``, ``fused`` and ``final`` to ``recall_at_1``, ``recall_at_10``,
    ``mrr_at_10`` and ``ndcg_at_10``; and ``answers`` to the shares ``right``, ``answerable_insufficient``,
    ``unanswerable_insufficient`` and ``unsupported`` (of written sentences), each None where there is none such, and to
    ``questions``, ``answerable``, ``judged`` (its right documents are known), ``unjudged``,
    ``unsupported_sentences`` and ``generator_failed`` (counts; the last of answers that a generator should have written
    and that were extracted), ``median_length`` (characters), ``p50_ms`` and ``p95_ms``. A question without a judgement
    is ``unjudged`` and counts in ``questions``; it is neither answerable nor right nor wrong.
    """

    id: str
    set_id: str
    set_name: str
    started_at: datetime
    sequence: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    state: str = "done"
    """``running`` (from its acceptance on), ``done``, ``failed`` or ``cancelled``."""
    done: int = 0
    total: int = 0
    measures: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """What one question of a run got; ``ranks`` is the place of the first right document a leg, None where absent.

    ``trace_id`` names the account of a failure, empty where none is kept. What was purged since has no answer.
    """

    question: JudgedQuestion
    trace_id: str
    ranks: Mapping[str, int | None]
    ndcg: Mapping[str, float]
    is_right: bool | None
    """None where there is no judgement of what is right."""
    is_insufficient: bool
    answer: str
    answer_type: str
    duration_ms: float
    unsupported_sentences: int = 0
    position: int = 0
    """Its place in the set, from 1."""
    confidence: float | None = None
    """How sure the answer was, 0 to 1; None where nothing was answered, or where an earlier EvoRAG ran it."""


@dataclass(frozen=True, slots=True)
class MeasureDifference:
    """A measure of two runs over the same questions, with the bootstrap interval of the difference (95 %)."""

    name: str
    leg: str
    old: float
    new: float
    low: float
    high: float

    @property
    def is_significant(self) -> bool:
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class RunComparison:
    old: EvaluationRun
    new: EvaluationRun
    differences: tuple[MeasureDifference, ...]
    better: tuple[str, ...]
    worse: tuple[str, ...]
    """Ids of the questions that got better or worse in nDCG@10 of the final ranking or in their answer."""


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """What publishing a draft would do to the results of a question set.

    The two runs of ``comparison`` are not kept: they have no id. ``reasons`` are sentences.
    """

    doc_key: str
    version: int
    set_id: str
    comparison: RunComparison
    warns: bool
    reasons: tuple[str, ...] = ()
