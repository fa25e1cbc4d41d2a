"""What each switch of a search changes in ranks, answers and time.

FOLDER is a question set (form: ``core/evaluation/question_folder.py``) or holds several, one a language. Every
question is asked with each switch in the same knowledge base; recall, nDCG and MRR are those of the final order,
within the first 10. A switch helps where its 95 % interval of the difference in nDCG@10 to ``none`` lies above 0
(bootstrap over questions). The reference ``bm25`` is BM25 alone, of tantivy called directly, beside ``none``.

``--fit`` prints the weights that a conditional logit gives the light features on every other question, of all sets and
of each alone, and the nDCG@10 that each fit and equal weights reach on the remaining questions of every set.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks import libraries, runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.fitting import Group, Row, conditional_logit, score
from benchmarks.machine import note
from core import EvoRAG, KnowledgeBase, Query, Settings, build
from core.evaluation.fill_folder import fill
from core.evaluation.measure_folder import Question, QuestionMeasure, evaluate, read_passages, read_questions
from core.evaluation.metrics import ndcg_at, percentile
from core.model import Hit, Trace
from core.query.search.cosines import cosines_of
from core.query.search.rerank import RerankRequest, RerankStage

PLAIN = Query("", rerank="none", recency=False, read_filters=False, fresh=True)
SWITCHES = {
    "none": PLAIN,
    "mix": replace(PLAIN, rerank="mix"),
    "features": replace(PLAIN, rerank="features"),
    "recency": replace(PLAIN, recency=True),
    "read_filters": replace(PLAIN, read_filters=True),
    "fusion mix": replace(PLAIN, fusion="mix"),
}
RESAMPLES = 2_000


class Switched:
    """Asks every question in one way, and keeps how long the stage behind the fusion took."""

    def __init__(self, kb: KnowledgeBase, switch: Query) -> None:
        self._rag = EvoRAG(kb=kb)
        self._switch = switch
        self.rerank_ms: list[float] = []
        self.narrowed = 0

    def ask(self, query: Query | str, *, keep: bool = True) -> Trace:
        text = query.text if isinstance(query, Query) else query
        trace = self._rag.ask(replace(self._switch, text=text), keep=keep)
        self.rerank_ms.append(trace.timings_ms.get("rerank", 0.0))
        self.narrowed += any(each.is_applied for each in trace.analysis.read_filters)
        return trace


@contextmanager
def filled(folder: Path, keep: Path | None) -> Iterator[tuple[KnowledgeBase, dict[str, str]]]:
    """Give a knowledge base with the passages of a set, and their keys; a kept one is filled once."""
    with tempfile.TemporaryDirectory(prefix="evorag-switches-") as temporary:
        home = (keep or Path(temporary)) / folder.name
        noted = home / "keys.json"
        with build(Settings(data_dir=home)) as kb:
            # The model would otherwise embed every question once for each switch.
            kb._embedder.embed_query = lru_cache(100_000)(kb._embedder.embed_query)  # type: ignore[method-assign]
            if not noted.exists():
                note(f"Filling {folder.name}")
                noted.write_text(json.dumps(fill(kb, read_passages(folder))), encoding="utf-8")
            yield kb, json.loads(noted.read_text(encoding="utf-8"))


def measure(
    kb: KnowledgeBase, keys: Mapping[str, str], questions: Sequence[Question], names: Sequence[str]
) -> dict[str, Any]:
    """Return the measures of each switch on one set."""
    measured: dict[str, Any] = {}
    base: dict[str, float] = {}
    for name in names:
        note(f"  {name}")
        asker = Switched(kb, SWITCHES[name])
        report = evaluate(kb, asker, keys, questions)
        gains = {outcome.question.id: _gain(outcome) for outcome in report.outcomes if outcome.question.passage_ids}
        base = base or gains
        final = report.ranks["final"]
        measured[name] = {
            "recall@10": round(final.recall_at_10, 4),
            "ndcg@10": round(final.ndcg_at_10, 4),
            "mrr@10": round(final.mrr_at_10, 4),
            "contains_gold": report.answers.contains_gold,
            "ndcg_difference_95": _interval([gains[key] - base[key] for key in base]),
            "rerank_p50_ms": round(percentile(asker.rerank_ms, 0.5), 2),
            "ask_p50_ms": round(report.p50_ms, 1),
            "questions_narrowed": asker.narrowed,
        }
    return measured


def _gain(outcome: QuestionMeasure) -> float:
    return ndcg_at(outcome.rankings["final"], outcome.question.passage_ids, 10)


def _interval(differences: Sequence[float]) -> dict[str, float]:
    values = np.array(differences)
    drawn = np.random.default_rng(0).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
    return {"low": round(float(low), 4), "high": round(float(high), 4)}


# ---- the weights of the light features


def groups(kb: KnowledgeBase, keys: Mapping[str, str], questions: Sequence[Question], name: str) -> list[Group]:
    """Return the features of the first candidates of each question, and which of them answer it."""
    stage: RerankStage = kb.queries._searcher._stage
    found = []
    for question in questions:
        trace = EvoRAG(kb=kb).search(replace(PLAIN, text=question.text))
        wanted = {keys[passage] for passage in question.passage_ids if passage in keys}
        vector = kb._embedder.embed_query(question.text)
        asking = RerankRequest(trace.analysis.normalised, vector, trace.query.depth, kb._embedder.id)
        first: list[Hit] = list(trace.candidates[: kb.settings.rerank_depth])
        rows = stage.features(first, trace.candidates, asking) if first else []
        found.append(Group(rows, [hit.placed.doc_key in wanted for hit in first], name))
    return found


def fit(sets: Mapping[str, Sequence[Group]]) -> dict[str, Any]:
    """Return the weights that each choice of sets gives, and how they order the other half of every set."""
    # What was set for models of any kind is what this fits; ``across`` needs questions in other languages.
    weights = {name: weight for name, weight in cosines_of("").weights.items() if name != "across"}
    names = list(weights)
    tried: dict[str, Row] = {"as set": weights, "equal": dict.fromkeys(names, 1.0)}
    for chosen in (list(sets), *([name] for name in sets)):
        half = [group for name in chosen for group in sets[name][::2]]
        tried[f"fitted on {'+'.join(chosen)}"] = conditional_logit(half, names)
    return {
        label: {
            "weights": {name: round(value / sum(weights.values()), 2) for name, value in weights.items()},
            "ndcg@10 of the other half": {
                name: round(float(np.mean([_ndcg(group, weights) for group in some[1::2]])), 4)
                for name, some in sets.items()
            },
        }
        for label, weights in tried.items()
    }


def _ndcg(group: Group, weights: Row) -> float:
    if not any(group.right):
        return 0.0
    order = np.argsort(-score(group.rows, weights), kind="stable")
    rank = 1 + next(place for place, index in enumerate(order) if group.right[index])
    return float(1 / np.log2(rank + 1)) if rank <= 10 else 0.0


def figures(context: Context) -> dict[str, Any]:
    given = context.options
    names = ["none", *(name for name in given.switch or SWITCHES if name != "none")]
    results: dict[str, Any] = {}
    fitted: dict[str, list[Group]] = {}
    for folder in sets_in(given.folders):
        questions = sampled(folder, given.sample)
        with filled(folder, given.keep) as (kb, keys):
            if given.fit:
                fitted[folder.name] = groups(kb, keys, questions, folder.name)
            else:
                results[folder.name] = {"questions": len(questions), **measure(kb, keys, questions, names)}
    return {"fit": fit(fitted)} if given.fit else {"sets": results}


def of_bm25(context: Context) -> dict[str, Any]:
    """Rank by BM25 alone, of tantivy over the same passages."""
    given = context.options
    return {
        "sets": {
            folder.name: {
                "none": libraries.bm25(read_passages(folder), sampled(folder, given.sample), context.workspace)
            }
            for folder in sets_in(given.folders)
        }
    }


def sets_in(folders: Sequence[Path]) -> list[Path]:
    """Return the question sets: each folder that is one, and those in a folder of several."""
    found = []
    for folder in folders:
        here = (folder / "questions.jsonl").exists()
        found += [folder] if here else [each.parent for each in sorted(folder.glob("*/questions.jsonl"))]
    return found


def sampled(folder: Path, sample: int | None) -> list[Question]:
    questions = read_questions(folder)
    return list(questions[:: max(1, len(questions) // sample)] if sample else questions)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--switch", action="append", choices=list(SWITCHES), help="only these, and none")
    parser.add_argument("--sample", type=int, help="every n-th question, so that about this many are asked")
    parser.add_argument("--keep", type=Path, help="folder of filled knowledge bases for further runs")
    parser.add_argument("--fit", action="store_true", help="fit the weights of the light features")


BENCHMARK = Benchmark(
    "switches",
    figures,
    add_options,
    smallest={"sample": 10, "switch": ["mix"]},
    small={"sample": 100},
    scale="sample",
    takes_folders=True,
    references={"bm25": of_bm25},
    units={
        ".*/ndcg_difference_95/.*": ("share", "higher"),
        ".*/ndcg@10 of the other half/.*": ("share", "higher"),
        ".*/weights/.*": ("weight", "neither"),
    },
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
