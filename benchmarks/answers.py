"""Extracted answers, and when to say "insufficient".

Each folder is a question set (form: ``core/evaluation/question_folder.py``). Every question is searched twice in the
same knowledge base: as it is, and as if its passages had been removed (their hits are taken out and the others move
up). The first, third… question of a set chooses (``--fit`` prints the constants of ``core/query``, and how a fit on
one set alone does on the others); the curve is that of the second, fourth… question.

With ``--generator`` a generator writes beside extraction (``benchmarks/written_answers.py``); no folder means the
sample documents. A server of your own is named by ``--generator openai --url http://127.0.0.1:11434/v1 --model NAME``,
its key by ``EVORAG_OPENAI_KEY``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks import runner, written_answers
from benchmarks.benchmark import Benchmark, Context
from benchmarks.fitting import Group, Row, conditional_logit, logistic, score
from core import EvoRAG, Query, Settings, build
from core.evaluation.fill_folder import fill
from core.evaluation.measure_folder import Question, read_passages, read_questions
from core.evaluation.metrics import contains_answer, normalise, percentile, without_marks
from core.model import Answer, Hit
from core.query.answer import candidates, confidence, extract, trim_clauses
from core.query.answer.candidates import find_candidates
from core.query.answer.question_profile import QuestionProfile, read_question
from core.query.search.fuse import choose
from core.text.sentences import split_sentences

THRESHOLDS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6)
TOP_K, PER_DOCUMENT = 5, 3


@dataclass(frozen=True)
class Observed:
    """A question with all its hits, and those that are left when its passages are gone."""

    question: Question
    found: Sequence[Hit]
    left: Sequence[Hit]


def observe(folder: Path, sample: int | None) -> list[Observed]:
    """Search every question of a set in a temporary knowledge base."""
    passages, questions = read_passages(folder), [q for q in read_questions(folder) if q.answerable and q.answers]
    step = max(1, len(questions) // sample) if sample else 1
    with (
        tempfile.TemporaryDirectory(prefix="evorag-answers-") as data_dir,
        build(Settings(data_dir=Path(data_dir))) as kb,
    ):
        keys = fill(kb, passages)
        rag = EvoRAG(kb=kb)
        return [_observed(question, rag, keys) for question in questions[::step]]


def _observed(question: Question, rag: EvoRAG, keys: dict[str, str]) -> Observed:
    hits = rag.search(Query(question.text)).candidates
    gone = {keys[name] for name in question.passage_ids if name in keys}
    left = [hit for hit in hits if hit.placed.doc_key not in gone]
    return Observed(question, hits, [hit.at(rank) for rank, hit in enumerate(left, 1)])


def answer(question: str, hits: Sequence[Hit]) -> Answer:
    """Answer as the pipeline does, but whatever the confidence."""
    return extract.extract_answer(question, choose(hits, TOP_K, PER_DOCUMENT), threshold=0.0, candidates=hits)


def curve(observed: Sequence[Observed]) -> dict[str, Any]:
    """Return the measures of a set at each threshold, and those of the answers when none is held back."""
    started = time.perf_counter()
    given = [(one.question, answer(one.question.text, one.found)) for one in observed]
    per_answer_ms = (time.perf_counter() - started) * 1000 / max(1, len(given))
    without = [answer(one.question.text, one.left).confidence for one in observed]
    right = [contains_answer(got.text, question.answers) for question, got in given]
    sure = [got.confidence for _, got in given]
    return {
        "questions": len(observed),
        "median_chars": statistics.median(len(without_marks(got.text)) for _, got in given),
        "p90_chars": percentile([len(without_marks(got.text)) for _, got in given], 0.9),
        "citations": round(statistics.mean(len(got.citations) for _, got in given), 2),
        "ms": round(per_answer_ms, 1),
        "thresholds": {
            str(least): {
                "contains_gold": _share([ok and c >= least for ok, c in zip(right, sure, strict=True)]),
                "answerable_insufficient": _share([c < least for c in sure]),
                "unanswerable_insufficient": _share([c < least for c in without]),
            }
            for least in THRESHOLDS
        },
    }


def fit(chosen: dict[str, list[Observed]], judged: dict[str, list[Observed]]) -> dict[str, Any]:
    """Fit the constants on ``chosen`` and tell how fits on single sets do on the ``judged`` half of every set."""
    sentences = {name: [_sentence_group(name, one) for one in some] for name, some in chosen.items()}
    clauses = {name: [g for one in some if (g := _clause_group(name, one))] for name, some in chosen.items()}
    sure = {name: list(_confidence_rows(some)) for name, some in chosen.items()}
    later_sentences = {name: [_sentence_group(name, one) for one in some] for name, some in judged.items()}
    later_sure = {name: list(_confidence_rows(some)) for name, some in judged.items()}
    names, crossed = list(candidates.SENTENCE_WEIGHTS), {}
    for fitted_on in (list(chosen), *([name] for name in chosen)):
        weights = conditional_logit([g for name in fitted_on for g in sentences[name]], names)
        model = _fit_confidence({name: sure[name] for name in fitted_on})
        for name in judged:
            crossed[f"{'+'.join(fitted_on)} on {name}"] = {
                "best_sentence": round(_best_is_right(later_sentences[name], weights), 4),
                "unanswerable_insufficient_at_5_percent": round(_caught(later_sure[name], model[0]), 4),
            }
    weights, bias = _fit_confidence(sure)
    everything = [g for some in clauses.values() for g in some]
    return {
        "SENTENCE_WEIGHTS": _rounded(conditional_logit([g for s in sentences.values() for g in s], names)),
        "CLAUSE_WEIGHTS": _rounded(conditional_logit(everything, list(trim_clauses.CLAUSE_WEIGHTS))),
        "CONFIDENCE_WEIGHTS": _rounded(weights),
        "CONFIDENCE_BIAS": round(bias, 2),
        "crossed": crossed,
    }


def _asked(one: Observed, hits: Sequence[Hit]) -> tuple[QuestionProfile, list[candidates.Candidate]]:
    asked = read_question(one.question.text, hits)
    return asked, find_candidates(asked, choose(hits, TOP_K, PER_DOCUMENT))


def _sentence_group(name: str, one: Observed) -> Group:
    _, found = _asked(one, one.found)
    relevant = {hit.placed.doc_key for hit in one.found} - {hit.placed.doc_key for hit in one.left}
    right = [c.hit.placed.doc_key in relevant and _holds(c.text, one.question.answers) for c in found]
    return Group([c.features for c in found], right, name)


def _clause_group(name: str, one: Observed) -> Group | None:
    asked = read_question(one.question.text, one.found)
    kept = {hit.placed.id for hit in one.left}
    for hit in one.found:
        text = hit.placed.chunk.text
        for start, end in split_sentences(text) if hit.placed.id not in kept else ():
            sentence = text[start:end]
            spans = trim_clauses.split_clauses(sentence)
            right = [_holds(sentence[a:b], one.question.answers) for a, b in spans]
            if any(right) and len(spans) > 1:
                return Group(trim_clauses.clause_features(sentence, spans, asked), right, name)
    return None


def _confidence_rows(observed: Sequence[Observed]) -> Iterator[tuple[Row, bool]]:
    for one in observed:
        for hits, label in ((one.found, True), (one.left, False)):
            asked, found = _asked(one, hits)
            if found:
                yield confidence.confidence_features(asked, max(found, key=lambda c: c.chance)), label


def _fit_confidence(sure: dict[str, list[tuple[Row, bool]]]) -> tuple[Row, float]:
    rows = [(row, label, name) for name, some in sure.items() for row, label in some]
    return logistic(
        [row for row, _, _ in rows],
        [label for _, label, _ in rows],
        [name for _, _, name in rows],
        list(confidence.CONFIDENCE_WEIGHTS),
    )


def _best_is_right(groups: Sequence[Group], weights: Row) -> float:
    right = [bool(g.rows) and g.right[int(np.argmax(score(g.rows, weights)))] for g in groups]
    return statistics.mean(right)


def _caught(rows: Sequence[tuple[Row, bool]], weights: Row) -> float:
    """Return the share of unanswerable questions below the confidence that 5 % of the answerable ones miss."""
    scores = score([row for row, _ in rows], weights)
    labels = np.array([label for _, label in rows])
    return float(np.mean(scores[~labels] < np.quantile(scores[labels], 0.05)))


def _holds(text: str, answers: Sequence[str]) -> bool:
    return any(normalise(answer) in normalise(text) for answer in answers)


def _share(flags: Sequence[bool]) -> float:
    return round(sum(flags) / max(1, len(flags)), 4)


def _rounded(weights: Row) -> Row:
    return {name: round(value, 2) for name, value in weights.items()}


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    if options.generator:
        return written_answers.figures(context)
    observed = {folder.name: observe(folder, options.sample) for folder in options.folders}
    report: dict[str, Any] = {"threshold": extract.DEFAULT_THRESHOLD}
    report["sets"] = {name: curve(some[1::2]) for name, some in observed.items()}
    if options.fit:
        chosen = {name: some[::2] for name, some in observed.items()}
        report["fit"] = fit(chosen, {name: some[1::2] for name, some in observed.items()})
    return report


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--fit", action="store_true", help="print the constants that the choosing half gives")
    parser.add_argument("--sample", type=int, help="about how many questions of each set to take")
    parser.add_argument("--generator", default="", help="what writes beside extraction: openai, huggingface, …")
    parser.add_argument("--url", default="", help="server of openai; else EVORAG_OPENAI_URL")
    parser.add_argument("--model", default="", help="model of openai or huggingface; else that of the settings")
    parser.add_argument("--command", default="", help="program of command; else EVORAG_LLM_COMMAND")
    parser.add_argument("--each", action="store_true", help="print what was written to each question on stderr")


BENCHMARK = Benchmark(
    "answers",
    figures,
    add_options,
    smallest={"sample": 40},
    small={"sample": 200},
    scale="sample",
    takes_folders=True,
    needs_folders=lambda options: not options.generator,
    units={
        "sets/.*/right/.*": ("share", "higher"),
        ".*_chars": ("characters", "lower"),
        "fit/.*(WEIGHTS/.*|_BIAS)": ("weight", "neither"),
    },
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
