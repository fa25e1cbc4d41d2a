"""What jobs told of the time that they would take, held against the time that they took."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from core import KnowledgeBase
from core.model import JobFilter
from core.model.jobs import together

BEGUN = 0.1
THIRD = 1 / 3
CLOSE_S = 2.0
_EVERY_S = 1.0
_NEWEST = 200


@dataclass(frozen=True, slots=True)
class Sample:
    """What was told at a moment, in seconds since the first document was sent."""

    at: float
    share: float
    left: float | None


class Watch:
    """Notes the time left of what goes into a knowledge base whenever it is asked to look, once a second at most."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._began = time.perf_counter()
        self._samples: list[Sample] = []

    def look(self) -> None:
        now = time.perf_counter() - self._began
        if self._samples and now - self._samples[-1].at < _EVERY_S:
            return
        # Of many files those that came last end last.
        jobs = self._kb.jobs(JobFilter(), active=True, limit=_NEWEST)
        if jobs:
            self._samples.append(Sample(now, *together(jobs)))

    def judged(self) -> dict[str, float]:
        found = judged(self._samples, time.perf_counter() - self._began)
        return {name: found[name] for name in ("within_a_third", "median_error") if name in found}


def judged(samples: Sequence[Sample], took_s: float) -> dict[str, float]:
    """Hold what was told against what became true."""
    late = [sample for sample in samples if sample.at >= BEGUN * took_s]
    off = [abs((sample.left if sample.left is not None else 0.0) - (took_s - sample.at)) for sample in late]
    errors = [each / (took_s - sample.at) for each, sample in zip(off, late, strict=True)]
    near = [error <= THIRD or each <= CLOSE_S for error, each in zip(errors, off, strict=True)]
    report: dict[str, float] = {
        "took_s": took_s,
        "samples": len(late),
        "longest_standstill_s": _standstill(samples),
        "went_back": max([0.0, *(before.share - after.share for before, after in itertools.pairwise(samples))]),
    }
    if late:
        report |= {"within_a_third": sum(near) / len(near), "median_error": statistics.median(errors)}
    return report


def _standstill(samples: Sequence[Sample]) -> float:
    """Return the longest time in which the share stayed the same."""
    longest = 0.0
    since = samples[0] if samples else None
    for sample in samples:
        assert since is not None
        if abs(sample.share - since.share) > 1e-4:
            since = sample
        longest = max(longest, sample.at - since.at)
    return longest
