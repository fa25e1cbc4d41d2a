"""The fate of every passage between two answers, and why."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.model import (
    Analysis,
    Answer,
    AnswerType,
    Citation,
    Evidence,
    Hit,
    Leg,
    LegRank,
    Query,
    Reason,
    Trace,
    VersionRef,
)
from core.versions.answers import compare_traces, decides, touches, unchanged
from tests.builders import placed

FEE = "The yearly fee of the club is twelve euros for every grown member."
NEW_FEE = "The yearly fee of the club is fifteen euros for every grown member."
OPENING = "The museum opens at nine in the morning on every day but Monday."


def found(chunk_id: int, text: str, rank: int, *, bm25: float = 1.0, doc_id: int = 1, version: int = 1) -> Hit:
    leg = LegRank(rank, bm25, 1 / (60 + rank))
    return Hit(rank, placed(chunk_id, text, doc_id=doc_id, version=version), 1 / (60 + rank), None, leg)


def trace(*hits: Hit, top_k: int = 5, answer: str = "", as_of: VersionRef | None = None) -> Trace:
    kind = AnswerType.EXTRACTIVE if answer else AnswerType.INSUFFICIENT
    return Trace(
        id="0",
        asked_at=datetime(2026, 1, 1, tzinfo=UTC),
        query=Query("q", top_k=top_k, as_of=as_of),
        sequence=1,
        analysis=Analysis("en", "q", ("q",), "answer-en"),
        vector=Leg("vector", "none"),
        keyword=Leg("keyword", "none"),
        hits=hits[:top_k],
        candidates=hits,
        context="",
        prompt="",
        answer=Answer(answer, kind),
        timings_ms={},
    )


def fates(old: Trace, new: Trace, **seen: set[int]) -> list[tuple[Evidence, Reason, int | None, int | None]]:
    return [
        (
            change.evidence,
            change.reason,
            change.old.placed.id if change.old else None,
            change.new.placed.id if change.new else None,
        )
        for change in compare_traces("q", old, new, **seen).evidence
    ]


def test_only_other_passages_of_the_document_itself_touch_an_answer() -> None:
    old = trace(found(1, FEE, 1), found(2, OPENING, 2, doc_id=2), answer=FEE)
    reordered = trace(found(3, OPENING, 1, doc_id=2), found(1, FEE, 2), answer=OPENING)
    key, other = old.hits[0].placed.doc_key, old.hits[1].placed.doc_key
    assert key != other
    assert not touches(old, reordered, key) and touches(old, reordered, other)
    assert touches(old, trace(found(4, NEW_FEE, 1)), key)
    same = unchanged(old, reordered, "q")
    assert not same.is_changed and same.new.answer == old.answer
    assert {change.evidence for change in same.evidence} == {Evidence.STAYED}


def test_a_passage_decides_where_it_is_cited_is_right_or_takes_room() -> None:
    old, new = trace(found(1, FEE, 1), found(2, OPENING, 2)), trace(found(3, NEW_FEE, 1), found(2, OPENING, 2))
    key = old.hits[0].placed.doc_key
    assert not decides(old, new, key, ()) and decides(old, new, key, (key,))
    assert decides(old, trace(*new.hits, found(4, FEE + NEW_FEE, 3)), key, ())
    citation = Citation(1, key, 2, 3, 0, key, NEW_FEE, 0, len(NEW_FEE))
    cited = replace(new, answer=replace(new.answer, citations=(citation,)))
    assert decides(old, cited, key, ())


def test_the_same_hits_stayed() -> None:
    same = trace(found(1, FEE, 1), found(2, OPENING, 2))
    assert fates(same, same) == [(Evidence.STAYED, Reason.NONE, 1, 1), (Evidence.STAYED, Reason.NONE, 2, 2)]


def test_a_rewritten_passage_is_one_change_with_both_sides() -> None:
    old = trace(found(1, FEE, 1), found(2, OPENING, 2))
    new = trace(found(2, OPENING, 1), found(3, NEW_FEE, 2))
    assert fates(old, new) == [(Evidence.MOVED, Reason.OTHERS, 2, 2), (Evidence.MOVED, Reason.TEXT, 1, 3)]


def test_a_passage_whose_text_is_gone_vanished_and_one_with_new_text_appeared() -> None:
    old, new = trace(found(1, FEE, 1)), trace(found(2, OPENING, 1))
    assert fates(old, new) == [(Evidence.APPEARED, Reason.TEXT, None, 2), (Evidence.VANISHED, Reason.TEXT, 1, None)]


def test_a_passage_that_fell_below_the_first_hits_was_passed_by_others() -> None:
    old = trace(found(1, FEE, 1), found(2, OPENING, 2), top_k=1)
    new = trace(found(2, OPENING, 1), found(1, FEE, 2), top_k=1)
    assert fates(old, new) == [(Evidence.APPEARED, Reason.OTHERS, None, 2), (Evidence.VANISHED, Reason.OTHERS, 1, None)]


def test_a_passage_with_another_bm25_score_moved_by_statistics() -> None:
    old = trace(found(1, FEE, 1, bm25=2.0), found(2, OPENING, 2, bm25=1.5))
    new = trace(found(2, OPENING, 1, bm25=1.5), found(1, FEE, 2, bm25=1.2))
    assert fates(old, new) == [(Evidence.MOVED, Reason.OTHERS, 2, 2), (Evidence.MOVED, Reason.STATISTICS, 1, 1)]


def test_a_passage_that_another_version_still_shows_did_not_lose_its_text() -> None:
    old, new = trace(found(1, FEE, 1)), trace(found(2, OPENING, 1))
    assert fates(old, new, in_new={1}, in_old={2}) == [
        (Evidence.APPEARED, Reason.OTHERS, None, 2),
        (Evidence.VANISHED, Reason.OTHERS, 1, None),
    ]


def test_a_passage_rewritten_so_that_it_ranks_too_low_vanished_with_its_new_text() -> None:
    old = trace(found(1, FEE, 1), top_k=1)
    new = trace(found(2, OPENING, 1), found(3, NEW_FEE, 2), top_k=1)
    assert (Evidence.VANISHED, Reason.TEXT, 1, 3) in fates(old, new, in_old={2})


def test_passages_of_different_documents_are_not_one_passage() -> None:
    old, new = trace(found(1, FEE, 1)), trace(found(2, FEE, 1, doc_id=2))
    assert [fate[0] for fate in fates(old, new)] == [Evidence.APPEARED, Evidence.VANISHED]


def test_two_compared_documents_pair_their_passages() -> None:
    old = trace(found(1, FEE, 1), as_of=VersionRef("doc-1.txt", 1))
    new = trace(found(2, NEW_FEE, 1, doc_id=2), as_of=VersionRef("doc-2.txt", 1))
    assert fates(old, new) == [(Evidence.STAYED, Reason.TEXT, 1, 2)]


def test_the_most_alike_passages_are_paired() -> None:
    other = FEE.replace("twelve", "eleven").replace("every grown", "each young")
    old = trace(found(1, other, 1), found(2, FEE, 2))
    new = trace(found(3, NEW_FEE, 1))
    assert (Evidence.MOVED, Reason.TEXT, 2, 3) in fates(old, new)


def test_japanese_passages_are_paired_by_their_words() -> None:
    old = trace(found(1, "会員の年会費は千二百円であり、毎年四月に支払う。", 1))
    new = trace(found(2, "会員の年会費は千五百円であり、毎年四月に支払う。", 1))
    unlike = trace(found(3, "博物館は月曜日を除いて午前九時に開館する。", 1))
    assert fates(old, new) == [(Evidence.STAYED, Reason.TEXT, 1, 2)]
    assert len(fates(old, unlike)) == 2


def test_a_passage_merged_into_an_identical_one_is_still_the_same() -> None:
    both = replace(found(2, FEE, 1), merged=(1,))
    assert fates(trace(found(1, FEE, 1)), trace(both)) == [(Evidence.STAYED, Reason.NONE, 1, 2)]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("It costs 12 euros. [1]", "It costs 12\neuros. [2]", False),
        ("It costs 12 euros. [1]", "It costs 15 euros. [1]", True),
        ("It costs 12 euros. [1]", "", True),
        ("", "", False),
        ("会費は千円。[1]", "会費は 千円。 [3]", False),
    ],
)
def test_an_answer_changed_when_it_says_something_else(old: str, new: str, changed: bool) -> None:
    assert compare_traces("q", trace(answer=old), trace(answer=new)).is_changed is changed


def test_swapping_the_sides_swaps_what_appeared_and_what_vanished() -> None:
    old = trace(found(1, FEE, 1), found(2, OPENING, 2), found(5, "Dogs stay outside.", 3))
    new = trace(found(2, OPENING, 1), found(3, NEW_FEE, 2), found(6, "A lift leads to the roof.", 3))
    swap = {Evidence.APPEARED: Evidence.VANISHED, Evidence.VANISHED: Evidence.APPEARED}
    there, back = fates(old, new), fates(new, old)
    assert sorted((swap.get(e, e), r, b or 0, a or 0) for e, r, a, b in there) == sorted(
        (e, r, a or 0, b or 0) for e, r, a, b in back
    )
