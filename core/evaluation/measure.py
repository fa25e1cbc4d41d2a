"""Measures one question from its trace, and a run from its questions; pure functions of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from core.model import AnswerType, JudgedQuestion, QuestionOutcome, Trace

LEGS = ("vector", "keyword", "fused", "final")
RANKS = ("recall_at_1", "recall_at_10", "mrr_at_10", "ndcg_at_10")
DEPTH = 10


@dataclass(frozen=True, slots=True)
class Observation:
    """What one question got; ``values`` holds each of ``RANKS`` a leg where its documents are known.

    ``is_right`` is None where there is no judgement. ``unsupported`` and ``sentences`` count those of a written answer;
    extracted ones are words of the documents.
    """

    question: JudgedQuestion
    ranks: Mapping[str, int | None]
    values: Mapping[str, Mapping[str, float]]
    is_right: bool | None
    is_insufficient: bool
    answer: str
    answer_type: str
    duration_ms: float
    sentences: int = 0
    unsupported: int = 0
    has_failed_generator: bool = False
    confidence: float | None = None
    """How sure the answer was, None where nothing was answered, or by runs of earlier programs."""

    @property
    def is_judged(self) -> bool:
        """Whether its right documents are known, so that rankings can be measured."""
        return bool(self.values)

    @property
    def is_failure(self) -> bool:
        """Whether somebody should look at it: a wrong answer, or no right document among the first ten."""
        place = self.ranks.get("final")
        return self.is_right is False or (self.is_judged and (place is None or place > DEPTH))


def observe(question: JudgedQuestion, trace: Trace, merged: Mapping[int, str], duration_ms: float = 0.0) -> Observation:
    """Reduce a trace to what is measured; ``merged`` names the documents of chunks that no candidate stands for."""
    rankings = _rankings(trace, merged)
    relevant = frozenset(question.doc_keys) if question.answerable else frozenset()
    answer = trace.answer
    is_insufficient = answer.type is AnswerType.INSUFFICIENT
    return Observation(
        question=question,
        ranks={
            leg: next((rank for rank, key in enumerate(ranked, 1) if key in relevant), None)
            for leg, ranked in rankings.items()
        },
        values={leg: _values(ranked, relevant) for leg, ranked in rankings.items()} if relevant else {},
        is_right=_is_right(question, trace, is_insufficient),
        is_insufficient=is_insufficient,
        answer=answer.text,
        answer_type=answer.type.value,
        duration_ms=duration_ms,
        sentences=len(answer.sentences),
        unsupported=sum(not sentence.is_supported for sentence in answer.sentences),
        has_failed_generator=answer.generator_failure is not None,
        confidence=None if is_insufficient else answer.confidence,
    )


def unplaced(trace: Trace) -> set[int]:
    """Return the ids of chunks in the trace whose documents it does not name: identical passages that were merged."""
    return {chunk_id for hit in trace.candidates for chunk_id in hit.merged}


def measures_of(observations: Sequence[Observation]) -> dict[str, Any]:
    """Return the measures of a run, as ``EvaluationRun`` describes them."""
    judged = [each for each in observations if each.is_judged]
    answerable = [each for each in observations if each.question.answerable and each.question.has_judgement]
    unanswerable = [each for each in observations if not each.question.answerable]
    sentences = sum(each.sentences for each in observations)
    unsupported = sum(each.unsupported for each in observations)
    lengths = [len(without_marks(each.answer)) for each in observations if not each.is_insufficient]
    durations = [each.duration_ms for each in observations]
    return {
        **{leg: {name: mean([each.values[leg][name] for each in judged]) for name in RANKS} for leg in LEGS if judged},
        "answers": {
            "right": _share(bool(each.is_right) for each in answerable),
            "answerable_insufficient": _share(each.is_insufficient for each in answerable),
            "unanswerable_insufficient": _share(each.is_insufficient for each in unanswerable),
            "unsupported": unsupported / sentences if sentences else None,
            "unsupported_sentences": unsupported,
            "generator_failed": sum(each.has_failed_generator for each in observations),
            "questions": len(observations),
            "answerable": len(answerable),
            "judged": len(judged),
            "unjudged": sum(not each.question.has_judgement for each in observations),
            "median_length": percentile(lengths, 0.5),
            "p50_ms": percentile(durations, 0.5),
            "p95_ms": percentile(durations, 0.95),
        },
    }


def outcome_of(observed: Observation, position: int, trace_id: str) -> QuestionOutcome:
    """Return an observation as it is shown."""
    return QuestionOutcome(
        question=observed.question,
        trace_id=trace_id,
        ranks=observed.ranks,
        ndcg={leg: values["ndcg_at_10"] for leg, values in observed.values.items()},
        is_right=observed.is_right,
        is_insufficient=observed.is_insufficient,
        answer=observed.answer,
        answer_type=observed.answer_type,
        duration_ms=observed.duration_ms,
        unsupported_sentences=observed.unsupported,
        position=position,
        confidence=observed.confidence,
    )


def _rankings(trace: Trace, merged: Mapping[int, str]) -> dict[str, tuple[str, ...]]:
    """Return the documents of each leg, best first; a document stands where its first chunk stands."""
    key_of = {**merged, **{hit.placed.id: hit.placed.doc_key for hit in trace.candidates}}
    final = list(trace.candidates)
    fused = sorted(final, key=lambda hit: hit.rank if hit.rerank is None else hit.rerank.fused_rank)
    order: dict[str, list[int]] = {
        "vector": [hit.chunk_id for hit in trace.vector.hits],
        "keyword": [hit.chunk_id for hit in trace.keyword.hits],
        "fused": [chunk_id for hit in fused for chunk_id in (hit.placed.id, *hit.merged)],
        "final": [chunk_id for hit in final for chunk_id in (hit.placed.id, *hit.merged)],
    }
    return {
        leg: tuple(dict.fromkeys(key_of[chunk_id] for chunk_id in chunk_ids if chunk_id in key_of))
        for leg, chunk_ids in order.items()
    }


def _values(ranked: Sequence[str], relevant: frozenset[str]) -> dict[str, float]:
    measured = (
        recall_at(ranked, relevant, 1),
        recall_at(ranked, relevant, DEPTH),
        reciprocal_rank_at(ranked, relevant, DEPTH),
        ndcg_at(ranked, relevant, DEPTH),
    )
    return dict(zip(RANKS, measured, strict=True))


def _is_right(question: JudgedQuestion, trace: Trace, is_insufficient: bool) -> bool | None:
    """Nothing is right where nothing answers; else an accepted answer, or a right document that is cited."""
    if not question.has_judgement:
        return None
    if not question.answerable:
        return is_insufficient
    if is_insufficient:
        return False
    if question.answers:
        return contains_answer(deciding_part(trace.answer.text, trace.answer.marked), question.answers)
    return any(cited.doc_key in question.doc_keys for cited in trace.answer.citations)


def _share(flags: Iterable[bool]) -> float | None:
    known = list(flags)
    return mean(known) if known else None
