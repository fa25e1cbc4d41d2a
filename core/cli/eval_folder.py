"""``evorag eval``: builds a temporary knowledge base from a question set and measures it.

What cannot be read, indexed or asked is left out and told with its file and line; the rest is measured.
"""

from __future__ import annotations

import random
import tempfile
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from core import EvoRAG, Settings, build
from core.cli import output
from core.evaluation.fill_folder import fill
from core.evaluation.measure_folder import evaluate
from core.evaluation.question_folder import QUESTIONS, answerable_from, check_some, read_set


def run(folder: Path, sample: int | None = None, seed: int = 0) -> dict[str, Any]:
    """Return the measures of a question set as plain data; ``left_out`` lists what is no part of them.

    Raises: ``InvalidInput`` where nothing is left to measure.
    """
    read = read_set(folder)
    left_out = list(read.left_out)
    with tempfile.TemporaryDirectory(prefix="evorag-eval-") as data_dir:
        kb = build(Settings(data_dir=Path(data_dir)))
        try:
            started = time.perf_counter()
            keys = fill(kb, read.passages, left_out, partial(output.follow, kb))
            indexing_s = time.perf_counter() - started
            questions = answerable_from(keys, read.questions, left_out)
            if sample is not None and sample < len(questions):
                questions = random.Random(seed).sample(questions, sample)
            with output.bar("Asking") as progress:
                report = evaluate(kb, EvoRAG(kb=kb), keys, questions, progress)
        finally:
            kb.close()
    left_out += report.left_out
    check_some(report.outcomes, QUESTIONS, left_out)
    told = [asdict(each) for each in left_out]
    return {**report.as_dict(), "left_out": told, "seed": seed, "indexing_s": indexing_s}
