"""Answers from real manuals, in English and Japanese, judged by facts that were written down from them by hand.

The questions and the list of manuals are in ``manuals_set``, those of other writers over other manuals in
``manuals_set_2`` (``--set``): how people ask for options, defaults, rows of tables, steps, conditions and causes,
some with typos, some in the other language than the manual, some without an answer. The manuals come from Debian
packages (``--folder``, or ``apt-get download``); all are searched whichever half of the questions is asked. Half
``a`` may be used to develop, half ``b`` judges; the halves share no document. Shares have 95 % intervals (bootstrap
over questions). ``--each`` prints every question with its answer on stderr. ``--typos`` asks each English question
with one letter of a word wrong, and tells how often it was corrected, and what that takes.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.fitting import area_under_curve
from benchmarks.machine import note
from benchmarks.manuals_documents import SET, knowledge_base_of, manuals
from benchmarks.manuals_judge import REFUSED, RIGHT, VERDICTS, WRONG, Question, holds_evidence, questions, verdict
from core import EvoRAG, Query, Settings
from core.evaluation.metrics import percentile, without_marks
from core.knowledge_base import KnowledgeBase
from core.model import AnswerType, Trace
from core.text.function_words import FUNCTION_WORDS

_WORD = re.compile(r"(?<![\w@#/.-])[A-Za-z]{5,}(?![\w@#/-])")
_SWAPPED = 3
DRAWS = 2_000
BINS = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a question: ``rank`` is that of the first passage with its evidence, 0 where none has it."""

    question: Question
    verdict: str
    confidence: float
    rank: int
    ms: float
    answer: str
    corrected: tuple[str, ...] = ()
    spelling_ms: float = 0.0


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    asked = [one for one in questions(options.set) if options.half in (one.half, "both")]
    with _filled(context) as kb:
        names = {document.name for document in kb.documents()}
        there = [one for one in asked if not one.is_answerable or one.document in names]
        if len(there) < len(asked):
            note(f"{len(asked) - len(there)} of {len(asked)} questions are left out, as their manuals are missing.")
        rag = EvoRAG(kb=kb)
        asked = spread(there, options.sample)
        if options.typos:
            rng = random.Random(context.seed)
            asked = [mistyped(one, rng) for one in asked if one.language == "en"]
        outcomes = [outcome(rag, question) for question in asked]
    if options.each:
        note("\n".join(line(one) for one in outcomes))
    told = report(outcomes, np.random.default_rng(context.seed))
    return told | {"typos": _corrections(outcomes)} if options.typos else told


def mistyped(question: Question, rng: random.Random) -> Question:
    """Return a question with one letter of one of its longer words left out, doubled, changed or swapped."""
    words = [
        match for match in _WORD.finditer(question.question) if match.group().casefold() not in FUNCTION_WORDS["en"]
    ]
    if not words:
        return question
    word = rng.choice(words)
    at = rng.randrange(word.start() + 1, word.end() - 1)
    text, letter = question.question, rng.choice("abcdefghijklmnopqrstuvwxyz")
    typos = ("", text[at] * 2, letter, text[at + 1] + text[at])
    typo = rng.randrange(len(typos))
    made = text[:at] + typos[typo] + text[at + (2 if typo == _SWAPPED else 1) :]
    return replace(question, question=made)


def _corrections(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Tell how many questions were read otherwise, and how long looking for that took."""
    spent = [one.spelling_ms for one in outcomes]
    return {
        "corrected": round(float(np.mean([bool(one.corrected) for one in outcomes])), 3),
        "p50_ms": round(percentile(spent, 0.5), 2),
        "p95_ms": round(percentile(spent, 0.95), 2),
    }


def _filled(context: Context) -> KnowledgeBase:
    """Open the knowledge base of all manuals; one that was kept is used as it is."""
    options = context.options
    settings: dict[str, Any] = {"data_dir": options.kept or context.workspace / "kept"}
    if options.threshold is not None:
        settings["answer_threshold"] = options.threshold
    return knowledge_base_of(manuals(options.set), options.folder, context.workspace / "manuals", Settings(**settings))


def spread(asked: Sequence[Question], sample: int | None) -> Sequence[Question]:
    """Return about as many questions, from all parts of them."""
    return asked[:: max(1, len(asked) // sample)] if sample else asked


def outcome(rag: EvoRAG, question: Question) -> Outcome:
    """Ask a question and judge its answer."""
    started = time.perf_counter()
    trace = rag.ask(Query(question.question, generator="none", fresh=True), keep=False)
    ms = (time.perf_counter() - started) * 1_000
    is_refused = trace.answer.type is AnswerType.INSUFFICIENT
    text = without_marks(trace.answer.text)
    judged = verdict(question, text, is_refused)
    return Outcome(
        question,
        judged,
        trace.answer.confidence,
        _rank(question, trace),
        ms,
        "" if is_refused else text,
        tuple(f"{one.word} → {one.read_as}" for one in trace.analysis.corrections),
        trace.timings_ms.get("spelling", 0.0),
    )


def _rank(question: Question, trace: Trace) -> int:
    if not question.is_answerable:
        return 0
    places = (hit.placed for hit in trace.hits)
    found = [holds_evidence(question, placed.name, placed.chunk.indexed_text(placed.title)) for placed in places]
    return found.index(True) + 1 if True in found else 0


def line(one: Outcome) -> str:
    """Return a question with what became of it in a line."""
    asked = one.question
    label = f"{asked.id} {asked.language}{'>' if asked.across else ' '} {asked.kind:10} {one.verdict:8}"
    place = f"rank {one.rank or '-'} confidence {one.confidence:.2f}"
    read = f" ({', '.join(one.corrected)})" if one.corrected else ""
    return f"{label} {place} | {asked.question}{read} | {' '.join(one.answer.split())}"


def report(outcomes: Sequence[Outcome], draws: np.random.Generator) -> dict[str, Any]:
    """Return the shares of the verdicts by group, those of the passages, and what confidence says."""
    groups = {name: list(some) for name, some in _groups(outcomes) if some}
    told: dict[str, Any] = {name: _verdicts(some, draws) for name, some in groups.items()}
    told["confidence"] = _confidence(outcomes)
    spent = [one.ms for one in outcomes]
    told["p50_ms"], told["p95_ms"] = round(percentile(spent, 0.5), 1), round(percentile(spent, 0.95), 1)
    return told


def _groups(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, Sequence[Outcome]]]:
    answerable = [one for one in outcomes if one.question.is_answerable]
    yield "all", answerable
    for language in ("en", "ja"):
        of_language = [one for one in answerable if one.question.language == language]
        yield f"own language/{language}", [one for one in of_language if not one.question.across]
        yield f"across/{language}", [one for one in of_language if one.question.across]
    yield "across/both", [one for one in answerable if one.question.across]
    for kind in sorted({one.question.kind for one in answerable}):
        yield f"class/{kind}", [one for one in answerable if one.question.kind == kind]
    for language in ("en", "ja"):
        nothing = [one for one in outcomes if not one.question.is_answerable and one.question.language == language]
        yield f"no answer/{language}", nothing
    yield "no answer/both", [one for one in outcomes if not one.question.is_answerable]


def _verdicts(some: Sequence[Outcome], draws: np.random.Generator) -> dict[str, Any]:
    if not some[0].question.is_answerable:
        return {"questions": len(some), **_interval("honest", [one.verdict == RIGHT for one in some], draws)}
    told: dict[str, Any] = {"questions": len(some)}
    for name in VERDICTS:
        told |= _interval(name, [one.verdict == name for one in some], draws)
    told |= _interval("passage first", [one.rank == 1 for one in some], draws)
    return told | _interval("passage among five", [0 < one.rank <= 5 for one in some], draws)


def _interval(name: str, flags: Sequence[bool], draws: np.random.Generator) -> dict[str, Any]:
    values = np.array(flags, dtype=float)
    means = values[draws.integers(len(values), size=(DRAWS, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return {name: round(float(values.mean()), 3), f"{name}, 95 %": f"{low:.3f} to {high:.3f}"}


def _confidence(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Tell how far confidence is from the share of right answers, and whether it puts right ones above wrong ones."""
    shown = [one for one in outcomes if one.question.is_answerable and one.verdict != REFUSED]
    shown += [one for one in outcomes if not one.question.is_answerable and one.verdict == WRONG]
    sure = np.array([one.confidence for one in shown])
    is_right = np.array([one.verdict == RIGHT for one in shown], dtype=bool)
    is_wrong = np.array([one.verdict == WRONG for one in shown], dtype=bool)
    told: dict[str, Any] = {"shown": len(shown), "auc": None, "calibration error": None, "right of shown": None}
    if len(shown):
        bins = [part for part in np.array_split(np.argsort(sure, kind="stable"), min(BINS, len(shown))) if len(part)]
        gaps = [abs(sure[part].mean() - is_right[part].mean()) * len(part) for part in bins]
        told["calibration error"] = round(float(sum(gaps)) / len(shown), 3)
        told["right of shown"] = round(float(is_right.mean()), 3)
    if is_right.any() and is_wrong.any():
        told["auc"] = round(area_under_curve(sure[is_right], sure[is_wrong]), 3)
    return told


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--half", choices=("a", "b", "both"), default="a", help="which questions; b only to judge")
    parser.add_argument("--set", type=Path, default=SET, help="the folder of questions, such as manuals_set_2")
    parser.add_argument("--folder", type=Path, help="where the packages are unpacked; without it they are downloaded")
    parser.add_argument("--kept", type=Path, help="keep the knowledge base here, and use the one that is here already")
    parser.add_argument(
        "--threshold", type=float, help="minimum confidence of an answer, instead of the calibrated one"
    )
    parser.add_argument("--sample", type=int, help="about how many questions to take")
    parser.add_argument("--typos", action="store_true", help="ask the English questions with a typo each")
    parser.add_argument("--each", action="store_true", help="print every question with its answer on stderr")


UNITS = {
    ".*/(right|honest|passage first|passage among five)": ("share", "higher"),
    ".*/(wrong|partial|refused)": ("share", "lower"),
    "confidence/(auc|right of shown)": ("share", "higher"),
    "confidence/calibration error": ("share", "lower"),
}

BENCHMARK = Benchmark(
    "manuals",
    figures,
    add_options,
    smallest={"half": "both", "sample": 40},
    small={"sample": 60},
    scale="sample",
    seed=0,
    units={**UNITS, "typos/corrected": ("share", "higher")},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
