"""What publishing a version would do to the results of question sets: each asked as now, and as it would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from core.evaluation.compare_runs import compare
from core.evaluation.measure import Observation, measures_of
from core.evaluation.runner import Ask, asked
from core.model import (
    EvaluationRun,
    GateVerdict,
    Intent,
    JudgedQuestion,
    Principal,
    Query,
    QuestionSet,
    RunComparison,
    VersionRef,
    format_as_of,
)
from core.versions.answers import decides

if TYPE_CHECKING:
    from core.catalog import Catalog

MOST_QUESTIONS = 500
"""Questions of all sets that gate together: each is asked twice while somebody waits."""
_WATCHED = {
    ("final", "recall_at_10"): "the share of right documents among the first ten",
    ("final", "ndcg_at_10"): "nDCG@10 of the final ranking",
    ("answers", "right"): "the share of right answers",
    ("answers", "unanswerable_insufficient"): "the share of questions that rightly get no answer",
}
_NAMED = 5


def verdict(
    catalog: Catalog,
    ask: Ask,
    asked_set: QuestionSet,
    questions: Sequence[JudgedQuestion],
    ref: VersionRef,
    query: Query,
    sequence: int,
    who: Principal,
) -> GateVerdict:
    """Ask a set as things are and with the version shown, at one sequence number on behalf of ``who``.

    A question counts with the version as it does without where the passages of its document decide nothing: what else
    differs is not the version's doing. Questions about the knowledge base itself are left out: only what is published
    answers them, and no document does.
    """
    now, then = replace(query, as_of=None), replace(query, as_of=ref)
    started_at = datetime.now(UTC)
    old: list[Observation] = []
    new: list[Observation] = []
    for question in questions:
        # One after the other, so that both sides meet the stores in the same state as far as can be.
        before, as_now = asked(catalog, ask, question, now, sequence, who)
        after, as_then = asked(catalog, ask, question, then, sequence, who)
        if as_now.analysis.intent is Intent.DOCUMENTS and as_then.analysis.intent is Intent.DOCUMENTS:
            old.append(before)
            new.append(after if decides(as_now, as_then, ref.doc_key, question.doc_keys) else before)

    def told(chosen: Query, found: Sequence[Observation]) -> EvaluationRun:
        return EvaluationRun(
            id="",
            set_id=asked_set.id,
            set_name=asked_set.name,
            started_at=started_at,
            sequence=sequence,
            settings={"as_of": format_as_of(chosen.as_of) or ""},
            done=len(found),
            total=len(found),
            measures=measures_of(found),
        )

    comparison = compare(told(now, old), told(then, new), old, new)
    reasons = _reasons(comparison, old, new)
    return GateVerdict(ref.doc_key, ref.version, asked_set.id, comparison, bool(reasons), reasons)


def _reasons(comparison: RunComparison, old: Sequence[Observation], new: Sequence[Observation]) -> tuple[str, ...]:
    """Say what gets worse: a question that was right and no longer is, or a measure that drops significantly."""
    lost = [
        before.question.id for before, after in zip(old, new, strict=True) if before.is_right and not after.is_right
    ]
    named = ", ".join(lost[:_NAMED]) + (" …" if len(lost) > _NAMED else "")
    judged = sum(each.question.has_judgement for each in old)
    said = [f"{len(lost)} of {judged} questions would no longer be answered rightly: {named}."] if lost else []
    for difference in comparison.differences:
        about = _WATCHED.get((difference.leg, difference.name))
        if about is not None and difference.high < 0:
            said.append(f"{about} would drop from {difference.old:.3f} to {difference.new:.3f}.".capitalize())
    return tuple(said)
