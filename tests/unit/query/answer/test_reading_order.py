"""The order in which a reader puts the passages, and what of it is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from core.model import Hit, Query, Reranking, RerankScore
from core.query.answer.named_documents import named_documents
from core.query.answer.question_profile import read_question
from core.query.answer.reading import ReadingStage
from core.query.answer.reading_order import DOCUMENT_PART, READ_DEPTH, READER_PART, ReadResult, in_order_of_reading
from core.query.search.search import SearchResult
from tests.unit.query.answer.test_extract import CANTEEN, PLANT, hits_for
from tests.unit.query.answer.test_reading import QUESTION, Broken, FoundAtWord

SHOPS = "The shop in Hakone sells pumps. It opens at nine. It has two floors."


def searched(*texts: str, method: str = "features", error: dict[str, Any] | None = None) -> SearchResult:
    hits: list[Hit] = hits_for(QUESTION, *texts)
    if method != "none":
        score = [RerankScore(hit.rank, 1 - hit.rank / 10, {"bm25": 1 - hit.rank / 10}) for hit in hits]
        hits = [replace(hit, rerank=own) for hit, own in zip(hits, score, strict=True)]
    scope = cast(Any, type("Scope", (), {"doc_ids": None}))
    reranking = None if method == "none" else Reranking(method, {"bm25": 1.0}, len(hits), error=error)
    return SearchResult(cast(Any, None), scope, hits, hits[:2], reranking)


def ordered(found: SearchResult, reader: FoundAtWord, question: str = QUESTION) -> ReadResult:
    return in_order_of_reading(question, found, ReadingStage(lambda: reader), Query(question, top_k=2))


def test_the_passage_that_answers_comes_first_and_every_part_is_told() -> None:
    read = ordered(searched(SHOPS, CANTEEN, PLANT), FoundAtWord("3,776"))
    first = read.found.candidates[0]
    assert "3,776" in first.placed.chunk.text
    assert [hit.rank for hit in read.found.candidates] == [1, 2, 3]
    assert read.found.hits[0] == first
    for hit in read.found.candidates:
        assert hit.rerank is not None
        assert hit.rerank.score == pytest.approx(sum(hit.rerank.parts.values()))
        assert hit.rerank.parts[READER_PART] >= 0
    assert read.found.reranking is not None
    assert READER_PART in read.found.reranking.weights
    assert read.windows


@pytest.mark.parametrize("found", [searched(SHOPS, PLANT, method="none"), searched(SHOPS, PLANT, error={"code": "x"})])
def test_an_order_that_was_not_made_by_reranking_stays(found: SearchResult) -> None:
    read = ordered(found, FoundAtWord("3,776"))
    assert read.found == found
    assert read.windows


def test_a_broken_reader_and_a_foreign_question_leave_everything() -> None:
    found = searched(SHOPS, PLANT)
    foreign = "Wie viele Menschen arbeiten in dem Werk?"
    for read in (ordered(found, Broken("")), ordered(found, FoundAtWord("3,776"), foreign)):
        assert read.found is found
        assert not read.windows


@pytest.mark.parametrize(("title", "is_read"), [("Hakone plant", True), ("Canteen", False)])
def test_a_passage_in_another_language_far_behind_is_read_where_the_question_names_its_document(
    title: str, is_read: bool
) -> None:
    question = "Hakone plantの従業員は何人ですか"
    near = [f"第{number}工場の従業員は十人です。食堂があります。" for number in range(READ_DEPTH)]
    found = searched(*near, PLANT)
    far = found.candidates[-1]
    candidates = [*found.candidates[:-1], replace(far, placed=replace(far.placed, title=title, name="about.txt"))]
    read = ordered(replace(found, candidates=candidates), FoundAtWord("3,776"), question)
    assert (far.placed.id in {one.window.candidates[0].hit.placed.id for one in read.windows}) is is_read


def test_a_passage_that_was_read_beyond_what_was_reranked_is_ordered_by_its_reading() -> None:
    question = "Hakone plantの従業員は何人ですか"
    near = [f"第{number}工場の従業員は十人です。食堂があります。" for number in range(READ_DEPTH)]
    found = searched(*near, SHOPS, PLANT)
    beyond = [replace(hit, rerank=None) for hit in found.candidates[READ_DEPTH:]]
    unread, far = beyond
    named = replace(far, placed=replace(far.placed, title="Hakone plant", name="plant.txt"))
    reranked = [replace(hit, rerank=RerankScore(hit.rank, 0.1, {"bm25": 0.1})) for hit in found.candidates[:READ_DEPTH]]
    candidates = [*reranked, replace(unread, vector=None), named]
    read = ordered(replace(found, candidates=candidates), FoundAtWord("3,776"), question)
    first, last = read.found.candidates[0], read.found.candidates[-1]
    assert first.placed.id == far.placed.id
    assert first.rerank is not None
    assert first.rerank.fused_rank == far.rank
    assert list(first.rerank.parts) == [READER_PART, DOCUMENT_PART]
    assert last.placed.id == unread.placed.id
    assert last.rerank is None


def of_documents(*names: str) -> list[Hit]:
    hits = hits_for(QUESTION, *[PLANT] * len(names))
    return [
        replace(hit, placed=replace(hit.placed, name=name, doc_key=name, title=""))
        for hit, name in zip(hits, names, strict=True)
    ]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Which port does rsync use?", {"rsync.1.txt": 1.0}),
        ("Which port does the server use?", {}),
        ("rsyncのポート番号は？", {"rsync.1.txt": 1.0}),
    ],
)
def test_a_question_names_a_document_by_a_word_that_few_names_hold(question: str, named: dict[str, float]) -> None:
    hits = of_documents("rsync.1.txt", "server-a.html", "server-b.html", "server-c.html", "ports of call.html")
    told = named_documents(read_question(question, hits), hits)
    assert {key: share for key, share in told.items() if key != "ports of call.html"} == named


def test_the_ending_of_a_file_names_nothing() -> None:
    hits = of_documents("rsync.pdf", "pumps.txt")
    assert named_documents(read_question("How do I print a PDF of pumps?", hits), hits) == {"pumps.txt": 1.0}


def test_a_passage_of_the_document_that_is_named_comes_before_its_like() -> None:
    found = searched(SHOPS, SHOPS, PLANT)
    names = ("inns.txt", "hakone.txt", "plant.txt")
    question = "When does the shop open, by the hakone sheet?"
    candidates = [
        replace(hit, placed=replace(hit.placed, name=name, doc_key=name, title=""))
        for hit, name in zip(found.candidates, names, strict=True)
    ]
    read = ordered(replace(found, candidates=candidates), FoundAtWord("nine"), question)
    first, second = read.found.candidates[:2]
    assert (first.placed.name, second.placed.name) == ("hakone.txt", "inns.txt")
    assert first.rerank is not None and second.rerank is not None
    assert first.rerank.parts[DOCUMENT_PART] > second.rerank.parts[DOCUMENT_PART] == 0
