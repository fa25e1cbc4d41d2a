"""Measures in words: what each is called, how it is written, and which direction is good."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from dash import html

from app.components.shared.times import exactly
from app.components.shared.wording import sentence
from app.i18n import has, number, t
from core.model import WRONG_SET, EvaluationRun, QuestionSet, parse_as_of

LEGS = ("vector", "keyword", "fused", "final")
"""From the two legs to the ranking that the answer rests on; a run of an older program may lack the last."""

MEASURES = {
    "ndcg_at_10": 1,
    "recall_at_10": 1,
    "recall_at_1": 1,
    "mrr_at_10": 1,
    "right": 1,
    "unanswerable_insufficient": 1,
    "answerable_insufficient": -1,
    "unsupported": -1,
    "p50_ms": -1,
    "p95_ms": -1,
}
"""Name to the direction that is good: 1 up, -1 down."""

SHARES = ("right", "unanswerable_insufficient", "answerable_insufficient", "unsupported")
NOTHING = "–"
LEAST_SHOWN = 0.0005
"""What is smaller is written as zero, and zero has no sign."""


def set_name(known: QuestionSet) -> str:
    """Return what a set is called; the one of answers marked as wrong in the language of the reader."""
    return t("wrong.set") if known.id == WRONG_SET else known.name


def measured(run: EvaluationRun, leg: str, name: str) -> float | None:
    """Return a measure of a run, None where it has none."""
    part = run.measures.get(leg)
    value = part.get(name) if isinstance(part, Mapping) else None
    return float(value) if isinstance(value, (int, float)) else None


def last_leg(run: EvaluationRun) -> str:
    """Return the leg that the answers of a run rest on."""
    return next((leg for leg in reversed(LEGS) if leg in run.measures), LEGS[-1])


def measure_name(name: str) -> str:
    key = f"evaluate.measure.{name}"
    return t(key) if has(key) else name


def leg_name(leg: str) -> str:
    key = f"evaluate.leg.{leg}"
    return t(key) if has(key) else leg


def written(name: str, value: float | None, *, signed: bool = False) -> str:
    """Return a value with its unit; ``signed`` for a difference."""
    if value is None:
        return NOTHING
    is_none = abs(value) < LEAST_SHOWN
    sign = ("+" if value > 0 else "−") if signed and not is_none else ""
    size = abs(value) if signed else value
    if name in SHARES:
        points = t("evaluate.points", value=number(size * 100, digits=1)) if signed else f"{number(size * 100)}%"
        return sign + points
    if name.endswith("_ms"):
        return sign + t("unit.ms", value=number(size))
    return sign + number(size, digits=3)


def run_name(run: EvaluationRun) -> str:
    """Return the label of a run, or its moment where it has none."""
    return run.label or t("evaluate.run_of", at=run.started_at)


def run_title(run: EvaluationRun) -> Any:
    """Return what ``run_name`` says as something to show: its moment is one in the reader's own zone."""
    if run.label:
        return run.label
    return sentence("evaluate.run_of", at=exactly(run.started_at))


def options_of(settings: Mapping[str, Any]) -> list[html.Span]:
    """Return what a run was asked with; what is plain (rank fusion, extraction, now) is not said."""
    said = []
    for name, plain in (("rerank", ""), ("fusion", "rrf"), ("generator", "none"), ("as_of", "")):
        value = settings.get(name)
        if value not in (None, "", plain):
            shown = _option(name, str(value))
            said.append(html.Span(sentence("evaluate.option", name=t(f"evaluate.{name}"), value=shown)))
    return said


def _option(name: str, value: str) -> Any:
    if name == "as_of":
        as_of = parse_as_of(value)
        return exactly(as_of) if isinstance(as_of, datetime) else value
    key = f"evaluate.{name}_{value}"
    return t(key) if has(key) else value
