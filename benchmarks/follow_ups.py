"""Follow-up questions as they are understood: pairs of questions, in English and Japanese, held against what is meant.

The pairs in ``follow_up_set`` say which wordings say what the second question means. Half ``a`` may be used to develop,
half ``b`` judges. ``right`` is a wording that was written down, ``in_front`` the question before with the second one
behind it, ``other_right`` where only the second reading that is searched is one of these, ``wrong`` all else.
``--each`` prints every pair on stderr.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.machine import note
from core.query.conversations.follow_up import Earlier, readings

PAIRS = Path(__file__).parent / "follow_up_set" / "pairs.jsonl"
MOST_CHARS = 4_000
OUTCOMES = ("right", "in_front", "other_right", "wrong")


def figures(context: Context) -> dict[str, Any]:
    half = context.options.half
    pairs = [pair for line in PAIRS.read_text(encoding="utf-8").splitlines() if (pair := json.loads(line))]
    pairs = [pair for pair in pairs if half in (pair["half"], "both")][: context.options.sample or None]
    counts: dict[str, Counter[str]] = {}
    spent_ms = []
    for pair in pairs:
        started = time.perf_counter()
        searched = readings_of(pair)
        spent_ms.append((time.perf_counter() - started) * 1000)
        found = outcome(searched, pair)
        counts.setdefault(pair["language"], Counter())[found] += 1
        if context.options.each:
            note(f"{found:11} {pair['before']} | {pair['question']} | {' | '.join(searched)}")
    told = {
        language: {"pairs": each.total(), **{name: each[name] for name in OUTCOMES}}
        for language, each in counts.items()
    }
    return {"languages": told, "median_ms": round(median(spent_ms), 2)}


def readings_of(pair: dict[str, Any]) -> list[str]:
    """Return what is searched for the second question of a pair, what is likelier first."""
    found = readings(pair["question"], [Earlier(pair["before"])], MOST_CHARS)
    return [found.text, found.other] if found.other else [found.text]


def outcome(searched: list[str], pair: dict[str, Any]) -> str:
    """Tell what became of a pair."""
    wanted = {_plain(each) for each in pair["means"]}
    in_front = _plain(f"{pair['before']} {pair['question']}")
    if _plain(searched[0]) in wanted:
        return "right"
    if any(_plain(each) in wanted for each in searched[1:]):
        return "other_right"
    return "in_front" if in_front in map(_plain, searched) else "wrong"


def _plain(text: str) -> str:
    return re.sub(r"[\s?？。.!,、’']+", "", text.lower())


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--half", choices=("a", "b", "both"), default="both")
    parser.add_argument("--sample", type=int, default=0, help="how many pairs; 0: all")
    parser.add_argument("--each", action="store_true", help="print every pair on stderr")


BENCHMARK = Benchmark(
    "follow_ups",
    figures,
    add_options,
    smallest={"sample": 4},
    small={"sample": 40},
    scale="sample",
    units={r"/(?:right|other_right)$": ("pairs", "higher"), "_ms": ("ms", "lower")},
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
