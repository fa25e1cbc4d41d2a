"""Fusion is arithmetic that anyone can check."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from core.errors import InvalidInput
from core.model import IndexHit
from core.query.search.fuse import Fusion, choose, cosine, fuse, merge_identical
from tests.builders import index_hits, placed

rankings = st.lists(st.integers(1, 40), unique=True, max_size=20)


def test_agreement_of_both_legs_ranks_first() -> None:
    assert fuse(index_hits(1, 2, 3), index_hits(2, 4, 5))[0].chunk_id == 2


def test_the_score_is_the_sum_of_the_two_fractions() -> None:
    best = fuse(index_hits(7), index_hits(8, 7))[0]
    assert best.score == pytest.approx(1 / 61 + 1 / 62)
    assert best.vector and best.vector.contribution == pytest.approx(1 / 61)
    assert best.keyword and best.keyword.contribution == pytest.approx(1 / 62)


def test_ties_go_to_the_better_single_rank_then_to_the_better_keyword_rank() -> None:
    assert [item.chunk_id for item in fuse(index_hits(9, 3), index_hits(4, 5))] == [4, 9, 5, 3]
    assert [item.chunk_id for item in fuse(index_hits(1, 2), index_hits(2, 1))] == [2, 1]


@given(rankings, rankings)
def test_every_chunk_of_either_leg_appears_once_in_falling_order(first: list[int], second: list[int]) -> None:
    fused = fuse(index_hits(*first), index_hits(*second))
    assert sorted(item.chunk_id for item in fused) == sorted({*first, *second})
    assert [item.score for item in fused] == sorted((item.score for item in fused), reverse=True)


@given(rankings, rankings)
def test_equal_weights_score_both_legs_alike(first: list[int], second: list[int]) -> None:
    one = {item.chunk_id: item.score for item in fuse(index_hits(*first), index_hits(*second))}
    assert one == {item.chunk_id: item.score for item in fuse(index_hits(*second), index_hits(*first))}


def test_mix_weighs_cosine_against_normalised_bm25() -> None:
    fused = fuse([IndexHit(1, 0.0)], [IndexHit(2, 8.0), IndexHit(1, 4.0)], Fusion("mix", alpha=0.25))
    scores = {item.chunk_id: item.score for item in fused}
    assert scores == {1: pytest.approx(0.25 + 0.75 * 0.5), 2: pytest.approx(0.75)}


def test_an_unknown_fusion_is_refused() -> None:
    with pytest.raises(InvalidInput):
        fuse(index_hits(1), [], Fusion("best"))


def test_cosine_of_unit_vectors_follows_from_their_distance() -> None:
    assert (cosine(0.0), cosine(2.0)) == (1.0, -1.0)


def test_identical_passages_are_merged_into_the_best() -> None:
    chunks = {1: placed(1, "same", doc_id=1), 2: placed(2, "other", doc_id=2), 3: placed(3, "same", doc_id=3)}
    hits = merge_identical(fuse(index_hits(3, 2, 1), []), chunks)
    assert [(hit.rank, hit.placed.id, hit.merged) for hit in hits] == [(1, 3, (1,)), (2, 2, ())]


def test_one_document_gets_at_most_its_share() -> None:
    chunks = {n: placed(n, f"text {n}", doc_id=1 if n < 5 else 2) for n in range(1, 7)}
    hits = merge_identical(fuse(index_hits(1, 2, 3, 4, 5, 6), []), chunks)
    assert [hit.placed.id for hit in choose(hits, 4, 3)] == [1, 2, 3, 5]
    assert [hit.placed.id for hit in choose(hits, 4, 0)] == [1, 2, 3, 4]


def test_a_mix_without_a_share_for_one_leg_shows_hits_of_the_other_alone() -> None:
    vector, keyword = index_hits(1, 2), index_hits(2, 3)
    assert {item.chunk_id for item in fuse(vector, keyword, Fusion("mix", alpha=1.0))} == {1, 2}
    assert {item.chunk_id for item in fuse(vector, keyword, Fusion("mix", alpha=0.0))} == {2, 3}
    assert {item.chunk_id for item in fuse(vector, keyword, Fusion("mix", alpha=0.4))} == {1, 2, 3}
