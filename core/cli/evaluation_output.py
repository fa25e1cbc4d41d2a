"""What the evaluation commands print: question sets, runs, failures, and what differs between two runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.cli import output
from core.evaluation.question_folder import SkippedLine
from core.model import EvaluationRun, GateVerdict, MeasureDifference, QuestionOutcome, QuestionSet, RunComparison

_NAMED = 20
_LISTED = (("final", "ndcg_at_10"), ("final", "recall_at_10"), ("answers", "right"), ("answers", "p50_ms"))


def print_sets(sets: Iterable[QuestionSet]) -> None:
    rows = (
        [
            each.id,
            each.name,
            each.size,
            "gates" if each.gates else "-",
            each.owner or "-",
            "all" if each.is_shared else "owner",
        ]
        for each in sets
    )
    output.print_rows(("id", "question set", "questions", "before publishing", "owner", "seen by"), rows)


def print_runs(runs: Iterable[EvaluationRun]) -> None:
    """Write one line a run, with the measures that say most."""
    header = ("run", "started", "label", "state", "done", "as of", "rerank", "generator", "nDCG@10", "recall@10",
              "right", "p50 ms")  # fmt: skip
    output.print_rows(header, map(_run_row, runs))


def print_run(run: EvaluationRun) -> None:
    """Write the measures of one run."""
    output.print_rows(("measure", "value"), [["run", run.id], ["sequence", run.sequence], *output.flat(run.measures)])
    note_unjudged(run.measures.get("answers", {}).get("unjudged", 0))


def note_left_out(left_out: Sequence[Mapping[str, Any]]) -> None:
    """Name what is no part of a measurement, each with its file and line."""
    for each in left_out[:_NAMED]:
        output.note(f"left out: {SkippedLine(**each)}")
    if len(left_out) > _NAMED:
        output.note(f"left out: {len(left_out) - _NAMED:,} more; --json names all.")


def note_unjudged(count: int) -> None:
    """Say how many questions count as neither right nor wrong."""
    if count:
        output.note(f"{count:,} without a judgement: neither right nor wrong.")


def print_outcomes(outcomes: Iterable[QuestionOutcome]) -> None:
    """Write one line a question: whether it is right, where its document stands, and its answer."""
    header = ("question", "answer is", "final rank", "asked", "answered", "trace")
    output.print_rows(header, map(_outcome_row, outcomes))


def print_comparison(comparison: RunComparison) -> None:
    """Write one line a measure, and then which questions got better and worse."""
    header = ("of", "measure", "old", "new", "difference", "95 % interval", "")
    output.print_rows(header, map(_difference_row, comparison.differences))
    for word, names in (("better", comparison.better), ("worse", comparison.worse)):
        output.note(f"{len(names)} questions got {word}{': ' if names else '.'}{', '.join(names)}")


def warn_of(verdicts: Sequence[GateVerdict]) -> None:
    """Say what publishing would make worse."""
    for verdict in verdicts:
        for reason in verdict.reasons:
            output.note(f"warning: question set “{verdict.comparison.new.set_name}”: {reason}")


def warn_of_generator(answers: Mapping[str, float | None], total: int) -> None:
    """Say that the measures of answers are not those of the generator, where it failed."""
    failed = answers.get("generator_failed")
    if failed:
        output.note(
            f"warning: the generator failed at {failed} of {total} answers; what is measured of these is extraction. "
            "`evorag ask` tells why."
        )


def _run_row(run: EvaluationRun) -> list[object]:
    started = run.started_at.isoformat(timespec="seconds")
    asked = [run.settings.get(name) or "-" for name in ("as_of", "rerank", "generator")]
    measures = [_number(run.measures.get(part, {}), name) for part, name in _LISTED]
    return [run.id, started, run.label or "-", run.state, f"{run.done} of {run.total}", *asked, *measures]


def _number(measures: Mapping[str, float | None], name: str) -> str:
    value = measures.get(name)
    return "-" if value is None else f"{value:.3f}"


def _outcome_row(outcome: QuestionOutcome) -> list[object]:
    said = "right" if outcome.is_right else "insufficient" if outcome.is_insufficient else "wrong"
    if outcome.is_right is None:
        said = "not judged"
    place = outcome.ranks.get("final") or "-"
    return [outcome.question.id, said, place, outcome.question.text, outcome.answer[:200], outcome.trace_id or "-"]


def _difference_row(each: MeasureDifference) -> list[object]:
    interval = f"{each.low:+.3f} to {each.high:+.3f}"
    told = "significant" if each.is_significant else ""
    return [each.leg, each.name, f"{each.old:.3f}", f"{each.new:.3f}", f"{each.new - each.old:+.3f}", interval, told]
