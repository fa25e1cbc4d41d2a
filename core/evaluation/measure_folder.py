"""Measures a knowledge base with a set of questions whose passages and answers are known.

One passage is one document; a document stands in a ranking where its first chunk stands.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from core.errors import InvalidInput
from core.evaluation.metrics import (
    contains_answer,
    deciding_part,
    mean,
    ndcg_at,
    percentile,
    recall_at,
    reciprocal_rank_at,
    without_marks,
)
from core.evaluation.question_folder import (
    QUESTIONS,
    Question,
    QuestionSetPassage,
    SkippedLine,
    read_passages,
    read_questions,
    read_set,
)
from core.model import AnswerType, Preview, Query, Trace
from core.ports import Progress

__all__ = [
    "SkippedLine",
    "QuestionSetPassage",
    "Question",
    "Report",
    "document_name",
    "evaluate",
    "read_passages",
    "read_questions",
    "read_set",
    "summarise",
]

LEGS = ("vector", "keyword", "fused", "final")
"""``fused`` is the order that fusion gave, ``final`` that of the candidates after the stage behind it."""


class JudgedSource(Protocol):
    """What an evaluation reads of a knowledge base."""

    def preview(self, doc_key: str, version: int, start: int = 0, count: int = 50) -> Preview: ...


class Asker(Protocol):
    """What answers the questions; a question of an evaluation is not kept in the history."""

    def ask(self, query: Query | str, *, keep: bool = True) -> Trace: ...


@dataclass(frozen=True, slots=True)
class QuestionMeasure:
    """What one question got: the documents of each leg, best first, and the answer."""

    question: Question
    rankings: Mapping[str, tuple[str, ...]]
    answer: str
    answer_type: AnswerType
    confidence: float
    duration_ms: float
    has_failed_generator: bool = False
    marked: tuple[tuple[int, int], ...] = ()

    @property
    def is_insufficient(self) -> bool:
        return self.answer_type is AnswerType.INSUFFICIENT

    @property
    def is_right(self) -> bool:
        said = deciding_part(self.answer, self.marked)
        return not self.is_insufficient and contains_answer(said, self.question.answers)


@dataclass(frozen=True, slots=True)
class RankMeasures:
    """Means over the questions whose passages are known."""

    recall_at_1: float
    recall_at_10: float
    mrr_at_10: float
    ndcg_at_10: float


@dataclass(frozen=True, slots=True)
class AnswerMeasures:
    """Shares of questions, None where the set has no question of the kind; the length is in characters.

    ``generator_failed`` counts answers that a generator should have written and that were extracted.
    """

    contains_gold: float | None
    answerable_insufficient: float | None
    unanswerable_insufficient: float | None
    median_length: float
    generator_failed: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """The measures of one run, with the outcome of every question for who wants to look closer."""

    passages: int
    questions: int
    answerable: int
    unanswerable: int
    unjudged: int
    """Questions of which nothing is known that is right: they are in none of the measures but the times."""
    ranks: Mapping[str, RankMeasures]
    answers: AnswerMeasures
    p50_ms: float
    p95_ms: float
    outcomes: tuple[QuestionMeasure, ...] = ()
    left_out: tuple[SkippedLine, ...] = ()
    """Questions that could not be asked."""

    def as_dict(self) -> dict[str, Any]:
        """Return the measures as plain data, without the outcomes."""
        return {
            "passages": self.passages,
            "questions": self.questions,
            "answerable": self.answerable,
            "unanswerable": self.unanswerable,
            "unjudged": self.unjudged,
            **{leg: asdict(measures) for leg, measures in self.ranks.items()},
            "answers": asdict(self.answers),
            "p50_ms": self.p50_ms,
            "p95_ms": self.p95_ms,
        }


def document_name(passage: QuestionSetPassage) -> str:
    """Return the name under which a passage is added as a text entry."""
    return unicodedata.normalize("NFC", passage.id)


def evaluate(
    kb: JudgedSource,
    rag: Asker,
    passages: Mapping[str, str] | Sequence[QuestionSetPassage],
    questions: Sequence[Question],
    progress: Progress | None = None,
) -> Report:
    """Ask every question and measure ranks and answers.

    ``passages`` are in the knowledge base already: as a mapping of passage id to ``doc_key``, or as passages whose
    documents are named by ``document_name``. A relevant passage that is not among them counts as not found. A question
    that cannot be asked, such as one that is too long, is left out.
    """
    keys = passages if isinstance(passages, Mapping) else {p.id: document_name(p).lower() for p in passages}
    passage_of_chunk = dict(_chunks(kb, keys))
    outcomes: list[QuestionMeasure] = []
    left_out: list[SkippedLine] = []
    for done, question in enumerate(questions, 1):
        started = time.perf_counter()
        try:
            trace = rag.ask(Query(text=question.text), keep=False)
        except InvalidInput as error:
            left_out.append(SkippedLine(QUESTIONS, question.line, question.id, error.message))
        else:
            duration_ms = (time.perf_counter() - started) * 1000
            outcomes.append(observe(question, trace, passage_of_chunk.get, duration_ms))
        if progress:
            progress(done, len(questions))
    return replace(summarise(len(keys), outcomes), left_out=tuple(left_out))


def observe(
    question: Question, trace: Trace, passage_of: Callable[[int], str | None], duration_ms: float = 0.0
) -> QuestionMeasure:
    """Reduce a trace to what is measured; ``passage_of`` names the passage of a chunk id."""
    fused = sorted(trace.candidates, key=lambda hit: hit.rerank.fused_rank if hit.rerank else hit.rank)
    order = {
        "vector": [hit.chunk_id for hit in trace.vector.hits],
        "keyword": [hit.chunk_id for hit in trace.keyword.hits],
        "fused": [chunk_id for hit in fused for chunk_id in (hit.placed.id, *hit.merged)],
        "final": [chunk_id for hit in trace.candidates for chunk_id in (hit.placed.id, *hit.merged)],
    }
    return QuestionMeasure(
        question=question,
        rankings={leg: _documents(map(passage_of, chunk_ids)) for leg, chunk_ids in order.items()},
        answer=trace.answer.text,
        answer_type=trace.answer.type,
        confidence=trace.answer.confidence,
        duration_ms=duration_ms,
        has_failed_generator=trace.answer.generator_failure is not None,
        marked=trace.answer.marked,
    )


def summarise(passage_count: int, outcomes: Sequence[QuestionMeasure]) -> Report:
    """Turn outcomes into the measures of a run."""
    answerable = [o for o in outcomes if o.question.answerable and o.question.has_judgement]
    unanswerable = [o for o in outcomes if not o.question.answerable]
    judged = [o for o in answerable if o.question.passage_ids]
    lengths = [len(without_marks(o.answer)) for o in outcomes if not o.is_insufficient]
    durations = [o.duration_ms for o in outcomes]
    return Report(
        passages=passage_count,
        questions=len(outcomes),
        answerable=len(answerable),
        unanswerable=len(unanswerable),
        unjudged=sum(not o.question.has_judgement for o in outcomes),
        ranks={leg: _rank_measures(leg, judged) for leg in LEGS} if judged else {},
        answers=AnswerMeasures(
            contains_gold=_share([o.is_right for o in answerable if o.question.answers]),
            answerable_insufficient=_share([o.is_insufficient for o in answerable]),
            unanswerable_insufficient=_share([o.is_insufficient for o in unanswerable]),
            median_length=percentile(lengths, 0.5),
            generator_failed=sum(o.has_failed_generator for o in outcomes),
        ),
        p50_ms=percentile(durations, 0.5),
        p95_ms=percentile(durations, 0.95),
        outcomes=tuple(outcomes),
    )


def _rank_measures(leg: str, outcomes: Sequence[QuestionMeasure]) -> RankMeasures:
    pairs = [(o.rankings[leg], o.question.passage_ids) for o in outcomes]
    return RankMeasures(
        recall_at_1=mean([recall_at(ranked, relevant, 1) for ranked, relevant in pairs]),
        recall_at_10=mean([recall_at(ranked, relevant, 10) for ranked, relevant in pairs]),
        mrr_at_10=mean([reciprocal_rank_at(ranked, relevant, 10) for ranked, relevant in pairs]),
        ndcg_at_10=mean([ndcg_at(ranked, relevant, 10) for ranked, relevant in pairs]),
    )


def _share(flags: Sequence[bool]) -> float | None:
    return mean(flags) if flags else None


def _documents(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name is not None))


def _chunks(kb: JudgedSource, keys: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    for passage_id, doc_key in keys.items():
        for placed in kb.preview(doc_key, 1, 0, 1000).chunks:
            yield placed.id, passage_id
