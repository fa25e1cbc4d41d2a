"""What one trace and one run come to, checked by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.evaluation.measure import LEGS, measures_of, observe
from core.model import (
    Analysis,
    Answer,
    AnswerType,
    Citation,
    Hit,
    IndexHit,
    JudgedQuestion,
    Leg,
    Query,
    RerankScore,
    Sentence,
    Trace,
)
from tests.builders import hit
from tests.unit.evaluation.results import observation

ANSWER = Answer("At noon [1].", AnswerType.EXTRACTIVE, (Citation(1, "doc-2.txt", 1, 2, 0, "doc-2.txt", "noon", 0, 4),))
NOTHING = Answer("", AnswerType.INSUFFICIENT)


def traced(*candidates: Hit, answer: Answer = ANSWER, vector: tuple[int, ...] = (), keyword: tuple[int, ...] = ()):
    legs = [Leg(name, "memory", tuple(IndexHit(each, 1.0) for each in ids)) for name, ids in
            (("vector", vector), ("keyword", keyword))]  # fmt: skip
    return Trace(
        "t", datetime.now(UTC), Query("When?"), 1, Analysis("en", "when?", (), "en"), legs[0], legs[1],
        candidates[:5], candidates, "", "", answer, {},
    )  # fmt: skip


def test_each_leg_ranks_documents_by_their_first_chunk() -> None:
    reranked = [
        replace(hit(20, "b", rank=1, doc_id=2), rerank=RerankScore(2, 0.9)),
        replace(hit(10, "a", rank=2, doc_id=1), rerank=RerankScore(1, 0.8), merged=(30,)),
        replace(hit(11, "a", rank=3, doc_id=1), rerank=RerankScore(3, 0.7)),
    ]
    trace = traced(*reranked, vector=(10, 11, 20, 99), keyword=(30, 20))
    found = observe(JudgedQuestion("q", "When?", ("doc-2.txt",)), trace, {30: "doc-3.txt"})
    assert found.ranks == {"vector": 2, "keyword": 2, "fused": 3, "final": 1}
    assert found.values["final"]["recall_at_1"] == 1.0
    assert found.values["fused"] == pytest.approx(
        {"recall_at_1": 0.0, "recall_at_10": 1.0, "mrr_at_10": 1 / 3, "ndcg_at_10": 0.5}
    )


def test_without_reranking_fused_and_final_are_the_same() -> None:
    found = observe(
        JudgedQuestion("q", "When?", ("doc-2.txt", "doc-9.txt")), traced(hit(10, "a"), hit(20, "b", doc_id=2)), {}
    )
    assert found.values["fused"] == found.values["final"]
    assert found.values["final"]["recall_at_10"] == 0.5


@pytest.mark.parametrize(
    ("question", "answer", "is_right"),
    [
        (JudgedQuestion("q", "When?", ("doc-1.txt",), ("noon",)), ANSWER, True),
        (JudgedQuestion("q", "When?", ("doc-2.txt",), ("midnight",)), ANSWER, False),
        (JudgedQuestion("q", "When?", ("doc-2.txt",)), ANSWER, True),
        (JudgedQuestion("q", "When?", ("doc-1.txt",)), ANSWER, False),
        (JudgedQuestion("q", "When?"), ANSWER, None),
        (JudgedQuestion("q", "When?"), NOTHING, None),
        (JudgedQuestion("q", "When?", ("doc-2.txt",), ("noon",)), NOTHING, False),
        (JudgedQuestion("q", "Who?", answerable=False), NOTHING, True),
        (JudgedQuestion("q", "Who?", answerable=False), ANSWER, False),
    ],
)
def test_what_is_right(question: JudgedQuestion, answer: Answer, is_right: bool | None) -> None:
    found = observe(question, traced(hit(20, "noon", doc_id=2), answer=answer), {})
    assert found.is_right is is_right


def test_failure_is_a_wrong_answer_or_a_document_too_far_down() -> None:
    assert not observation("a").is_failure
    assert observation("a", right=False).is_failure
    assert replace(observation("a"), ranks={"final": 11}).is_failure
    assert not observation("a", answerable=False).is_failure


def test_run_is_measured_over_its_questions() -> None:
    written = replace(observation("c", 0.0, right=False), sentences=4, unsupported=1, duration_ms=9.0)
    measures = measures_of(
        [observation("a"), written, observation("b", answerable=False, insufficient=True), observation("d", 0.5)]
    )
    assert measures["final"]["ndcg_at_10"] == 0.5
    assert measures["answers"] == {
        "right": pytest.approx(2 / 3),
        "answerable_insufficient": 0.0,
        "unanswerable_insufficient": 1.0,
        "unsupported": 0.25,
        "unsupported_sentences": 1,
        "generator_failed": 0,
        "questions": 4,
        "answerable": 3,
        "judged": 3,
        "unjudged": 0,
        "median_length": 4,
        "p50_ms": 1.0,
        "p95_ms": 9.0,
    }


def test_a_question_without_a_judgement_is_counted_and_changes_no_measure() -> None:
    unanswerable = observation("c", answerable=False, insufficient=True)
    judged = [observation("a"), observation("b", 0.0, right=False), unanswerable]
    trace = traced(hit(20, "noon", doc_id=2))
    silent = traced(hit(20, "noon", doc_id=2), answer=NOTHING)
    unjudged = [observe(JudgedQuestion(str(n), "When?"), each, {}) for n, each in enumerate((trace, silent, silent))]
    plain, found = measures_of(judged), measures_of([*judged, *unjudged])
    assert (found["answers"]["unjudged"], found["answers"]["questions"], found["answers"]["answerable"]) == (3, 6, 2)
    assert {leg: found[leg] for leg in LEGS} == {leg: plain[leg] for leg in LEGS}
    for share in ("right", "answerable_insufficient", "unanswerable_insufficient"):
        assert found["answers"][share] == plain["answers"][share]
    assert not any(each.is_failure for each in unjudged)


def test_share_of_no_question_is_unknown() -> None:
    measures = measures_of([observation("a", answerable=False)])
    assert measures["answers"]["right"] is None and "final" not in measures


def test_sentences_without_support_are_counted() -> None:
    written = replace(ANSWER, sentences=(Sentence(0, 3, True, 1), Sentence(3, 6, False)))
    found = observe(JudgedQuestion("q", "When?"), traced(hit(1, "a"), answer=written), {})
    assert (found.sentences, found.unsupported) == (2, 1)
